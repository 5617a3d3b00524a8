/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A parsed packet on its way from one program to the next. A tail call keeps only the
 * context. Only the programs of another hook interrupt those of a hook on their CPU.
 */
#ifndef HANDOVER_BPF_H
#define HANDOVER_BPF_H

#include "parse.bpf.h"

/**
 * struct handover - what is known of the packet
 * @pkt: parsed
 * @known: rocesteer_new_flow has seen it
 * @said: by tell_answers(), where it leaves
 */
struct handover {
	struct packet pkt;
	__u32 known;
	__be32 said;
};

enum {
	HANDOVER_EGRESS,
	HANDOVER_INGRESS,
	HANDOVER_MAX,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HANDOVER_MAX);
	__type(key, __u32);
	__type(value, struct handover);
} rs_handover SEC(".maps");

static __always_inline struct handover *find_handover(__u32 hook)
{
	return bpf_map_lookup_elem(&rs_handover, &hook);
}

static __always_inline void hand_over(__u32 hook, const struct packet *pkt, __be32 said)
{
	struct handover *h = find_handover(hook);

	if (h) {
		h->pkt = *pkt;
		h->known = false;
		h->said = said;
	}
}

#endif /* HANDOVER_BPF_H */
