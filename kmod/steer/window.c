// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that wait for one before them, by PSN, and the paths they came by.
 *
 * A window has at most as many packets as PSNs. All windows have at most reseq_memory
 * bytes, counted as sockets count them, and each no more than it leaves free. So who
 * fills k windows leaves one part in k + 1 to another flow (Choudhury and Hahne,
 * dynamic queue length thresholds).
 */
#include <linux/atomic.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/ip.h>

#include <rocesteer/roce.h>
#include <rocesteer/types.h>

#include "../compat.h"
#include "window.h"

#define WINDOW_HEADER \
	MAX(sizeof(struct inet_skb_parm), sizeof(struct inet6_skb_parm))

/**
 * struct window_cb - what is kept in the control block of a packet that waits
 * @header: the IP layer's
 * @psn: its PSN
 * @span: PSNs that it takes
 * @since: when it came, in nanoseconds
 * @dev: its device: skb->dev shares its place with the node of the tree
 */
struct window_cb {
	u8 header[WINDOW_HEADER];
	u32 psn;
	u32 span;
	u64 since;
	struct net_device *dev;
};

static_assert(sizeof(struct window_cb) <= sizeof_field(struct sk_buff, cb));

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

struct window_ports {
	unsigned int nr;
	struct window_port port[ROCESTEER_MAX_PATHS];
};

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

static bool window_alloc(struct rocesteer_window *win)
{
	if (win->ports)
		return true;
	if (!window_charge(win, sizeof(*win->ports)))
		return false;
	win->ports = kzalloc_obj(*win->ports, GFP_ATOMIC | __GFP_NOWARN);
	if (!win->ports)
		window_uncharge(win, sizeof(*win->ports));
	return win->ports;
}

static struct window_cb *window_cb(const struct sk_buff *skb)
{
	return (struct window_cb *)skb->cb;
}

/* What a packet is that has left the tree. */
static void window_restore(struct rocesteer_window *win, struct sk_buff *skb)
{
	skb->next = NULL;
	skb->prev = NULL;
	skb->dev = window_cb(skb)->dev;
	window_uncharge(win, skb->truesize);
}

/* Return: the packet with the same PSN whose place it has taken, or NULL. */
static struct sk_buff *window_insert(struct rocesteer_window *win,
				     struct sk_buff *skb)
{
	struct rb_node **link = &win->packets.rb_root.rb_node, *parent = NULL;
	u32 psn = window_cb(skb)->psn;
	bool first = true, last = !win->last;
	struct sk_buff *old;
	s32 ahead;

	/* Most packets come behind all others. */
	if (win->last &&
	    rocesteer_psn_diff(psn, window_cb(win->last)->psn) > 0) {
		parent = &win->last->rbnode;
		link = &parent->rb_right;
		first = false;
		last = true;
	}
	while (*link) {
		parent = *link;
		old = rb_to_skb(parent);
		ahead = rocesteer_psn_diff(psn, window_cb(old)->psn);
		if (!ahead) {
			rb_replace_node_cached(parent, &skb->rbnode,
					       &win->packets);
			if (win->last == old)
				win->last = skb;
			return old;
		}
		link = ahead < 0 ? &parent->rb_left : &parent->rb_right;
		first &= ahead < 0;
	}
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color_cached(&skb->rbnode, &win->packets, first);
	if (last)
		win->last = skb;
	return NULL;
}

static void window_see_port(struct window_ports *ports, struct window_port seen)
{
	unsigned int i;

	for (i = 0; i < ports->nr; i++)
		if (ports->port[i].sport == seen.sport)
			break;
	if (i == ROCESTEER_MAX_PATHS)
		return;
	if (i == ports->nr)
		ports->nr++;
	ports->port[i] = seen;
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
	struct sk_buff *old;

	if (!window_charge(win, skb->truesize))
		return -ENOMEM;
	if (!window_alloc(win)) {
		window_uncharge(win, skb->truesize);
		return -ENOMEM;
	}
	cb->psn = psn;
	cb->span = span;
	cb->since = ktime_get_ns();
	cb->dev = skb->dev;
	old = window_insert(win, skb);
	if (sport)
		window_see_port(win->ports, (struct window_port) {
			.psn = psn,
			.sport = sport,
			.paths = paths,
		});
	if (!old) {
		win->depth++;
		return 0;
	}
	window_restore(win, old);
	kfree_skb(old);
	return 1;
}

/**
 * rocesteer_window_take() - take the first packet out
 * @win: window
 * @end: PSN that it has to be before, in the window or just behind
 * @behind: set to the PSN behind those that it takes
 *
 * Return: the packet, which is the caller's, or NULL if none waits there.
 */
struct sk_buff *rocesteer_window_take(struct rocesteer_window *win, u32 end,
				      u32 *behind)
{
	struct window_cb *cb;
	struct sk_buff *skb;

	if (!win->depth)
		return NULL;
	skb = rb_to_skb(rb_first_cached(&win->packets));
	cb = window_cb(skb);
	if (rocesteer_psn_diff(cb->psn, end) >= 0)
		return NULL;
	*behind = cb->psn + cb->span;
	if (--win->depth) {
		rb_erase_cached(&skb->rbnode, &win->packets);
	} else {	/* as most often: cheaper */
		win->packets = RB_ROOT_CACHED;
		win->last = NULL;
		rocesteer_window_forget_ports(win);
	}
	window_restore(win, skb);
	return skb;
}

/**
 * rocesteer_window_copy_last() - copy the last packet
 * @win: window, not empty
 *
 * Return: a clone, which is the caller's, or NULL if there is no memory.
 */
struct sk_buff *rocesteer_window_copy_last(const struct rocesteer_window *win)
{
	struct sk_buff *skb = skb_clone(win->last, GFP_ATOMIC | __GFP_NOWARN);

	if (skb)
		skb->dev = window_cb(skb)->dev;
	return skb;
}

/**
 * rocesteer_window_since() - how long does the first packet wait?
 * @win: window, not empty
 * @psn: PSN that it has to have
 *
 * Return: when it came, in nanoseconds; 0 if the first has another PSN.
 */
u64 rocesteer_window_since(const struct rocesteer_window *win, u32 psn)
{
	const struct window_cb *cb;

	cb = window_cb(rb_to_skb(rb_first_cached(&win->packets)));
	return rocesteer_psn_diff(cb->psn, psn) ? 0 : cb->since;
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
	const struct window_ports *ports = win->ports;
	unsigned int i, n = 0;

	for (i = 0; i < ports->nr; i++) {
		if (rocesteer_psn_diff(ports->port[i].psn, psn) <= 0)
			continue;
		n++;
		paths = max(paths, ports->port[i].paths);
	}
	return n && n >= paths;
}

/**
 * rocesteer_window_forget_ports() - paths may deliver earlier packets again
 * @win: window
 */
void rocesteer_window_forget_ports(struct rocesteer_window *win)
{
	if (win->ports)
		win->ports->nr = 0;
}

/**
 * rocesteer_window_free() - free the memory of an empty window
 * @win: window
 */
void rocesteer_window_free(struct rocesteer_window *win)
{
	WARN_ON_ONCE(win->depth);
	if (!win->ports)
		return;
	window_uncharge(win, sizeof(*win->ports));
	kfree(win->ports);
	win->ports = NULL;
}
