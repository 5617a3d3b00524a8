// SPDX-License-Identifier: GPL-2.0
/*
 * Groups, and what poisons them.
 *
 * The memory of all packets that may wait is charged when a group is loaded: a loaded group
 * never lacks memory because of other groups.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/dst.h>

#include "event.h"
#include "group.h"
#include "trace.h"

/* Headers: Ethernet, IPv6, UDP, BTH, RETH, immediate, ICRC */
#define GROUP_HEADERS	128

static unsigned long reduce_memory = 256UL << 20;
module_param(reduce_memory, ulong, 0644);
MODULE_PARM_DESC(reduce_memory,
		 "Most bytes of all groups, with the packets that may wait (default: 256 MiB)");

static atomic64_t group_bytes;

bool reduce_group_none_charged(void)
{
	return !atomic64_read(&group_bytes);
}

static void group_uncharge(struct reduce_net *rn, u64 bytes)
{
	atomic64_sub(bytes, &rn->bytes);
	atomic64_sub(bytes, &group_bytes);
}

/* The groups of a container take no more than they leave to others. */
static int group_charge(struct reduce_net *rn, u64 bytes, struct netlink_ext_ack *extack)
{
	u64 limit = READ_ONCE(reduce_memory), used = atomic64_add_return(bytes, &group_bytes);
	u64 own = atomic64_add_return(bytes, &rn->bytes), left = limit - min(limit, used - bytes);

	if (rn->net->user_ns != &init_user_ns)
		left = (left - min(left, own - bytes)) / 2;
	if (bytes <= left)
		return 0;
	group_uncharge(rn, bytes);
	NL_SET_ERR_MSG_FMT(extack,
			   "The group needs %llu bytes, of reduce_memory %llu are free",
			   bytes, left);
	return -ENOMEM;
}

void reduce_group_free(struct reduce_group *group)
{
	WARN_ON_ONCE(group->slots.held || group->emit.head != group->emit.tail);
	group_uncharge(group->rn, group->bytes);
	kvfree(group->slots.slot);
	kvfree(group->sum);
	kvfree(group->crc);
	kvfree(group);
}

/* The connection of the last rank of a leaf leaves the leaf. */
static bool group_crosses(const struct reduce_config *config, u32 rank)
{
	u32 next = rank + 1 < config->nr_ranks ? rank + 1 : 0;

	return config->rank[rank].leaf != config->rank[next].leaf;
}

/* Does this switch sum the packets of a rank? */
static bool group_sums(const struct reduce_config *config, u32 rank)
{
	switch (config->role) {
	case ROCESTEER_REDUCE_ROLE_LEAF:
		return config->rank[rank].leaf == config->leaf;
	case ROCESTEER_REDUCE_ROLE_ROOT:
		return group_crosses(config, rank);
	default:
		return true;
	}
}

static void group_add_conn(struct reduce_group *group, u32 conn, u32 rank)
{
	group->conn_of[rank] = conn;
	group->rank_of[conn] = rank;
}

/* The connection that enters a leaf comes from the rank before the first one of the leaf. */
static void group_add_conns(struct reduce_group *group)
{
	const struct reduce_config *config = &group->config;
	struct reduce_slots *slots = &group->slots;
	u32 r;

	memset(group->conn_of, REDUCE_NO_CONN, sizeof(group->conn_of));
	for (r = 0; r < config->nr_ranks; r++)
		if (group_sums(config, r))
			group_add_conn(group, slots->nr_inputs++, r);
	slots->leaf = config->role == ROCESTEER_REDUCE_ROLE_LEAF;
	if (slots->leaf)
		group_add_conn(group, slots->nr_inputs,
			       (group->rank_of[0] ?: config->nr_ranks) - 1);
}

/* A leaf keeps the part and the result. */
static u32 group_nr_sums(const struct reduce_slots *slots)
{
	return slots->nr_slots * (1 + slots->leaf);
}

/* Reset the group. */
static void group_begin(struct reduce_group *group)
{
	struct reduce_slots *slots = &group->slots;
	u32 i;

	slots->done = 0;
	slots->pending = 0;
	slots->poison = REDUCE_ALIVE;
	group->announced = false;
	memset(slots->conn, 0, sizeof(slots->conn));
	memset(group->nudges, 0, sizeof(group->nudges));
	for (i = 0; i < reduce_slots_conns(slots); i++) {
		slots->conn[i].psn = group->config.rank[group->rank_of[i]].psn;
		group->way[i].okfn = NULL;
	}
	reduce_slots_init(slots);
}

static int group_alloc_slots(struct reduce_group *group, struct netlink_ext_ack *extack)
{
	struct reduce_slots *slots = &group->slots;
	u32 sums = group_nr_sums(slots);

	slots->slot = kvcalloc(slots->nr_slots, reduce_slot_size(slots->nr_inputs),
			       GFP_KERNEL_ACCOUNT);
	group->sum = kvcalloc(sums, group->config.mtu, GFP_KERNEL_ACCOUNT);
	group->crc = kvcalloc(sums, sizeof(*group->crc), GFP_KERNEL_ACCOUNT);
	if (!slots->slot || !group->sum || !group->crc) {
		NL_SET_ERR_MSG(extack, "No memory for the slots");
		return -ENOMEM;
	}
	group_begin(group);
	return 0;
}

/* Bytes of a packet, as the allocator rounds them */
static u32 group_packet_size(const struct reduce_group *group)
{
	u32 size = SKB_HEAD_ALIGN(group->config.mtu + GROUP_HEADERS + NET_SKB_PAD);

	return roundup_pow_of_two(size) + SKB_DATA_ALIGN(sizeof(struct sk_buff));
}

static u64 group_size(const struct reduce_group *group)
{
	const struct reduce_slots *slots = &group->slots;
	u64 packets = (u64)slots->nr_slots * slots->nr_inputs + REDUCE_EMIT_MAX;

	return sizeof(*group) + packets * group->packet_size +
	       (u64)slots->nr_slots * reduce_slot_size(slots->nr_inputs) +
	       (u64)group_nr_sums(slots) * (group->config.mtu + sizeof(*group->crc));
}

struct reduce_group *reduce_group_new(struct reduce_net *rn, const struct reduce_config *config,
				      struct netlink_ext_ack *extack)
{
	struct reduce_group *group;
	int err;

	group = kvzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group) {
		NL_SET_ERR_MSG(extack, "No memory for the group");
		return ERR_PTR(-ENOMEM);
	}
	group->config = *config;
	group->rn = rn;
	spin_lock_init(&group->lock);
	group->slots.nr_slots = 2 * config->window * config->packets;
	group_add_conns(group);
	group->packet_size = group_packet_size(group);
	group->bytes = group_size(group);
	err = group_charge(rn, group->bytes, extack);
	if (err) {
		kvfree(group);
		return ERR_PTR(err);
	}
	err = group_alloc_slots(group, extack);
	if (err) {
		reduce_group_free(group);
		return ERR_PTR(err);
	}
	return group;
}

void reduce_group_remember(struct reduce_group *group)
{
	struct reduce_slots *slots = &group->slots;
	u32 c;

	lockdep_assert_held(&group->rn->conf);
	spin_lock_bh(&group->lock);
	for (c = 0; reduce_slots_any(slots) && c < reduce_slots_conns(slots); c++)
		group->past->used[group->rank_of[c]] = reduce_slots_used(slots, c);
	spin_unlock_bh(&group->lock);
}

/* Drop the packets that no CPU is sending. */
static void group_drop_queued(struct reduce_group *group)
{
	struct reduce_emit *emit = &group->emit;

	lockdep_assert_held(&group->lock);
	while (reduce_emit_queued(emit) > emit->leaving)
		kfree_skb(reduce_emit_entry(emit, --emit->tail)->skb);
}

/* For a poisoned group nobody queues the work item. */
void reduce_group_stop(struct reduce_group *group)
{
	spin_lock_bh(&group->lock);
	reduce_slots_poison(&group->slots, REDUCE_GONE, 0);
	group_drop_queued(group);
	spin_unlock_bh(&group->lock);
	cancel_work_sync(&group->emit.work);
	reduce_group_remember(group);
}

void reduce_group_join(struct reduce_group *group, const struct reduce_config *config)
{
	u32 r;

	reduce_group_stop(group);
	synchronize_net();
	spin_lock_bh(&group->lock);
	group->config.type = config->type;
	group->config.op = config->op;
	group->config.joined = true;
	for (r = 0; r < config->nr_ranks; r++) {
		group->config.rank[r].qpn = config->rank[r].qpn;
		group->config.rank[r].psn = config->rank[r].psn;
		group->config.rank[r].va = config->rank[r].va;
		group->config.rank[r].sender_qpn = config->rank[r].sender_qpn;
	}
	group_begin(group);
	spin_unlock_bh(&group->lock);
}

void reduce_group_poisoned(struct reduce_group *group)
{
	lockdep_assert_held(&group->lock);
	trace_rocesteer_reduce_poison(group->config.id, group->slots.poison,
				      group->rank_of[group->slots.poison_conn],
				      group->slots.done);
	group_drop_queued(group);
	reduce_event_poisoned(group->rn);
}

static bool skb_is_for(const struct sk_buff *skb, const struct net_device *dev)
{
	return skb->dev == dev || (skb_dst(skb) && skb_dst(skb)->dev == dev);
}

static bool group_waits_for(struct reduce_group *group, const struct net_device *dev)
{
	const struct reduce_slots *slots = &group->slots;
	struct reduce_emit *emit = &group->emit;
	const struct sk_buff *skb;
	u32 i, c;

	for (i = 0; slots->held && i < slots->nr_slots; i++)
		for (c = 0; c < slots->nr_inputs; c++) {
			skb = reduce_slots_packet(slots, i, c);
			if (skb && skb_is_for(skb, dev))
				return true;
		}
	for (i = emit->head + emit->leaving; i != emit->tail; i++)
		if (skb_is_for(reduce_emit_entry(emit, i)->skb, dev))
			return true;
	return false;
}

void reduce_group_device_down(struct reduce_net *rn, const struct net_device *dev)
{
	struct reduce_group *group;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&rn->groups, id, group) {
		spin_lock_bh(&group->lock);
		if (group_waits_for(group, dev)) {
			reduce_slots_poison(&group->slots, REDUCE_DEVICE, 0);
			reduce_group_poisoned(group);
		}
		spin_unlock_bh(&group->lock);
	}
	rcu_read_unlock();
}
