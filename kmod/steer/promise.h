/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_PROMISE_H
#define ROCESTEER_PROMISE_H

#include <linux/types.h>

struct sk_buff;

void rocesteer_promise_init(u32 bit);
void rocesteer_promise_set(struct sk_buff *skb, unsigned int l4_off);

#endif /* ROCESTEER_PROMISE_H */
