// SPDX-License-Identifier: GPL-2.0
#include "sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reducer.h"

__u32 sums_groups(const struct chunk_collective *of, __u32 dim)
{
	return layout_ranks(of) / of->dim[dim].endpoints;
}

size_t sums_largest(const struct perf_config *config)
{
	if (!config->sums.command)
		return 0;
	return sums_groups(&config->plan.of, config->sums.dim) * sizeof(struct group_psns);
}

/* Ranks in their order, as if the dimension had one member. */
static __u32 index_of(const struct perf_config *config, __u32 rank)
{
	const struct layout *layout = &config->layout;
	__u32 dim = config->sums.dim, n = config->plan.of.dim[dim].endpoints;
	__u32 first = layout_rank(layout, rank, dim, 0);
	__u32 stride = layout_rank(layout, rank, dim, 1) - first;

	return first / (stride * n) * stride + first % stride;
}

__u32 sums_group(const struct perf_config *config, __u32 rank)
{
	return config->sums.group + index_of(config, rank);
}

static __u32 members(const struct sums *sums)
{
	return sums->config->plan.of.dim[sums->config->sums.dim].endpoints;
}

/* Other ranks wait longer for rank 0. */
static __u64 deadline(const struct sums *sums)
{
	return clock_ns() + sums->config->timeout / 2;
}

static int fail(const struct sums *sums)
{
	return err_set(sums->err, EXIT_FAILED, "switch", "dimension %u: group %u: %s",
		       sums->nic->dim, sums->lane.group->config.id, sums->lane.failure);
}

/* Stages in their order, whose sums have arrived or whose messages are acknowledged */
static int proceed(struct sums *sums)
{
	struct engine *engine = sums->nic->engine;
	int ret = 0;

	while (!ret && sums->arrived < sums->nr &&
	       sums->sum[sums->arrived].end <= sums->lane.received) {
		const struct sum *sum = &sums->sum[sums->arrived++];

		ret = engine_arrived(engine, sums->nic->dim, sum->source, sum->id);
	}
	while (!ret && sums->sent < sums->nr && sums->sum[sums->sent].end <= sums->lane.sent)
		ret = engine_sent(engine, sums->sum[sums->sent++].id);
	return ret;
}

static int completed(void *arg, const struct ibv_wc *wc)
{
	struct sums *sums = arg;

	netreduce_completed(&sums->lane, wc);
	return sums->lane.failure[0] ? fail(sums) : proceed(sums);
}

/* The most messages and stages of a run */
struct most {
	__u64 bytes;	/* of a message */
	__u64 messages;
	__u32 sums;
};

static void count(void *arg, __u32 chunk, __u32 stage, const struct message *message)
{
	struct most *most = arg;

	(void)chunk;
	(void)stage;
	if (!message->sum)
		return;
	most->messages += (message->elements * ELEMENT + most->bytes - 1) / most->bytes;
	most->sums++;
}

static int make_room(struct sums *sums)
{
	struct most most = { .bytes = sums->lane.message };

	engine_messages(&sums->config->layout, sums->nic->rank, count, &most);
	sums->message = calloc(most.messages + 1, sizeof(*sums->message));
	sums->sum = calloc(most.sums + 1, sizeof(*sums->sum));
	sums->lane.list = sums->message;
	return sums->message && sums->sum ? 0 : -ENOMEM;
}

/* All groups have the same MTU. */
static void level_mtu(struct netreduce_card *cards, __u32 ranks)
{
	__u32 least = IBV_MTU_4096, i;

	for (i = 0; i < ranks; i++)
		if (cards[i].address.mtu < least)
			least = cards[i].address.mtu;
	for (i = 0; i < ranks; i++)
		cards[i].address.mtu = least;
}

static int connect_own(struct sums *sums, const struct netreduce_card *cards)
{
	const struct layout *layout = &sums->config->layout;
	__u32 dim = sums->nic->dim, rank = sums->nic->rank, m;
	struct netreduce_card column[ROCESTEER_REDUCE_MAX_RANKS];

	for (m = 0; m < members(sums); m++)
		column[m] = cards[layout_rank(layout, rank, dim, m)];
	return netreduce_connect(&sums->lane, column, layout_member(layout, rank, dim));
}

/* Rank 0 asks the switch. */
static int load_groups(struct sums *sums, const struct netreduce_card *cards)
{
	const struct perf_config *config = sums->config;
	__u64 until = deadline(sums);
	__u32 rank, i;
	int ret = 0;

	if (config->launch.rank)
		return 0;
	for (rank = 0; rank < config->layout.ranks; rank++) {
		__u32 member = layout_member(&config->layout, rank, config->sums.dim);
		struct group *group = &sums->group[index_of(config, rank)];

		netreduce_put(&cards[rank], group, member);
		group->config.rank[member].va = WINDOW_IOVA;
	}
	for (i = 0; !ret && i < sums->groups; i++) {
		struct group *group = &sums->group[i];

		group->config.type = reducer_types[config->type];
		group->config.op = ROCESTEER_REDUCE_OP_SUM;
		group->config.mtu = netreduce_common_mtu(group, cards);
		ret = group_join(group, config->sums.command, until, sums->err);
	}
	return ret;
}

/* All ranks learn the groups' PSNs from rank 0. No rank sends before the switch has all groups. */
static int agree(struct sums *sums)
{
	struct group_psns *all = calloc((size_t)sums->config->layout.ranks * sums->groups,
					sizeof(*all));
	struct group_psns *mine = calloc(sums->groups, sizeof(*mine));
	int ret = all && mine ? 0 : -ENOMEM;
	__u32 i;

	for (i = 0; !ret && i < sums->groups; i++)
		mine[i] = sums->group[i].psns;
	ret = ret ?: rendezvous_gather(sums->rendezvous, "word that the switch knows the groups",
				       mine, all, sums->groups * sizeof(*all), 0, sums->err);
	for (i = 0; !ret && i < sums->groups; i++)
		sums->group[i].psns = all[i];
	free(mine);
	free(all);
	return ret;
}

static int groups_init(struct sums *sums)
{
	const struct perf_config *config = sums->config;
	__u32 i;

	sums->groups = sums_groups(&config->plan.of, config->sums.dim);
	sums->group = calloc(sums->groups, sizeof(*sums->group));
	if (!sums->group)
		return -ENOMEM;
	for (i = 0; i < sums->groups; i++)
		group_init(&sums->group[i], config->sums.group + i, config->sums.packets,
			   config->sums.box, members(sums));
	sums->lane = (struct netreduce) {
		.nic = &sums->nic->device,
		.group = &sums->group[index_of(config, config->launch.rank)],
		.key = sums->nic->device.mr->rkey,
	};
	sums->nic->guest = completed;
	sums->nic->guest_arg = sums;
	return 0;
}

int sums_open(struct sums *sums)
{
	__u32 ranks = sums->config->layout.ranks;
	struct netreduce_card *cards = calloc(ranks, sizeof(*cards)), mine = {};
	int ret = cards ? groups_init(sums) : -ENOMEM;

	ret = ret ?: netreduce_open(&sums->lane);
	if (!ret)
		netreduce_describe(&sums->lane, &mine);
	ret = ret ?: rendezvous_gather(sums->rendezvous, "queue pairs", &mine, cards,
				       sizeof(mine), 0, sums->err);
	if (!ret)
		level_mtu(cards, ranks);
	ret = ret ?: load_groups(sums, cards) ?: agree(sums) ?: connect_own(sums, cards) ?:
	      make_room(sums);
	free(cards);
	return ret;
}

void sums_reset(struct sums *sums)
{
	netreduce_reset(&sums->lane);
	sums->lane.messages = 0;
	sums->nr = 0;
	sums->arrived = 0;
	sums->sent = 0;
}

int sums_write(struct sums *sums, const struct message *message)
{
	struct netreduce *lane = &sums->lane;
	__u64 bytes = message->elements * ELEMENT, at;

	for (at = 0; at < bytes; at += lane->message)
		sums->message[lane->messages++] = (struct netreduce_message) {
			.from = WINDOW_IOVA + message->from * ELEMENT + at,
			.to = WINDOW_IOVA + message->to * ELEMENT + at,
			.bytes = bytes - at < lane->message ? bytes - at : lane->message,
		};
	sums->sum[sums->nr++] = (struct sum) {
		.id = message->id, .source = message->source, .end = lane->messages,
	};
	netreduce_start(lane);
	return lane->failure[0] ? fail(sums) : 0;
}

void sums_close(struct sums *sums, struct err *left)
{
	__u64 until;
	__u32 i;

	if (!sums->group)
		return;
	until = deadline(sums);
	for (i = 0; i < sums->groups; i++)
		group_leave(&sums->group[i], sums->config->sums.command, until, left);
	netreduce_stop(&sums->lane);
	free(sums->message);
	free(sums->sum);
	free(sums->group);
}
