/* SPDX-License-Identifier: GPL-2.0 */
/* A chunk plan by options, which the object chunk and rocesteer-perf share. */
#ifndef ROCESTEER_LIB_CHUNK_ARGS_H
#define ROCESTEER_LIB_CHUNK_ARGS_H

#include "chunk/chunk.h"
#include "cli/cli.h"

/* A verb's own options follow. */
enum {
	CHUNK_OPTION_DIMS,
	CHUNK_OPTION_BANDWIDTH,
	CHUNK_OPTION_SIZE,
	CHUNK_OPTION_CHUNKS,
	CHUNK_OPTION_COLLECTIVE,
	CHUNK_OPTION_LATENCY,
	CHUNK_OPTION_ALGORITHM,
	CHUNK_OPTION_IN_FLIGHT,
	CHUNK_OPTION_BESIDE,
	CHUNK_OPTIONS,
};

/* @marks: of those options that say for what network and size to plan. */
#define CHUNK_SHARED_OPTIONS(marks...)				\
	[CHUNK_OPTION_DIMS] = { "dims", "N0xN1x..",			\
		"endpoints of each dimension", marks },		\
	[CHUNK_OPTION_BANDWIDTH] = { "bandwidth", "B0,B1,..",		\
		"bandwidth of each dimension, per endpoint, in GiB/s", marks },	\
	[CHUNK_OPTION_SIZE] = { "size", "BYTES",			\
		"size of the whole buffer, also as 64K, 100M, 1G", marks },	\
	[CHUNK_OPTION_CHUNKS] = { "chunks", "N",			\
		"number of chunks of the buffer (default: 64)" },		\
	[CHUNK_OPTION_COLLECTIVE] = { "collective", "KIND",		\
		"what to do (default: all-reduce)", .words = chunk_kinds },	\
	[CHUNK_OPTION_LATENCY] = { "latency", "L0,L1,..",		\
		"latency of a step in each dimension, in us (default: 0)" },	\
	[CHUNK_OPTION_ALGORITHM] = { "algorithm", "A0,A1,..",		\
		"of each dimension: ring (default), halving, direct, netreduce, tree" }, \
	[CHUNK_OPTION_IN_FLIGHT] = { "in-flight", "N",			\
		"stages in flight per dimension (default: 8)" },		\
	[CHUNK_OPTION_BESIDE] = { "beside", "FILE,..",			\
		"plans of collectives that run at the same time" }

/**
 * chunk_args_read() - read the shared options
 * @args: arguments
 * @of: filled; valid for chunk_plan_make(); to be freed by chunk_args_free(), also after a
 *	failure
 * @err: names option and item
 *
 * Return: 0 or -EINVAL.
 */
int chunk_args_read(const struct cli_args *args, struct chunk_collective *of, struct err *err);

/* Free the plans beside. */
void chunk_args_free(struct chunk_collective *of);

/*
 * If plans are made and not run, --algorithm means nothing without --latency, but for
 * netreduce. Return: 0 or -EINVAL.
 */
int chunk_args_check(const struct cli_args *args, struct err *err);

#endif /* ROCESTEER_LIB_CHUNK_ARGS_H */
