/* SPDX-License-Identifier: GPL-2.0 */
/* Wait for file descriptors and for a time. */
#ifndef ROCESTEER_LIB_LOOP_H
#define ROCESTEER_LIB_LOOP_H

#include <linux/types.h>

#define LOOP_NEVER	(~0ull)

/**
 * struct loop - an event loop
 * @fd: epoll
 */
struct loop {
	int fd;
};

/**
 * struct source - a file descriptor in a loop
 * @fd: file descriptor
 * @ready: called when it can be read, or has an error; may remove and free any
 *	source. Nonzero ends the loop with that value
 * @arg: passed to @ready
 */
struct source {
	int fd;
	int (*ready)(void *arg);
	void *arg;
};

/* Return: 0 or a negative errno. */
int loop_open(struct loop *loop);

void loop_close(struct loop *loop);

/* @source has to stay where it is. Return: 0 or a negative errno. */
int loop_add(struct loop *loop, struct source *source);

void loop_remove(struct loop *loop, const struct source *source);

/**
 * loop_wait() - wait for one source, or a time
 * @loop: loop
 * @until: CLOCK_MONOTONIC nanoseconds, or LOOP_NEVER
 *
 * Return: 0, what the source returned, or a negative errno.
 */
int loop_wait(struct loop *loop, __u64 until);

#endif /* ROCESTEER_LIB_LOOP_H */
