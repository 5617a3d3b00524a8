/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_WINDOW_H
#define ROCESTEER_WINDOW_H

#include <linux/rbtree.h>
#include <linux/types.h>

struct sk_buff;
struct window_ports;

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
 * @bytes: memory that they and @ports take
 * @packets: they, by PSN
 * @last: of them, NULL where there is none
 * @ports: by which they came; NULL where none waited lately
 *
 * All are from fewer than @size consecutive PSNs: that is the caller's care, as is
 * the lock. Zeroed but for @size, it is empty.
 */
struct rocesteer_window {
	u32 size;
	u32 depth;
	unsigned long bytes;
	struct rb_root_cached packets;
	struct sk_buff *last;
	struct window_ports *ports;
};

int rocesteer_window_put(struct rocesteer_window *win, struct sk_buff *skb,
			 u32 psn, u32 span, __be16 sport, u8 paths);
struct sk_buff *rocesteer_window_take(struct rocesteer_window *win, u32 end,
				      u32 *behind);
struct sk_buff *rocesteer_window_copy_last(const struct rocesteer_window *win);
u64 rocesteer_window_since(const struct rocesteer_window *win, u32 psn);
bool rocesteer_window_overtaken(const struct rocesteer_window *win, u32 psn,
				u8 paths);
void rocesteer_window_forget_ports(struct rocesteer_window *win);
void rocesteer_window_free(struct rocesteer_window *win);
u64 rocesteer_window_bytes(void);

#endif /* ROCESTEER_WINDOW_H */
