/* SPDX-License-Identifier: GPL-2.0 */
/* The summary of recordings: the object that "rocesteer report show --json" prints. */
#ifndef ROCESTEER_LIB_REPORT_SUMMARY_H
#define ROCESTEER_LIB_REPORT_SUMMARY_H

#include "join.h"

struct json_object;

/**
 * report_summary() - summarise recordings
 * @root: set; to be released
 * @now: recordings of a period, at least one
 * @before: those of an earlier period, or NULL
 *
 * Documentation/formats.rst has the fields. Groups and leaves come worst first.
 *
 * Return: 0 or a negative errno.
 */
int report_summary(struct json_object **root, const struct report_join *now,
		   const struct report_join *before);

#endif /* ROCESTEER_LIB_REPORT_SUMMARY_H */
