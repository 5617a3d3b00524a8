/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the cluster file have in common. */
#ifndef ROCESTEER_LIB_CLUSTER_PRIV_H
#define ROCESTEER_LIB_CLUSTER_PRIV_H

#include "base/base.h"
#include "cluster_file.h"

static inline struct json_object *member(struct json_object *obj,
					 const char *key)
{
	return json_object_object_get(obj, key);
}

static inline struct json_object *element(struct json_object *array, size_t i)
{
	return json_object_array_get_idx(array, i);
}

/* A number of an array, as of [LEAF, SERVER]. */
static inline __u32 element_uint(struct json_object *array, size_t i)
{
	return json_object_get_int64(element(array, i));
}

/**
 * struct cluster_grid - what there is of one kind, by leaf and a second number
 * @key: of the free ones in the file
 * @what: they are, for messages
 * @rows: leaves
 * @columns: servers of a leaf, or spines
 * @each: how many there are in a cell
 * @owned: by jobs
 * @free: neither owned nor used otherwise
 * @marked: not to be given to a job
 * @failed: of these, those that failed
 */
struct cluster_grid {
	const char *key;
	const char *what;
	__u32 rows;
	__u32 columns;
	__u32 each;
	__u16 *owned;
	__u16 *free;
	__u16 *marked;
	__u16 *failed;
};

static inline __u16 *cluster_cell(const struct cluster_grid *grid, __u16 *of,
				  __u32 row, __u32 column)
{
	return &of[(size_t)row * grid->columns + column];
}

/* Make room, all zero. Return: 0 or -ENOMEM; free in either case. */
int cluster_grid_init(struct cluster_grid *grid);
void cluster_grid_free(struct cluster_grid *grid);

/* Read what is free, or add it to the file where it does not say. */
int cluster_grid_read(struct cluster_grid *grid, struct reader *r,
		      struct json_object *root);

/* Own some more. Return: false when there are not as many. */
bool cluster_grid_own(const struct cluster_grid *grid, __u32 row, __u32 column,
		      __u32 n);

/* Mark some in a cell, at most all. */
void cluster_grid_mark(const struct cluster_grid *grid, __u32 row,
		       __u32 column, __u32 n, enum cluster_mark mark);

/* What of a cell a job may have. */
__u32 cluster_grid_usable(const struct cluster_grid *grid, size_t i);

/* Read the names of servers. Return: 0 or a negative errno. */
int cluster_read_nodes(struct cluster *c, struct reader *r);

/* Read the OXCs and their circuits. Return: 0 or a negative errno. */
int cluster_read_ocs(struct cluster *c, struct reader *r);

/* Fix the circuit of a job's link @i, and shut its pair. Return: 0 or a negative errno. */
int cluster_own_circuit(struct cluster *c, struct reader *r,
			struct json_object *job, size_t i, __u32 leaf,
			__u32 spine);

/* Count the circuits that no job owns as free links. */
void cluster_count_circuits(const struct cluster *c,
			    struct cluster_grid *links);

/*
 * Fix the circuits whose links are marked, which uses the marks up, and tell the
 * planner what is left.
 */
void cluster_mark_circuits(struct cluster *c, const struct cluster_grid *links);

/* Check that a field is an RFC 3339 time. Return: 0 or a negative errno. */
int cluster_read_time(struct reader *r, struct json_object *obj,
		      const char *key);

/* Check the queue. Return: 0 or a negative errno. */
int cluster_read_queue(struct cluster *c, struct reader *r);

/* Tell of fields that may be misspelt ones; they are kept. Once per command. */
void cluster_warn_unknown(const struct cluster *c);

/* Check @c->root and fill in what it says. Return: 0 or a negative errno. */
int cluster_parse(struct cluster *c, struct err *err);

/*
 * Open FILE.@suffix, with @flags. Who is first makes it, for all who may write FILE:
 * with its owner, group and permissions. Return: a descriptor or a negative errno.
 */
int cluster_open_beside(const struct cluster *c, const char *suffix, int flags);

/* Open the journal and mend what a crash left there. */
int cluster_journal_open(struct cluster *c, struct err *err);

/*
 * Write a line of a decision that leads to @generation, and make it last.
 * Releases @decision.
 */
int cluster_journal_add(struct cluster *c, __u64 generation,
			struct json_object *decision, struct err *err);

#endif /* ROCESTEER_LIB_CLUSTER_PRIV_H */
