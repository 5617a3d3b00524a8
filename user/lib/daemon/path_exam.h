/* SPDX-License-Identifier: GPL-2.0 */
/* Examinations of the paths of a group: the probes, and what answers. */
#ifndef ROCESTEER_LIB_PATH_EXAM_H
#define ROCESTEER_LIB_PATH_EXAM_H

#include "base/base.h"
#include "group.h"

/**
 * struct path_exam_config - what is common to all
 * @groups: groups
 * @loop: where answers are waited for
 * @timeout_ms: how long the first answer is waited for
 * @short_quotes: as in struct probe_batch_config
 * @done: all answers are in, or late: they are in the group's health
 * @note: what is wrong with the probes by a device, for people: that nothing can
 *	be sent, once until something can; what is odd about the answers
 * @arg: passed to both
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
 * path_exam_start() - examine what is due, suspected or watched
 * @exams: exams
 * @group: it has health, and no probe is out
 * @due: paths, a bit for each
 * @watched: likewise
 *
 * Return: 0 or -ENOMEM.
 */
int path_exam_start(struct path_exams *exams, struct group *group, __u64 due,
		    __u64 watched);

/* Forget an examination that is under way. */
void path_exam_cancel(struct path_exams *exams, struct group *group);

/* A device is gone: what was kept for it is freed. Its groups are cancelled. */
void path_exams_forget(struct path_exams *exams, __u32 ifindex);

/* When path_exams_step() is to be called: CLOCK_MONOTONIC ns, or LOOP_NEVER. */
__u64 path_exams_due(const struct path_exams *exams);

/* Send, repeat, take answers. */
void path_exams_step(struct path_exams *exams);

#endif /* ROCESTEER_LIB_PATH_EXAM_H */
