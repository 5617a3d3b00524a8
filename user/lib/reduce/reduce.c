// SPDX-License-Identifier: GPL-2.0
/* The netlink family. */
#include <errno.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "family/family.h"
#include "reduce.h"

static const struct family_spec spec = {
	.name = ROCESTEER_REDUCE_FAMILY_NAME,
	.module = "rocesteer_reduce",
	.events = ROCESTEER_REDUCE_MCGRP_EVENTS,
	.version = ROCESTEER_REDUCE_FAMILY_VERSION,
};

/**
 * struct reduce - a connection
 * @family: to the family
 */
struct reduce {
	struct family family;
};

int reduce_open(struct reduce **out, struct err *err)
{
	struct reduce *reduce = malloc(sizeof(*reduce));
	int ret;

	if (!reduce)
		return -ENOMEM;
	ret = family_open(&reduce->family, &spec, err);
	if (ret)
		reduce_close(reduce);
	else
		*out = reduce;
	return ret;
}

void reduce_close(struct reduce *reduce)
{
	if (!reduce)
		return;
	family_close(&reduce->family);
	free(reduce);
}

static void put_rank(struct nlmsghdr *nlh, const struct reduce_config *config, __u32 i)
{
	const struct reduce_rank *rank = &config->rank[i];
	struct nlattr *nest = mnl_attr_nest_start(nlh, ROCESTEER_REDUCE_A_GROUP_RANK);

	mnl_attr_put(nlh, ROCESTEER_REDUCE_A_RANK_ADDRESS, sizeof(rank->address), rank->address);
	mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_RANK_LEAF, rank->leaf);
	if (config->joined) {
		mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_RANK_QPN, rank->qpn);
		mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_RANK_PSN, rank->psn);
		mnl_attr_put_u64(nlh, ROCESTEER_REDUCE_A_RANK_VA, rank->va);
	}
	if (config->joined && reduce_config_is_box(config))
		mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_RANK_SENDER_QPN, rank->sender_qpn);
	mnl_attr_nest_end(nlh, nest);
}

static int change(struct reduce *reduce, __u8 command, const struct reduce_config *config,
		  const char *what, struct err *err)
{
	struct nlmsghdr *nlh;
	__u32 i;

	nlh = family_request(&reduce->family, command, 0);
	mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_GROUP_ID, config->id);
	if (config->joined) {
		mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_GROUP_TYPE, config->type);
		mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_GROUP_OP, config->op);
	}
	mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_GROUP_MTU, config->mtu);
	mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_GROUP_PACKETS, config->packets);
	mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_GROUP_WINDOW, config->window);
	mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_GROUP_ROLE, config->role);
	mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_GROUP_LEAF, config->leaf);
	if (reduce_config_is_box(config))
		mnl_attr_put(nlh, ROCESTEER_REDUCE_A_GROUP_BOX, sizeof(config->box), config->box);
	for (i = 0; i < config->nr_ranks; i++)
		put_rank(nlh, config, i);
	return family_ask(&reduce->family, nlh, NULL, NULL, err, "cannot %s group %u", what,
			  config->id);
}

int reduce_add(struct reduce *reduce, const struct reduce_config *config, struct err *err)
{
	return change(reduce, ROCESTEER_REDUCE_CMD_GROUP_ADD, config, "load", err);
}

int reduce_join(struct reduce *reduce, const struct reduce_config *config, struct err *err)
{
	return change(reduce, ROCESTEER_REDUCE_CMD_GROUP_JOIN, config, "join", err);
}

int reduce_del(struct reduce *reduce, __u32 id, struct err *err)
{
	struct nlmsghdr *nlh;

	nlh = family_request(&reduce->family, ROCESTEER_REDUCE_CMD_GROUP_DEL, 0);
	mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_GROUP_ID, id);
	return family_ask(&reduce->family, nlh, NULL, NULL, err, "cannot unload group %u", id);
}

static void parse_address(const struct nlattr *attr, __u8 address[16])
{
	if (mnl_attr_get_payload_len(attr) == 16)
		memcpy(address, mnl_attr_get_payload(attr), 16);
}

static void parse_rank(const struct nlattr *nest, struct reduce_rank *rank)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		switch (mnl_attr_get_type(attr)) {
		case ROCESTEER_REDUCE_A_RANK_ADDRESS:
			parse_address(attr, rank->address);
			break;
		case ROCESTEER_REDUCE_A_RANK_QPN:
			rank->qpn = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_RANK_PSN:
			rank->psn = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_RANK_VA:
			rank->va = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_RANK_LEAF:
			rank->leaf = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_RANK_SENDER_QPN:
			rank->sender_qpn = family_uint(attr);
			break;
		}
	}
}

static void parse_conn(const struct nlattr *nest, struct reduce_conn *conn)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) <= ROCESTEER_REDUCE_A_CONN_MAX)
			conn->value[mnl_attr_get_type(attr)] = family_uint(attr);
}

static void parse_group(const struct nlmsghdr *nlh, struct reduce_group *group)
{
	struct reduce_config *config = &group->config;
	const struct nlattr *attr;

	*group = (struct reduce_group) { .config.root = REDUCE_NO_ROOT };
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case ROCESTEER_REDUCE_A_GROUP_ID:
			config->id = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_TYPE:
			config->type = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_OP:
			config->joined = true;
			config->op = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_MTU:
			config->mtu = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_PACKETS:
			config->packets = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_WINDOW:
			config->window = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_RANK:
			if (config->nr_ranks < ROCESTEER_REDUCE_MAX_RANKS)
				parse_rank(attr, &config->rank[config->nr_ranks++]);
			break;
		case ROCESTEER_REDUCE_A_GROUP_POISON:
			group->poison = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_POISON_RANK:
			group->by_rank = true;
			group->poison_rank = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_DONE:
			group->done = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_HELD:
			group->held = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_BYTES:
			group->bytes = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_CONN:
			if (group->nr_conns < ROCESTEER_REDUCE_MAX_RANKS)
				parse_conn(attr, &group->conn[group->nr_conns++]);
			break;
		case ROCESTEER_REDUCE_A_GROUP_ROLE:
			config->role = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_LEAF:
			config->leaf = family_uint(attr);
			break;
		case ROCESTEER_REDUCE_A_GROUP_BOX:
			parse_address(attr, config->box);
			break;
		}
	}
}

static int take_group(const struct nlmsghdr *nlh, void *arg)
{
	parse_group(nlh, arg);
	return MNL_CB_OK;
}

int reduce_get(struct reduce *reduce, __u32 id, struct reduce_group *group, struct err *err)
{
	struct nlmsghdr *nlh;

	memset(group, 0, sizeof(*group));
	nlh = family_request(&reduce->family, ROCESTEER_REDUCE_CMD_GROUP_GET, 0);
	mnl_attr_put_u32(nlh, ROCESTEER_REDUCE_A_GROUP_ID, id);
	return family_ask(&reduce->family, nlh, take_group, group, err, "cannot get group %u", id);
}

struct walk {
	void (*fn)(const struct reduce_group *group, void *arg);
	void *arg;
};

static int walk_group(const struct nlmsghdr *nlh, void *arg)
{
	struct reduce_group group;
	struct walk *walk = arg;

	parse_group(nlh, &group);
	walk->fn(&group, walk->arg);
	return MNL_CB_OK;
}

int reduce_each(struct reduce *reduce,
		void (*fn)(const struct reduce_group *group, void *arg), void *arg,
		struct err *err)
{
	struct walk walk = { fn, arg };
	struct nlmsghdr *nlh;

	nlh = family_request(&reduce->family, ROCESTEER_REDUCE_CMD_GROUP_GET, NLM_F_DUMP);
	return family_ask(&reduce->family, nlh, walk_group, &walk, err, "cannot list groups");
}

static int take_stats(const struct nlmsghdr *nlh, void *arg)
{
	struct reduce_stats *stats = arg;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) <= ROCESTEER_REDUCE_A_STATS_MAX)
			stats->value[mnl_attr_get_type(attr)] = family_uint(attr);
	return MNL_CB_OK;
}

int reduce_stats(struct reduce *reduce, struct reduce_stats *stats, struct err *err)
{
	struct nlmsghdr *nlh;

	memset(stats, 0, sizeof(*stats));
	nlh = family_request(&reduce->family, ROCESTEER_REDUCE_CMD_STATS_GET, 0);
	return family_ask(&reduce->family, nlh, take_stats, stats, err, "cannot read the counters");
}
