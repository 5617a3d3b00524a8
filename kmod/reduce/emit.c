// SPDX-License-Identifier: GPL-2.0
/*
 * Work for slot.c: sum, send results, nudge.
 *
 * Packets are sent without the lock of the group, in order, by one CPU at a time. A CPU sends
 * REDUCE_EMIT_BATCH packets in one go; if there are more, a work item goes on.
 */
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>

#include "arith.h"
#include "emit.h"
#include "packet.h"
#include "trace.h"

/*
 * Results between two acknowledgment requests. A sender heeds one NAK until the next
 * acknowledgment: frequent requests shorten the recovery from a loss.
 */
#define EMIT_ACK_EVERY	8

static struct reduce_group *slots_group(const struct reduce_slots *slots)
{
	return container_of(slots, struct reduce_group, slots);
}

/* Index of the payload that leaves on a connection: the sum, or on a leaf the result */
static u32 sum_index(const struct reduce_slots *slots, s64 position, bool sum)
{
	u32 index = reduce_slots_index(slots, position);

	return sum || !slots->leaf ? index : slots->nr_slots + index;
}

static u8 *sum_at(const struct reduce_group *group, u32 index)
{
	return group->sum + index * (size_t)group->config.mtu;
}

void reduce_slots_sum(struct reduce_slots *slots, struct reduce_slot *slot)
{
	struct reduce_group *group = slots_group(slots);
	u32 index = sum_index(slots, slot->position, true);
	const void *in[REDUCE_MAX_RANKS];
	u32 c;

	for (c = 0; c < slots->nr_inputs; c++)
		in[c] = reduce_packet_payload(slot->packet[c]);
	if (!reduce_arith(group->config.type, group->config.op, sum_at(group, index), in,
			  slots->nr_inputs, slot->shape.length))
		reduce_count(group->rn, ROCESTEER_REDUCE_A_STATS_INTEGER);
	group->crc[index] = reduce_packet_crc(sum_at(group, index), slot->shape.length);
	trace_rocesteer_reduce_slot(group->config.id, slot->position, slots->held);
}

void reduce_slots_take(struct reduce_slots *slots, const struct reduce_slot *slot,
		       const void *packet)
{
	struct reduce_group *group = slots_group(slots);
	u32 index = sum_index(slots, slot->position, false);
	u32 length = slot->shape.length;
	u8 *result = sum_at(group, index);

	memcpy(result, reduce_packet_payload(packet), length);
	memset(result + length, 0, -length & 3);
	group->crc[index] = reduce_packet_crc(result, length);
}

bool reduce_slots_equal(const struct reduce_slots *slots, const struct reduce_slot *slot,
			const void *a, const void *b)
{
	return !memcmp(reduce_packet_payload(a), reduce_packet_payload(b), slot->shape.length);
}

/* The queue pair of the receiver */
static u32 conn_receiver(const struct reduce_group *group, u32 conn)
{
	return group->config.rank[reduce_group_next(group, group->rank_of[conn])].qpn;
}

/* The virtual number for the switch that comes next */
static u32 conn_virtual(const struct reduce_group *group, u32 conn, u32 kind)
{
	return REDUCE_VIRTUAL | group->config.id << REDUCE_GROUP_SHIFT | kind |
	       group->rank_of[conn];
}

u32 reduce_conn_qpn_out(const struct reduce_group *group, u32 conn)
{
	if (group->config.role == ROCESTEER_REDUCE_ROLE_ROOT)
		return conn_virtual(group, conn, REDUCE_RESULT);
	if (reduce_slots_goes_up(&group->slots, conn))
		return conn_virtual(group, conn, REDUCE_PART);
	return conn_receiver(group, conn);
}

static struct reduce_to conn_to(const struct reduce_group *group, u32 conn, u32 qpn)
{
	return reduce_group_to(group, reduce_group_receiver(group, group->rank_of[conn]), qpn);
}

static void emit_queue(struct reduce_group *group, u32 conn, struct sk_buff *skb)
{
	lockdep_assert_held(&group->lock);
	if (reduce_emit_queued(&group->emit) == REDUCE_EMIT_MAX) {
		reduce_count(group->rn, ROCESTEER_REDUCE_A_STATS_NO_MEMORY);
		kfree_skb(skb);
		return;
	}
	*reduce_emit_entry(&group->emit, group->emit.tail++) =
		(struct reduce_emit_entry) { skb, conn };
}

void reduce_slots_emit(struct reduce_slots *slots, u32 conn, const struct reduce_slot *slot,
		       void *packet)
{
	struct reduce_group *group = slots_group(slots);
	u32 index = sum_index(slots, slot->position, reduce_slots_goes_up(slots, conn));
	struct reduce_to to = conn_to(group, conn, reduce_conn_qpn_out(group, conn));

	reduce_packet_finish(packet, &to, slot->position % EMIT_ACK_EVERY == 0,
			     sum_at(group, index), slot->shape.length, group->crc[index]);
	emit_queue(group, conn, packet);
}

/* To the receiver's own number, so that other switches of the group forward it. */
void reduce_slots_nudge(struct reduce_slots *slots, u32 conn, u32 psn, const void *packet)
{
	struct reduce_group *group = slots_group(slots);
	struct reduce_to to = conn_to(group, conn, conn_receiver(group, conn));
	struct sk_buff *skb = reduce_packet_nudge(packet, &to, psn);

	trace_rocesteer_reduce_nudge(group->config.id, group->rank_of[conn],
				     slots->conn[conn].next);
	if (!skb)
		return;
	group->nudges[conn]++;
	emit_queue(group, conn, skb);
}

void reduce_slots_drop(struct reduce_slots *slots, void *packet)
{
	kfree_skb(packet);
}

bool reduce_emit_begin(struct reduce_group *group)
{
	struct reduce_emit *emit = &group->emit;
	u32 queued = reduce_emit_queued(&group->emit);

	lockdep_assert_held(&group->lock);
	if (emit->leaving)
		return false;
	if (queued < REDUCE_EMIT_BATCH)
		reduce_slots_pump(&group->slots, REDUCE_EMIT_BATCH - queued);
	emit->leaving = min(reduce_emit_queued(&group->emit), REDUCE_EMIT_BATCH);
	return emit->leaving;
}

/*
 * The port may have left the bridge while the packet waited. br_port_get_rcu() stays valid in
 * the RCU read-side critical section that sees the flag.
 */
static void emit_send(struct reduce_group *group, const struct reduce_emit_entry *entry)
{
	const struct reduce_way *way = &group->way[entry->conn];

	if (way->bridge && !netif_is_bridge_port(entry->skb->dev))
		kfree_skb(entry->skb);
	else
		way->okfn(group->rn->net, NULL, entry->skb);
}

/* Until @leaving is 0 no other CPU changes @head, nor the entries from there on. */
void reduce_emit(struct reduce_group *group)
{
	struct reduce_emit *emit = &group->emit;
	u32 i;

	for (i = 0; i < emit->leaving; i++)
		emit_send(group, reduce_emit_entry(&group->emit, emit->head + i));
	spin_lock(&group->lock);
	emit->head += emit->leaving;
	emit->leaving = 0;
	/* Under the lock: a group that is stopped is poisoned first. */
	if (!group->slots.poison && (reduce_emit_queued(emit) || group->slots.pending))
		queue_work(system_bh_wq, &emit->work);
	spin_unlock(&group->lock);
}

static void emit_work(struct work_struct *work)
{
	struct reduce_group *group = container_of(work, struct reduce_group, emit.work);
	bool leaves;

	rcu_read_lock();
	spin_lock(&group->lock);
	leaves = reduce_emit_begin(group);
	spin_unlock(&group->lock);
	if (leaves)
		reduce_emit(group);
	rcu_read_unlock();
}

void reduce_emit_init(struct reduce_group *group)
{
	INIT_WORK(&group->emit.work, emit_work);
}
