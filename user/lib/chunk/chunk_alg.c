// SPDX-License-Identifier: GPL-2.0
#include "chunk_alg.h"

#include <stddef.h>

const char * const chunk_algs[] = {
	[CHUNK_RING] = "ring",
	[CHUNK_HALVING] = "halving",
	[CHUNK_DIRECT] = "direct",
	[CHUNK_NETREDUCE] = "netreduce",
	[CHUNK_TREE] = "tree",
	NULL
};

__u32 chunk_alg_steps(enum chunk_alg alg, __u32 n)
{
	if (n < 2)
		return 0;
	switch (alg) {
	case CHUNK_RING:
	case CHUNK_NETREDUCE:
	case CHUNK_TREE:
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
	case CHUNK_TREE:
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
		.of = n,
		.place = send,
		.staged = receive,
	};
}

/*
 * Each of two members sends the half that the other keeps. A received half is staged at the
 * place of the half that was sent.
 */
static struct chunk_exchange halving(bool gather, __u32 n, __u32 me, __u32 step)
{
	__u32 half = gather ? 1u << step : n >> (step + 1);
	__u32 keep = me & ~(half - 1), give = keep ^ half;

	return (struct chunk_exchange) {
		.to = me ^ half,
		.from = me ^ half,
		.send = gather ? keep : give,
		.receive = gather ? give : keep,
		.parts = half,
		.of = n,
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
		.of = n,
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
	case CHUNK_TREE:
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
		.of = n,
	};
}

struct chunk_exchange chunk_alg_swap(__u32 n, __u32 me, __u32 index)
{
	struct chunk_exchange x = direct(false, n, me, index);

	x.receive = x.from;
	return x;
}

bool chunk_alg_is_whole(enum chunk_alg alg)
{
	return alg == CHUNK_NETREDUCE || alg == CHUNK_TREE;
}

__u32 chunk_alg_whole_steps(enum chunk_alg alg, __u32 n)
{
	return alg == CHUNK_TREE ? 2 * chunk_alg_tree_steps(n) : 1;
}

/*
 * In a tree a member sends a half to each node beside it. Of four members one has three such
 * nodes in one tree, and one in the other, where it is a leaf.
 */
__u32 chunk_alg_whole_halves(enum chunk_alg alg, __u32 n)
{
	if (alg != CHUNK_TREE)
		return 2;
	return n < 4 ? n : 4;
}

__u32 chunk_alg_tree_steps(__u32 n)
{
	return n < 2 ? 0 : 32 - __builtin_clz(n - 1);
}

/*
 * Nodes are the members in another order. Node 0 is the root. A node's height is the number of
 * zeroes at its end; the nodes below a node are those beside it that are less high.
 */
static __u32 tree_node(__u32 tree, __u32 n, __u32 member)
{
	if (!tree)
		return member;
	return n % 2 ? (member + n - 1) % n : n - 1 - member;
}

static __u32 tree_member(__u32 tree, __u32 n, __u32 node)
{
	if (!tree)
		return node;
	return n % 2 ? (node + 1) % n : n - 1 - node;
}

static bool is_at(__u32 node, __u32 height)
{
	return node && (__u32)__builtin_ctz(node) == height;
}

static __u32 tree_parent(__u32 node, __u32 n)
{
	__u32 bit = node & -node, up = (node ^ bit) | bit << 1;

	return up < n ? up : node ^ bit;
}

struct chunk_exchange chunk_alg_tree(bool gather, __u32 n, __u32 me, __u32 index)
{
	__u32 step = index / CHUNK_TREE_WIDTH, tree = index / 2 % 2, side = index % 2;
	__u32 height = gather ? chunk_alg_tree_steps(n) - 1 - step : step;
	__u32 node = tree_node(tree, n, me);
	__u32 child = side ? node + (1u << height) : node - (1u << height), parent;
	struct chunk_exchange x = {
		.to = me, .from = me, .send = tree, .receive = tree, .parts = 1,
		.of = CHUNK_TREE_HALVES, .place = 2 * tree + side, .staged = 2 * tree + side,
	};

	if (child < n && is_at(child, height) && tree_parent(child, n) == node)
		*(gather ? &x.to : &x.from) = tree_member(tree, n, child);
	if (!is_at(node, height))
		return x;
	parent = tree_parent(node, n);
	if (node > parent ? side : !side)
		*(gather ? &x.from : &x.to) = tree_member(tree, n, parent);
	return x;
}
