/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_WINDOW_H
#define ROCESTEER_RESEQ_WINDOW_H

#include <linux/jiffies.h>
#include <linux/types.h>

struct sk_buff;
struct window_room;

/*
 * PSNs from the expected one on that may wait. Of requests twice what rxe has in
 * flight; data that READs ask for has no such bound.
 */
#define ROCESTEER_WINDOW_REQUESTS	256
#define ROCESTEER_WINDOW_RESPONSES	1024

/**
 * struct rocesteer_window - packets that wait for one before them
 * @size: one of the above, a power of two; immutable
 * @depth: how many
 * @beyond: paths whose last packet that had to wait is one of them
 * @bytes: memory that they and @room take
 * @charged: the most that this was since rocesteer_window_trim(): what counts
 * @room: where they are; NULL where none waited lately
 *
 * All are from fewer than @size consecutive PSNs: that is the caller's care, as is
 * the lock. Zeroed but for @size, it is empty.
 */
struct rocesteer_window {
	u32 size;
	u32 depth;
	u32 beyond;
	unsigned long bytes;
	unsigned long charged;
	struct window_room *room;
};

/**
 * rocesteer_window_now() - the time, to the tick
 *
 * To read a finer clock for each packet that waits would cost as much as all else. A
 * time that is measured by this one is wrong by less than a tick, 10 ms at most. Who
 * waits twice as long, and 60 ms at least, need not care.
 *
 * Context: Any.
 * Return: in nanoseconds.
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
