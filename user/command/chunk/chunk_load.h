/* SPDX-License-Identifier: GPL-2.0 */
/* Parts that "chunk load" and "job load" share. */
#ifndef ROCESTEER_CLI_CHUNK_LOAD_H
#define ROCESTEER_CLI_CHUNK_LOAD_H

#include "chunk/chunk.h"
#include "../objects.h"

/* CS1 to CS4: classes 1 to 4. */
#define CHUNK_DSCP		"8,16,24,32"
#define CHUNK_DSCP_HELP		"DSCP of each class, smallest chunks last (default: 8,16,24,32)"

/**
 * chunk_load_read() - read a job's chunks
 * @table: filled; to be freed by chunk_table_free() in any case
 * @plan: file of the plan
 * @ranges: file of the ranges
 * @dscp: DSCPs of the classes, which also says how many there are; NULL: CHUNK_DSCP
 * @err: names file or option
 *
 * Return: 0 or a negative errno.
 */
int chunk_load_read(struct chunk_table *table, const char *plan,
		    const char *ranges, const char *dscp, struct err *err);

/* Print what was loaded. */
void chunk_load_put(struct json_object *root, const struct chunk_table *table);

#endif /* ROCESTEER_CLI_CHUNK_LOAD_H */
