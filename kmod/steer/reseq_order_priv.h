/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by reseq_order.c and reseq_loss.c. All under rocesteer_order.lock. */
#ifndef ROCESTEER_RESEQ_ORDER_PRIV_H
#define ROCESTEER_RESEQ_ORDER_PRIV_H

#include "reseq_order.h"

/* Append @skb to the packets to deliver. */
static inline void rocesteer_order_ready(struct rocesteer_order *order,
					 struct sk_buff *skb)
{
	skb->next = NULL;
	*order->ready_end = skb;
	order->ready_end = &skb->next;
	order->nr_ready++;
}

u64 rocesteer_order_patience(const struct rocesteer_order *order);
void rocesteer_order_start_timer(struct rocesteer_order *order, u64 wait);
void rocesteer_order_restart_wait(struct rocesteer_order *order);
void rocesteer_order_time_out(struct rocesteer_order *order);
void rocesteer_order_check_overtaken(struct rocesteer_order *order);
void rocesteer_order_note_filled(struct rocesteer_order *order, u32 next, __be16 sport);
void rocesteer_order_note_late(struct rocesteer_order *order, __be16 sport);
void rocesteer_order_note_duplicate(struct rocesteer_order *order, u32 psn);
void rocesteer_order_note_go_back(struct rocesteer_order *order, u32 psn);
void rocesteer_order_init_loss(struct rocesteer_order *order);

/* In the common case some path has not delivered a packet behind the gap yet. */
static inline void rocesteer_order_detect_loss(struct rocesteer_order *order)
{
	u32 beyond = order->window.beyond;

	if (beyond && beyond >= order->paths && order->state == ROCESTEER_ORDER_WAITING)
		rocesteer_order_check_overtaken(order);
}

#endif /* ROCESTEER_RESEQ_ORDER_PRIV_H */
