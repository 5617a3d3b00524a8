/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs of no job, whose packets pass the programs of another job's device. A table
 * remembers them by their sockets, so that neither rs_flows nor the module is asked for each
 * packet, and the packet reads one cache line.
 */
#ifndef JOBLESS_BPF_H
#define JOBLESS_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "rocesteer/roce.h"
#include "rocesteer/types.h"
#include "socket.bpf.h"

/**
 * struct jobless - the flow of a socket, which was of no job
 * @key: the flow; a queue pair of rxe has a socket of its own
 * @tag: lower halves of the socket's cookie and of job_changes, which was read before rs_flows
 *	and the module were asked; 0 while the entry is written
 *
 * Where two CPUs meet at an entry, a packet may leave as it came that should not.
 */
struct jobless {
	struct rocesteer_flow_key key;
	__u64 tag;
};

/* Two sockets share a cache line; a third one replaces one of them, which is looked up again. */
#define JOBLESS_SETS	8192
#define JOBLESS_WAYS	2

static struct jobless jobless_table[JOBLESS_SETS][JOBLESS_WAYS] __attribute__((aligned(64)));

/*
 * The first grows whenever a flow may have got a job, once the tables and the module say so. The
 * second is what the first was when a socket was noted last: else the table knows no socket.
 */
volatile __u64 job_changes, job_changes_noted;

/* Make void what is remembered of all sockets. */
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

	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]));
}

/* The kernel counts cookies up, in runs of 4,096 for each CPU: each run begins somewhere else. */
static __always_inline struct jobless *jobless_set(__u64 cookie)
{
	return jobless_table[(cookie + (cookie >> 12) * 0x9e37) % JOBLESS_SETS];
}

static __always_inline __u64 jobless_tag(__u64 cookie, __u64 changes)
{
	return cookie << 32 | (__u32)changes;
}

/* Return: whether the flow of the socket is known to be of no job. */
static __always_inline bool is_jobless(const struct sock___sender *sk,
				       const struct rocesteer_flow_key *key)
{
	__u64 changes = job_changes, cookie, tag;
	const struct jobless *at;

	if (changes != job_changes_noted)
		return false;
	cookie = sk->__sk_common.skc_cookie.counter;
	tag = jobless_tag(cookie, changes);
	at = jobless_set(cookie);
	/* A socket that nobody asked for its cookie has 0. */
	if (at->tag != tag && (++at)->tag != tag)
		return false;
	return cookie && same_key(&at->key, key);
}

/* Remember that the flow of a packet's socket is of no job. */
static __always_inline void note_jobless(struct __sk_buff *skb,
					 const struct rocesteer_flow_key *key, __u64 changes)
{
	__u64 cookie = bpf_get_socket_cookie(skb);
	struct jobless *at = jobless_set(cookie);

	if ((__u32)at->tag == (__u32)changes)
		at++;
	__sync_lock_test_and_set(&at->tag, 0);
	at->key = *key;
	at->key.dqpn &= ROCESTEER_QPN_MASK;	/* packets tell no more */
	__sync_lock_test_and_set(&at->tag, jobless_tag(cookie, changes));
	job_changes_noted = changes;
}

#endif /* JOBLESS_BPF_H */
