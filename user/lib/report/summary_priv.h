/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files that make the summary. */
#ifndef ROCESTEER_LIB_REPORT_SUMMARY_PRIV_H
#define ROCESTEER_LIB_REPORT_SUMMARY_PRIV_H

#include <json-c/json.h>

#include "summary.h"

/* Add a number with so many digits behind the point; it may be negative. */
void summary_real(struct json_object *obj, const char *key, double value, int digits);

/* Add the tiers and the ends of a link. */
void summary_link(struct json_object *obj, const struct report_join *join, size_t link);

/*
 * How even the links up from each router are, the worst first; @before may be NULL. Return: 0 or
 * -ENOMEM.
 */
int summary_uplinks(struct json_object *root, const struct report_join *join,
		    const struct report_join *before);

/* Links that flows share beyond need, and gray links. Return: 0 or a negative errno. */
int summary_collisions(struct json_object *root, const struct report_join *join);
int summary_gray(struct json_object *root, const struct report_join *join);

/* Both periods side by side. */
void summary_comparison(struct json_object *root, const struct report_join *now,
			const struct report_join *before);

/* Events of the daemons, in order of time. */
void summary_timeline(struct json_object *root, const struct report_join *join);

/**
 * struct summary_sum - sums over the recordings of a period
 * @count: what was sent
 * @unknown: of it, by paths that are not known
 * @naks: negative acknowledgments
 * @cnps: congestion notifications
 * @detours: flows that avoided a path
 * @ms: longest recording
 */
struct summary_sum {
	struct recording_count count;
	__u64 unknown;
	__u64 naks;
	__u64 cnps;
	__u64 detours;
	__u64 ms;
};

struct summary_sum summary_sum(const struct report_join *join);

#endif /* ROCESTEER_LIB_REPORT_SUMMARY_PRIV_H */
