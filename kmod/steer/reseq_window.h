/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_WINDOW_H
#define ROCESTEER_RESEQ_WINDOW_H

#include <linux/ipv6.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <net/ip.h>

#include <rocesteer/types.h>

/* Size of a window in PSNs: for requests twice what rxe has in flight. */
#define ROCESTEER_WINDOW_REQUESTS	256
#define ROCESTEER_WINDOW_RESPONSES	1024

#define ROCESTEER_PACKET_HEADER \
	MAX(sizeof(struct inet_skb_parm), sizeof(struct inet6_skb_parm))

/**
 * struct rocesteer_packet - a received RC packet, parsed, in its control block
 * @header: control block of the IP layer
 * @psn: packet sequence number
 * @span: number of PSNs that the packet takes: those of the response for a READ request
 * @sport: UDP source port, which identifies the path; 0 for an acknowledgment: a
 *	switch may let it overtake data on the same path
 * @paths: number of paths that the sender splits the flow over, 1..64; 0 for an
 *	acknowledgment, which does not carry the number
 * @since: when the packet began to wait, in jiffies
 * @port: path of a packet that waits; NULL if unknown
 */
struct rocesteer_packet {
	u8 header[ROCESTEER_PACKET_HEADER];
	u32 psn;
	u32 span;
	__be16 sport;
	u8 paths;
	u32 since;
	struct rocesteer_window_port *port;
};

static_assert(sizeof(struct rocesteer_packet) <= sizeof_field(struct sk_buff, cb));

/**
 * struct rocesteer_window_port - a path
 * @last: latest packet that took the path and had to wait; NULL if it no longer waits
 * @sport: UDP source port; 0 for an empty entry
 * @paths: number of paths that @last carries
 */
struct rocesteer_window_port {
	struct sk_buff *last;
	__be16 sport;
	u8 paths;
};

/**
 * struct rocesteer_window_slots - memory of a window
 * @port: paths, an open-addressing hash table by UDP source port
 * @packet: waiting packets, by PSN modulo the size of the window
 */
struct rocesteer_window_slots {
	struct rocesteer_window_port port[ROCESTEER_MAX_PATHS];
	struct sk_buff *packet[];
};

/**
 * struct rocesteer_window - packets that wait for an earlier one
 * @size: one of the above, a power of two; immutable
 * @depth: number of waiting packets
 * @beyond: number of paths whose latest packet is waiting
 * @bytes: memory of the packets and of @slots
 * @charged: maximum of @bytes since rocesteer_window_trim(), charged to reseq_memory
 * @slots: the packets; NULL if no packet has waited recently
 *
 * The caller holds the lock, and keeps all packets within @size consecutive PSNs. A window
 * is empty if all members but @size are 0.
 */
struct rocesteer_window {
	u32 size;
	u32 depth;
	u32 beyond;
	unsigned long bytes;
	unsigned long charged;
	struct rocesteer_window_slots *slots;
};

/*
 * Time in nanoseconds, in jiffies resolution: at most 10 ms, less than the waits of 25 ms and
 * more. A finer clock would double the cost of a waiting packet.
 */
static inline u64 rocesteer_window_now(void)
{
	return get_jiffies_64() * TICK_NSEC;
}

static inline struct rocesteer_packet *rocesteer_packet(const struct sk_buff *skb)
{
	return (struct rocesteer_packet *)skb->cb;
}

static inline struct sk_buff **rocesteer_window_slot(const struct rocesteer_window *win, u32 psn)
{
	return &win->slots->packet[psn & (win->size - 1)];
}

/* A packet no longer waits. */
static inline void rocesteer_window_leave(struct rocesteer_window *win, struct sk_buff *skb)
{
	struct rocesteer_window_port *port = rocesteer_packet(skb)->port;

	if (port && port->last == skb) {
		port->last = NULL;
		win->beyond--;
	}
	win->bytes -= skb->truesize;
	win->depth--;
}

/* Return: the packet with PSN @psn, which the caller then owns, or NULL. */
static inline struct sk_buff *
rocesteer_window_take(struct rocesteer_window *win, u32 psn)
{
	struct sk_buff **slot = rocesteer_window_slot(win, psn), *skb = *slot;

	if (!skb)
		return NULL;
	*slot = NULL;
	rocesteer_window_leave(win, skb);
	return skb;
}

/*
 * Return: when the packet with PSN @psn began to wait, as rocesteer_window_now(); 0 if there is
 * none. @win is not empty.
 */
static inline u64 rocesteer_window_since(const struct rocesteer_window *win, u32 psn)
{
	const struct sk_buff *skb = *rocesteer_window_slot(win, psn);
	u64 now = get_jiffies_64();

	return skb ? (now - ((u32)now - rocesteer_packet(skb)->since)) * TICK_NSEC : 0;
}

int rocesteer_window_put(struct rocesteer_window *win, struct sk_buff *skb);
struct sk_buff *rocesteer_window_copy_last(const struct rocesteer_window *win,
					   u32 end);
u8 rocesteer_window_paths(const struct rocesteer_window *win);
u64 rocesteer_window_others(const struct rocesteer_window *win, u32 psn, u32 others);
void rocesteer_window_forget_ports(struct rocesteer_window *win);
void rocesteer_window_trim(struct rocesteer_window *win);
void rocesteer_window_free(struct rocesteer_window *win);
u64 rocesteer_window_bytes(void);

#endif /* ROCESTEER_RESEQ_WINDOW_H */
