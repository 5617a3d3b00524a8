/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_WINDOW_H
#define ROCESTEER_RESEQ_WINDOW_H

#include <linux/jiffies.h>
#include <linux/types.h>

struct sk_buff;
struct window_slots;

/* Size of a window in PSNs: for requests twice what rxe has in flight. */
#define ROCESTEER_WINDOW_REQUESTS	256
#define ROCESTEER_WINDOW_RESPONSES	1024

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
	struct window_slots *slots;
};

/*
 * Time in nanoseconds, in jiffies resolution: at most 10 ms, small against the waits of 60
 * ms and more. A finer clock would double the cost of a waiting packet.
 */
static inline u64 rocesteer_window_now(void)
{
	return get_jiffies_64() * TICK_NSEC;
}

int rocesteer_window_put(struct rocesteer_window *win, struct sk_buff *skb,
			 u32 psn, u32 span, __be16 sport, u8 paths);
struct sk_buff *rocesteer_window_take(struct rocesteer_window *win, u32 psn);
u32 rocesteer_window_span(const struct sk_buff *skb);
struct sk_buff *rocesteer_window_copy_last(const struct rocesteer_window *win,
					   u32 end);
u64 rocesteer_window_since(const struct rocesteer_window *win, u32 psn);
u8 rocesteer_window_paths(const struct rocesteer_window *win);
void rocesteer_window_forget_ports(struct rocesteer_window *win);
void rocesteer_window_trim(struct rocesteer_window *win);
void rocesteer_window_free(struct rocesteer_window *win);
u64 rocesteer_window_bytes(void);

#endif /* ROCESTEER_RESEQ_WINDOW_H */
