/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cluster file: what a leaf-spine fabric has, which jobs own what of it, and
 * what is left (Documentation/formats.rst). Several controllers may use one.
 *
 * Next to FILE are FILE.lock, held while the file is read and replaced;
 * FILE.new, the replacement while it is written; FILE.journal, a line for each
 * decision. The line is written first, then the file is replaced: a crash leaves
 * the old state or the new one, and where it leaves the old one, the next to
 * take the lock adds a line that says so.
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

/* Why something is not to be given to a job. */
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
 * @file: its name, links resolved
 * @root: all of it; what this program does not know stays in it
 * @generation: counts the versions of the file
 * @fabric: sizes, and what a job may have: free, not drained, not failed; of a pair of
 *	which a link is in use, nothing
 * @ocs: its circuits, no tables where links are not circuits
 * @nodes: by name of a server: [leaf, server]; NULL: they have no names
 * @failed_servers: by leaf, then server: whether it failed
 * @failed_links: by leaf, then spine: whether more links failed than are free
 * @replaced: cluster_commit() has replaced the file, even if it then failed
 * @lock: descriptor of the lock, -1 without
 * @journal: descriptor of the journal, -1 without
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
 * Return: 0, or a negative errno, then @c needs no closing.
 */
int cluster_read(struct cluster *c, const char *file, struct err *err);

/* The same with the lock, to be changed. Waits for the lock as lock_take() does. */
int cluster_open(struct cluster *c, const char *file, struct err *err);

/* Let others at the file; @c is not to be changed any more. */
void cluster_unlock(struct cluster *c);

void cluster_close(struct cluster *c);

/* Names of marks and parts in the file. */
extern const char * const cluster_mark_names[CLUSTER_MARKS];
extern const char * const cluster_part_names[CLUSTER_PARTS + 1];	/* ended by NULL */

/* Whether a text can name a job: letters, digits and ._+- only. */
bool cluster_id_valid(const char *id);

/* A job as the file has it, NULL: there is none. It stays @c's. */
struct json_object *cluster_job(const struct cluster *c, const char *id);

/* The server of a name. Return: whether there is one. */
bool cluster_find_node(const struct cluster *c, const char *name, __u32 *leaf,
		       __u32 *server);

/* Whether something that a job has failed. */
bool cluster_job_degraded(const struct cluster *c, struct json_object *job);

/* Jobs that wait, in the order they came. */
size_t cluster_queue_length(const struct cluster *c);
struct json_object *cluster_queue_entry(const struct cluster *c, size_t i);

/* What a job waits with, or NULL. */
struct json_object *cluster_queue_find(const struct cluster *c, const char *id);

/* Name of a job that waits, and what it wants, as the @number-th one. */
const char *cluster_entry_job(struct json_object *entry);
struct queue_job cluster_entry_wants(struct json_object *entry, __u32 number);

/* Seconds that have passed since the RFC 3339 time in a field. */
__u64 cluster_seconds_since(struct json_object *obj, const char *key);

/* Add a job that waits; @duration in seconds, 0: not known. In memory only. */
void cluster_queue_add(struct cluster *c, const char *id, __u32 gpus,
		       __u64 duration);

/* Take a job out. Return: its entry, to be released, NULL: it does not wait. */
struct json_object *cluster_queue_take(struct cluster *c, const char *id);

/* Names of enum slice_stage, ended by NULL. */
extern const char * const cluster_stages[];

/* Name of the stage a slice was found in. */
const char *cluster_stage_name(const struct slice *slice);

/**
 * cluster_add_job() - give a job its slice; if it waits, it no longer does
 * @c: locked; changed in memory only, as by the next two
 * @id: unused
 * @gpus: of the job
 * @slice: from slice_place() on @c->fabric
 */
void cluster_add_job(struct cluster *c, const char *id, __u32 gpus,
		     const struct slice *slice);

/**
 * cluster_move_circuits() - note what circuits there are
 * @c: locked, with OXCs; changed in memory only
 * @circuit: all, as @c->ocs.circuit, which stays
 */
void cluster_move_circuits(struct cluster *c, const __u16 *circuit);

/**
 * cluster_changes_json() - the ports whose circuits differ
 * @ocs: its sizes
 * @from: circuits, NULL: not known, all ports are listed
 * @to: circuits
 *
 * Return: a list of leaf, OXC, and what they are and are to be joined to.
 */
struct json_object *cluster_changes_json(const struct ocs *ocs,
					 const __u16 *from, const __u16 *to);

/* Take a job's slice back. @id is in use. */
void cluster_remove_job(struct cluster *c, const char *id);

/**
 * cluster_mark() - mark a part, or remove the mark
 * @c: locked
 * @mark: which
 * @set: false: remove
 * @part: what kind
 * @a: leaf, or spine
 * @b: server on leaf @a, or spine that leaf @a has the link to
 *
 * Return: whether that changed anything. Of several links of a pair each can be
 * marked.
 */
bool cluster_mark(struct cluster *c, enum cluster_mark mark, bool set,
		  enum cluster_part part, __u32 a, __u32 b);

/**
 * cluster_commit() - make changes last, and let go of the lock then
 * @c: locked; it stays so where this fails
 * @decision: what the journal is to say; released here
 * @err: filled on failure
 *
 * Return: 0 or a negative errno: the file is then as it was, unless @c->replaced:
 * code "sync", its directory could not be synced.
 */
int cluster_commit(struct cluster *c, struct json_object *decision,
		   struct err *err);

/* Only write a line to the journal, of a decision that changes nothing. */
int cluster_note(struct cluster *c, struct json_object *decision,
		 struct err *err);

/* A slice as commands print it and the file has it. */
struct json_object *cluster_slice_json(__u32 gpus, const struct slice *slice);

#endif /* ROCESTEER_LIB_CLUSTER_FILE_H */
