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
#include <linux/ipv6.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/ip.h>

#include <rocesteer/types.h>

#include "reseq_window.h"

#define WINDOW_HEADER \
	MAX(sizeof(struct inet_skb_parm), sizeof(struct inet6_skb_parm))

/**
 * struct window_port - a path
 * @last: latest packet that took the path and had to wait; NULL if it no longer waits
 * @sport: UDP source port; 0 for an empty entry
 * @paths: number of paths that @last carries
 */
struct window_port {
	struct sk_buff *last;
	__be16 sport;
	u8 paths;
};

/**
 * struct window_slots - memory of a window
 * @port: paths, an open-addressing hash table by UDP source port
 * @packet: waiting packets, by PSN modulo the size of the window
 */
struct window_slots {
	struct window_port port[ROCESTEER_MAX_PATHS];
	struct sk_buff *packet[];
};

/**
 * struct window_cb - control block of a waiting packet
 * @header: control block of the IP layer
 * @span: number of PSNs that the packet takes
 * @since: arrival, in jiffies resolution
 * @port: path; NULL if unknown
 */
struct window_cb {
	u8 header[WINDOW_HEADER];
	u32 span;
	u64 since;
	struct window_port *port;
};

static_assert(sizeof(struct window_cb) <= sizeof_field(struct sk_buff, cb));

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

static bool window_charge(struct rocesteer_window *win, unsigned int bytes)
{
	unsigned long limit, used, more;

	if (win->bytes + bytes > win->charged) {
		more = win->bytes + bytes - win->charged;
		used = atomic_long_add_return(more, &window_bytes);
		limit = READ_ONCE(reseq_memory);
		if (used > limit || win->charged + more > limit - used) {
			atomic_long_sub(more, &window_bytes);
			return false;
		}
		win->charged += more;
	}
	win->bytes += bytes;
	return true;
}

static size_t window_slots_size(const struct rocesteer_window *win)
{
	return struct_size(win->slots, packet, win->size);
}

static bool window_alloc(struct rocesteer_window *win)
{
	if (win->slots)
		return true;
	if (!window_charge(win, window_slots_size(win)))
		return false;
	win->slots = kzalloc(window_slots_size(win), GFP_ATOMIC | __GFP_NOWARN);
	if (!win->slots)
		win->bytes -= window_slots_size(win);
	return win->slots;
}

static struct window_cb *window_cb(const struct sk_buff *skb)
{
	return (struct window_cb *)skb->cb;
}

static struct sk_buff **window_slot(const struct rocesteer_window *win, u32 psn)
{
	return &win->slots->packet[psn & (win->size - 1)];
}

/*
 * Find the entry of a path. A new path may replace one of which no packet waits. Return:
 * the entry, or NULL if all are in use.
 */
static struct window_port *window_port(struct window_slots *slots, __be16 sport)
{
	struct window_port *port, *unused = NULL;
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

static void window_see_port(struct rocesteer_window *win, struct sk_buff *skb,
			    __be16 sport, u8 paths)
{
	struct window_port *port = sport ? window_port(win->slots, sport) : NULL;

	window_cb(skb)->port = port;
	if (!port)
		return;
	win->beyond += !port->last;
	port->last = skb;
	port->paths = paths;
}

/* A packet no longer waits. */
static void window_leave(struct rocesteer_window *win, struct sk_buff *skb)
{
	struct window_port *port = window_cb(skb)->port;

	if (port && port->last == skb) {
		port->last = NULL;
		win->beyond--;
	}
	win->bytes -= skb->truesize;
	win->depth--;
}

/**
 * rocesteer_window_put() - let a packet wait
 * @win: window
 * @skb: packet
 * @psn: PSN of the packet, in the window
 * @span: number of PSNs that the packet takes
 * @sport: see struct rocesteer_packet
 * @paths: see struct rocesteer_packet
 *
 * The newer of two packets with one PSN stays, which may request an acknowledgment.
 *
 * Context: BH disabled.
 * Return: 0; 1 if an older packet was freed; -ENOMEM if the caller keeps the packet.
 */
int rocesteer_window_put(struct rocesteer_window *win, struct sk_buff *skb,
			 u32 psn, u32 span, __be16 sport, u8 paths)
{
	struct window_cb *cb = window_cb(skb);
	struct sk_buff **slot, *old;

	if (!window_charge(win, skb->truesize))
		return -ENOMEM;
	if (!window_alloc(win)) {
		win->bytes -= skb->truesize;
		rocesteer_window_trim(win);
		return -ENOMEM;
	}
	slot = window_slot(win, psn);
	old = *slot;
	if (old)
		window_leave(win, old);
	*slot = skb;
	win->depth++;
	cb->span = span;
	cb->since = rocesteer_window_now();
	window_see_port(win, skb, sport, paths);
	if (!old)
		return 0;
	kfree_skb(old);
	return 1;
}

/* Return: the packet with PSN @psn, which the caller then owns, or NULL. */
struct sk_buff *rocesteer_window_take(struct rocesteer_window *win, u32 psn)
{
	struct sk_buff **slot = window_slot(win, psn), *skb = *slot;

	if (!skb)
		return NULL;
	*slot = NULL;
	window_leave(win, skb);
	return skb;
}

/* Return: number of PSNs of a packet just returned by rocesteer_window_take(). */
u32 rocesteer_window_span(const struct sk_buff *skb)
{
	return window_cb(skb)->span;
}

/* Return: a clone of the last packet before PSN @end of a window that is not empty, or NULL. */
struct sk_buff *rocesteer_window_copy_last(const struct rocesteer_window *win,
					   u32 end)
{
	struct sk_buff *skb;

	do
		skb = *window_slot(win, --end);
	while (!skb);
	return skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
}

/* Return: arrival of the packet with PSN @psn, 0 if there is none. @win is not empty. */
u64 rocesteer_window_since(const struct rocesteer_window *win, u32 psn)
{
	const struct sk_buff *skb = *window_slot(win, psn);

	return skb ? window_cb(skb)->since : 0;
}

/* Return: the largest number of paths that the @beyond latest packets carry. */
u8 rocesteer_window_paths(const struct rocesteer_window *win)
{
	const struct window_port *port = win->slots->port;
	unsigned int i;
	u8 paths = 0;

	for (i = 0; i < ROCESTEER_MAX_PATHS; i++)
		if (port[i].last)
			paths = max(paths, port[i].paths);
	return paths;
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
