/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_KMOD_FLOW_H
#define ROCESTEER_KMOD_FLOW_H

#include <linux/rhashtable-types.h>
#include <linux/types.h>

#include <rocesteer/types.h>

#include "qp.h"

struct rocesteer_net;
struct rocesteer_reseq;
struct sk_buff;

/**
 * struct rocesteer_flow - a flow of a network namespace
 * @node: in rocesteer_net.flows
 * @qp_node: in the index by queue pair, if the flow has one
 * @rn: namespace. Valid under rocesteer_lock while @linked: a namespace loses its flows
 *	before it is freed
 * @key: immutable, without @rival
 * @job: job number or 0. Written under rocesteer_lock, read under RCU
 * @id: index in rocesteer_net.flow_ids, immutable while @linked
 * @linked: in the tables, under rocesteer_lock. To be checked after a lookup under RCU
 * @by_hand: @job was set by flow-add, under rocesteer_lock
 * @connected: the driver has connected the queue pair, and no reset was requested since.
 *	Under rocesteer_lock
 * @rival: tells flows with one @key apart, immutable while @linked
 * @sender: the queue pair, compared with sk_user_data of a packet's socket, to tell flows
 *	with one key apart; NULL if packets have no such socket. Written under
 *	rocesteer_lock, read under RCU
 * @sqpn: queue pair number of @sender. Written under rocesteer_lock, read under RCU
 * @qp: the queue pair, under rocesteer_lock
 * @reseq: resequencer of the queue pair, or NULL. Written under rocesteer_lock, read
 *	under RCU
 * @rcu: frees this
 *
 * Owned by the tables; freed by RCU when it is unlinked.
 */
struct rocesteer_flow {
	struct rhlist_head node;
	struct rhash_head qp_node;
	struct rocesteer_net *rn;
	struct rocesteer_flow_key key;
	u32 job;
	u32 id;
	bool linked;
	bool by_hand;
	bool connected;
	u8 rival;
	const void *sender;
	u32 sqpn;
	struct rocesteer_qp qp;
	struct rocesteer_reseq __rcu *reseq;
	struct rcu_head rcu;
};

int rocesteer_flow_init(void);
void rocesteer_flow_exit(void);
int rocesteer_flow_table_init(struct rocesteer_net *rn);
void rocesteer_flow_table_free(struct rocesteer_net *rn);

s64 rocesteer_flow_job(struct rocesteer_net *rn,
		       const struct rocesteer_flow_key *key,
		       const struct sk_buff *skb);
struct rocesteer_reseq *
rocesteer_flow_reseq(struct rocesteer_net *rn,
		     const struct rocesteer_flow_key *key,
		     const struct sk_buff *skb);
struct rocesteer_flow *
rocesteer_flow_find(struct rocesteer_net *rn,
		    const struct rocesteer_flow_key *key);
int rocesteer_flow_add(struct rocesteer_net *rn,
		       const struct rocesteer_flow_key *key, u32 job);
int rocesteer_flow_del(struct rocesteer_net *rn,
		       const struct rocesteer_flow_key *key);
u16 rocesteer_flow_learn(struct rocesteer_net *rn,
			 const struct rocesteer_flow_key *key,
			 const struct rocesteer_qp *qp);
void rocesteer_flow_set_connected(const struct ib_qp *qp, bool connected);
void rocesteer_flow_forget(const struct ib_qp *qp);
void rocesteer_flow_claim(struct rocesteer_net *rn, u32 job);
void rocesteer_flow_disown(struct rocesteer_net *rn, u32 job);
void rocesteer_flow_flush(struct rocesteer_net *rn, u32 ifindex);

#endif /* ROCESTEER_KMOD_FLOW_H */
