// SPDX-License-Identifier: GPL-2.0
/*
 * The netlink family. Its tables, in netlink-gen.c, are generated from
 * Documentation/netlink/specs/rocesteer_reduce.yaml.
 */
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "conf.h"
#include "event.h"
#include "group.h"
#include "net.h"
#include "netlink.h"
#include "netlink-gen.h"
#include "slot.h"

/* Large enough for a group with the most ranks, about 10 KiB */
#define NL_RANK_SIZE	nla_total_size(nla_total_size(sizeof(struct in6_addr)) + \
				       4 * nla_total_size(sizeof(u32)) + \
				       nla_total_size(sizeof(u64)))
#define NL_CONN_SIZE	nla_total_size(ROCESTEER_REDUCE_A_CONN_MAX * \
				       nla_total_size(sizeof(u64)))
#define NL_GROUP_SIZE	(GENL_HDRLEN + \
			 ROCESTEER_REDUCE_A_GROUP_MAX * nla_total_size(sizeof(u64)) + \
			 REDUCE_MAX_RANKS * (NL_RANK_SIZE + NL_CONN_SIZE))
#define NL_EVENT_SIZE	(GENL_HDRLEN + 3 * nla_total_size(sizeof(u32)))

static_assert(REDUCE_MAX_RANKS == ROCESTEER_REDUCE_MAX_RANKS);
static_assert((int)REDUCE_GONE == (int)ROCESTEER_REDUCE_POISON_GONE);

/* Multicast walks all generic netlink sockets of the host: never under a group's lock */
static struct workqueue_struct *nl_queue;

/* Required attributes of each request */
static const u8 nl_group_required[] = {
	ROCESTEER_REDUCE_A_GROUP_ID,
	ROCESTEER_REDUCE_A_GROUP_MTU,
	ROCESTEER_REDUCE_A_GROUP_PACKETS,
	ROCESTEER_REDUCE_A_GROUP_WINDOW,
	ROCESTEER_REDUCE_A_GROUP_RANK,
};

/* Attributes of a rank of a group with type and operation, and of no other */
static const u8 nl_rank_joins[] = {
	ROCESTEER_REDUCE_A_RANK_QPN,
	ROCESTEER_REDUCE_A_RANK_PSN,
	ROCESTEER_REDUCE_A_RANK_VA,
};

static struct reduce_net *nl_net(const struct genl_info *info)
{
	return reduce_net(genl_info_net(info));
}

/* Type and operation of a request require queue pairs; a box requires those that send. */
static int nl_rank_parse(struct reduce_config *config, const struct nlattr *nest,
			 struct netlink_ext_ack *extack)
{
	bool joins = config->joined, sends = joins && reduce_config_is_box(config);
	struct reduce_rank_config *rank = &config->rank[config->nr_ranks];
	u32 nr = config->nr_ranks;
	struct nlattr *tb[ROCESTEER_REDUCE_A_RANK_MAX + 1];
	size_t i;
	int err;

	err = nla_parse_nested(tb, ROCESTEER_REDUCE_A_RANK_MAX, nest,
			       roce_reduce_rank_nl_policy, extack);
	if (err)
		return err;
	if (NL_REQ_ATTR_CHECK(extack, nest, tb, ROCESTEER_REDUCE_A_RANK_ADDRESS)) {
		NL_SET_ERR_MSG_FMT(extack, "Address of rank %u is missing", nr);
		return -EINVAL;
	}
	for (i = 0; i < ARRAY_SIZE(nl_rank_joins); i++)
		if (!tb[nl_rank_joins[i]] == joins) {
			NL_SET_ERR_MSG_FMT(extack, "Rank %u: queue pair, PSN or address is %s", nr,
					   joins ? "missing" : "there, type or operation is not");
			return -EINVAL;
		}
	if (!tb[ROCESTEER_REDUCE_A_RANK_SENDER_QPN] == sends) {
		NL_SET_ERR_MSG_FMT(extack, "Queue pair number of sender %u is %s", nr,
				   sends ? "missing" : "there, box or type is not");
		return -EINVAL;
	}
	nla_memcpy(&rank->address, tb[ROCESTEER_REDUCE_A_RANK_ADDRESS],
		   sizeof(rank->address));
	if (tb[ROCESTEER_REDUCE_A_RANK_LEAF])
		rank->leaf = nla_get_u32(tb[ROCESTEER_REDUCE_A_RANK_LEAF]);
	if (!joins)
		return 0;
	rank->qpn = nla_get_u32(tb[ROCESTEER_REDUCE_A_RANK_QPN]);
	rank->psn = nla_get_u32(tb[ROCESTEER_REDUCE_A_RANK_PSN]);
	rank->va = nla_get_uint(tb[ROCESTEER_REDUCE_A_RANK_VA]);
	if (sends)
		rank->sender_qpn = nla_get_u32(tb[ROCESTEER_REDUCE_A_RANK_SENDER_QPN]);
	return 0;
}

static int nl_ranks_parse(struct reduce_config *config, const struct genl_info *info)
{
	const struct nlattr *nest;
	int rem, err;

	nla_for_each_attr_type(nest, ROCESTEER_REDUCE_A_GROUP_RANK,
			       nlmsg_attrdata(info->nlhdr, GENL_HDRLEN),
			       nlmsg_attrlen(info->nlhdr, GENL_HDRLEN), rem) {
		if (config->nr_ranks == REDUCE_MAX_RANKS) {
			NL_SET_ERR_MSG_ATTR(info->extack, nest, "Group has more than 64 ranks");
			return -EINVAL;
		}
		err = nl_rank_parse(config, nest, info->extack);
		if (err)
			return err;
		config->nr_ranks++;
	}
	return 0;
}

static int nl_group_parse(struct reduce_config *config, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(nl_group_required); i++)
		if (GENL_REQ_ATTR_CHECK(info, nl_group_required[i])) {
			NL_SET_ERR_MSG(info->extack,
				       "Number, MTU, packets, window or ranks are missing");
			return -EINVAL;
		}
	if (!attrs[ROCESTEER_REDUCE_A_GROUP_TYPE] != !attrs[ROCESTEER_REDUCE_A_GROUP_OP]) {
		NL_SET_ERR_MSG(info->extack, "Type or operation is missing");
		return -EINVAL;
	}
	config->id = nla_get_u32(attrs[ROCESTEER_REDUCE_A_GROUP_ID]);
	config->mtu = nla_get_u32(attrs[ROCESTEER_REDUCE_A_GROUP_MTU]);
	config->packets = nla_get_u32(attrs[ROCESTEER_REDUCE_A_GROUP_PACKETS]);
	config->window = nla_get_u32(attrs[ROCESTEER_REDUCE_A_GROUP_WINDOW]);
	config->joined = attrs[ROCESTEER_REDUCE_A_GROUP_TYPE];
	if (config->joined) {
		config->type = nla_get_u32(attrs[ROCESTEER_REDUCE_A_GROUP_TYPE]);
		config->op = nla_get_u32(attrs[ROCESTEER_REDUCE_A_GROUP_OP]);
	}
	if (attrs[ROCESTEER_REDUCE_A_GROUP_ROLE])
		config->role = nla_get_u32(attrs[ROCESTEER_REDUCE_A_GROUP_ROLE]);
	if (attrs[ROCESTEER_REDUCE_A_GROUP_LEAF])
		config->leaf = nla_get_u32(attrs[ROCESTEER_REDUCE_A_GROUP_LEAF]);
	if (attrs[ROCESTEER_REDUCE_A_GROUP_BOX])
		nla_memcpy(&config->box, attrs[ROCESTEER_REDUCE_A_GROUP_BOX],
			   sizeof(config->box));
	return nl_ranks_parse(config, info);
}

static int nl_group_change(struct genl_info *info,
			   int (*change)(struct reduce_net *rn,
					 const struct reduce_config *config,
					 struct netlink_ext_ack *extack))
{
	struct reduce_config *config;
	int err;

	config = kzalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return -ENOMEM;
	err = nl_group_parse(config, info) ?: change(nl_net(info), config, info->extack);
	kfree(config);
	return err;
}

int roce_reduce_nl_group_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return nl_group_change(info, reduce_conf_load);
}

int roce_reduce_nl_group_join_doit(struct sk_buff *skb, struct genl_info *info)
{
	return nl_group_change(info, reduce_conf_join);
}

/* The group number of a request */
static int nl_group_id(u32 *id, struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_REDUCE_A_GROUP_ID)) {
		NL_SET_ERR_MSG(info->extack, "Group number is missing");
		return -EINVAL;
	}
	*id = nla_get_u32(info->attrs[ROCESTEER_REDUCE_A_GROUP_ID]);
	return 0;
}

static int nl_group_missing(struct genl_info *info)
{
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ROCESTEER_REDUCE_A_GROUP_ID],
			    "No such group");
	return -ENOENT;
}

int roce_reduce_nl_group_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err;
	u32 id;

	err = nl_group_id(&id, info);
	if (err)
		return err;
	return reduce_conf_unload(nl_net(info), id) ? nl_group_missing(info) : 0;
}

static int nl_rank_fill(struct sk_buff *skb, const struct reduce_config *config, u32 nr)
{
	const struct reduce_rank_config *rank = &config->rank[nr];
	struct nlattr *nest = nla_nest_start(skb, ROCESTEER_REDUCE_A_GROUP_RANK);

	if (!nest ||
	    nla_put_in6_addr(skb, ROCESTEER_REDUCE_A_RANK_ADDRESS, &rank->address) ||
	    nla_put_u32(skb, ROCESTEER_REDUCE_A_RANK_LEAF, rank->leaf))
		return -EMSGSIZE;
	if (config->joined &&
	    (nla_put_u32(skb, ROCESTEER_REDUCE_A_RANK_QPN, rank->qpn) ||
	     nla_put_u32(skb, ROCESTEER_REDUCE_A_RANK_PSN, rank->psn) ||
	     nla_put_uint(skb, ROCESTEER_REDUCE_A_RANK_VA, rank->va)))
		return -EMSGSIZE;
	if (config->joined && reduce_config_is_box(config) &&
	    nla_put_u32(skb, ROCESTEER_REDUCE_A_RANK_SENDER_QPN, rank->sender_qpn))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int nl_conn_fill(struct sk_buff *skb, const struct reduce_conn *conn, u64 nudges,
			u32 rank)
{
	struct nlattr *nest = nla_nest_start(skb, ROCESTEER_REDUCE_A_GROUP_CONN);

	if (!nest ||
	    nla_put_uint(skb, ROCESTEER_REDUCE_A_CONN_INPUTS, conn->inputs) ||
	    nla_put_uint(skb, ROCESTEER_REDUCE_A_CONN_RESULTS, conn->results) ||
	    nla_put_uint(skb, ROCESTEER_REDUCE_A_CONN_REPLAYS, conn->replays) ||
	    nla_put_uint(skb, ROCESTEER_REDUCE_A_CONN_DUPLICATES, conn->duplicates) ||
	    nla_put_uint(skb, ROCESTEER_REDUCE_A_CONN_STALE, conn->stale) ||
	    nla_put_uint(skb, ROCESTEER_REDUCE_A_CONN_GAPS, conn->gaps) ||
	    nla_put_uint(skb, ROCESTEER_REDUCE_A_CONN_NUDGES, nudges) ||
	    nla_put_uint(skb, ROCESTEER_REDUCE_A_CONN_RESTARTS, conn->restarts) ||
	    nla_put_u32(skb, ROCESTEER_REDUCE_A_CONN_RANK, rank) ||
	    nla_put_uint(skb, ROCESTEER_REDUCE_A_CONN_BEYOND, conn->beyond))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* A rank is named only if one of its packets has poisoned the group. */
static int nl_poison_fill(struct sk_buff *skb, const struct reduce_group *group)
{
	const struct reduce_slots *slots = &group->slots;

	if (nla_put_u32(skb, ROCESTEER_REDUCE_A_GROUP_POISON, slots->poison))
		return -EMSGSIZE;
	if (slots->poison == REDUCE_ALIVE || slots->poison >= REDUCE_DEVICE)
		return 0;
	return nla_put_u32(skb, ROCESTEER_REDUCE_A_GROUP_POISON_RANK,
			   group->rank_of[slots->poison_conn]);
}

/* The configuration of a group */
static int nl_config_fill(struct sk_buff *skb, const struct reduce_config *config)
{
	u32 nr;

	if (nla_put_u32(skb, ROCESTEER_REDUCE_A_GROUP_ID, config->id) ||
	    nla_put_u32(skb, ROCESTEER_REDUCE_A_GROUP_MTU, config->mtu) ||
	    nla_put_u32(skb, ROCESTEER_REDUCE_A_GROUP_PACKETS, config->packets) ||
	    nla_put_u32(skb, ROCESTEER_REDUCE_A_GROUP_WINDOW, config->window) ||
	    nla_put_u32(skb, ROCESTEER_REDUCE_A_GROUP_ROLE, config->role))
		return -EMSGSIZE;
	if (config->role == ROCESTEER_REDUCE_ROLE_LEAF &&
	    nla_put_u32(skb, ROCESTEER_REDUCE_A_GROUP_LEAF, config->leaf))
		return -EMSGSIZE;
	if (config->joined &&
	    (nla_put_u32(skb, ROCESTEER_REDUCE_A_GROUP_TYPE, config->type) ||
	     nla_put_u32(skb, ROCESTEER_REDUCE_A_GROUP_OP, config->op)))
		return -EMSGSIZE;
	if (reduce_config_is_box(config) &&
	    nla_put_in6_addr(skb, ROCESTEER_REDUCE_A_GROUP_BOX, &config->box))
		return -EMSGSIZE;
	for (nr = 0; nr < config->nr_ranks; nr++)
		if (nl_rank_fill(skb, config, nr))
			return -EMSGSIZE;
	return 0;
}

/* The state of a group */
static int nl_state_fill(struct sk_buff *skb, const struct reduce_group *group)
{
	const struct reduce_slots *slots = &group->slots;
	u32 nr;

	lockdep_assert_held(&group->lock);
	if (nl_poison_fill(skb, group) ||
	    nla_put_uint(skb, ROCESTEER_REDUCE_A_GROUP_DONE, slots->done) ||
	    nla_put_uint(skb, ROCESTEER_REDUCE_A_GROUP_HELD, slots->held))
		return -EMSGSIZE;
	for (nr = 0; nr < reduce_slots_conns(slots); nr++)
		if (nl_conn_fill(skb, &slots->conn[nr], group->nudges[nr], group->rank_of[nr]))
			return -EMSGSIZE;
	return 0;
}

static int nl_group_fill(struct sk_buff *skb, struct reduce_group *group,
			 const struct genl_info *info)
{
	void *hdr = genlmsg_iput(skb, info);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_uint(skb, ROCESTEER_REDUCE_A_GROUP_BYTES, group->bytes);
	spin_lock_bh(&group->lock);
	err = err ?: nl_config_fill(skb, &group->config) ?: nl_state_fill(skb, group);
	spin_unlock_bh(&group->lock);
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}

int roce_reduce_nl_group_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct reduce_group *group;
	struct sk_buff *msg;
	int err;
	u32 id;

	err = nl_group_id(&id, info);
	if (err)
		return err;
	msg = genlmsg_new(NL_GROUP_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	rcu_read_lock();
	group = xa_load(&nl_net(info)->groups, id);
	err = group ? nl_group_fill(msg, group, info) : nl_group_missing(info);
	rcu_read_unlock();
	if (!err)
		return genlmsg_reply(msg, info);
	nlmsg_free(msg);
	return err;
}

/* Large enough for one group, whatever the size of the reader's buffer. */
int roce_reduce_nl_group_get_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = NLMSG_HDRLEN + NL_GROUP_SIZE;
	return 0;
}

/* Resumes at the group that did not fit in the last message. */
int roce_reduce_nl_group_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genl_info *info = genl_info_dump(cb);
	struct reduce_group *group;
	unsigned long id;
	int err = 0;

	rcu_read_lock();
	xa_for_each_start(&nl_net(info)->groups, id, group, cb->args[0]) {
		err = nl_group_fill(skb, group, info);
		if (err)
			break;
		cb->args[0] = id + 1;
	}
	rcu_read_unlock();
	return err;
}

/* Other CPUs may be counting: the value is one that the counter had during the call. */
static u64 nl_stats_sum(const struct reduce_net *rn, int attr)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(rn->stats, cpu)->count[attr]);
	return sum;
}

static int nl_stats_fill(struct sk_buff *skb, const struct reduce_net *rn)
{
	int attr;

	if (nla_put_u32(skb, ROCESTEER_REDUCE_A_STATS_GROUPS, READ_ONCE(rn->nr_groups)) ||
	    nla_put_uint(skb, ROCESTEER_REDUCE_A_STATS_BYTES, atomic64_read(&rn->bytes)))
		return -EMSGSIZE;
	for (attr = ROCESTEER_REDUCE_A_STATS_BYTES + 1;
	     attr <= ROCESTEER_REDUCE_A_STATS_MAX; attr++)
		if (nla_put_uint(skb, attr, nl_stats_sum(rn, attr)))
			return -EMSGSIZE;
	return 0;
}

int roce_reduce_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *hdr = msg ? genlmsg_iput(msg, info) : NULL;

	if (!hdr || nl_stats_fill(msg, nl_net(info))) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

/* Return: the event of a group that was poisoned, or NULL if listeners need none. */
static struct sk_buff *nl_event(struct reduce_group *group)
{
	struct sk_buff *msg = genlmsg_new(NL_EVENT_SIZE, GFP_KERNEL);
	void *hdr = msg ? genlmsg_put(msg, 0, 0, &roce_reduce_nl_family, 0,
				      ROCESTEER_REDUCE_CMD_GROUP_POISONED_NTF) : NULL;
	bool fits = false;

	spin_lock_bh(&group->lock);
	if (hdr && group->slots.poison && !group->announced)
		fits = !nla_put_u32(msg, ROCESTEER_REDUCE_A_GROUP_ID, group->config.id) &&
		       !nl_poison_fill(msg, group);
	group->announced |= fits;
	spin_unlock_bh(&group->lock);
	if (fits) {
		genlmsg_end(msg, hdr);
		return msg;
	}
	nlmsg_free(msg);
	if (!hdr)
		genl_set_err(&roce_reduce_nl_family, group->rn->net, 0,
			     ROCE_REDUCE_NLGRP_EVENTS, -ENOBUFS);
	return NULL;
}

static void nl_announce(struct work_struct *work)
{
	struct reduce_net *rn = container_of(work, struct reduce_net, announce);
	struct reduce_group *group;
	struct sk_buff *msg;
	unsigned long id;

	if (!genl_has_listeners(&roce_reduce_nl_family, rn->net, ROCE_REDUCE_NLGRP_EVENTS))
		return;
	mutex_lock(&rn->conf);
	xa_for_each(&rn->groups, id, group) {
		msg = READ_ONCE(group->slots.poison) ? nl_event(group) : NULL;
		if (msg)
			genlmsg_multicast_netns(&roce_reduce_nl_family, rn->net, msg, 0,
						ROCE_REDUCE_NLGRP_EVENTS, GFP_KERNEL);
	}
	mutex_unlock(&rn->conf);
}

void reduce_event_poisoned(struct reduce_net *rn)
{
	queue_work(nl_queue, &rn->announce);
}

void reduce_nl_net_init(struct reduce_net *rn)
{
	INIT_WORK(&rn->announce, nl_announce);
}

int __init reduce_nl_register(void)
{
	int err;

	nl_queue = alloc_workqueue("rocesteer_reduce", WQ_UNBOUND, 0);
	if (!nl_queue)
		return -ENOMEM;
	err = genl_register_family(&roce_reduce_nl_family);
	if (err)
		destroy_workqueue(nl_queue);
	return err;
}

/* Events are sent before the family goes, as its multicast group may get another owner. */
void reduce_nl_unregister(void)
{
	destroy_workqueue(nl_queue);
	genl_unregister_family(&roce_reduce_nl_family);
}
