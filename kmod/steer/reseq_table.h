/* SPDX-License-Identifier: GPL-2.0 */
/* The queue pairs of a namespace whose packets are resequenced. */
#ifndef ROCESTEER_RESEQ_TABLE_H
#define ROCESTEER_RESEQ_TABLE_H

#include <linux/hash.h>
#include <linux/in6.h>
#include <linux/rhashtable.h>

#include "net.h"
#include "reseq_order.h"

/**
 * struct rocesteer_qp_key - a queue pair of this host
 * @ifindex: network device that receives its packets
 * @qpn: queue pair number
 */
struct rocesteer_qp_key {
	u32 ifindex;
	u32 qpn;
};

/**
 * struct rocesteer_reseq - a queue pair whose packets are resequenced
 * @node: in rocesteer_net.reseqs
 * @key: the queue pair, immutable
 * @peer: address of the peer, immutable
 * @local: address of the queue pair, immutable
 * @pf: protocol family of both, immutable
 * @dqpn: as in the key of the flow that the queue pair sends, immutable
 * @order: order of the received packets, by enum rocesteer_sequence
 * @rcu: frees this
 *
 * Owned by its flow.
 */
struct rocesteer_reseq {
	struct rhash_head node;
	struct rocesteer_qp_key key;
	struct in6_addr peer;
	struct in6_addr local;
	u8 pf;
	u32 dqpn;
	struct rocesteer_order order[ROCESTEER_PSNS_MAX];
	struct rcu_head rcu;
};

/* Only this host chooses device and queue pair number: no need for jhash(). */
static inline u32 rocesteer_reseq_hash(const void *data, u32 len, u32 seed)
{
	const struct rocesteer_qp_key *key = data;

	return hash_32(key->qpn + (key->ifindex << 24) + seed, 20);
}

/* The default calls memcmp(). */
static inline int rocesteer_reseq_cmp(struct rhashtable_compare_arg *arg,
				      const void *obj)
{
	const struct rocesteer_reseq *reseq = obj;
	const struct rocesteer_qp_key *key = arg->key;

	return reseq->key.qpn != key->qpn || reseq->key.ifindex != key->ifindex;
}

static const struct rhashtable_params rocesteer_reseq_params = {
	.head_offset = offsetof(struct rocesteer_reseq, node),
	.key_offset = offsetof(struct rocesteer_reseq, key),
	.key_len = sizeof(struct rocesteer_qp_key),
	.hashfn = rocesteer_reseq_hash,
	.obj_cmpfn = rocesteer_reseq_cmp,
	.automatic_shrinking = true,
};

/* Return: whether the namespace has no such queue pair. Context: any. */
static inline bool rocesteer_reseq_none(const struct rocesteer_net *rn)
{
	return !atomic_read(&rn->reseqs.nelems);
}

/* Where the latest queue pair with these low bits is noted: rxe gives out numbers in turn. */
static inline struct rocesteer_reseq __rcu **
rocesteer_reseq_recent(struct rocesteer_net *rn, u32 qpn)
{
	return &rn->recent_reseqs[qpn % ARRAY_SIZE(rn->recent_reseqs)];
}

/* Context: RCU read-side critical section. */
static inline struct rocesteer_reseq *
rocesteer_reseq_lookup(struct rocesteer_net *rn, u32 ifindex, u32 qpn)
{
	const struct rocesteer_qp_key key = { .ifindex = ifindex, .qpn = qpn };
	struct rocesteer_reseq *recent = rcu_dereference(*rocesteer_reseq_recent(rn, qpn));

	if (likely(recent && recent->key.qpn == qpn && recent->key.ifindex == ifindex))
		return recent;
	return rhashtable_lookup(&rn->reseqs, &key, rocesteer_reseq_params);
}

#endif /* ROCESTEER_RESEQ_TABLE_H */
