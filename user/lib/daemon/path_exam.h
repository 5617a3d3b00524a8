/* SPDX-License-Identifier: GPL-2.0 */
/* Examinations of the paths of a group: the probes, and their answers. */
#ifndef ROCESTEER_LIB_PATH_EXAM_H
#define ROCESTEER_LIB_PATH_EXAM_H

#include "base/base.h"
#include "groups/groups.h"

/**
 * struct path_exam_config - settings and callbacks of all examinations
 * @groups: groups
 * @loop: event loop
 * @timeout_ms: time to wait for the first answer
 * @short_quotes: as in struct probe_batch_config
 * @done: called when all answers are in, or late; the results are in the group's health
 * @note: called with a line for people: a device cannot send (once, until it can), or answers
 *	are odd
 * @arg: passed to the callbacks
 */
struct path_exam_config {
	struct groups *groups;
	struct loop *loop;
	unsigned int timeout_ms;
	bool short_quotes;
	void (*done)(struct group *group, void *arg);
	void (*note)(__u32 ifindex, const char *line, void *arg);
	void *arg;
};

struct path_exams;

/* Return: to be given back by path_exams_free(), or NULL without memory. */
struct path_exams *path_exams_new(const struct path_exam_config *config);

void path_exams_free(struct path_exams *exams);

/**
 * path_exam_usable() - paths to which a peer has a port
 * @group: group
 * @peer: one of its peers
 *
 * Return: a bit for each path.
 */
__u64 path_exam_usable(const struct group *group, const struct rocesteer_peer *peer);

/**
 * path_exam_start() - examine paths that are due, suspected or watched
 * @exams: exams
 * @group: group with health, without an outstanding probe
 * @due: a bit for each path that is due
 * @watched: a bit for each path that is watched
 *
 * Return: 0 or -ENOMEM.
 */
int path_exam_start(struct path_exams *exams, struct group *group, __u64 due, __u64 watched);

/**
 * path_exam_watch() - check a port by one probe: to the leaf if the leaf tells the path from
 *	others, else to the router that does
 * @exams: exams
 * @group: group with health, without an outstanding probe, suspect or doubt
 * @peer: a peer, of key @turn_peer of the group's health
 * @p: path to which the peer has a port
 *
 * Return: 0 or -ENOMEM.
 */
int path_exam_watch(struct path_exams *exams, struct group *group,
		    const struct rocesteer_peer *peer, __u32 p);

/* Forget an examination. */
void path_exam_cancel(struct path_exams *exams, struct group *group);

/* A device is gone: free its state. Its groups have been cancelled. */
void path_exams_forget(struct path_exams *exams, __u32 ifindex);

/* When path_exams_step() is to be called: CLOCK_MONOTONIC ns, or LOOP_NEVER. */
__u64 path_exams_due(const struct path_exams *exams);

/* Send and repeat probes, and take answers. */
void path_exams_step(struct path_exams *exams);

#endif /* ROCESTEER_LIB_PATH_EXAM_H */
