/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cluster file has the parts of a leaf-spine fabric, the jobs that own them, and the free
 * parts (Documentation/formats.rst). Several controllers may share a file.
 *
 * Next to FILE are FILE.lock, held while the file is read and replaced; FILE.new, the
 * replacement while it is written; and FILE.journal, with a line for each decision. The line
 * is written first, then the file is replaced. A crash leaves the old state or the new one;
 * after the old one, the next holder of the lock adds a line to the journal that says so.
 */
#ifndef ROCESTEER_LIB_CLUSTER_FILE_H
#define ROCESTEER_LIB_CLUSTER_FILE_H

#include <stdbool.h>
#include <linux/types.h>

#include "base/base.h"
#include "slice/slice.h"

struct json_object;

#define CLUSTER_MAX_SIZE	(256u << 20)
#define CLUSTER_MAX_ID		63	/* bytes of a job's name */

/* Why a part is not given to jobs. */
enum cluster_mark {
	CLUSTER_DRAINED,	/* by intent */
	CLUSTER_FAILED,
	CLUSTER_MARKS
};

/* Parts that can be marked. */
enum cluster_part {
	CLUSTER_LEAVES,
	CLUSTER_SPINES,
	CLUSTER_SERVERS,
	CLUSTER_LINKS,
	CLUSTER_PARTS
};

/**
 * struct cluster - a cluster file
 * @file: name, links resolved
 * @root: contents, with unknown fields
 * @generation: counts the versions of the file
 * @fabric: sizes, and parts for jobs: free, not drained, not failed; no link of a pair that
 *	has a link in use
 * @ocs: circuits; without tables if links are cables
 * @nodes: by name of a server: [leaf, server]; NULL: servers have no names
 * @failed_servers: by leaf, then server: the server has failed
 * @failed_links: by leaf, then spine: more links have failed than are free
 * @replaced: cluster_commit() has replaced the file, even if it then failed
 * @lock: descriptor of the lock, or -1
 * @journal: descriptor of the journal, or -1
 */
struct cluster {
	char *file;
	struct json_object *root;
	__u64 generation;
	struct slice_fabric fabric;
	struct ocs ocs;
	struct json_object *nodes;
	bool *failed_servers;
	bool *failed_links;
	bool replaced;
	int lock;
	int journal;
};

/**
 * cluster_read() - read and check a file
 * @c: filled; to be closed by cluster_close()
 * @file: name
 * @err: names file and field
 *
 * Return: 0, or a negative errno, in which case @c needs no closing.
 */
int cluster_read(struct cluster *c, const char *file, struct err *err);

/* Read a file under its lock, to change it. Waits as lock_take() does. */
int cluster_open(struct cluster *c, const char *file, struct err *err);

/* Release the lock; @c may not be changed from here on. */
void cluster_unlock(struct cluster *c);

void cluster_close(struct cluster *c);

/* Names of marks and parts in the file. */
extern const char * const cluster_mark_names[CLUSTER_MARKS];
extern const char * const cluster_part_names[CLUSTER_PARTS + 1];	/* ended by NULL */

/* Can a text name a job? Letters, digits and ._+- only. */
bool cluster_id_valid(const char *id);

/* A job in the file, or NULL. It belongs to @c. */
struct json_object *cluster_job(const struct cluster *c, const char *id);

/* Find the job that an option names. Return: NULL with @err filled. */
struct json_object *cluster_find_job(const struct cluster *c, const char *id, struct err *err);

/* A copy of a job as commands print it. */
struct json_object *cluster_job_json(const struct cluster *c, const char *id,
				     struct json_object *job);

/* Find the server with a name. Return: true if there is one. */
bool cluster_find_node(const struct cluster *c, const char *name, __u32 *leaf, __u32 *server);

/* Has a part of the job failed? */
bool cluster_job_degraded(const struct cluster *c, struct json_object *job);

/* Jobs that wait, in the order of arrival. */
size_t cluster_queue_length(const struct cluster *c);
struct json_object *cluster_queue_entry(const struct cluster *c, size_t i);

/* The entry of a job that waits, or NULL. */
struct json_object *cluster_queue_find(const struct cluster *c, const char *id);

/* Name and request of a job that waits, the @number-th one. */
const char *cluster_entry_job(struct json_object *entry);
struct queue_job cluster_entry_wants(struct json_object *entry, __u32 number);

/* Seconds that have passed since the RFC 3339 time in a field. */
__u64 cluster_seconds_since(struct json_object *obj, const char *key);

/* Add a job that waits, in memory; @duration in seconds, 0: not known. */
void cluster_queue_add(struct cluster *c, const char *id, __u32 gpus, __u64 duration);

/* Remove a job that waits. Return: its entry, to be released, or NULL. */
struct json_object *cluster_queue_take(struct cluster *c, const char *id);

/* Names of enum slice_stage, ended by NULL. */
extern const char * const cluster_stages[];

/* Name of the stage a slice was found in. */
const char *cluster_stage_name(const struct slice *slice);

/**
 * cluster_add_job() - give a job its slice, and remove it from the queue
 * @c: locked; changed in memory only
 * @id: unused
 * @gpus: number of GPUs
 * @slice: from slice_place() on @c->fabric
 */
void cluster_add_job(struct cluster *c, const char *id, __u32 gpus, const struct slice *slice);

/**
 * cluster_move_circuits() - set the circuits in the file
 * @c: locked, with OXCs; changed in memory only
 * @circuit: all circuits, as @c->ocs.circuit, which is not changed
 */
void cluster_move_circuits(struct cluster *c, const __u16 *circuit);

/**
 * cluster_changes_json() - list the ports whose circuits differ
 * @ocs: sizes
 * @from: circuits before; NULL: not known, all ports are listed
 * @to: circuits after
 *
 * Return: a list of leaf, OXC, and the spines before and after.
 */
struct json_object *cluster_changes_json(const struct ocs *ocs, const __u16 *from, const __u16 *to);

/* Release a job's slice. @id is in use. */
void cluster_remove_job(struct cluster *c, const char *id);

/**
 * cluster_mark() - mark a part, or remove the mark
 * @c: locked
 * @mark: mark
 * @set: set the mark, else remove it
 * @part: kind of part
 * @a: leaf, or spine
 * @b: server on leaf @a, or spine at the other end of the link
 *
 * Several links of a pair can be marked one by one. Return: true if the file has changed.
 */
bool cluster_mark(struct cluster *c, enum cluster_mark mark, bool set,
		  enum cluster_part part, __u32 a, __u32 b);

/**
 * cluster_commit() - write the file, and release the lock
 * @c: locked; stays locked on failure
 * @decision: line for the journal; released here
 * @err: filled on failure
 *
 * Return: 0 or a negative errno. On failure the file is as it was, unless @c->replaced: the
 * directory could not be synced, code "sync".
 */
int cluster_commit(struct cluster *c, struct json_object *decision, struct err *err);

/* Add a line to the journal, for a decision that changes nothing. */
int cluster_note(struct cluster *c, struct json_object *decision, struct err *err);

/* A slice, as commands print it and the file has it. */
struct json_object *cluster_slice_json(__u32 gpus, const struct slice *slice);

#endif /* ROCESTEER_LIB_CLUSTER_FILE_H */
