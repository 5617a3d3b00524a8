/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text exposition format of Prometheus, version 0.0.4: for each metric its help, its
 * type, and one line for each set of labels.
 */
#ifndef ROCESTEER_STAT_EXPOSITION_H
#define ROCESTEER_STAT_EXPOSITION_H

#include <stdbool.h>
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

/* @value / 10^@decimals, nine at most, printed exactly. */
void exposition_decimal(FILE *out, const char *name, const struct labels *labels, __u64 value,
			unsigned int decimals);

/**
 * struct histogram - values, counted by how large they are
 * @bucket: values of @unit * 2^i at most, and more than in the bucket before
 * @nr: number of buckets
 * @open: the last bucket has no bound
 * @unit: of the values, in 10^-@decimals
 * @sum: of the values, in 10^-@decimals
 * @decimals: 0 to 9
 */
struct histogram {
	const __u64 *bucket;
	unsigned int nr;
	bool open;
	__u64 unit;
	__u64 sum;
	unsigned int decimals;
};

/* A whole metric of type histogram. */
void exposition_histogram(FILE *out, const char *name, const char *help,
			  const struct histogram *histogram);

#endif /* ROCESTEER_STAT_EXPOSITION_H */
