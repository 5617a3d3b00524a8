/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs of rocesteer slice that have a file of their own. */
#ifndef ROCESTEER_CLI_SLICE_H
#define ROCESTEER_CLI_SLICE_H

#include "cluster/cluster.h"
#include "slice/slice.h"
#include "../objects.h"

extern const struct cli_option slice_alloc_options[];
int slice_alloc(const struct cli_args *args, struct err *err);

extern const struct cli_option slice_release_options[];
int slice_release(const struct cli_args *args, struct err *err);

/**
 * struct slice_request - what an allocation asks for
 * @gpus: in all
 * @servers: which, wholly, ascending by leaf, then server; NULL: any
 * @nr: number of @servers
 */
struct slice_request {
	__u32 gpus;
	struct slice_server *servers;
	__u32 nr;
};

/**
 * slice_request_read() - read a list of servers
 * @c: cluster they are in
 * @list: L/V[,L/V..], or names
 * @nodes: they are names
 * @request: empty; filled; its servers are to be freed in any case
 * @err: names the option, or the file
 *
 * Return: 0 or a negative errno.
 */
int slice_request_read(const struct cluster *c, const char *list, bool nodes,
		       struct slice_request *request, struct err *err);

/* Has a job the servers that are asked for? No, if none are. */
bool slice_request_matches(const struct slice_request *request, struct json_object *job);

/* Say why these servers cannot be had. Return: a negative errno. */
int slice_request_refuse(const struct cluster *c, const struct slice_request *request,
			 int refusal, struct err *err);

/**
 * slice_check_shape() - whether a job has a place in the cluster if it is empty
 * @c: parts that are marked or in use by others count as free, circuits as movable
 * @gpus: at most all
 * @err: code "shape": says what does not fit, and what does
 *
 * Return: 0 or -EINVAL.
 */
int slice_check_shape(const struct cluster *c, __u32 gpus, struct err *err);

/*
 * A place, and its circuits. If slice_place() finds no place in the network, --ocs moves
 * circuits.
 */
struct slice_plan {
	struct slice slice;
	__u16 *circuit;		/* that are to be, NULL: they stay */
	long shared;		/* steps of patterns in which flows of the job meet */
};

/* Return: 0, an enum slice_refusal, or a negative errno; to be freed. */
int slice_plan_make(const struct cluster *c, const struct slice_request *request,
		    bool ocs, struct slice_plan *plan);
void slice_plan_free(struct slice_plan *plan);

/* Have the circuits of a plan moved, or moved back. */
int slice_plan_move(const struct cluster *c, const struct slice_plan *plan,
		    const char *driver, const char *id, bool back,
		    struct err *err);

/*
 * Commit an allocation, by a driver where circuits move. On failure the file and the
 * circuits stay as they were, unless @c->replaced.
 */
int slice_carry_out(struct cluster *c, const char *id, __u32 gpus,
		    const struct slice_plan *plan, const char *driver,
		    struct err *err);

/*
 * A line of the journal about a job, which may be NULL, with further fields but for the
 * job's parts. -ENOMEM ends the program.
 */
struct json_object *slice_decision(const char *decision, const char *id, struct json_object *more);

/* Check that a text can name a job; NULL can. Return: 0 or -EINVAL. */
int slice_check_id(const char *id, struct err *err);

/* A job without a name gets the number of the change, or the next unused. */
void slice_make_id(const struct cluster *c, char *id, size_t size);

/* The resource that an enum slice_refusal lacks. */
const char *slice_lacks(int refusal);

extern const struct cli_option slice_submit_options[];
int slice_submit(const struct cli_args *args, struct err *err);

extern const struct cli_option slice_queue_options[];
int slice_queue(const struct cli_args *args, struct err *err);

extern const struct cli_option slice_replay_options[];
int slice_replay(const struct cli_args *args, struct err *err);

extern const struct cli_option slice_trace_options[];
int slice_trace(const struct cli_args *args, struct err *err);

extern const struct cli_option slice_wire_options[];
int slice_wire(const struct cli_args *args, struct err *err);

extern const struct cli_option slice_mark_options[];
int slice_mark(const struct cli_args *args, struct err *err);

extern const struct cli_option slice_check_options[];
int slice_check(const struct cli_args *args, struct err *err);

extern const struct out_column slice_job_columns[];
extern const struct out_column slice_server_columns[];

/**
 * slice_get() - a slice as commands print it, from where options say
 * @file: what alloc or show printed; NULL: it is in a cluster file
 * @cluster: the cluster file
 * @id: name of the job in it
 * @root: set; to be released
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int slice_get(const char *file, const char *cluster, const char *id,
	      struct json_object **root, struct err *err);

/**
 * slice_pattern() - the pattern of traffic that an option names
 * @args: arguments
 * @option: its index
 * @ranks: that take part
 * @pattern: set
 * @err: names the option
 *
 * Return: 0 or -EINVAL.
 */
int slice_pattern(const struct cli_args *args, int option, __u32 ranks,
		  enum contention_pattern *pattern, struct err *err);

#endif /* ROCESTEER_CLI_SLICE_H */
