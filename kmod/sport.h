/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_SPORT_H
#define ROCESTEER_SPORT_H

#include <linux/types.h>

struct sk_buff;

void rocesteer_sport_init(void);
int rocesteer_sport_set(struct sk_buff *skb, u32 l4_off, __be16 sport);
void rocesteer_sport_promise(struct sk_buff *skb, u32 l4_off, u32 bits);

#endif /* ROCESTEER_SPORT_H */
