/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_MARK_H
#define ROCESTEER_RESEQ_MARK_H

#include <linux/types.h>

struct sk_buff;

int rocesteer_read_mark_init(void);
void rocesteer_read_mark_set(struct sk_buff *skb, unsigned int l4_off);

#endif /* ROCESTEER_RESEQ_MARK_H */
