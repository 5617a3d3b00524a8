/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A step of a training job: its computation, and the collectives that it waits for. The ranks
 * that hold parts of one model are a model-parallel group; ranks with the same part of it are a
 * data-parallel group.
 */
#ifndef ROCESTEER_LIB_CHUNK_STEP_H
#define ROCESTEER_LIB_CHUNK_STEP_H

#include "base/base.h"
#include "chunk_plan.h"

#define CHUNK_STEP_NAME		32u
#define CHUNK_STEP_COLLECTIVES	16u
#define CHUNK_STEP_COUNT	1000000u

/* Ranks that take part in a collective. */
enum chunk_group {
	CHUNK_GROUP_ALL,	/* all ranks */
	CHUNK_GROUP_MODEL,
	CHUNK_GROUP_DATA,
};

/* Their names, ended by NULL. */
extern const char * const chunk_groups[];

/**
 * struct chunk_step_collective - collectives of a step, which follow each other
 * @kind: kind
 * @group: ranks
 * @count: 1..CHUNK_STEP_COUNT
 * @size: bytes, as of struct chunk_collective
 */
struct chunk_step_collective {
	enum chunk_kind kind;
	enum chunk_group group;
	__u32 count;
	__u64 size;
};

/**
 * struct chunk_step - a step
 * @name: name
 * @compute: time of its computation, ps, at most CHUNK_MAX_TIME
 * @model: ranks of a model-parallel group, 1 or more; they are neighbours: the group has the
 *	first dimensions of a network, and the data-parallel group has what is left
 * @collective: the collectives that the computation waits for; those that it hides are left out
 * @nr: number of these
 */
struct chunk_step {
	char name[CHUNK_STEP_NAME];
	__u64 compute;
	__u32 model;
	struct chunk_step_collective collective[CHUNK_STEP_COLLECTIVES];
	__u32 nr;
};

/**
 * struct chunk_known - a step that the paper of Themis has, on average over its networks
 * @step: the step
 * @speedup: of Themis with SCF over the baseline, in hundredths
 * @most: speed-up on the network where it is the largest
 * @ideal: speed-up if all bandwidth were used
 */
struct chunk_known {
	struct chunk_step step;
	__u32 speedup;
	__u32 most;
	__u32 ideal;
};

#define CHUNK_KNOWN	4u

/*
 * Steps with the inputs that the authors have published for ASTRA-sim; times of computation are
 * multiplied by 0.26, for an accelerator of 234 TFLOPS in place of one of 60.
 */
extern const struct chunk_known chunk_known[CHUNK_KNOWN];

/**
 * chunk_step_read() - read a step
 * @step: filled
 * @name: of a known step, or of a file (Documentation/formats.rst)
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int chunk_step_read(struct chunk_step *step, const char *name, struct err *err);

/**
 * chunk_step_group() - restrict a network to the ranks of a group
 * @of: the network; its dimensions are changed to those of the group
 * @group: the group
 * @model: ranks of a model-parallel group
 *
 * Return: 0, or -EINVAL if the group does not fill dimensions, or divide the last one that it
 * has, or has a single rank.
 */
int chunk_step_group(struct chunk_collective *of, enum chunk_group group, __u32 model);

#endif /* ROCESTEER_LIB_CHUNK_STEP_H */
