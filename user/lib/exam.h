/* SPDX-License-Identifier: GPL-2.0 */
/* Examinations of the paths of a group: the probes, and what answers. */
#ifndef ROCESTEER_EXAM_H
#define ROCESTEER_EXAM_H

#include "err.h"
#include "group.h"
#include "loop.h"

/**
 * struct exam_config - what is common to all
 * @groups: groups
 * @loop: where answers are waited for
 * @timeout_ms: how long the first answer is waited for
 * @short_quotes: as in struct survey_config
 * @done: all answers are in, or late: they are in the group's health
 * @note: what is wrong with the probes by a device, for people: that nothing can
 *	be sent, once until something can; what is odd about the answers
 * @arg: passed to both
 */
struct exam_config {
	struct groups *groups;
	struct loop *loop;
	unsigned int timeout_ms;
	bool short_quotes;
	void (*done)(struct group *group, void *arg);
	void (*note)(__u32 ifindex, const char *line, void *arg);
	void *arg;
};

struct exams;

/* Return: to be given back by exams_free(), or NULL without memory. */
struct exams *exams_new(const struct exam_config *config);

void exams_free(struct exams *exams);

/**
 * exam_start() - examine what is due, suspected or watched
 * @exams: exams
 * @group: it has health, and no probe is out
 * @due: paths, a bit for each
 * @watched: likewise
 *
 * Return: 0 or -ENOMEM.
 */
int exam_start(struct exams *exams, struct group *group, __u64 due,
	       __u64 watched);

/* Forget an examination that is under way. */
void exam_cancel(struct exams *exams, struct group *group);

/* A device is gone: what was kept for it is freed. Its groups are cancelled. */
void exams_forget(struct exams *exams, __u32 ifindex);

/* When exams_step() is to be called: CLOCK_MONOTONIC ns, or LOOP_NEVER. */
__u64 exams_due(const struct exams *exams);

/* Send, repeat, take answers. */
void exams_step(struct exams *exams);

#endif /* ROCESTEER_EXAM_H */
