/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text exposition format of Prometheus, version 0.0.4: for each metric its help, its
 * type, and one line for each set of labels.
 */
#ifndef ROCESTEER_STAT_EXPOSITION_H
#define ROCESTEER_STAT_EXPOSITION_H

#include <stdio.h>
#include <linux/types.h>

/**
 * struct labels - names and values that tell samples of a metric apart
 * @len: bytes of @text
 * @text: as they are printed, without braces: a="1",b="2"
 */
struct labels {
	size_t len;
	char text[512];
};

/* Append a label; @value is UTF-8. Labels that do not fit are left out. */
void labels_add(struct labels *labels, const char *name, const char *value);
void labels_add_uint(struct labels *labels, const char *name, __u64 value);
void labels_add_addr(struct labels *labels, const char *name, const __u8 addr[16]);

/* Begin a metric. @type: counter, gauge or histogram. */
void exposition_begin(FILE *out, const char *name, const char *type, const char *help);

/* A sample of it; @labels may be NULL. */
void exposition_uint(FILE *out, const char *name, const struct labels *labels, __u64 value);

/* @value / 10^@decimals, one to nine, printed exactly. */
void exposition_decimal(FILE *out, const char *name, const struct labels *labels, __u64 value,
			unsigned int decimals);

#endif /* ROCESTEER_STAT_EXPOSITION_H */
