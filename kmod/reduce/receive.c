// SPDX-License-Identifier: GPL-2.0
/* Receive packets to virtual queue pair numbers into the slots of their group. */
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <net/dst.h>
#include <net/ipv6.h>

#include "arith.h"
#include "box.h"
#include "emit.h"
#include "group.h"
#include "packet.h"
#include "receive.h"
#include "trace.h"

static bool receive_stopped;

/* Kind of packets that a connection receives */
static u32 conn_kind_in(const struct reduce_group *group, u32 conn)
{
	if (group->config.role == ROCESTEER_REDUCE_ROLE_ROOT)
		return REDUCE_PART;
	return reduce_slots_comes_down(&group->slots, conn) ? REDUCE_RESULT : REDUCE_INPUT;
}

/* Do all packets of a connection leave the same way, to stay in order? */
static bool way_is_known(const struct reduce_group *group, u32 conn,
			 const struct nf_hook_state *state)
{
	const struct reduce_way *way = &group->way[conn];

	return reduce_config_is_box(&group->config) || !way->okfn || way->okfn == state->okfn;
}

static void way_learn(struct reduce_group *group, u32 conn, const struct nf_hook_state *state)
{
	struct reduce_way *way = &group->way[conn];

	if (way->okfn)
		return;
	if (reduce_config_is_box(&group->config)) {
		way->okfn = reduce_box_send;
	} else {
		way->okfn = state->okfn;
		WRITE_ONCE(way->bridge, state->pf == NFPROTO_BRIDGE);
	}
}

/* Addresses of packets between a rank and the next one, or between either and the box */
static bool addresses_are_right(const struct reduce_group *group, const struct in6_addr *source,
				const struct in6_addr *destination,
				const struct reduce_packet *packet)
{
	if (reduce_config_is_box(&group->config))
		destination = &group->config.box;
	return ipv6_addr_equal(&packet->source, source) &&
	       ipv6_addr_equal(&packet->destination, destination);
}

/* Return: 0, or the ROCESTEER_REDUCE_A_STATS_* that counts the refusal. */
static int packet_read(const struct reduce_group *group, struct sk_buff *skb, bool answer,
		       const struct in6_addr *source, const struct in6_addr *destination,
		       struct reduce_packet *packet)
{
	int why = reduce_packet_read(skb, answer, packet);

	if (why)
		return why;
	if (!addresses_are_right(group, source, destination, packet))
		return ROCESTEER_REDUCE_A_STATS_ADDRESS;
	return reduce_packet_icrc_is_right(skb, packet) ? 0 : ROCESTEER_REDUCE_A_STATS_ICRC;
}

/* A payload consists of whole elements and fits in the sum. */
static bool length_is_right(const struct reduce_group *group, u32 length)
{
	return length <= group->config.mtu &&
	       length % reduce_arith_size(group->config.type) == 0;
}

/* Return: 0, or why the packet was refused. */
static int receive_locked(struct reduce_group *group, u32 conn, struct sk_buff *skb,
			  struct reduce_packet *packet, const struct nf_hook_state *state)
{
	u32 next = reduce_group_next(group, group->rank_of[conn]);
	enum reduce_poison why;

	lockdep_assert_held(&group->lock);
	if (!group->config.joined)
		return ROCESTEER_REDUCE_A_STATS_UNKNOWN;
	if (!length_is_right(group, packet->shape.length))
		return ROCESTEER_REDUCE_A_STATS_LENGTH;
	if (group->slots.poison || READ_ONCE(receive_stopped))
		return ROCESTEER_REDUCE_A_STATS_POISONED;
	packet->shape.offset = packet->has_reth ? packet->va - group->config.rank[next].va : 0;
	why = way_is_known(group, conn, state) ? REDUCE_ALIVE : REDUCE_ROUTE;
	if (reduce_slots_receive(&group->slots, conn, packet->psn, &packet->shape, why, skb))
		way_learn(group, conn, state);
	else if (group->slots.poison)
		reduce_group_poisoned(group);
	return 0;
}

/* A VLAN may be on top of the bridge. */
static bool enters_by_bridge(const struct nf_hook_state *state)
{
	const struct net_device *dev = state->in;

	while (dev && is_vlan_dev(dev))
		dev = vlan_dev_real_dev(dev);
	return dev && netif_is_bridge_master(dev);
}

/*
 * A bridge that routes passes the packets that this switch has sent to the router's hook.
 * Packets from elsewhere pass the bridge's hook first.
 */
static bool receive_is_own(const struct reduce_group *group, u32 conn, u32 dqpn,
			   const struct nf_hook_state *state)
{
	return dqpn == reduce_conn_qpn_out(group, conn) && state->pf != NFPROTO_BRIDGE &&
	       READ_ONCE(group->way[conn].bridge) && enters_by_bridge(state);
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
 * A waiting packet outlives this RCU read-side critical section, and takes no more memory than
 * planned: drivers may use a page for each packet. A box finds a route when the packet leaves.
 *
 * Return: the packet or a copy, or NULL without memory.
 */
static struct sk_buff *skb_detach(const struct reduce_group *group, struct sk_buff *skb)
{
	if (reduce_config_is_box(&group->config)) {
		skb_scrub_packet(skb, false);
	} else {
		if (skb_dst(skb) && !skb_dst_force(skb))
			return NULL;
		nf_reset_ct(skb);
	}
	/* rxe stops a queue pair with many packets that are not freed. */
	skb_orphan(skb);
	if (skb->truesize <= group->packet_size)
		return skb;
	return skb_copy_expand(skb, NET_SKB_PAD, 0, GFP_ATOMIC);
}

/* Return: 0 if the group has taken @skb, or why it was refused. */
static int receive_input(struct reduce_group *group, u32 conn, struct sk_buff *skb,
			 struct reduce_packet *packet, const struct nf_hook_state *state)
{
	struct sk_buff *kept = skb_detach(group, skb);
	bool leaves;
	int why;

	if (!kept)
		return ROCESTEER_REDUCE_A_STATS_NO_MEMORY;
	/* In process context NFQUEUE has let the packet pass. */
	local_bh_disable();
	spin_lock(&group->lock);
	why = receive_locked(group, conn, kept, packet, state);
	leaves = reduce_emit_begin(group);
	spin_unlock(&group->lock);
	if (leaves)
		reduce_emit(group);
	local_bh_enable();
	if (kept != skb)
		consume_skb(why ? kept : skb);
	return why;
}

/* To the sender's queue pair. Return: 0, or why the group has none. */
static int receive_sender(struct reduce_group *group, u32 rank, u32 *qpn)
{
	int why = 0;

	spin_lock_bh(&group->lock);
	if (!group->config.joined)
		why = ROCESTEER_REDUCE_A_STATS_UNKNOWN;
	else if (group->slots.poison)
		why = ROCESTEER_REDUCE_A_STATS_POISONED;
	*qpn = group->config.rank[rank].sender_qpn;
	spin_unlock_bh(&group->lock);
	return why;
}

/* Answers of the receiver to a rank need not wait. Return: 0, or why it was refused. */
static int receive_answer(struct reduce_group *group, u32 rank, struct sk_buff *skb)
{
	const struct in6_addr *sender = &group->config.rank[rank].address;
	struct reduce_packet packet;
	struct reduce_to to;
	u32 qpn;
	int why;

	why = packet_read(group, skb, true, reduce_group_receiver(group, rank), sender,
			  &packet) ?: receive_sender(group, rank, &qpn);
	if (why)
		return why;
	to = reduce_group_to(group, sender, qpn);
	skb_scrub_packet(skb, false);
	skb_orphan(skb);
	reduce_packet_readdress(skb, &to);
	local_bh_disable();
	reduce_box_send(group->rn->net, NULL, skb);
	local_bh_enable();
	return 0;
}

unsigned int reduce_receive(struct reduce_net *rn, u32 dqpn, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	u32 rank = dqpn & REDUCE_RANK_MASK, kind = dqpn & REDUCE_KIND_MASK, conn;
	struct reduce_packet packet;
	struct reduce_group *group;
	int why;

	group = xa_load(&rn->groups, dqpn >> REDUCE_GROUP_SHIFT & REDUCE_GROUP_MASK);
	if (!group || rank >= group->config.nr_ranks)
		return receive_drop(rn, dqpn, ROCESTEER_REDUCE_A_STATS_UNKNOWN);
	if (!receive_is_here(group, state))
		return NF_ACCEPT;
	if (reduce_config_is_box(&group->config) && kind == REDUCE_ANSWER) {
		why = receive_answer(group, rank, skb);
		return why ? receive_drop(rn, dqpn, why) : NF_STOLEN;
	}
	conn = group->conn_of[rank];
	if (conn == REDUCE_NO_CONN)
		return receive_drop(rn, dqpn, ROCESTEER_REDUCE_A_STATS_MISPLACED);
	if (kind != conn_kind_in(group, conn)) {
		if (receive_is_own(group, conn, dqpn, state))
			return NF_ACCEPT;
		return receive_drop(rn, dqpn, ROCESTEER_REDUCE_A_STATS_MISPLACED);
	}
	why = packet_read(group, skb, false, &group->config.rank[rank].address,
			  reduce_group_receiver(group, rank), &packet) ?:
	      receive_input(group, conn, skb, &packet, state);
	return why ? receive_drop(rn, dqpn, why) : NF_STOLEN;
}

void reduce_receive_stop(void)
{
	WRITE_ONCE(receive_stopped, true);
	synchronize_net();
}
