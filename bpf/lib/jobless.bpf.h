/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs of no job, whose packets pass the programs of another job's device. Their
 * sockets remember that, so that neither rs_flows nor the module is asked for each packet.
 */
#ifndef JOBLESS_BPF_H
#define JOBLESS_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "rocesteer/roce.h"
#include "rocesteer/types.h"

/**
 * struct jobless - the flow of a socket, which was of no job
 * @key: the flow; a queue pair of rxe has a socket of its own
 * @changes: job_changes, read before rs_flows and the module were asked
 *
 * Never changed, so that two packets on two CPUs see one flow, not parts of two.
 */
struct jobless {
	struct rocesteer_flow_key key;
	__u64 changes;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct jobless);
} rs_jobless SEC(".maps");

/* Grows whenever a flow may have got a job, once the tables and the module say so. */
volatile __u64 job_changes;

/* Make void what all sockets remember. */
static __always_inline void note_change(void)
{
	__sync_fetch_and_add(&job_changes, 1);
}

/* A barrier as well: answers of tables and module from then on are no older than the number. */
static __always_inline __u64 read_changes(void)
{
	return __sync_fetch_and_add(&job_changes, 0);
}

/* Both are aligned to 8 bytes. */
static __always_inline bool same_key(const struct rocesteer_flow_key *a,
				     const struct rocesteer_flow_key *b)
{
	const __u64 *x = __builtin_assume_aligned(a, 8), *y = __builtin_assume_aligned(b, 8);

	return x[0] == y[0] && x[1] == y[1] && x[2] == y[2];
}

/* Let the socket of a packet forget a void entry. Return: 0, which nobody reads. */
__noinline int forget_jobless(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;

	if (sk)
		bpf_sk_storage_delete(&rs_jobless, sk);
	return 0;
}

/* Return: whether the socket of a packet remembers that the flow is of no job. */
static __always_inline bool is_jobless(struct __sk_buff *skb,
				       const struct rocesteer_flow_key *key)
{
	struct bpf_sock *sk = skb->sk;
	struct jobless *jobless;

	if (!sk)
		return false;
	jobless = bpf_sk_storage_get(&rs_jobless, sk, NULL, 0);
	if (!jobless)
		return false;
	if (jobless->changes == job_changes)
		return same_key(&jobless->key, key);
	forget_jobless(skb);
	return false;
}

/* Let the socket of a packet remember that the flow is of no job, unless it has another. */
static __always_inline void note_jobless(struct __sk_buff *skb,
					 const struct rocesteer_flow_key *key, __u64 changes)
{
	struct jobless jobless = { .key = *key, .changes = changes };
	struct bpf_sock *sk = skb->sk;

	jobless.key.dqpn &= ROCESTEER_QPN_MASK;	/* packets tell no more */
	if (sk)
		bpf_sk_storage_get(&rs_jobless, sk, &jobless, BPF_SK_STORAGE_GET_F_CREATE);
}

#endif /* JOBLESS_BPF_H */
