// SPDX-License-Identifier: GPL-2.0
#include "reducer.h"

#include <errno.h>
#include <stdlib.h>

/* What the switch calls the types of data.h. */
static const char * const types[] = {
	[DATA_INT32] = "int32",
	[DATA_FLOAT32] = "fp32",
};

/* The others wait for rank 0 for longer than that. */
static __u64 patience(const struct reducer *reducer)
{
	return reducer->config->timeout / 2;
}

static int load(struct reducer *reducer, const struct netreduce_card *cards, struct err *err)
{
	const struct perf_config *config = reducer->config;
	struct group_rank rank[GROUP_RANKS];
	const struct group group = {
		.command = config->reduce.command,
		.number = config->reduce.group,
		.type = types[config->type],
		.mtu = netreduce_mtu(&reducer->netreduce),
		.packets = config->reduce.packets,
		.window = NETREDUCE_WINDOW,
		.rank = rank,
		.ranks = config->layout.ranks,
	};
	__u32 i;

	for (i = 0; i < group.ranks; i++)
		rank[i] = netreduce_rank(&cards[i]);
	return group_load(&group, patience(reducer), err);
}

static void unload(const struct reducer *reducer, struct err *err)
{
	const struct group group = {
		.command = reducer->config->reduce.command,
		.number = reducer->config->reduce.group,
	};

	group_unload(&group, patience(reducer), err);
}

/* Nobody sends before the switch knows the group. */
static int join(struct reducer *reducer, struct rendezvous *rendezvous, struct err *err)
{
	struct netreduce_card mine = {}, *cards = calloc(reducer->config->layout.ranks,
							 sizeof(*cards));
	int ret = cards ? 0 : -ENOMEM;

	netreduce_describe(&reducer->netreduce, &mine);
	ret = ret ?: rendezvous_gather(rendezvous, "queue pairs", &mine, cards, sizeof(mine), 0,
				       err);
	ret = ret ?: netreduce_connect(&reducer->netreduce, cards);
	if (!ret && !reducer->config->launch.rank) {
		ret = load(reducer, cards, err);
		reducer->told = !ret;
	}
	free(cards);
	return ret ?: rendezvous_gather(rendezvous, "word that the switch knows the group", NULL,
					NULL, 0, 0, err);
}

int reducer_open(struct reducer *reducer, const struct perf_config *config, struct nic *nic,
		 struct rendezvous *rendezvous, struct err *err)
{
	reducer->config = config;
	reducer->netreduce = (struct netreduce) {
		.nic = nic,
		.bytes = config->plan.of.size,
		.group = config->reduce.group,
		.packets = config->reduce.packets,
	};
	return netreduce_open(&reducer->netreduce) ?: join(reducer, rendezvous, err);
}

void reducer_close(struct reducer *reducer, struct err *err)
{
	if (reducer->told)
		unload(reducer, err);
	if (reducer->config)
		netreduce_close(&reducer->netreduce);
}
