// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that wait for one before them, by PSN, and the paths they came by.
 *
 * Memory is bounded threefold: so many packets as a window has PSNs,
 * reseq_memory bytes for all, counted as sockets count them, and for each of
 * them no more than it leaves to the others. So whoever fills a window, or k of
 * them, leaves one part in k + 1 to a flow that comes (Choudhury and Hahne,
 * dynamic queue length thresholds).
 */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include <rocesteer/types.h>

#include "compat.h"
#include "window.h"

/**
 * struct window_slot - place of the packet with a PSN, modulo the window's size
 * @skb: packet, or NULL
 * @since: when it came, in nanoseconds
 * @span: PSNs that it takes
 */
struct window_slot {
	struct sk_buff *skb;
	u64 since;
	u32 span;
};

/**
 * struct window_port - a path
 * @psn: of the last packet that it delivered, of those that had to wait
 * @sport: UDP source port
 * @paths: that the packet said there are
 */
struct window_port {
	u32 psn;
	__be16 sport;
	u8 paths;
};

struct window_buffer {
	unsigned int nr_ports;
	struct window_port port[ROCESTEER_MAX_PATHS];
	struct window_slot slot[];
};

static unsigned long reseq_memory = 64UL << 20;
module_param(reseq_memory, ulong, 0644);
MODULE_PARM_DESC(reseq_memory,
		 "Most bytes of packets that wait for one before them; of a flow no more than it leaves to others");

/* Memory in use, of all windows. */
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
	unsigned long used = atomic_long_add_return(bytes, &window_bytes);
	unsigned long limit = READ_ONCE(reseq_memory);

	if (used <= limit && win->bytes + bytes <= limit - used) {
		win->bytes += bytes;
		return true;
	}
	atomic_long_sub(bytes, &window_bytes);
	return false;
}

static void window_uncharge(struct rocesteer_window *win, unsigned int bytes)
{
	win->bytes -= bytes;
	WARN_ON_ONCE(atomic_long_sub_return(bytes, &window_bytes) < 0);
}

static size_t window_buffer_size(const struct rocesteer_window *win)
{
	return struct_size(win->buffer, slot, win->size);
}

static bool window_alloc(struct rocesteer_window *win)
{
	size_t size = window_buffer_size(win);

	if (win->buffer)
		return true;
	if (!window_charge(win, size))
		return false;
	win->buffer = kzalloc(size, GFP_ATOMIC | __GFP_NOWARN);
	if (!win->buffer)
		window_uncharge(win, size);
	return win->buffer;
}

static struct window_slot *window_slot(const struct rocesteer_window *win,
				       u32 psn)
{
	return &win->buffer->slot[psn % win->size];
}

static void window_see_port(struct window_buffer *buffer,
			    struct window_port seen)
{
	unsigned int i;

	for (i = 0; i < buffer->nr_ports; i++)
		if (buffer->port[i].sport == seen.sport)
			break;
	if (i == ROCESTEER_MAX_PATHS)
		return;
	if (i == buffer->nr_ports)
		buffer->nr_ports++;
	buffer->port[i] = seen;
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
 * Of two with the same PSN the newer one stays: it is the one that may ask for
 * an acknowledgment.
 *
 * Context: BH disabled.
 * Return: 0; 1 where another packet was freed for it; -ENOMEM where there is
 * no memory, and the packet is still the caller's.
 */
int rocesteer_window_put(struct rocesteer_window *win, struct sk_buff *skb,
			 u32 psn, u32 span, __be16 sport, u8 paths)
{
	struct window_slot *slot;
	struct sk_buff *old;

	if (!window_charge(win, skb->truesize))
		return -ENOMEM;
	if (!window_alloc(win)) {
		window_uncharge(win, skb->truesize);
		return -ENOMEM;
	}
	slot = window_slot(win, psn);
	old = slot->skb;
	*slot = (struct window_slot) {
		.skb = skb,
		.since = ktime_get_ns(),
		.span = span,
	};
	if (sport)
		window_see_port(win->buffer, (struct window_port) {
			.psn = psn,
			.sport = sport,
			.paths = paths,
		});
	if (!old) {
		win->depth++;
		return 0;
	}
	window_uncharge(win, old->truesize);
	kfree_skb(old);
	return 1;
}

/**
 * rocesteer_window_take() - take a packet out
 * @win: window
 * @psn: its PSN, in the window
 * @span: set to the PSNs that it takes
 *
 * Return: the packet, which is the caller's, or NULL if none waits there.
 */
struct sk_buff *rocesteer_window_take(struct rocesteer_window *win, u32 psn,
				      u32 *span)
{
	struct window_slot *slot;
	struct sk_buff *skb;

	if (!win->depth)
		return NULL;
	slot = window_slot(win, psn);
	skb = slot->skb;
	if (!skb)
		return NULL;
	slot->skb = NULL;
	*span = slot->span;
	window_uncharge(win, skb->truesize);
	if (!--win->depth)
		rocesteer_window_forget_ports(win);
	return skb;
}

/**
 * rocesteer_window_copy() - copy a packet
 * @win: window
 * @psn: of the packet, which waits there, and goes on to
 *
 * Return: a clone, which is the caller's, or NULL if there is no memory.
 */
struct sk_buff *rocesteer_window_copy(const struct rocesteer_window *win,
				      u32 psn)
{
	return skb_clone(window_slot(win, psn)->skb, GFP_ATOMIC | __GFP_NOWARN);
}

/**
 * rocesteer_window_since() - how long does a packet wait?
 * @win: window
 * @psn: its PSN, in the window
 *
 * Return: when it came, in nanoseconds; 0 if none waits there.
 */
u64 rocesteer_window_since(const struct rocesteer_window *win, u32 psn)
{
	const struct window_slot *slot;

	if (!win->depth)
		return 0;
	slot = window_slot(win, psn);
	return slot->skb ? slot->since : 0;
}

/**
 * rocesteer_window_overtaken() - have all paths delivered later packets?
 * @win: window, not empty
 * @psn: later than this one
 * @paths: how many there are, unless one of those packets says more
 */
bool rocesteer_window_overtaken(const struct rocesteer_window *win, u32 psn,
				u8 paths)
{
	const struct window_buffer *buffer = win->buffer;
	unsigned int i, n = 0;

	for (i = 0; i < buffer->nr_ports; i++) {
		if (rocesteer_psn_diff(buffer->port[i].psn, psn) <= 0)
			continue;
		n++;
		paths = max(paths, buffer->port[i].paths);
	}
	return n && n >= paths;
}

/**
 * rocesteer_window_forget_ports() - paths may deliver earlier packets again
 * @win: window
 */
void rocesteer_window_forget_ports(struct rocesteer_window *win)
{
	if (win->buffer)
		win->buffer->nr_ports = 0;
}

/**
 * rocesteer_window_free() - free the memory of an empty window
 * @win: window
 */
void rocesteer_window_free(struct rocesteer_window *win)
{
	WARN_ON_ONCE(win->depth);
	if (!win->buffer)
		return;
	window_uncharge(win, window_buffer_size(win));
	kfree(win->buffer);
	win->buffer = NULL;
}
