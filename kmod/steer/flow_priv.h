/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by flow*.c. All under rocesteer_lock, except alloc, free and list_rcu. */
#ifndef ROCESTEER_FLOW_PRIV_H
#define ROCESTEER_FLOW_PRIV_H

#include "flow.h"

struct rocesteer_flow *
rocesteer_flow_alloc(struct rocesteer_net *rn,
		     const struct rocesteer_flow_key *key, gfp_t gfp);
void rocesteer_flow_free(struct rocesteer_flow *flow);
struct rhlist_head *
rocesteer_flow_list_rcu(struct rocesteer_net *rn,
			const struct rocesteer_flow_key *key);
struct rhlist_head *rocesteer_flow_list(struct rocesteer_net *rn,
					const struct rocesteer_flow_key *key);
struct rocesteer_flow_key rocesteer_flow_own_key(const struct rocesteer_flow *flow);
int rocesteer_flow_link(struct rocesteer_flow *flow);
void rocesteer_flow_unlink(struct rocesteer_flow *flow);
void rocesteer_flow_unbind(struct rocesteer_flow *flow);
void rocesteer_flow_set_job(struct rocesteer_flow *flow, u32 job);
void rocesteer_flow_resequence(struct rocesteer_flow *flow, bool fresh);
void rocesteer_flow_end_reseq(struct rocesteer_flow *flow);
void rocesteer_flow_announce(struct rocesteer_flow *flow);
void rocesteer_flow_trace_del(const struct rocesteer_flow *flow, u32 job);

#endif /* ROCESTEER_FLOW_PRIV_H */
