/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_H
#define ROCESTEER_RESEQ_H

#include <linux/types.h>

#include <rocesteer/types.h>

struct nf_hook_state;
struct rocesteer_net;
struct rocesteer_order;
struct rocesteer_qp;
struct rocesteer_reseq;
struct sk_buff;

/**
 * struct rocesteer_reseq_stat - state of a flow's resequencer
 * @depth: packets that wait now
 * @age: nanoseconds that they have waited for the missing packet; 0 for none
 * @held: packets that had to wait
 * @lost: packets declared lost because all paths had delivered later ones
 * @timeout: packets declared lost by the timer
 */
struct rocesteer_reseq_stat {
	u32 depth;
	u64 age;
	u64 held;
	u64 lost;
	u64 timeout;
};

int rocesteer_reseq_table_init(struct rocesteer_net *rn);
void rocesteer_reseq_table_free(struct rocesteer_net *rn);

struct rocesteer_reseq *
rocesteer_reseq_new(struct rocesteer_net *rn,
		    const struct rocesteer_flow_key *key,
		    const struct rocesteer_qp *qp, bool fresh);
void rocesteer_reseq_del(struct rocesteer_reseq *reseq);
void rocesteer_reseq_read(struct rocesteer_reseq *reseq,
			  struct rocesteer_reseq_stat *stat);

s64 rocesteer_reseq_dqpn(struct rocesteer_net *rn,
			 const struct rocesteer_flow_key *key);
unsigned int rocesteer_reseq_pass(struct rocesteer_order *order, u32 next,
				  u8 paths, struct sk_buff *skb,
				  const struct nf_hook_state *state);
unsigned int rocesteer_reseq_sort(struct rocesteer_order *order,
				  struct sk_buff *skb,
				  const struct nf_hook_state *state);
unsigned int rocesteer_reseq_sort_read(struct rocesteer_order *order,
				       struct sk_buff *skb,
				       const struct nf_hook_state *state);
bool rocesteer_reseq_expect_read(struct rocesteer_reseq *reseq, u32 psn,
				 u32 length);
u32 rocesteer_reseq_answer(struct rocesteer_reseq *reseq, u32 psn, bool asks);

#endif /* ROCESTEER_RESEQ_H */
