// SPDX-License-Identifier: GPL-2.0
#include "reducer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const enum rocesteer_reduce_type reducer_types[] = {
	[DATA_INT32] = ROCESTEER_REDUCE_TYPE_INT32,
	[DATA_FLOAT32] = ROCESTEER_REDUCE_TYPE_FP32,
};

/**
 * struct failure - why a group has failed on a rank
 * @text: empty: it has not
 * @psns: first PSNs of the group, by rank 0
 */
struct failure {
	char text[NETREDUCE_FAILURE];
	struct group_psns psns;
};

size_t reducer_largest(const struct perf_config *config)
{
	size_t one = sizeof(struct netreduce_card);

	return (one > sizeof(struct failure) ? one : sizeof(struct failure)) *
	       config->reduce.groups.nr;
}

static __u64 bytes_of(const struct reducer *reducer)
{
	return reducer->config->plan.of.size;
}

/* The first group alive from @i on, or the number of groups. */
static __u32 alive(const struct reducer *reducer, __u32 i)
{
	while (i < reducer->groups && !(reducer->alive >> i & 1))
		i++;
	return i;
}

/* Other ranks wait longer for rank 0. */
static __u64 deadline(const struct reducer *reducer)
{
	return clock_ns() + reducer->config->timeout / 2;
}

static int results_get(struct reducer *reducer)
{
	struct nic_device *nic = &reducer->nic->device;

	reducer->results = mmap(NULL, bytes_of(reducer), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (reducer->results == MAP_FAILED) {
		reducer->results = NULL;
		return nic_fail(nic, errno, "memory", "no memory for the results");
	}
	reducer->mr = ibv_reg_mr_iova(nic->pd, reducer->results, bytes_of(reducer),
				      NETREDUCE_IOVA,
				      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	return reducer->mr ? 0 : nic_fail(nic, errno, "memory",
					  "cannot register the buffer of results (see ulimit -l)");
}

/* A plan is made for hosts. */
static int check_address(const struct reducer *reducer, const struct group *group)
{
	const __u8 *gid = reducer->nic->device.gid.raw;
	__u32 rank = reducer->nic->rank;
	const __u8 *address = group->config.rank[rank].address;
	char text[ADDR_STRLEN], own[ADDR_STRLEN];

	if (!group->planned || !addr_compare(address, gid))
		return 0;
	return err_set(reducer->err, EXIT_BAD_INPUT, "address",
		       "%s: ranks[%u] of group %u is %s, but %s has %s",
		       reducer->config->reduce.file, rank, group->config.id,
		       addr_format(address, text), reducer->nic->device.name,
		       addr_format(gid, own));
}

/* Ignore completions of queue pairs that are gone. */
static int completed(void *arg, const struct ibv_wc *wc)
{
	struct reducer *reducer = arg;
	__u32 tag = netreduce_tag(wc);
	struct netreduce *part = &reducer->part[tag % REDUCTION_GROUPS];

	if (part->tag == tag && part->in)
		netreduce_completed(part, wc);
	return 0;
}

/* All ranks make queue pairs of all groups that are alive, and tell the others. */
static int open_all(struct reducer *reducer, struct netreduce_card *cards)
{
	struct netreduce_card mine[REDUCTION_GROUPS] = {};
	__u32 groups = reducer->groups, i, rank;
	int ret = 0;

	for (i = alive(reducer, 0); i < reducer->groups; i = alive(reducer, i + 1)) {
		reducer->part[i].tag = reducer->round * REDUCTION_GROUPS + i;
		ret = ret ?: netreduce_open(&reducer->part[i]);
		if (!ret)
			netreduce_describe(&reducer->part[i], &mine[i]);
	}
	ret = ret ?: rendezvous_gather(reducer->rendezvous, "queue pairs", mine, cards,
				       groups * sizeof(*cards), 0, reducer->err);
	for (i = alive(reducer, 0); !ret && i < reducer->groups; i = alive(reducer, i + 1))
		for (rank = 0; rank < reducer->group[i].config.nr_ranks; rank++)
			netreduce_put(&cards[rank * groups + i], &reducer->group[i], rank);
	return ret;
}

/* The cards of a group's ranks */
static void column_of(const struct reducer *reducer, const struct netreduce_card *cards, __u32 i,
		      struct netreduce_card column[ROCESTEER_REDUCE_MAX_RANKS])
{
	__u32 rank;

	for (rank = 0; rank < reducer->group[i].config.nr_ranks; rank++)
		column[rank] = cards[rank * reducer->groups + i];
}

/* The switch sends a result when all ranks have sent, so all of them are connected then. */
static int connect_all(struct reducer *reducer, const struct netreduce_card *cards)
{
	struct netreduce_card column[ROCESTEER_REDUCE_MAX_RANKS];
	int ret = 0;
	__u32 i;

	for (i = alive(reducer, 0); !ret && i < reducer->groups; i = alive(reducer, i + 1)) {
		column_of(reducer, cards, i, column);
		ret = netreduce_connect(&reducer->part[i], column, reducer->nic->rank);
	}
	return ret;
}

/* Rank 0 asks the switches. A switch that refuses fails the group. */
static int load_groups(struct reducer *reducer, const struct netreduce_card *cards)
{
	const struct perf_config *config = reducer->config;
	struct netreduce_card column[ROCESTEER_REDUCE_MAX_RANKS];
	__u64 until = deadline(reducer);
	struct err said = {};
	int ret = 0, error;
	__u32 i;

	if (config->launch.rank)
		return 0;
	for (i = alive(reducer, 0); i < reducer->groups; i = alive(reducer, i + 1)) {
		struct group *group = &reducer->group[i];

		group->config.type = reducer_types[config->type];
		group->config.op = ROCESTEER_REDUCE_OP_SUM;
		column_of(reducer, cards, i, column);
		if (!group->planned)
			group->config.mtu = netreduce_common_mtu(group, column);
		error = group_join(group, config->reduce.command, until, &said);
		if (!error)
			continue;
		netreduce_fail(&reducer->part[i], "%s", said.message);
		*reducer->err = said;
		ret = error;
	}
	return ret;
}

/* Why a group is left out: by the first rank that it failed on. */
static void leave_out(struct reducer *reducer, __u32 i, __u32 rank, struct failure *failure)
{
	char said[sizeof(failure->text)];

	failure->text[sizeof(failure->text) - 1] = '\0';
	snprintf(reducer->failed[i], sizeof(reducer->failed[i]), "rank %u: %s", rank,
		 reader_quote(failure->text, said, sizeof(said)));
	reducer->alive &= ~(1ull << i);
	netreduce_stop(&reducer->part[i]);
}

/* All ranks learn which groups have failed on some rank. */
static int agree(struct reducer *reducer, const char *what)
{
	__u32 ranks = reducer->config->layout.ranks, groups = reducer->groups, i, rank;
	struct failure *all = calloc((size_t)ranks * groups, sizeof(*all)), *mine;
	int ret;

	mine = calloc(groups, sizeof(*mine));
	for (i = alive(reducer, 0); i < reducer->groups; i = alive(reducer, i + 1))
		if (mine) {
			memcpy(mine[i].text, reducer->part[i].failure, sizeof(mine[i].text));
			mine[i].psns = reducer->group[i].psns;
		}
	ret = all && mine ? rendezvous_gather(reducer->rendezvous, what, mine, all,
					      groups * sizeof(*all), 0, reducer->err) : -ENOMEM;
	for (i = 0; !ret && i < groups; i++)
		reducer->group[i].psns = all[i].psns;
	for (rank = 0; !ret && rank < ranks; rank++)
		for (i = alive(reducer, 0); i < reducer->groups; i = alive(reducer, i + 1))
			if (all[rank * groups + i].text[0])
				leave_out(reducer, i, rank, &all[rank * groups + i]);
	free(all);
	free(mine);
	return ret;
}

static __u32 count_alive(const struct reducer *reducer)
{
	return __builtin_popcountll(reducer->alive);
}

/* One after the other, all of the buffer. */
static void deal(struct reducer *reducer)
{
	__u32 parts = count_alive(reducer), i;
	__u64 from = 0, bytes;

	for (i = alive(reducer, 0); i < reducer->groups; i = alive(reducer, i + 1)) {
		struct netreduce *part = &reducer->part[i];

		bytes = reduction_share(bytes_of(reducer) - from, parts--, part->message,
					netreduce_mtu(part));
		netreduce_deal(part, from, bytes);
		from += bytes;
	}
}

/* No rank sends before the switches have all groups. */
static int join(struct reducer *reducer)
{
	struct netreduce_card *cards = calloc((size_t)reducer->config->layout.ranks *
					      reducer->groups, sizeof(*cards));
	bool first = !reducer->round++;
	int ret = cards ? open_all(reducer, cards) : -ENOMEM, refused;

	refused = ret ? 0 : load_groups(reducer, cards);
	if (refused && first)
		ret = refused;
	else if (refused)
		*reducer->err = (struct err) {};
	ret = ret ?: agree(reducer, "word that the switches know the groups") ?:
	      connect_all(reducer, cards);
	free(cards);
	if (ret)
		return ret;
	deal(reducer);
	reducer->connected = true;
	return 0;
}

static int parts_init(struct reducer *reducer)
{
	const struct perf_reduce *reduce = &reducer->config->reduce;
	__u32 label[REDUCTION_GROUPS], i;
	int ret = reduction_labels(&reduce->groups, reducer->nic->rank, reduce->port_map, label,
				reducer->err);

	for (i = 0; !ret && i < reducer->groups; i++) {
		reducer->part[i] = (struct netreduce) {
			.nic = &reducer->nic->device,
			.group = &reducer->group[i],
			.label = label[i],
			.key = reducer->mr->rkey,
		};
		ret = check_address(reducer, &reducer->group[i]);
	}
	return ret;
}

int reducer_open(struct reducer *reducer)
{
	const struct reduction *groups = &reducer->config->reduce.groups;

	reducer->groups = groups->nr;
	reducer->alive = ~0ull >> (64 - groups->nr);
	reducer->nic->guest = completed;
	reducer->nic->guest_arg = reducer;
	reducer->group = calloc(groups->nr, sizeof(*groups->group));
	if (!reducer->group)
		return -ENOMEM;
	memcpy(reducer->group, groups->group, groups->nr * sizeof(*groups->group));
	return results_get(reducer) ?: parts_init(reducer) ?: join(reducer);
}

int reducer_prepare(struct reducer *reducer)
{
	int ret = 0;
	__u32 i;

	for (i = alive(reducer, 0); i < reducer->groups; i = alive(reducer, i + 1))
		netreduce_reset(&reducer->part[i]);
	if (reducer->alive && !reducer->connected)
		ret = join(reducer);
	memset(reducer->results, 0xff, bytes_of(reducer));
	return ret;
}

void reducer_start(struct reducer *reducer)
{
	__u32 i;

	for (i = alive(reducer, 0); i < reducer->groups; i = alive(reducer, i + 1))
		netreduce_start(&reducer->part[i]);
}

bool reducer_is_over(const struct reducer *reducer)
{
	__u32 i;

	for (i = alive(reducer, 0); i < reducer->groups; i = alive(reducer, i + 1))
		if (!netreduce_is_over(&reducer->part[i]))
			return false;
	return true;
}

void reducer_give_up(struct reducer *reducer, __u64 ns)
{
	__u32 i;

	for (i = alive(reducer, 0); i < reducer->groups; i = alive(reducer, i + 1)) {
		struct netreduce *part = &reducer->part[i];

		if (netreduce_is_over(part))
			continue;
		netreduce_fail(part,
			       "nothing has happened for %g seconds, with %llu of %llu results here",
			       ns / 1e9, part->received, part->messages);
	}
}

bool reducer_has_failed(const struct reducer *reducer)
{
	__u32 i;

	for (i = alive(reducer, 0); i < reducer->groups; i = alive(reducer, i + 1))
		if (reducer->part[i].failure[0])
			return true;
	return false;
}

static void stop_all(struct reducer *reducer)
{
	__u32 i;

	for (i = 0; i < reducer->groups; i++)
		netreduce_stop(&reducer->part[i]);
	reducer->connected = false;
}

int reducer_stop(struct reducer *reducer)
{
	int ret = agree(reducer, "word of what has failed");

	stop_all(reducer);
	return ret;
}

void reducer_close(struct reducer *reducer, struct err *left)
{
	__u64 until;
	__u32 i;

	if (!reducer->group)
		return;
	until = deadline(reducer);
	for (i = 0; i < reducer->groups; i++)
		group_leave(&reducer->group[i], reducer->config->reduce.command, until, left);
	stop_all(reducer);
	if (reducer->mr)
		ibv_dereg_mr(reducer->mr);
	if (reducer->results)
		munmap(reducer->results, bytes_of(reducer));
	free(reducer->group);
}
