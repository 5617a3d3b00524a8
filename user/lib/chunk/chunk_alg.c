// SPDX-License-Identifier: GPL-2.0
#include "chunk_alg.h"

#include <stddef.h>

const char * const chunk_algs[] = {
	[CHUNK_RING] = "ring",
	[CHUNK_HALVING] = "halving",
	[CHUNK_DIRECT] = "direct",
	[CHUNK_NETREDUCE] = "netreduce",
	NULL
};

__u32 chunk_alg_steps(enum chunk_alg alg, __u32 n)
{
	if (n < 2)
		return 0;
	switch (alg) {
	case CHUNK_RING:
	case CHUNK_NETREDUCE:
		return n - 1;
	case CHUNK_HALVING:
		return 32 - __builtin_clz(n - 1);
	case CHUNK_DIRECT:
		break;
	}
	return 1;
}

__u32 chunk_alg_width(enum chunk_alg alg, __u32 n)
{
	return alg == CHUNK_DIRECT ? n - 1 : 1;
}

bool chunk_alg_takes(enum chunk_alg alg, __u32 n)
{
	switch (alg) {
	case CHUNK_HALVING:
		return !(n & (n - 1));
	case CHUNK_NETREDUCE:
		return n >= 2 && n <= CHUNK_MAX_SUMMED;
	case CHUNK_RING:
	case CHUNK_DIRECT:
		break;
	}
	return true;
}

/* A part goes round, and each adds its own; the last to get it keeps it. */
static struct chunk_exchange ring(bool gather, __u32 n, __u32 me, __u32 step)
{
	__u32 send = (me + 2 * n - 1 - step + gather) % n;
	__u32 receive = (send + n - 1) % n;

	return (struct chunk_exchange) {
		.to = (me + 1) % n,
		.from = (me + n - 1) % n,
		.send = send,
		.receive = receive,
		.parts = 1,
		.place = send,
		.staged = receive,
	};
}

/*
 * Each of two members sends the half that the other keeps. A received half is staged at the
 * place of the half that was sent.
 */
static struct chunk_exchange halving(bool gather, __u32 n, __u32 me,
				     __u32 step)
{
	__u32 half = gather ? 1u << step : n >> (step + 1);
	__u32 keep = me & ~(half - 1), give = keep ^ half;

	return (struct chunk_exchange) {
		.to = me ^ half,
		.from = me ^ half,
		.send = gather ? keep : give,
		.receive = gather ? give : keep,
		.parts = half,
		.place = keep,
		.staged = give,
	};
}

/* Each member begins with the next one, so no member gets all messages at once. */
static struct chunk_exchange direct(bool gather, __u32 n, __u32 me, __u32 index)
{
	__u32 to = (me + index + 1) % n, from = (me + n - index - 1) % n;

	return (struct chunk_exchange) {
		.to = to,
		.from = from,
		.send = gather ? me : to,
		.receive = gather ? from : me,
		.parts = 1,
		.place = me,
		.staged = from,
	};
}

struct chunk_exchange chunk_alg_exchange(enum chunk_alg alg, bool gather,
					 __u32 n, __u32 me, __u32 index)
{
	switch (alg) {
	case CHUNK_RING:
	case CHUNK_NETREDUCE:
		return ring(gather, n, me, index);
	case CHUNK_HALVING:
		return halving(gather, n, me, index);
	case CHUNK_DIRECT:
		break;
	}
	return direct(gather, n, me, index);
}

struct chunk_exchange chunk_alg_sum(__u32 n, __u32 me)
{
	return (struct chunk_exchange) {
		.to = (me + 1) % n,
		.from = (me + n - 1) % n,
		.parts = n,
	};
}
