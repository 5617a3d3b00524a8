/* SPDX-License-Identifier: GPL-2.0 */
/* Settings that ranks compare before they begin, as text: "name=value\n..". */
#ifndef ROCESTEER_PERF_SETTING_H
#define ROCESTEER_PERF_SETTING_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct setting - a setting that must be the same on all ranks
 * @name: name in messages, without '=' and newline
 * @value: value, without '=' and newline
 */
struct setting {
	const char *name;
	char value[128];
};

/* Write settings as text, without a NUL. Return: bytes, or -EMSGSIZE. */
int setting_print(const struct setting *settings, char *text, size_t size);

/**
 * setting_differs() - compare settings with those of another rank
 * @settings: settings of rank 0, ended by one without name
 * @text: settings of the other rank
 * @what: set to the first difference, in words
 * @size: size of @what
 *
 * Return: true if a setting differs.
 */
bool setting_differs(const struct setting *settings, const char *text, char *what, size_t size);

#endif /* ROCESTEER_PERF_SETTING_H */
