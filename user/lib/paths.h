/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds out which paths are dead: examines those that flows avoid, takes them
 * out of use, and back when they answer again. And which are others now: looks at
 * one a second.
 */
#ifndef ROCESTEER_PATHS_H
#define ROCESTEER_PATHS_H

#include <json-c/json.h>

#include "err.h"
#include "group.h"
#include "loop.h"

/**
 * struct paths_config - how, and who wants to know
 * @hold: how long a path is held down at least, ns
 * @timeout_ms: how long the first answer to a probe is waited for
 * @short_quotes: as in struct survey_config
 * @tell: called for each event, which is released there
 * @moved: called when the port of path @p takes another one now
 * @device: called for each device that changed; @name is NULL where it is gone
 * @arg: passed to all
 */
struct paths_config {
	__u64 hold;
	unsigned int timeout_ms;
	bool short_quotes;
	void (*tell)(struct json_object *event, void *arg);
	void (*moved)(struct group *group, __u32 p, void *arg);
	void (*device)(__u32 ifindex, const char *name, void *arg);
	void *arg;
};

struct paths;

/**
 * paths_open() - watch over paths
 * @paths: set; to be given back by paths_close()
 * @config: has to stay
 * @groups: likewise
 * @loop: where answers are waited for
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int paths_open(struct paths **paths, const struct paths_config *config,
	       struct groups *groups, struct loop *loop, struct err *err);

void paths_close(struct paths *paths);

/* The tables were read again: what is down in them is examined. */
int paths_read(struct paths *paths);

/* A group goes, or all. */
void paths_forget(struct paths *paths, struct group *group);
void paths_forget_all(struct paths *paths);

/* A flow of @group avoids @path. Return: 0 or -ENOMEM. */
int paths_suspect(struct paths *paths, struct group *group,
		  const struct rocesteer_flow_key *flow, __u32 path);

/* When paths_step() is to be called: CLOCK_MONOTONIC ns, or LOOP_NEVER. */
__u64 paths_due(struct paths *paths);

/**
 * paths_step() - do what can be done now
 * @paths: paths
 *
 * Groups are marked as changed where a path went down or came up.
 *
 * Return: how many did, or a negative errno.
 */
int paths_step(struct paths *paths);

/* Call @fn with an event for each path that is not up. */
void paths_each(struct paths *paths,
		void (*fn)(struct json_object *event, void *arg), void *arg);

#endif /* ROCESTEER_PATHS_H */
