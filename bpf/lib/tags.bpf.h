/* SPDX-License-Identifier: GPL-2.0 */
/* The chunks that flows have in flight: bpf/chunk.bpf.c, and what forgets flows. */
#ifndef TAGS_BPF_H
#define TAGS_BPF_H

#include "rocesteer/chunk.h"
#include "maps.bpf.h"

/* Messages in flight. Written by rocesteer_chunk, one entry per flow. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_FLOWS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_flow_key);
	__type(value, struct rocesteer_tags);
} rs_tags SEC(".maps");

#endif /* TAGS_BPF_H */
