/* SPDX-License-Identifier: GPL-2.0 */
/* Flows whose packets are tagged, for bench/cost. */
#ifndef TAGGING_H
#define TAGGING_H

#include <string.h>
#include <arpa/inet.h>

#include <bpf/bpf.h>

#include "rocesteer.skel.h"
#include "../include/rocesteer/chunk.h"
#include "../include/rocesteer/roce.h"

#define TAG_JOB		1
#define TAG_RANGES	1024		/* of the peer's memory */
#define TAG_LENGTH	65536u		/* of each, and of a message */
#define TAG_ENDLESS	0x40000000u
#define TAG_CLASS	3
#define TAG_DSCP	24

/* The RETH of a message; the messages of a flow fill one range after the other. */
static inline struct rocesteer_reth tagging_reth(unsigned int message)
{
	return (struct rocesteer_reth){
		.va[1] = htonl(message % TAG_RANGES * TAG_LENGTH),
		.length = htonl(TAG_LENGTH),
	};
}

/* The RETH of a message that does not end, to a range behind these. */
static inline struct rocesteer_reth tagging_endless(void)
{
	return (struct rocesteer_reth){
		.va[1] = htonl(TAG_RANGES * TAG_LENGTH), .length = htonl(TAG_ENDLESS),
	};
}

/* Return: 0, or not, with errno set. */
static inline int tagging_tables(struct rocesteer_bpf *skel, const struct rocesteer_flow_key *flow)
{
	struct rocesteer_peer_key peer = { .job = TAG_JOB, .ifindex = flow->ifindex };
	struct rocesteer_range_key key = { .job = TAG_JOB };
	const struct rocesteer_chunk_job job = { .nr_chunks = 1, .nr_classes = TAG_CLASS,
						 .dscp[TAG_CLASS] = TAG_DSCP };
	const struct rocesteer_ranges ranges = { .nr = TAG_RANGES + 1 };
	struct rocesteer_range range = {
		.tag = { .class = TAG_CLASS, .dscp = TAG_DSCP, .count = 1 },
	};
	const __u32 id = TAG_JOB;
	int err = 0;

	memcpy(peer.addr, flow->peer, sizeof(peer.addr));
	for (; key.index <= TAG_RANGES; key.index++) {
		range.start = key.index * (__u64)TAG_LENGTH;
		range.length = key.index < TAG_RANGES ? TAG_LENGTH : TAG_ENDLESS;
		err |= bpf_map_update_elem(bpf_map__fd(skel->maps.rs_ranges),
					   &key, &range, BPF_ANY);
	}
	return err |
	       bpf_map_update_elem(bpf_map__fd(skel->maps.rs_range_peers),
				   &peer, &ranges, BPF_ANY) |
	       bpf_map_update_elem(bpf_map__fd(skel->maps.rs_chunk_jobs), &id, &job, BPF_ANY);
}

#endif /* TAGGING_H */
