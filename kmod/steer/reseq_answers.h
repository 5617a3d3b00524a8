/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_ANSWERS_H
#define ROCESTEER_RESEQ_ANSWERS_H

#include <linux/types.h>

struct rocesteer_flow_key;
struct rocesteer_net;
struct sk_buff;

s64 rocesteer_answers_note(struct rocesteer_net *rn,
			   const struct rocesteer_flow_key *key,
			   struct sk_buff *skb);

#endif /* ROCESTEER_RESEQ_ANSWERS_H */
