// SPDX-License-Identifier: GPL-2.0
/*
 * Receive packets into slots, and the functions that slot.c calls: sum, send results, nudge.
 *
 * Results are queued under the lock of the group and sent without it, in order, by one CPU
 * at a time for each connection.
 */
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <net/dst.h>
#include <net/ipv6.h>

#include "arith.h"
#include "box.h"
#include "group.h"
#include "packet.h"
#include "receive.h"
#include "trace.h"

/*
 * Results between two acknowledgment requests. A sender heeds one NAK until the next
 * acknowledgment: frequent requests shorten the recovery from a loss.
 */
#define RECEIVE_ACK_EVERY	8

static bool receive_stopped;

static struct reduce_group *receive_group(struct reduce_slots *slots)
{
	return container_of(slots, struct reduce_group, slots);
}

/* Index of the payload that leaves on a connection: the sum, or on a leaf the result */
static u32 receive_index(const struct reduce_slots *slots, s64 position, bool sum)
{
	u32 index = reduce_slots_index(slots, position);

	return sum || !slots->leaf ? index : slots->nr_slots + index;
}

static u8 *receive_sum(const struct reduce_group *group, u32 index)
{
	return group->sum + index * (size_t)group->config.mtu;
}

void reduce_slots_sum(struct reduce_slots *slots, struct reduce_slot *slot)
{
	struct reduce_group *group = receive_group(slots);
	u32 index = receive_index(slots, slot->position, true);
	const void *in[REDUCE_MAX_RANKS];
	u32 c;

	for (c = 0; c < slots->nr_inputs; c++)
		in[c] = reduce_packet_payload(slot->packet[c]);
	if (!reduce_arith(group->config.type, group->config.op, receive_sum(group, index), in,
			  slots->nr_inputs, slot->shape.length))
		reduce_count(group->rn, ROCESTEER_REDUCE_A_STATS_INTEGER);
	group->crc[index] = reduce_packet_crc(receive_sum(group, index), slot->shape.length);
	trace_rocesteer_reduce_slot(group->config.id, slot->position, slots->held);
}

void reduce_slots_take(struct reduce_slots *slots, const struct reduce_slot *slot,
		       const void *packet)
{
	struct reduce_group *group = receive_group(slots);
	u32 index = receive_index(slots, slot->position, false);
	u32 length = slot->shape.length;
	u8 *result = receive_sum(group, index);

	memcpy(result, reduce_packet_payload(packet), length);
	memset(result + length, 0, -length & 3);
	group->crc[index] = reduce_packet_crc(result, length);
}

static u32 receive_next(const struct reduce_group *group, u32 rank)
{
	return rank + 1 < group->config.nr_ranks ? rank + 1 : 0;
}

/* Queue pair number of the receiver of a connection */
static u32 receive_qpn(const struct reduce_group *group, u32 conn)
{
	return group->config.rank[receive_next(group, group->rank_of[conn])].qpn;
}

static u32 receive_virtual(const struct reduce_group *group, u32 conn, u32 kind)
{
	return REDUCE_VIRTUAL | group->config.id << REDUCE_GROUP_SHIFT | kind |
	       group->rank_of[conn];
}

/* Kind of packets that a connection receives */
static u32 receive_takes(const struct reduce_group *group, u32 conn)
{
	if (group->config.role == ROCESTEER_REDUCE_ROLE_ROOT)
		return REDUCE_PART;
	return reduce_slots_comes_down(&group->slots, conn) ? REDUCE_RESULT : REDUCE_INPUT;
}

/* Destination queue pair number of packets that leave on a connection */
static u32 receive_gives(const struct reduce_group *group, u32 conn)
{
	if (group->config.role == ROCESTEER_REDUCE_ROLE_ROOT)
		return receive_virtual(group, conn, REDUCE_RESULT);
	if (reduce_slots_goes_up(&group->slots, conn))
		return receive_virtual(group, conn, REDUCE_PART);
	return receive_qpn(group, conn);
}

/* The address of the rank that a rank sends to */
static const struct in6_addr *receive_address(const struct reduce_group *group, u32 rank)
{
	return &group->config.rank[receive_next(group, rank)].address;
}

static struct reduce_to receive_to(const struct reduce_group *group,
				   const struct in6_addr *destination, u32 qpn)
{
	return (struct reduce_to) {
		.qpn = qpn,
		.source = reduce_config_is_box(&group->config) ? &group->config.box : NULL,
		.destination = destination,
	};
}

/* receive_leave() sends the packet after the lock is released. */
static void receive_queue(struct reduce_group *group, u32 conn, struct sk_buff *skb)
{
	skb_queue_tail(&group->way[conn].queue, skb);
	group->leaving |= BIT_ULL(conn);
}

void reduce_slots_emit(struct reduce_slots *slots, u32 conn, const struct reduce_slot *slot,
		       void *packet)
{
	struct reduce_group *group = receive_group(slots);
	u32 index = receive_index(slots, slot->position, reduce_slots_goes_up(slots, conn));
	struct reduce_to to = receive_to(group, receive_address(group, group->rank_of[conn]),
					 receive_gives(group, conn));
	struct sk_buff *skb = packet;

	reduce_packet_finish(skb, &to, slot->position % RECEIVE_ACK_EVERY == 0,
			     receive_sum(group, index), slot->shape.length,
			     group->crc[index]);
	group->waiting -= skb->truesize;
	receive_queue(group, conn, skb);
}

/* To the receiver's own number, so that other switches of the group forward it. */
void reduce_slots_nudge(struct reduce_slots *slots, u32 conn, u32 psn, const void *packet)
{
	struct reduce_group *group = receive_group(slots);
	struct reduce_to to = receive_to(group, receive_address(group, group->rank_of[conn]),
					 receive_qpn(group, conn));
	struct sk_buff *skb = reduce_packet_nudge(packet, &to, psn);

	trace_rocesteer_reduce_nudge(group->config.id, group->rank_of[conn],
				     slots->conn[conn].next);
	if (!skb)
		return;
	group->nudges[conn]++;
	receive_queue(group, conn, skb);
}

void reduce_slots_drop(struct reduce_slots *slots, void *packet)
{
	struct sk_buff *skb = packet;

	receive_group(slots)->waiting -= skb->truesize;
	kfree_skb(skb);
}

/*
 * The port may have left the bridge while the packet waited. The bridge's data of a port
 * outlives the RCU read-side critical section that sees the flag.
 */
static bool receive_way_is_there(const struct reduce_way *way, const struct sk_buff *skb)
{
	return !way->bridge || netif_is_bridge_port(skb->dev);
}

static void receive_leave_one(struct reduce_group *group, struct reduce_way *way)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&way->queue)))
		if (receive_way_is_there(way, skb))
			way->okfn(group->rn->net, NULL, skb);
		else
			kfree_skb(skb);
}

/* A CPU that finds the way busy leaves its packets to the busy CPU. */
static void receive_leave_way(struct reduce_group *group, struct reduce_way *way)
{
	do {
		/* Pairs with the barrier below: the busy CPU sees our packets, or is done. */
		smp_mb();
		if (test_and_set_bit_lock(0, &way->busy))
			return;
		receive_leave_one(group, way);
		clear_bit_unlock(0, &way->busy);
		/* Pairs with the barrier above. */
		smp_mb();
	} while (!skb_queue_empty_lockless(&way->queue));
}

static void receive_leave(struct reduce_group *group, u64 conns)
{
	for (; conns; conns &= conns - 1)
		receive_leave_way(group, &group->way[__ffs64(conns)]);
}

/* All packets of a connection must leave the same way, to stay in order. */
static bool receive_way(const struct reduce_group *group, struct reduce_way *way,
			const struct nf_hook_state *state)
{
	if (reduce_config_is_box(&group->config)) {
		way->okfn = reduce_box_send;
		return true;
	}
	if (!way->okfn) {
		way->okfn = state->okfn;
		way->bridge = state->pf == NFPROTO_BRIDGE;
	}
	return way->okfn == state->okfn;
}

static bool receive_room(const struct reduce_group *group, const struct sk_buff *skb)
{
	return group->waiting + skb->truesize <= group->most_waiting;
}

/* Addresses of packets between a rank and the next one, or between either and the box */
static bool receive_addresses(const struct reduce_group *group, const struct in6_addr *source,
			      const struct in6_addr *destination,
			      const struct reduce_packet *packet)
{
	if (reduce_config_is_box(&group->config))
		destination = &group->config.box;
	return ipv6_addr_equal(&packet->source, source) &&
	       ipv6_addr_equal(&packet->destination, destination);
}

/* A payload consists of whole elements and fits in the sum. */
static bool receive_length(const struct reduce_group *group, u32 length)
{
	return length <= group->config.mtu &&
	       length % reduce_arith_size(group->config.type) == 0;
}

/* Return: false if the packet was refused; @why is set then. */
static bool receive_locked(struct reduce_group *group, u32 conn, struct sk_buff *skb,
			   struct reduce_packet *packet, const struct nf_hook_state *state,
			   int *why)
{
	u32 next = receive_next(group, group->rank_of[conn]);

	lockdep_assert_held(&group->lock);
	*why = ROCESTEER_REDUCE_A_STATS_UNKNOWN;
	if (!group->config.joined)
		return false;
	*why = ROCESTEER_REDUCE_A_STATS_LENGTH;
	if (!receive_length(group, packet->shape.length))
		return false;
	if (!group->slots.poison && !receive_way(group, &group->way[conn], state))
		reduce_group_poison(group, REDUCE_ROUTE, conn);
	*why = ROCESTEER_REDUCE_A_STATS_POISONED;
	if (group->slots.poison || READ_ONCE(receive_stopped))
		return false;
	*why = ROCESTEER_REDUCE_A_STATS_NO_MEMORY;
	if (!receive_room(group, skb))
		return false;
	group->waiting += skb->truesize;
	packet->shape.offset = packet->has_reth ? packet->va - group->config.rank[next].va : 0;
	reduce_slots_receive(&group->slots, conn, packet->psn, &packet->shape, skb);
	if (group->slots.poison)
		reduce_group_poisoned(group);
	return true;
}

/*
 * A bridge that routes passes the packets that this switch has sent to the router's hook.
 * Packets from elsewhere pass the bridge's hook first.
 */
static bool receive_is_own(const struct reduce_group *group, u32 conn, u32 dqpn,
			   const struct nf_hook_state *state)
{
	return dqpn == receive_gives(group, conn) && state->pf != NFPROTO_BRIDGE &&
	       READ_ONCE(group->way[conn].bridge);
}

static unsigned int receive_drop(const struct reduce_net *rn, u32 dqpn, int why)
{
	reduce_count(rn, why);
	trace_rocesteer_reduce_drop(rn->net->net_cookie, dqpn, why);
	return NF_DROP;
}

/* Packets of other groups pass through this namespace, packets of a box end here. */
static bool receive_is_here(const struct reduce_group *group, const struct nf_hook_state *state)
{
	bool ends = state->pf != NFPROTO_BRIDGE && state->hook == NF_INET_LOCAL_IN;

	return reduce_config_is_box(&group->config) == ends;
}

/*
 * A waiting packet outlives this RCU read-side critical section. A box finds a route when the
 * packet leaves.
 */
static bool receive_keep(const struct reduce_group *group, struct sk_buff *skb)
{
	if (reduce_config_is_box(&group->config))
		skb_scrub_packet(skb, false);
	else if (skb_dst(skb) && !skb_dst_force(skb))
		return false;
	/* rxe stops a queue pair with many packets that are not freed. */
	skb_orphan(skb);
	return true;
}

/* To the sender's queue pair. Return: false if the group has none; @why is set then. */
static bool receive_sender(struct reduce_group *group, u32 rank, u32 *qpn, int *why)
{
	bool is_there;

	spin_lock_bh(&group->lock);
	is_there = group->config.joined && !group->slots.poison;
	*why = group->config.joined ? ROCESTEER_REDUCE_A_STATS_POISONED :
				      ROCESTEER_REDUCE_A_STATS_UNKNOWN;
	*qpn = group->config.rank[rank].sender_qpn;
	spin_unlock_bh(&group->lock);
	return is_there;
}

/* Answers of the receiver to a rank need not wait. */
static unsigned int receive_answer(struct reduce_group *group, u32 rank, u32 dqpn,
				   struct sk_buff *skb)
{
	const struct in6_addr *sender = &group->config.rank[rank].address;
	struct reduce_net *rn = group->rn;
	struct reduce_packet packet;
	struct reduce_to to;
	u32 qpn;
	int why;

	why = reduce_packet_read(skb, true, &packet);
	if (why)
		return receive_drop(rn, dqpn, why);
	if (!receive_addresses(group, receive_address(group, rank), sender, &packet))
		return receive_drop(rn, dqpn, ROCESTEER_REDUCE_A_STATS_ADDRESS);
	if (!receive_sender(group, rank, &qpn, &why))
		return receive_drop(rn, dqpn, why);
	to = receive_to(group, sender, qpn);
	receive_keep(group, skb);
	reduce_packet_readdress(skb, &to);
	reduce_box_send(rn->net, NULL, skb);
	return NF_STOLEN;
}

unsigned int reduce_receive(struct reduce_net *rn, u32 dqpn, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	u32 rank = dqpn & REDUCE_RANK_MASK, conn;
	struct reduce_packet packet;
	struct reduce_group *group;
	int why;
	u64 leaving;
	bool taken;
	int err;

	group = xa_load(&rn->groups, dqpn >> REDUCE_GROUP_SHIFT & REDUCE_GROUP_MASK);
	if (!group || rank >= group->config.nr_ranks)
		return receive_drop(rn, dqpn, ROCESTEER_REDUCE_A_STATS_UNKNOWN);
	if (!receive_is_here(group, state))
		return NF_ACCEPT;
	if (reduce_config_is_box(&group->config) && (dqpn & REDUCE_KIND_MASK) == REDUCE_ANSWER)
		return receive_answer(group, rank, dqpn, skb);
	conn = group->conn_of[rank];
	if (conn == REDUCE_NO_CONN)
		return receive_drop(rn, dqpn, ROCESTEER_REDUCE_A_STATS_MISPLACED);
	if ((dqpn & REDUCE_KIND_MASK) != receive_takes(group, conn)) {
		if (receive_is_own(group, conn, dqpn, state))
			return NF_ACCEPT;
		return receive_drop(rn, dqpn, ROCESTEER_REDUCE_A_STATS_MISPLACED);
	}
	err = reduce_packet_read(skb, false, &packet);
	if (err)
		return receive_drop(rn, dqpn, err);
	if (!receive_addresses(group, &group->config.rank[rank].address,
			       receive_address(group, rank), &packet))
		return receive_drop(rn, dqpn, ROCESTEER_REDUCE_A_STATS_ADDRESS);
	if (!receive_keep(group, skb))
		return receive_drop(rn, dqpn, ROCESTEER_REDUCE_A_STATS_NO_MEMORY);

	spin_lock_bh(&group->lock);
	taken = receive_locked(group, conn, skb, &packet, state, &why);
	leaving = group->leaving;
	group->leaving = 0;
	spin_unlock_bh(&group->lock);
	if (!taken)
		return receive_drop(rn, dqpn, why);
	receive_leave(group, leaving);
	return NF_STOLEN;
}

void reduce_receive_stop(void)
{
	WRITE_ONCE(receive_stopped, true);
	synchronize_net();
}
