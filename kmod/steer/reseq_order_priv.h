/* SPDX-License-Identifier: GPL-2.0 */
/* What order*.c share. All under rocesteer_order.lock. */
#ifndef ROCESTEER_RESEQ_ORDER_PRIV_H
#define ROCESTEER_RESEQ_ORDER_PRIV_H

#include "reseq_order.h"

/**
 * enum order_state - what is done about the missing packet
 * @ORDER_WAITING: nothing yet
 * @ORDER_NUDGED: it was given up: one from behind it was shown to the queue pair
 * @ORDER_ASKED: the queue pair has asked for it by a NAK, and drops whatever
 *	else it gets
 */
enum order_state {
	ORDER_WAITING,
	ORDER_NUDGED,
	ORDER_ASKED,
};

/* @skb is to be delivered, behind what is already. */
static inline void rocesteer_order_ready(struct rocesteer_order *order,
					 struct sk_buff *skb)
{
	skb->next = NULL;
	*order->ready_end = skb;
	order->ready_end = &skb->next;
	order->nr_ready++;
}

u64 rocesteer_order_wait(const struct rocesteer_order *order);
void rocesteer_order_start_timer(struct rocesteer_order *order, u64 wait);
void rocesteer_order_restart_wait(struct rocesteer_order *order);
void rocesteer_order_wait_longer(struct rocesteer_order *order);
void rocesteer_order_check_overtaken(struct rocesteer_order *order);
void rocesteer_order_note_filled(struct rocesteer_order *order, u32 next);
void rocesteer_order_note_again(struct rocesteer_order *order, u32 psn);
void rocesteer_order_note_go_back(struct rocesteer_order *order, u32 psn);
void rocesteer_order_init_loss(struct rocesteer_order *order);

/* Most packets come while some path has delivered none from beyond the expected one. */
static inline void rocesteer_order_detect_loss(struct rocesteer_order *order)
{
	u32 beyond = order->window.beyond;

	if (beyond && beyond >= order->paths && order->state == ORDER_WAITING)
		rocesteer_order_check_overtaken(order);
}

#endif /* ROCESTEER_RESEQ_ORDER_PRIV_H */
