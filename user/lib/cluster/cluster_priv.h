/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of this library. */
#ifndef ROCESTEER_LIB_CLUSTER_PRIV_H
#define ROCESTEER_LIB_CLUSTER_PRIV_H

#include "base/base.h"
#include "cluster_file.h"

static inline struct json_object *member(struct json_object *obj, const char *key)
{
	return json_object_object_get(obj, key);
}

static inline struct json_object *element(struct json_object *array, size_t i)
{
	return json_object_array_get_idx(array, i);
}

/* A number in an array such as [LEAF, SERVER]. */
static inline __u32 element_uint(struct json_object *array, size_t i)
{
	return json_object_get_int64(element(array, i));
}

/**
 * struct cluster_grid - counts of GPUs or links, by leaf and a second number
 * @key: field in the file with the free ones
 * @what: name of the parts, for messages
 * @rows: number of leaves
 * @columns: servers of a leaf, or spines
 * @each: parts in a cell
 * @owned: parts that jobs own
 * @free: parts that are neither owned nor used otherwise
 * @marked: parts that are not given to jobs
 * @failed: marked parts that have failed
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

/* Allocate zeroed tables. Return: 0 or -ENOMEM; to be freed in any case. */
int cluster_grid_init(struct cluster_grid *grid);
void cluster_grid_free(struct cluster_grid *grid);

/* Read the free parts, or add them to a file without them. */
int cluster_grid_read(struct cluster_grid *grid, struct reader *r, struct json_object *root);

/* Own some more. Return: false if there are too few. */
bool cluster_grid_own(const struct cluster_grid *grid, __u32 row, __u32 column, __u32 n);

/* Mark some in a cell, at most all. */
void cluster_grid_mark(const struct cluster_grid *grid, __u32 row,
		       __u32 column, __u32 n, enum cluster_mark mark);

/* Number in a cell that a job may have. */
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
void cluster_count_circuits(const struct cluster *c, struct cluster_grid *links);

/*
 * Fix the circuits whose links are marked, which consumes the marks, and give the others to
 * the planner.
 */
void cluster_mark_circuits(struct cluster *c, const struct cluster_grid *links);

/* Check that a field is an RFC 3339 time. Return: 0 or a negative errno. */
int cluster_read_time(struct reader *r, struct json_object *obj, const char *key);

/* Check the queue. Return: 0 or a negative errno. */
int cluster_read_queue(struct cluster *c, struct reader *r);

/* Report fields that may be misspelt, once per command; they are kept. */
void cluster_warn_unknown(const struct cluster *c);

/* Check @c->root and fill @c. Return: 0 or a negative errno. */
int cluster_parse(struct cluster *c, struct err *err);

/*
 * Open FILE.@suffix with @flags. The first user creates it for all who may write FILE, with
 * the owner, group and permissions of FILE. Return: a descriptor or a negative errno.
 */
int cluster_open_beside(const struct cluster *c, const char *suffix, int flags);

/* Open the journal and repair it after a crash. */
int cluster_journal_open(struct cluster *c, struct err *err);

/*
 * Write and sync the line of a decision that leads to @generation. Releases @decision.
 */
int cluster_journal_add(struct cluster *c, __u64 generation,
			struct json_object *decision, struct err *err);

#endif /* ROCESTEER_LIB_CLUSTER_PRIV_H */
