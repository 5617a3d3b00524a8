// SPDX-License-Identifier: GPL-2.0
/*
 * Groups, and what poisons them.
 *
 * Memory is charged when a group is made, with all packets that may wait: so a group that
 * is loaded never finds that others have taken its room.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/dst.h>

#include "group.h"
#include "trace.h"

/* Headers of a packet: Ethernet, IPv6, UDP, BTH, RETH, immediate, ICRC. */
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

static int group_alloc_slots(struct reduce_group *group, struct netlink_ext_ack *extack)
{
	struct reduce_slots *slots = &group->slots;
	u32 nr = slots->nr_slots;
	u32 i;

	slots->slot = kvcalloc(nr, reduce_slot_size(slots->nr_ranks), GFP_KERNEL_ACCOUNT);
	group->sum = kvcalloc(nr, group->config.mtu, GFP_KERNEL_ACCOUNT);
	group->crc = kvcalloc(nr, sizeof(*group->crc), GFP_KERNEL_ACCOUNT);
	if (!slots->slot || !group->sum || !group->crc) {
		NL_SET_ERR_MSG(extack, "No memory for the slots");
		return -ENOMEM;
	}
	for (i = 0; i < slots->nr_ranks; i++) {
		slots->conn[i].psn = group->config.rank[i].psn;
		skb_queue_head_init(&group->way[i].queue);
	}
	reduce_slots_init(slots);
	return 0;
}

/* Bytes of all packets that may wait, as their allocator rounds them. */
static u64 group_most_waiting(const struct reduce_config *config, u32 nr_slots)
{
	u32 size = roundup_pow_of_two(config->mtu + GROUP_HEADERS + NET_SKB_PAD);

	return (u64)nr_slots * config->nr_ranks * SKB_TRUESIZE(size);
}

struct reduce_group *reduce_group_new(struct reduce_net *rn, const struct reduce_config *config,
				      struct netlink_ext_ack *extack)
{
	u32 nr_slots = 2 * config->window * config->packets;
	struct reduce_group *group;
	u64 bytes, most_waiting;
	int err;

	most_waiting = group_most_waiting(config, nr_slots);
	bytes = sizeof(*group) + most_waiting +
		(u64)nr_slots * (reduce_slot_size(config->nr_ranks) + config->mtu +
				 sizeof(*group->crc));
	err = group_charge(bytes, extack);
	if (err)
		return ERR_PTR(err);
	group = kvzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group) {
		atomic64_sub(bytes, &group_bytes);
		NL_SET_ERR_MSG(extack, "No memory for the group");
		return ERR_PTR(-ENOMEM);
	}
	group->config = *config;
	group->rn = rn;
	group->bytes = bytes;
	group->most_waiting = most_waiting;
	spin_lock_init(&group->lock);
	group->slots.nr_ranks = config->nr_ranks;
	group->slots.nr_slots = nr_slots;
	err = group_alloc_slots(group, extack);
	if (err) {
		reduce_group_free(group);
		return ERR_PTR(err);
	}
	return group;
}

void reduce_group_poison(struct reduce_group *group, enum reduce_poison why, u32 rank)
{
	lockdep_assert_held(&group->lock);
	if (group->slots.poison)
		return;
	reduce_slots_poison(&group->slots, why, rank);
	reduce_group_poisoned(group);
}

void reduce_group_poisoned(const struct reduce_group *group)
{
	reduce_group_fn *tell;

	lockdep_assert_held(&group->lock);
	trace_rocesteer_reduce_poison(group->config.id, group->slots.poison,
				      group->slots.poison_rank, group->slots.done);
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
	u32 i, r;

	for (i = 0; i < slots->nr_slots; i++)
		for (r = 0; r < slots->nr_ranks; r++) {
			skb = reduce_slots_packet(slots, i, r);
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
