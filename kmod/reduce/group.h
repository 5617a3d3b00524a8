/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_GROUP_H
#define REDUCE_GROUP_H

#include <linux/in6.h>
#include <linux/netfilter.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>

#include <uapi/linux/rocesteer_reduce.h>

#include "net.h"
#include "slot.h"

struct netlink_ext_ack;

/**
 * struct reduce_rank_config - configuration of a rank
 * @address: address, IPv4-mapped for IPv4
 * @qpn: queue pair number that receives the results
 * @psn: first PSN that the rank sends
 * @va: virtual address of the results
 * @leaf: number of the leaf
 * @sender_qpn: queue pair number that sends, with a box
 */
struct reduce_rank_config {
	struct in6_addr address;
	u32 qpn;
	u32 psn;
	u64 va;
	u32 leaf;
	u32 sender_qpn;
};

/**
 * struct reduce_config - configuration of a group
 * @id: 0..ROCESTEER_REDUCE_MAX_GROUP
 * @type: enum rocesteer_reduce_type
 * @op: enum rocesteer_reduce_op
 * @mtu: most bytes of payload of a packet: 256, 512, 1024, 2048, 4096
 * @packets: most packets of a message
 * @window: most messages in flight; @packets times @window is at most
 *	ROCESTEER_REDUCE_MAX_WINDOW
 * @role: enum rocesteer_reduce_role, of this switch
 * @leaf: which leaf this switch is, with the role leaf
 * @box: address of this namespace that queue pairs are connected to, with the role alone;
 *	IPv4-mapped for IPv4. None: packets of the group are forwarded by this namespace
 * @joined: @type, @op, and queue pairs of @rank are known
 * @nr_ranks: 2..REDUCE_MAX_RANKS
 * @rank: ranks, in the order of the sum: leaf by leaf
 */
struct reduce_config {
	u32 id;
	u32 type;
	u32 op;
	u32 mtu;
	u32 packets;
	u32 window;
	u32 role;
	u32 leaf;
	struct in6_addr box;
	bool joined;
	u32 nr_ranks;
	struct reduce_rank_config rank[REDUCE_MAX_RANKS];
};

/* Is this a box beside the switches? */
static inline bool reduce_config_is_box(const struct reduce_config *config)
{
	return !ipv6_addr_any(&config->box);
}

/**
 * struct reduce_way - how packets of a connection leave
 * @okfn: okfn() of the hook, or of a box; NULL before the first packet
 * @bridge: @okfn belongs to a bridge
 * @queue: packets to send, in order
 * @busy: bit 0: a CPU is sending the packets of @queue
 */
struct reduce_way {
	int (*okfn)(struct net *net, struct sock *sk, struct sk_buff *skb);
	bool bridge;
	struct sk_buff_head queue;
	unsigned long busy;
};

/* A rank whose connection does not concern this switch */
#define REDUCE_NO_CONN		0xff

/**
 * struct reduce_group - a group
 * @config: configuration. reduce_group_join() changes type, operation and queue pairs,
 *	under @lock; all else is immutable
 * @rn: namespace
 * @conn_of: connection in @slots by rank, or REDUCE_NO_CONN. Immutable
 * @rank_of: the reverse
 * @lock: guards all members below, except @queue and @busy of @way. Taken in softirq
 * @slots: see slot.h
 * @sum: by slot: the sum, @config.mtu bytes each; on a leaf a part. Then, on a leaf, results
 * @crc: by slot: CRC of what @sum has, as reduce_packet_finish() needs it
 * @waiting: bytes of packets that wait, as sockets count them
 * @most_waiting: that many are reserved
 * @bytes: memory that is charged for the group, with @most_waiting. Constant
 * @leaving: connections that have packets to leave, a bit each, while @lock is held
 * @nudges: by connection: packets that made the receiver ask
 * @way: by connection
 */
struct reduce_group {
	struct reduce_config config;
	struct reduce_net *rn;
	u8 conn_of[REDUCE_MAX_RANKS];
	u8 rank_of[REDUCE_MAX_RANKS];
	spinlock_t lock;	/* see above */
	struct reduce_slots slots;
	u8 *sum;
	u32 *crc;
	u64 waiting;
	u64 most_waiting;
	u64 bytes;
	u64 leaving;
	u64 nudges[REDUCE_MAX_RANKS];
	struct reduce_way way[REDUCE_MAX_RANKS];
};

/**
 * reduce_group_new() - allocate a group
 * @rn: namespace
 * @config: validated configuration
 * @extack: filled in on failure
 *
 * Context: Process context, may sleep. Return: the group or an ERR_PTR(), -ENOMEM.
 */
struct reduce_group *reduce_group_new(struct reduce_net *rn, const struct reduce_config *config,
				      struct netlink_ext_ack *extack);

/**
 * reduce_group_join() - set the queue pairs of a group's ranks
 * @group: group
 * @config: type, operation and ranks, with the same addresses
 *
 * Drops waiting packets and resets the group. Context: Process context, may sleep; takes
 * @group->lock.
 */
void reduce_group_join(struct reduce_group *group, const struct reduce_config *config);

/* Free a group that cannot be looked up, and of which no packet waits. */
void reduce_group_free(struct reduce_group *group);

/**
 * reduce_group_poison() - poison a group
 * @group: group
 * @why: reason
 * @conn: connection of the packet that poisons it, or 0
 *
 * Context: Holds @group->lock.
 */
void reduce_group_poison(struct reduce_group *group, enum reduce_poison why, u32 conn);

/* Announce that a group is poisoned. Context: Holds @group->lock. */
void reduce_group_poisoned(const struct reduce_group *group);

/* Context: softirq, holds the lock of the group. */
typedef void reduce_group_fn(const struct reduce_group *group);

/* Set the function that announces a poisoned group. NULL waits for calls under way. */
void reduce_group_subscribe(reduce_group_fn *tell);

/* A device goes down: poison the groups that have waiting packets of it. */
void reduce_group_device_down(struct reduce_net *rn, const struct net_device *dev);

/* Bytes charged for the groups of all namespaces */
u64 reduce_group_bytes(void);

#endif /* REDUCE_GROUP_H */
