// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that wait for one before them, by PSN, and the paths they came by.
 *
 * A window has at most as many packets as PSNs. All windows have at most reseq_memory
 * bytes, counted as sockets count them, and each no more than it leaves free. So who
 * fills k windows leaves one part in k + 1 to another flow (Choudhury and Hahne,
 * dynamic queue length thresholds). What a window takes counts until
 * rocesteer_window_trim(), at most a second longer than packets wait: so CPUs do not
 * write the one counter for each packet.
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
 * @last: the last packet that it delivered and that had to wait; NULL where that one
 *	waits no more
 * @sport: UDP source port; 0 where no path is here
 * @paths: that the packet said there are
 */
struct window_port {
	struct sk_buff *last;
	__be16 sport;
	u8 paths;
};

/**
 * struct window_room - where packets wait
 * @port: paths by which they came, hashed by port number; the next place where one is
 *	taken
 * @packet: they, by PSN modulo the size of the window; NULL where none waits
 */
struct window_room {
	struct window_port port[ROCESTEER_MAX_PATHS];
	struct sk_buff *packet[];
};

/**
 * struct window_cb - what is kept in the control block of a packet that waits
 * @header: the IP layer's
 * @span: PSNs that it takes
 * @since: when it came, to the tick
 * @port: path by which it came; NULL where that is not known
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
		 "Most bytes of packets that wait for one before them; of a flow no more than it leaves to others");

static atomic_long_t window_bytes;

/**
 * rocesteer_window_bytes() - memory of packets that wait
 *
 * Return: bytes in use now, of all windows.
 */
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

static size_t window_room_size(const struct rocesteer_window *win)
{
	return struct_size(win->room, packet, win->size);
}

static bool window_alloc(struct rocesteer_window *win)
{
	if (win->room)
		return true;
	if (!window_charge(win, window_room_size(win)))
		return false;
	win->room = kzalloc(window_room_size(win), GFP_ATOMIC | __GFP_NOWARN);
	if (!win->room)
		win->bytes -= window_room_size(win);
	return win->room;
}

static struct window_cb *window_cb(const struct sk_buff *skb)
{
	return (struct window_cb *)skb->cb;
}

static struct sk_buff **window_slot(const struct rocesteer_window *win, u32 psn)
{
	return &win->room->packet[psn & (win->size - 1)];
}

/*
 * A path that is new may take the place of one of which no packet waits.
 * Return: its place, or NULL where there is none.
 */
static struct window_port *window_port(struct window_room *room, __be16 sport)
{
	struct window_port *port, *unused = NULL;
	unsigned int i, hash = ntohs(sport);

	for (i = 0; i < ROCESTEER_MAX_PATHS; i++) {
		port = &room->port[(hash + i) % ROCESTEER_MAX_PATHS];
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
	struct window_port *port = sport ? window_port(win->room, sport) : NULL;

	window_cb(skb)->port = port;
	if (!port)
		return;
	win->beyond += !port->last;
	port->last = skb;
	port->paths = paths;
}

/* A packet waits no more. */
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
 * @psn: its PSN, in the window
 * @span: PSNs that it takes
 * @sport: UDP source port, which stands for its path; 0 where it may have overtaken
 *	others there
 * @paths: how many its sender deals the flow to
 *
 * Of two packets with the same PSN the newer one stays, as that may ask for an
 * acknowledgment.
 *
 * Context: BH disabled.
 * Return: 0; 1 where another packet was freed for it; -ENOMEM where there is
 * no memory, and the packet is still the caller's.
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

/**
 * rocesteer_window_take() - take a packet out
 * @win: window, in which one waits or did lately
 * @psn: its PSN, in the window or just behind
 *
 * Return: the packet, which is the caller's, or NULL if none waits there.
 */
struct sk_buff *rocesteer_window_take(struct rocesteer_window *win, u32 psn)
{
	struct sk_buff **slot = window_slot(win, psn), *skb = *slot;

	if (!skb)
		return NULL;
	*slot = NULL;
	window_leave(win, skb);
	return skb;
}

/**
 * rocesteer_window_span() - how many PSNs does a packet take?
 * @skb: packet that was taken out just now
 */
u32 rocesteer_window_span(const struct sk_buff *skb)
{
	return window_cb(skb)->span;
}

/**
 * rocesteer_window_copy_last() - copy the last packet
 * @win: window, not empty
 * @end: PSN behind it
 *
 * Return: a clone, which is the caller's, or NULL if there is no memory.
 */
struct sk_buff *rocesteer_window_copy_last(const struct rocesteer_window *win,
					   u32 end)
{
	struct sk_buff *skb;

	do
		skb = *window_slot(win, --end);
	while (!skb);
	return skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
}

/**
 * rocesteer_window_since() - how long does a packet wait?
 * @win: window, not empty
 * @psn: its PSN, in the window
 *
 * Return: when it came, to the tick; 0 if none waits there.
 */
u64 rocesteer_window_since(const struct rocesteer_window *win, u32 psn)
{
	const struct sk_buff *skb = *window_slot(win, psn);

	return skb ? window_cb(skb)->since : 0;
}

/**
 * rocesteer_window_paths() - how many paths are there?
 * @win: window, not empty
 *
 * Return: the most that the last packet of one of @win->beyond paths says.
 */
u8 rocesteer_window_paths(const struct rocesteer_window *win)
{
	const struct window_port *port = win->room->port;
	unsigned int i;
	u8 paths = 0;

	for (i = 0; i < ROCESTEER_MAX_PATHS; i++)
		if (port[i].last)
			paths = max(paths, port[i].paths);
	return paths;
}

/**
 * rocesteer_window_forget_ports() - paths may deliver earlier packets again
 * @win: window, not empty
 */
void rocesteer_window_forget_ports(struct rocesteer_window *win)
{
	memset(win->room->port, 0, sizeof(win->room->port));
	win->beyond = 0;
}

/**
 * rocesteer_window_trim() - let others have memory that is not in use now
 * @win: window
 */
void rocesteer_window_trim(struct rocesteer_window *win)
{
	WARN_ON_ONCE(atomic_long_sub_return(win->charged - win->bytes,
					    &window_bytes) < 0);
	win->charged = win->bytes;
}

/**
 * rocesteer_window_free() - free the memory of an empty window
 * @win: window
 */
void rocesteer_window_free(struct rocesteer_window *win)
{
	WARN_ON_ONCE(win->depth);
	kfree(win->room);
	win->room = NULL;
	win->bytes = 0;
	rocesteer_window_trim(win);
}
