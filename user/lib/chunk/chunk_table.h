/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables of a collective that a host runs: the plan, the class of each chunk in each stage,
 * and the memory of a peer that each chunk is written to.
 */
#ifndef ROCESTEER_LIB_CHUNK_TABLE_H
#define ROCESTEER_LIB_CHUNK_TABLE_H

#include <stddef.h>
#include <rocesteer/chunk.h>

#include "base/base.h"
#include "chunk_plan.h"

/**
 * struct chunk_range - memory of a peer that a chunk is written to
 * @ifindex: device that leads to the peer
 * @peer: address
 * @range: address, length, chunk and stage
 */
struct chunk_range {
	__u32 ifindex;
	__u8 peer[16];
	struct rocesteer_range range;
};

/**
 * struct chunk_table - tables of a collective
 * @plan: order of dimensions
 * @hash: of @plan
 * @nr_classes: 1..ROCESTEER_MAX_CLASSES - 1
 * @dscp: by class
 * @chunks: by number, as the map has them
 * @ranges: ascending by device, peer and address, without overlap
 * @nr_ranges: number of ranges
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
 * In each dimension smaller chunks, by the sizes that CHUNK_SCF compares, have higher classes.
 * If there are more sizes than classes, neighbours share a class. The last stage of a chunk
 * has class 1, because it can wait for all others.
 *
 * Return: 0 or -ENOMEM.
 */
int chunk_classes(const struct chunk_plan *plan, __u32 nr, struct rocesteer_chunk *chunks);

#endif /* ROCESTEER_LIB_CHUNK_TABLE_H */
