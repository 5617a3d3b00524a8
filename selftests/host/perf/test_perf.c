// SPDX-License-Identifier: GPL-2.0
/*
 * Collectives run by their engines over an array in place of a network, where messages and
 * acknowledgments overtake each other as far as queue pairs allow. Where switches sum, a message
 * arrives when all members have sent theirs at the same place, as the sum of what they sent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../user/perf/engine/engine.h"
#include "../../random.h"
#include "../../ktap.h"

#define MAX_RANKS	64u
#define ALGS		(CHUNK_TREE + 1u)

/* Messages of a queue pair in one direction, in order, and their acknowledgments */
struct wire {
	struct message *message;
	__u32 **copy;		/* what a switch has got */
	__u32 sent;
	__u32 arrived;
	__u32 acked;
	__u32 room;
};

struct host {
	struct engine *engine;
	__u32 *window;
	struct wire wire[CHUNK_MAX_DIMS][MAX_RANKS];	/* to each member */
	struct wire summed[CHUNK_MAX_DIMS];		/* by a switch */
};

static struct layout layout;
static enum data_type summed_type;
static struct host hosts[MAX_RANKS];
static struct wire *cut;	/* it carries so many messages, and no more */
static __u32 cut_after;

static int host_write(void *arg, const struct message *message)
{
	struct host *host = arg;
	struct wire *wire = message->sum ? &host->summed[message->dim] :
			    &host->wire[message->dim][message->member];

	if (wire->sent == wire->room) {
		wire->room = 2 * wire->room + 16;
		wire->message = realloc(wire->message, wire->room * sizeof(*wire->message));
		wire->copy = realloc(wire->copy, wire->room * sizeof(*wire->copy));
	}
	wire->copy[wire->sent] = NULL;
	if (message->sum) {
		wire->copy[wire->sent] = malloc(message->elements * ELEMENT + 1);
		memcpy(wire->copy[wire->sent], host->window + message->from,
		       message->elements * ELEMENT);
	}
	wire->message[wire->sent++] = *message;
	return 0;
}

/* How many messages have been sent: by all members, where a switch sums */
static __u32 ready(__u32 rank, const struct wire *wire)
{
	__u32 least = wire->sent, dim, m;

	if (wire < hosts[rank].summed || wire >= hosts[rank].summed + CHUNK_MAX_DIMS)
		return least;
	dim = wire - hosts[rank].summed;
	for (m = 0; m < layout.plan->of.dim[dim].endpoints; m++) {
		__u32 sent = hosts[layout_rank(&layout, rank, dim, m)].summed[dim].sent;

		least = sent < least ? sent : least;
	}
	return least;
}

/* Return: false if members have sent other messages at this place. */
static bool sum(__u32 rank, const struct message *message, __u32 place, __u32 *to)
{
	__u32 dim = message->dim, m;

	memset(to, 0, message->elements * ELEMENT);
	for (m = 0; m < layout.plan->of.dim[dim].endpoints; m++) {
		const struct wire *wire =
			&hosts[layout_rank(&layout, rank, dim, m)].summed[dim];

		if (wire->message[place].id != message->id ||
		    wire->message[place].to != message->to ||
		    wire->message[place].elements != message->elements)
			return false;
		data_add(summed_type, to, wire->copy[place], message->elements);
	}
	return true;
}

/* The data is read as late as a NIC may read it. */
static int deliver(__u32 rank, struct wire *wire)
{
	__u32 place = wire->arrived++;
	const struct message *message = &wire->message[place];
	__u32 to = layout_rank(&layout, rank, message->dim, message->member);

	if (message->sum && !sum(rank, message, place, hosts[to].window + message->to))
		return -EBADMSG;
	if (!message->sum)
		memcpy(hosts[to].window + message->to,
		       hosts[rank].window + message->from,
		       message->elements * ELEMENT);
	return engine_arrived(hosts[to].engine, message->dim,
			      layout_member(&layout, rank, message->dim),
			      message->id);
}

/* Take a step on a random wire. Return: 0 when there is none. */
static int happen(int *ret)
{
	__u32 dims = layout.plan->of.dims, nr = 0, pick, rank, k, m;
	struct { struct wire *wire; __u32 rank; } busy[4096];

	for (rank = 0; rank < layout.ranks; rank++)
		for (k = 0; k < dims; k++)
			for (m = 0; m <= layout.plan->of.dim[k].endpoints; m++) {
				struct wire *wire =
					m < layout.plan->of.dim[k].endpoints ?
					&hosts[rank].wire[k][m] : &hosts[rank].summed[k];

				if (wire->acked == ready(rank, wire) ||
				    (wire == cut && wire->acked == cut_after) ||
				    nr == ARRAY_SIZE(busy))
					continue;
				busy[nr].wire = wire;
				busy[nr++].rank = rank;
			}
	if (!nr)
		return 0;
	pick = random_below(nr);
	if (busy[pick].wire->arrived < ready(busy[pick].rank, busy[pick].wire) &&
	    (busy[pick].wire != cut || cut->arrived < cut_after) &&
	    (busy[pick].wire->acked == busy[pick].wire->arrived || random_below(2))) {
		*ret = deliver(busy[pick].rank, busy[pick].wire);
	} else {
		struct wire *wire = busy[pick].wire;

		*ret = engine_sent(hosts[busy[pick].rank].engine, wire->message[wire->acked++].id);
	}
	return 1;
}

static void wire_free(struct wire *wire)
{
	__u32 i;

	for (i = 0; i < wire->sent; i++)
		free(wire->copy[i]);
	free(wire->copy);
	free(wire->message);
}

static void hosts_free(void)
{
	__u32 rank, k, m;

	for (rank = 0; rank < layout.ranks; rank++) {
		engine_free(hosts[rank].engine);
		free(hosts[rank].window);
		for (k = 0; k < CHUNK_MAX_DIMS; k++) {
			for (m = 0; m < MAX_RANKS; m++)
				wire_free(&hosts[rank].wire[k][m]);
			wire_free(&hosts[rank].summed[k]);
		}
	}
	memset(hosts, 0, sizeof(hosts));
	layout_free(&layout);
}

static void hosts_new(const struct chunk_plan *plan, enum data_type type, __u32 in_flight)
{
	__u32 rank;

	summed_type = type;
	layout_init(&layout, plan);
	for (rank = 0; rank < layout.ranks; rank++) {
		struct host *host = &hosts[rank];

		host->window = malloc(layout.elements * ELEMENT);
		host->engine = engine_new(&layout, rank, type, host->window,
					  in_flight, host_write, host);
		data_fill(&layout, type, rank, host->window);
	}
}

/* Ranks begin at any time, also after their first messages arrived. */
static bool run(void)
{
	__u32 begun = 0, rank, k;
	int ret = 0;

	while (begun < layout.ranks) {
		ret = engine_start(hosts[begun++].engine);
		for (k = random_below(8); k && !ret; k--)
			happen(&ret);
		if (ret)
			return false;
	}
	while (!ret && happen(&ret))
		;
	for (rank = 0; rank < layout.ranks; rank++)
		if (!engine_is_done(hosts[rank].engine))
			return false;
	return !ret;
}

static __u64 wrong(enum data_type type)
{
	__u64 sum = 0;
	__u32 rank;

	for (rank = 0; rank < layout.ranks; rank++)
		sum += data_check(&layout, type, rank, hosts[rank].window);
	return sum;
}

/* Run twice: the first run must leave nothing that changes the next. */
static bool runs_right(const struct chunk_plan *plan, enum data_type type, __u32 in_flight)
{
	bool right = true;
	__u32 rank, i;

	hosts_new(plan, type, in_flight);
	for (i = 0; right && i < 2; i++) {
		right = wrong(type) && run() && !wrong(type);
		for (rank = 0; rank < layout.ranks; rank++) {
			engine_reset(hosts[rank].engine);
			data_fill(&layout, type, rank, hosts[rank].window);
		}
	}
	hosts_free();
	return right;
}

/* All algorithms in all dimensions of a network, at sizes even and not. */
static void test_network(const __u32 *dims, enum chunk_kind kind)
{
	static const __u32 sizes[] = { 1, 3, 64, 97, 1024, 1311 };
	struct chunk_collective of = { .kind = kind };
	char name[32] = "";
	__u32 runs = 0, combinations = 1, c, s, k;
	bool right = true;

	for (k = 0; dims[k]; k++) {
		of.dim[k] = (struct chunk_dim) {
			.endpoints = dims[k],
			.bandwidth = (4 - k) * CHUNK_BANDWIDTH_UNIT,
		};
		combinations *= ALGS;
		sprintf(name + strlen(name), "%s%u", k ? "x" : "", dims[k]);
	}
	of.dims = k;
	for (c = 0; c < combinations; c++) {
		__u32 rest = c, ranks = 1;
		bool takes = true;

		for (k = 0; k < of.dims; k++, rest /= ALGS) {
			of.dim[k].alg = rest % ALGS;
			takes &= chunk_alg_takes(rest % ALGS, dims[k]);
			ranks *= dims[k];
		}
		for (s = 0; takes && right && s < ARRAY_SIZE(sizes); s++) {
			struct chunk_plan plan;

			of.chunks = 1 + random_below(6);
			of.size = ELEMENT * of.chunks * sizes[s];
			if (kind == CHUNK_ALL_TO_ALL)
				of.size *= ranks;
			if (chunk_plan_make(&plan, &of, runs & 1))
				continue;
			right = runs_right(&plan, runs / 2 & 1, 1 + random_below(4));
			chunk_plan_free(&plan);
			runs++;
		}
	}
	ktap_result(right && runs, "%s over %s: %u runs", chunk_kinds[kind], name, runs);
}

/* Compute the sums independently of the checker. */
static void test_reference(void)
{
	struct chunk_collective of = {
		.size = 1000 * ELEMENT, .chunks = 4, .dims = 2,
		.dim = { { .endpoints = 3, .bandwidth = 2 },
			 { .endpoints = 4, .bandwidth = 1 } },
	};
	static float sum[1000];
	struct chunk_plan plan;
	bool equal = true;
	__u32 rank, i;

	chunk_plan_make(&plan, &of, CHUNK_THEMIS);
	hosts_new(&plan, DATA_FLOAT32, 2);
	for (rank = 0; rank < 12; rank++)
		for (i = 0; i < 1000; i++)
			sum[i] += ((float *)hosts[rank].window)[i];
	equal = run();
	for (rank = 0; rank < 12; rank++)
		equal &= !memcmp(hosts[rank].window, sum, sizeof(sum));
	ktap_result(equal, "every rank has the sums");
	hosts[5].window[17] ^= 1;
	hosts[7].window[999] ^= 1u << 31;
	ktap_result(wrong(DATA_FLOAT32) == 2, "a flipped bit of a result is noticed");
	hosts_free();
	chunk_plan_free(&plan);
}

static void test_strange(void)
{
	struct chunk_collective of = {
		.size = 64 * ELEMENT, .chunks = 2, .dims = 1,
		.dim = { { .endpoints = 4, .bandwidth = 1 } },
	};
	struct chunk_plan plan;
	struct message first;

	chunk_plan_make(&plan, &of, CHUNK_THEMIS);
	hosts_new(&plan, DATA_INT32, 1);
	engine_start(hosts[0].engine);
	first = hosts[0].wire[0][1].message[0];
	ktap_result(!engine_arrived(hosts[1].engine, 0, 0, first.id) &&
		    engine_arrived(hosts[1].engine, 0, 0, first.id) == -EPROTO &&
		    engine_arrived(hosts[2].engine, 0, 0, first.id) == -EPROTO &&
		    engine_arrived(hosts[2].engine, 1, 1, first.id) == -EPROTO &&
		    engine_arrived(hosts[2].engine, 0, 1, ~0u) == -EPROTO &&
		    engine_sent(hosts[0].engine, ~0u) == -EPROTO,
		    "a message that comes twice, or to the wrong one, is refused");
	ktap_result(engine_awaits(hosts[0].engine).rank == 3 &&
		    engine_awaits(hosts[0].engine).arrival,
		    "the engine knows the rank that it waits for");
	hosts_free();
	chunk_plan_free(&plan);
}

/* The rank that waits for nothing but the cut */
static bool finds_cut(__u32 rank, __u32 dim, __u32 member)
{
	__u32 peer = layout_rank(&layout, rank, dim, member);
	struct awaited first = { .order = -1 }, awaited;
	__u32 i, who = 0;

	for (i = 0; i < layout.ranks; i++) {
		if (engine_is_done(hosts[i].engine))
			continue;
		awaited = engine_awaits(hosts[i].engine);
		if (awaited.order >= first.order)
			continue;
		first = awaited;
		who = i;
	}
	return who == peer && first.rank == rank && first.dim == dim &&
	       first.arrival;
}

/* A link carries nothing after some message: the engines name its rank. */
static void test_cut(void)
{
	struct chunk_collective of = {
		.size = 8 * 128 * ELEMENT, .chunks = 8, .dims = 2,
		.dim = { { .endpoints = 4, .bandwidth = 2 },
			 { .endpoints = 4, .bandwidth = 1 } },
	};
	static const enum chunk_alg algs[] = {
		CHUNK_RING, CHUNK_HALVING, CHUNK_DIRECT, CHUNK_TREE,
	};
	__u32 found = 0, cuts = 0, rank, dim, member, i;

	for (i = 0; i < 800; i++) {
		struct chunk_plan plan;

		of.kind = random_below(CHUNK_ALL_TO_ALL + 1);
		of.dim[0].alg = algs[random_below(ARRAY_SIZE(algs))];
		of.dim[1].alg = algs[random_below(ARRAY_SIZE(algs))];
		if (chunk_plan_make(&plan, &of, random_below(2)))
			continue;
		hosts_new(&plan, DATA_INT32, 1 + random_below(4));
		rank = random_below(layout.ranks);
		dim = random_below(2);
		member = random_below(4);
		cut = &hosts[rank].wire[dim][member];
		cut_after = random_below(12);
		/* The cut wire may have carried all messages before. */
		if (!run()) {
			cuts++;
			found += finds_cut(rank, dim, member);
		}
		cut = NULL;
		hosts_free();
		chunk_plan_free(&plan);
	}
	ktap_result(cuts > 100 && found == cuts,
		    "a link that is cut is found: %u of %u", found, cuts);
}

/* Where a rank writes, by what. */
struct claim {
	__u64 from;
	__u64 to;
	__u32 rank;
	__u32 chunk;
	__u32 stage;
};

static struct claim claims[100000];
static __u32 nr_claims, writer;

static void claim(void *arg, __u32 chunk, __u32 stage, const struct message *message)
{
	(void)arg;
	if (message->elements)
		claims[nr_claims++] = (struct claim) {
			.from = message->to,
			.to = message->to + message->elements,
			.rank = layout_rank(&layout, writer, message->dim, message->member),
			.chunk = chunk,
			.stage = stage,
		};
}

static int compare_claims(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* No address of a window is written twice. */
static void test_places(void)
{
	struct chunk_collective of = {
		.size = 4 * 1003 * ELEMENT, .chunks = 4, .dims = 3,
		.dim = { { .endpoints = 3, .bandwidth = 3 },
			 { .endpoints = 4, .bandwidth = 2,
			   .alg = CHUNK_HALVING },
			 { .endpoints = 2, .bandwidth = 1,
			   .alg = CHUNK_DIRECT } },
	};
	struct chunk_plan plan;
	bool apart = true;
	__u32 policy, i;

	for (policy = 0; policy < 4; policy++) {
		nr_claims = 0;
		of.dim[2].alg = policy < 2 ? CHUNK_NETREDUCE : CHUNK_DIRECT;
		chunk_plan_make(&plan, &of, policy % 2);
		layout_init(&layout, &plan);
		for (writer = 0; writer < layout.ranks; writer++)
			engine_messages(&layout, writer, claim, NULL);
		qsort(claims, nr_claims, sizeof(*claims), compare_claims);
		for (i = 1; i < nr_claims; i++)
			apart &= claims[i].rank != claims[i - 1].rank ||
				 claims[i].from >= claims[i - 1].to;
		for (i = 0; i < nr_claims; i++)
			apart &= claims[i].to <= layout.elements;
		layout_free(&layout);
		chunk_plan_free(&plan);
	}
	ktap_result(apart && nr_claims == 24 * 4 * 10,
		    "no two messages of a run have a place in common");
}

int main(void)
{
	static const __u32 networks[][CHUNK_MAX_DIMS] = {
		{ 2 }, { 3 }, { 8 }, { 13 }, { 4, 2 }, { 2, 3 }, { 1, 4, 2 },
		{ 4, 4 }, { 2, 2, 3 }, { 5, 1, 3 },
	};
	enum chunk_kind kind;
	__u32 i;

	ktap_begin();
	for (kind = CHUNK_ALL_REDUCE; kind <= CHUNK_ALL_TO_ALL; kind++)
		for (i = 0; i < ARRAY_SIZE(networks); i++)
			test_network(networks[i], kind);
	test_reference();
	test_strange();
	test_cut();
	test_places();
	return ktap_end();
}
