// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that wait for an earlier one, by PSN, and the paths that they took.
 *
 * All windows together take at most reseq_memory bytes of truesize, and each no more than
 * is left free: k full windows leave one part in k + 1 to another flow (Choudhury and
 * Hahne, dynamic queue length thresholds). Memory is uncharged by rocesteer_window_trim(),
 * up to a second after it was freed, so that CPUs do not write the global counter for each
 * packet.
 */
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/ipv6.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/ip.h>

#include <rocesteer/types.h>

#include "reseq_window.h"

static unsigned long reseq_memory = 64UL << 20;
module_param(reseq_memory, ulong, 0644);
MODULE_PARM_DESC(reseq_memory,
		 "Most bytes of packets that wait for an earlier one; a flow takes no more than it leaves to others");

static atomic_long_t window_bytes;

/* Return: memory charged for all windows. */
u64 rocesteer_window_bytes(void)
{
	return atomic_long_read(&window_bytes);
}

static noinline bool window_charge_more(struct rocesteer_window *win, unsigned long more)
{
	unsigned long limit, used;

	used = atomic_long_add_return(more, &window_bytes);
	limit = READ_ONCE(reseq_memory);
	if (used > limit || win->charged + more > limit - used) {
		atomic_long_sub(more, &window_bytes);
		return false;
	}
	win->charged += more;
	return true;
}

static inline bool window_charge(struct rocesteer_window *win, unsigned int bytes)
{
	unsigned long sum = win->bytes + bytes;

	if (sum > win->charged && !window_charge_more(win, sum - win->charged))
		return false;
	win->bytes = sum;
	return true;
}

static size_t window_slots_size(const struct rocesteer_window *win)
{
	return struct_size(win->slots, packet, win->size);
}

static noinline bool window_alloc(struct rocesteer_window *win)
{
	if (!window_charge(win, window_slots_size(win)))
		return false;
	win->slots = kzalloc(window_slots_size(win), GFP_ATOMIC | __GFP_NOWARN);
	if (!win->slots)
		win->bytes -= window_slots_size(win);
	return win->slots;
}

/*
 * Find the entry of a path. A new path may replace one of which no packet waits. Return:
 * the entry, or NULL if all are in use.
 */
static struct rocesteer_window_port *window_port(struct rocesteer_window_slots *slots, __be16 sport)
{
	struct rocesteer_window_port *port, *unused = NULL;
	unsigned int i, hash = ntohs(sport);

	for (i = 0; i < ROCESTEER_MAX_PATHS; i++) {
		port = &slots->port[(hash + i) % ROCESTEER_MAX_PATHS];
		if (port->sport == sport)
			return port;
		if (!unused && !port->last)
			unused = port;
		if (!port->sport)
			break;
	}
	if (unused)
		unused->sport = sport;
	return unused;
}

static void window_see_port(struct rocesteer_window *win, struct sk_buff *skb)
{
	struct rocesteer_packet *pkt = rocesteer_packet(skb);
	struct rocesteer_window_port *port;

	port = pkt->sport ? window_port(win->slots, pkt->sport) : NULL;
	pkt->port = port;
	if (!port)
		return;
	win->beyond += !port->last;
	port->last = skb;
	port->paths = pkt->paths;
}

/**
 * rocesteer_window_put() - let a packet wait
 * @win: window
 * @skb: packet, with a struct rocesteer_packet, whose PSN is in the window
 *
 * The newer of two packets with one PSN stays, which may request an acknowledgment.
 *
 * Context: BH disabled.
 * Return: 0; 1 if an older packet was freed; -ENOMEM if the caller keeps the packet.
 */
int rocesteer_window_put(struct rocesteer_window *win, struct sk_buff *skb)
{
	struct rocesteer_packet *pkt = rocesteer_packet(skb);
	struct sk_buff **slot, *old;

	if (!window_charge(win, skb->truesize))
		return -ENOMEM;
	if (!win->slots && !window_alloc(win)) {
		win->bytes -= skb->truesize;
		rocesteer_window_trim(win);
		return -ENOMEM;
	}
	slot = rocesteer_window_slot(win, pkt->psn);
	old = *slot;
	if (old)
		rocesteer_window_leave(win, old);
	*slot = skb;
	win->depth++;
	pkt->since = jiffies;
	window_see_port(win, skb);
	if (!old)
		return 0;
	kfree_skb(old);
	return 1;
}

/* Return: a clone of the last packet before PSN @end of a window that is not empty, or NULL. */
struct sk_buff *rocesteer_window_copy_last(const struct rocesteer_window *win,
					   u32 end)
{
	struct sk_buff *skb;

	do
		skb = *rocesteer_window_slot(win, --end);
	while (!skb);
	return skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
}

/* Return: the largest number of paths that the @beyond latest packets carry. */
u8 rocesteer_window_paths(const struct rocesteer_window *win)
{
	const struct rocesteer_window_port *port = win->slots->port;
	unsigned int i;
	u8 paths = 0;

	for (i = 0; i < ROCESTEER_MAX_PATHS; i++)
		if (port[i].last)
			paths = max(paths, port[i].paths);
	return paths;
}

/**
 * rocesteer_window_others() - when other paths had delivered packets behind a missing one
 * @win: window, not empty
 * @psn: PSN of the missing packet
 * @others: number of these paths, not 0
 *
 * Return: arrival of the packet by which @others paths had; 0 if fewer have.
 */
u64 rocesteer_window_others(const struct rocesteer_window *win, u32 psn, u32 others)
{
	DECLARE_BITMAP(seen, ROCESTEER_MAX_PATHS) = {};
	const struct rocesteer_window_port *port;
	const struct sk_buff *skb;
	u32 i;

	for (i = 1; i < win->size; i++) {
		skb = *rocesteer_window_slot(win, psn + i);
		port = skb ? rocesteer_packet(skb)->port : NULL;
		if (!port || __test_and_set_bit(port - win->slots->port, seen))
			continue;
		if (!--others)
			return rocesteer_window_since(win, psn + i);
	}
	return 0;
}

/* All paths may deliver earlier packets again. @win is not empty. */
void rocesteer_window_forget_ports(struct rocesteer_window *win)
{
	memset(win->slots->port, 0, sizeof(win->slots->port));
	win->beyond = 0;
}

/* Uncharge memory that is not in use. */
void rocesteer_window_trim(struct rocesteer_window *win)
{
	WARN_ON_ONCE(atomic_long_sub_return(win->charged - win->bytes,
					    &window_bytes) < 0);
	win->charged = win->bytes;
}

/* Free the slots of an empty window. */
void rocesteer_window_free(struct rocesteer_window *win)
{
	WARN_ON_ONCE(win->depth);
	kfree(win->slots);
	win->slots = NULL;
	win->bytes = 0;
	rocesteer_window_trim(win);
}
