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
#include <net/dst.h>

#include "group.h"
#include "trace.h"

/* Headers: Ethernet, IPv6, UDP, BTH, RETH, immediate, ICRC */
#define GROUP_HEADERS	128

static unsigned long reduce_memory = 256UL << 20;
module_param(reduce_memory, ulong, 0644);
MODULE_PARM_DESC(reduce_memory,
		 "Most bytes of all groups, with the packets that may wait (default: 256 MiB)");

static atomic64_t group_bytes;
static reduce_group_fn *group_tell;

u64 reduce_group_bytes(void)
{
	return atomic64_read(&group_bytes);
}

static int group_charge(u64 bytes, struct netlink_ext_ack *extack)
{
	u64 limit = READ_ONCE(reduce_memory), used;

	used = atomic64_add_return(bytes, &group_bytes);
	if (used <= limit)
		return 0;
	atomic64_sub(bytes, &group_bytes);
	NL_SET_ERR_MSG_FMT(extack,
			   "The group needs %llu bytes, of reduce_memory %llu are free",
			   bytes, limit - min(limit, used - bytes));
	return -ENOMEM;
}

void reduce_group_free(struct reduce_group *group)
{
	WARN_ON_ONCE(group->waiting);
	atomic64_sub(group->bytes, &group_bytes);
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
	slots->poison = REDUCE_ALIVE;
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
	u32 sums = group_nr_sums(slots), i;

	slots->slot = kvcalloc(slots->nr_slots, reduce_slot_size(slots->nr_inputs),
			       GFP_KERNEL_ACCOUNT);
	group->sum = kvcalloc(sums, group->config.mtu, GFP_KERNEL_ACCOUNT);
	group->crc = kvcalloc(sums, sizeof(*group->crc), GFP_KERNEL_ACCOUNT);
	if (!slots->slot || !group->sum || !group->crc) {
		NL_SET_ERR_MSG(extack, "No memory for the slots");
		return -ENOMEM;
	}
	for (i = 0; i < reduce_slots_conns(slots); i++)
		skb_queue_head_init(&group->way[i].queue);
	group_begin(group);
	return 0;
}

/* Bytes of all packets that may wait, as the allocator rounds them */
static u64 group_most_waiting(const struct reduce_group *group)
{
	u32 size = roundup_pow_of_two(group->config.mtu + GROUP_HEADERS + NET_SKB_PAD);

	return (u64)group->slots.nr_slots * group->slots.nr_inputs * SKB_TRUESIZE(size);
}

static u64 group_size(const struct reduce_group *group)
{
	const struct reduce_slots *slots = &group->slots;

	return sizeof(*group) + group->most_waiting +
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
	group->most_waiting = group_most_waiting(group);
	group->bytes = group_size(group);
	err = group_charge(group->bytes, extack);
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

/*
 * A poisoned group queues no packet. When all CPUs have sent the packets queued before, no
 * CPU accesses the ways of connections without the lock.
 */
void reduce_group_join(struct reduce_group *group, const struct reduce_config *config)
{
	u32 r;

	spin_lock_bh(&group->lock);
	reduce_slots_poison(&group->slots, REDUCE_GONE, 0);
	spin_unlock_bh(&group->lock);
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

void reduce_group_poison(struct reduce_group *group, enum reduce_poison why, u32 conn)
{
	lockdep_assert_held(&group->lock);
	if (group->slots.poison)
		return;
	reduce_slots_poison(&group->slots, why, conn);
	reduce_group_poisoned(group);
}

void reduce_group_poisoned(const struct reduce_group *group)
{
	reduce_group_fn *tell;

	lockdep_assert_held(&group->lock);
	trace_rocesteer_reduce_poison(group->config.id, group->slots.poison,
				      group->rank_of[group->slots.poison_conn],
				      group->slots.done);
	tell = READ_ONCE(group_tell);
	if (tell)
		tell(group);
}

void reduce_group_subscribe(reduce_group_fn *tell)
{
	WRITE_ONCE(group_tell, tell);
	if (!tell)
		synchronize_net();
}

static bool group_waits_for(const struct reduce_group *group, const struct net_device *dev)
{
	const struct reduce_slots *slots = &group->slots;
	const struct sk_buff *skb;
	u32 i, c;

	for (i = 0; i < slots->nr_slots; i++)
		for (c = 0; c < slots->nr_inputs; c++) {
			skb = reduce_slots_packet(slots, i, c);
			if (skb && (skb->dev == dev ||
				    (skb_dst(skb) && skb_dst(skb)->dev == dev)))
				return true;
		}
	return false;
}

void reduce_group_device_down(struct reduce_net *rn, const struct net_device *dev)
{
	struct reduce_group *group;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&rn->groups, id, group) {
		spin_lock_bh(&group->lock);
		if (group_waits_for(group, dev))
			reduce_group_poison(group, REDUCE_DEVICE, 0);
		spin_unlock_bh(&group->lock);
	}
	rcu_read_unlock();
}
