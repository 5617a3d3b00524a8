/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_GROUP_H
#define REDUCE_GROUP_H

#include <linux/in6.h>
#include <linux/netfilter.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>

#include <uapi/linux/rocesteer_reduce.h>

#include "net.h"
#include "packet.h"
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
 */
struct reduce_way {
	int (*okfn)(struct net *net, struct sock *sk, struct sk_buff *skb);
	bool bridge;
};

#define REDUCE_EMIT_BATCH	64u	/* packets that a CPU sends in one go */
#define REDUCE_EMIT_MAX		128u	/* packets that wait to be sent, a power of 2 */

struct reduce_emit_entry {
	struct sk_buff *skb;
	u32 conn;
};

/**
 * struct reduce_emit - packets that wait to be sent
 * @head: number of the first one
 * @tail: number behind the last one
 * @leaving: so many from @head on are being sent, by one CPU, without the lock
 * @work: sends more
 * @entry: by number, modulo REDUCE_EMIT_MAX
 */
struct reduce_emit {
	u32 head;
	u32 tail;
	u32 leaving;
	struct work_struct work;
	struct reduce_emit_entry entry[REDUCE_EMIT_MAX];
};

static inline u32 reduce_emit_queued(const struct reduce_emit *emit)
{
	return emit->tail - emit->head;
}

static inline struct reduce_emit_entry *reduce_emit_entry(struct reduce_emit *emit, u32 number)
{
	return &emit->entry[number % REDUCE_EMIT_MAX];
}

/**
 * struct reduce_past - what earlier runs have used of a group's virtual numbers
 * @used: by rank: PSN behind those of the last run that had packets, or REDUCE_NO_PSN
 */
struct reduce_past {
	u32 used[REDUCE_MAX_RANKS];
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
 * @past: outlives the group. Under @rn->conf
 * @packet_size: bytes of a waiting packet, as sockets count them, at most. Immutable
 * @bytes: memory that is charged for the group, with packets that may wait. Immutable
 * @lock: guards all members below. Taken in softirq
 * @slots: see slot.h
 * @sum: by slot: the sum, @config.mtu bytes each; on a leaf a part. Then, on a leaf, results
 * @crc: by slot: CRC of what @sum has, as reduce_packet_finish() needs it
 * @nudges: by connection: packets that made the receiver ask
 * @way: by connection
 * @announced: listeners have been told that the group is poisoned
 * @emit: packets that wait to be sent
 */
struct reduce_group {
	struct reduce_config config;
	struct reduce_net *rn;
	u8 conn_of[REDUCE_MAX_RANKS];
	u8 rank_of[REDUCE_MAX_RANKS];
	struct reduce_past *past;
	u32 packet_size;
	u64 bytes;
	spinlock_t lock;	/* guards all members below */
	struct reduce_slots slots;
	u8 *sum;
	u32 *crc;
	u64 nudges[REDUCE_MAX_RANKS];
	struct reduce_way way[REDUCE_MAX_RANKS];
	bool announced;
	struct reduce_emit emit;
};

/* The rank that a rank sends to */
static inline u32 reduce_group_next(const struct reduce_group *group, u32 rank)
{
	return rank + 1 < group->config.nr_ranks ? rank + 1 : 0;
}

static inline const struct in6_addr *reduce_group_receiver(const struct reduce_group *group,
							   u32 rank)
{
	return &group->config.rank[reduce_group_next(group, rank)].address;
}

static inline struct reduce_to reduce_group_to(const struct reduce_group *group,
					       const struct in6_addr *destination, u32 qpn)
{
	return (struct reduce_to) {
		.qpn = qpn,
		.source = reduce_config_is_box(&group->config) ? &group->config.box : NULL,
		.destination = destination,
	};
}

/*
 * Allocate a group with a validated configuration, for reduce_emit_init(). Return: an ERR_PTR()
 * with a text in @extack, -ENOMEM.
 */
struct reduce_group *reduce_group_new(struct reduce_net *rn, const struct reduce_config *config,
				      struct netlink_ext_ack *extack);

/* All that follows runs in process context, and holds @rn->conf where it is not free. */

/* Let @group->past know the PSNs that the run has used. */
void reduce_group_remember(struct reduce_group *group);

/* No packet of the run leaves any more. */
void reduce_group_stop(struct reduce_group *group);

/* Begin a run with type, operation and queue pairs of @config. */
void reduce_group_join(struct reduce_group *group, const struct reduce_config *config);

/* Free a group that cannot be looked up. */
void reduce_group_free(struct reduce_group *group);

/* A group has been poisoned. Any context, holds @group->lock. */
void reduce_group_poisoned(struct reduce_group *group);

/* A device goes down: poison the groups that have waiting packets of it. */
void reduce_group_device_down(struct reduce_net *rn, const struct net_device *dev);

/* Is no memory charged in any namespace? */
bool reduce_group_none_charged(void);

#endif /* REDUCE_GROUP_H */
