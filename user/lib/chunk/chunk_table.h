/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What hosts need to know of a collective that is run: its plan, the class of
 * each chunk in each stage, and which memory of a peer each chunk is written to.
 */
#ifndef ROCESTEER_LIB_CHUNK_TABLE_H
#define ROCESTEER_LIB_CHUNK_TABLE_H

#include <stddef.h>
#include <rocesteer/chunk.h>

#include "base/base.h"
#include "chunk_plan.h"

/**
 * struct chunk_range - what a host writes to a part of a peer's memory
 * @ifindex: device that leads to the peer
 * @peer: its address
 * @range: address, length, chunk and stage
 */
struct chunk_range {
	__u32 ifindex;
	__u8 peer[16];
	struct rocesteer_range range;
};

/**
 * struct chunk_table - the whole of it
 * @plan: order of dimensions
 * @hash: of @plan
 * @nr_classes: 1..ROCESTEER_MAX_CLASSES - 1
 * @dscp: by class
 * @chunks: by number, as the map has them
 * @ranges: ascending by device, peer and address; none overlap
 * @nr_ranges: how many
 */
struct chunk_table {
	struct chunk_plan plan;
	__u64 hash;
	__u32 nr_classes;
	__u8 dscp[ROCESTEER_MAX_CLASSES];
	struct rocesteer_chunk *chunks;
	struct chunk_range *ranges;
	size_t nr_ranges;
};

/**
 * chunk_table_read() - read a plan and the ranges of one host
 * @table: @nr_classes and @dscp are set, the rest is filled; to be freed by
 *	chunk_table_free() in any case
 * @plan: file, as rocesteer chunk plan --json prints it
 * @ranges: file, as rocesteer-perf writes it
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int chunk_table_read(struct chunk_table *table, const char *plan,
		     const char *ranges, struct err *err);

void chunk_table_free(struct chunk_table *table);

/**
 * chunk_plan_read() - read a plan
 * @plan: filled, without rates; to be freed by chunk_plan_free() in any case
 * @file: name
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int chunk_plan_read(struct chunk_plan *plan, const char *file, struct err *err);

/**
 * chunk_classes() - the class of each chunk in each stage
 * @plan: plan
 * @nr: number of classes
 * @chunks: filled, one for each
 *
 * In each dimension the smaller a chunk is, by what CHUNK_SCF compares, the higher
 * its class; where there are more sizes than classes, neighbours share one. The
 * last stage of a chunk has class 1: it can wait for all others.
 *
 * Return: 0 or -ENOMEM.
 */
int chunk_classes(const struct chunk_plan *plan, __u32 nr,
		  struct rocesteer_chunk *chunks);

#endif /* ROCESTEER_LIB_CHUNK_TABLE_H */
