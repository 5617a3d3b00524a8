/* SPDX-License-Identifier: GPL-2.0 */
/* Traffic of flows between two readings of the tables. */
#ifndef ROCESTEER_REPORT_TABLES_H
#define ROCESTEER_REPORT_TABLES_H

#include "report.h"

/**
 * struct report_tables - readings of the tables
 * @job: only this one, or 0
 * @flows: flows that were seen, with their counters
 * @groups: groups that were seen
 * @target: paths that can be probed: those of the groups at the time of report_tables_targets()
 * @nr_targets: number of these
 * @before: counters when the period began: NAKs, CNPs
 * @now: the same at the last reading
 */
struct report_tables {
	__u32 job;
	struct set flows;
	struct set groups;
	struct report_target *target;
	size_t nr_targets;
	__u64 before[2];
	__u64 now[2];
};

/**
 * report_tables_read() - read the tables
 * @tables: zero but for @job before the first reading
 * @begin: a period begins: what was sent before is not counted
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int report_tables_read(struct report_tables *tables, bool begin, struct err *err);

/* Make @target of the groups. Return: 0 or -ENOMEM. */
int report_tables_targets(struct report_tables *tables);

/**
 * report_tables_fill() - put what was sent in the period into a recording
 * @tables: read
 * @recording: gets groups, flows and counters; to be freed by recording_free(), also on failure
 *
 * Flows that sent nothing are left out. Return: 0 or -ENOMEM.
 */
int report_tables_fill(const struct report_tables *tables, struct recording *recording);

void report_tables_free(struct report_tables *tables);

#endif /* ROCESTEER_REPORT_TABLES_H */
