/* SPDX-License-Identifier: GPL-2.0 */
/* Flows whose packets rocesteer_chunk tags, for bench/cost. */
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

/* Return: 0, or not, with errno set. */
static inline int tagging_tables(struct rocesteer_bpf *skel, const struct rocesteer_flow_key *flow)
{
	struct rocesteer_range_key key = { .peer = { .job = TAG_JOB,
						     .ifindex = flow->ifindex } };
	const struct rocesteer_chunk_key ckey = { .job = TAG_JOB };
	const struct rocesteer_chunk chunk = { .nr_stages = 1,
					       .class[0] = TAG_CLASS };
	const struct rocesteer_chunk_job job = { .nr_chunks = 1,
						 .nr_classes = TAG_CLASS,
						 .dscp[TAG_CLASS] = TAG_DSCP };
	const struct rocesteer_ranges ranges = { .nr = TAG_RANGES };
	struct rocesteer_range range = { .length = TAG_LENGTH };
	const __u32 id = TAG_JOB;
	int err = 0;

	memcpy(key.peer.addr, flow->peer, sizeof(key.peer.addr));
	for (; key.index < TAG_RANGES; key.index++) {
		range.start = key.index * (__u64)TAG_LENGTH;
		err |= bpf_map_update_elem(bpf_map__fd(skel->maps.rs_ranges),
					   &key, &range, BPF_ANY);
	}
	return err |
	       bpf_map_update_elem(bpf_map__fd(skel->maps.rs_range_peers),
				   &key.peer, &ranges, BPF_ANY) |
	       bpf_map_update_elem(bpf_map__fd(skel->maps.rs_chunks), &ckey, &chunk, BPF_ANY) |
	       bpf_map_update_elem(bpf_map__fd(skel->maps.rs_chunk_jobs), &id, &job, BPF_ANY);
}

/* A message that every packet continues, and a counter. Return: as above. */
static inline int tagging_flow(struct rocesteer_bpf *skel, const struct rocesteer_flow_key *flow)
{
	const struct rocesteer_count_key key = { TAG_JOB, TAG_CLASS, 0 };
	struct rocesteer_count none[libbpf_num_possible_cpus()];
	const struct rocesteer_tags tags = {
		.job = TAG_JOB,
		.next = 1,
		.message[0] = {
			.packets = ROCESTEER_PSN_MASK + 1,
			.tag = { .class = TAG_CLASS, .dscp = TAG_DSCP },
		},
	};

	memset(none, 0, sizeof(none));
	return bpf_map_update_elem(bpf_map__fd(skel->maps.rs_chunk_counts), &key, none, BPF_ANY) |
	       bpf_map_update_elem(bpf_map__fd(skel->maps.rs_tags), flow, &tags, BPF_ANY);
}

#endif /* TAGGING_H */
