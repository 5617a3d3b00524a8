/* SPDX-License-Identifier: GPL-2.0 */
/* What ranks compare before they begin, as text: "name=value\n..". */
#ifndef ROCESTEER_PERF_SETTING_H
#define ROCESTEER_PERF_SETTING_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct setting - what must be the same on all ranks
 * @name: what it is called in messages, without '=' and newline
 * @value: likewise
 */
struct setting {
	const char *name;
	char value[128];
};

/* As text, without its end. Return: bytes, or -EMSGSIZE. */
int setting_print(const struct setting *settings, char *text, size_t size);

/**
 * setting_differs() - compare with those of another rank
 * @settings: rank 0's, ended by one without name
 * @text: the other's
 * @what: set to the first that differs, in words
 * @size: of @what
 *
 * Return: true when one differs.
 */
bool setting_differs(const struct setting *settings, const char *text,
		     char *what, size_t size);

#endif /* ROCESTEER_PERF_SETTING_H */
