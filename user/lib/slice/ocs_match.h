/* SPDX-License-Identifier: GPL-2.0 */
/* Assignment with the least sum of costs. Pure. */
#ifndef ROCESTEER_LIB_OCS_MATCH_H
#define ROCESTEER_LIB_OCS_MATCH_H

#include <stdbool.h>
#include <linux/types.h>

#define OCS_NO_ROW	((__u32)-1)
#define OCS_NEVER	0x1000000	/* cost of what must not be */

/**
 * struct ocs_match - each row is to have a column of its own
 * @max_rows: that there is room for
 * @max_cols: likewise
 * @rows: to be set
 * @cols: to be set
 * @line: to be set: by row, the costs of its columns, 0..OCS_NEVER; rows may
 *	share them
 * @row: result: by column, its row or OCS_NO_ROW
 * Others: of the algorithm.
 */
struct ocs_match {
	__u32 max_rows;
	__u32 max_cols;
	__u32 rows;
	__u32 cols;
	const int **line;
	__u32 *row;
	__u32 *from;
	bool *seen;
	__s64 *least;
	__s64 *col_price;
	__s64 *row_price;
};

/* Make room. Return: 0 or -ENOMEM; ocs_match_free() in both cases. */
int ocs_match_init(struct ocs_match *m, __u32 rows, __u32 cols);
void ocs_match_free(struct ocs_match *m);

/*
 * Find the least sum; @steps is counted down, once for each cost looked at.
 * Return: the sum, at least OCS_NEVER when it cannot be; -1: no steps are left.
 */
__s64 ocs_match(struct ocs_match *m, __u64 *steps);

#endif /* ROCESTEER_LIB_OCS_MATCH_H */
