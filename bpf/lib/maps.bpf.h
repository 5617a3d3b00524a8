/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables, pinned by name, one set per network namespace. Types and their documentation
 * are in rocesteer/types.h and rocesteer/stats.h. User space writes the tables except where
 * noted. Only rs_qpns and rs_unknown evict: another full table refuses, and the refusal is counted.
 */
#ifndef MAPS_BPF_H
#define MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "rocesteer/stats.h"

/* Per-flow paths. Written by the programs, one entry per flow. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_FLOWS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_flow_key);
	__type(value, struct rocesteer_flow_path);
} rs_flows SEC(".maps");

/*
 * Room in which a flow is built before it is entered: one for packets, as no other packet
 * interrupts a packet on its CPU, and one for queue pairs, which have a lock, but may be
 * interrupted by packets.
 */
enum {
	NEW_PACKET,
	NEW_QP,
	NEW_MAX,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NEW_MAX);
	__type(key, __u32);
	__type(value, struct rocesteer_flow_path);
} rs_new SEC(".maps");

/*
 * The port maps: which source port takes which path to a peer. The programs count flows,
 * user space creates, and sets ports by rocesteer_set_peer.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_PEERS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_peer_key);
	__type(value, struct rocesteer_peer);
} rs_peers SEC(".maps");

/**
 * struct asked - when a peer was reported
 * @at: CLOCK_MONOTONIC ns
 * @loaded_at: of the job, as another one may have its number
 */
struct asked {
	__u64 at;
	__u64 loaded_at;
};

/*
 * Peers that have no port map, and were reported. The programs enter them; the oldest makes room.
 * Not pinned.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct rocesteer_peer_key);
	__type(value, struct asked);
} rs_unknown SEC(".maps");

/* Sources of a job's packets: user space enters those of port maps, the programs others. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_PEERS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_source_key);
	__type(value, struct rocesteer_source);
} rs_sources SEC(".maps");

/*
 * Where switches hash the destination QPN: which source port takes which path to a queue
 * pair of a peer. The programs enter a queue pair without ports, user space finds them. An
 * entry outlives its flow, since the queue pair may be connected again; one that nobody
 * asked for long makes room.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, ROCESTEER_MAX_QPNS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_qpn_key);
	__type(value, struct rocesteer_ports);
} rs_qpns SEC(".maps");

/* Flows per path of each group; the programs count, user space creates. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_PEERS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_group_key);
	__type(value, struct rocesteer_group);
} rs_groups SEC(".maps");

/* Sums over the flows of each group that ended. The programs create and count. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_PEERS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_group_key);
	__type(value, struct rocesteer_ended);
} rs_ended SEC(".maps");

/* Loaded jobs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_JOBS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct rocesteer_job);
} rs_jobs SEC(".maps");

/* Job of a device's flows that no other job claims, by ifindex. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_JOBS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, __u32);
} rs_devices SEC(".maps");

/* Packets by verdict at egress. Written by the egress program. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct rocesteer_verdicts);
} rs_verdicts SEC(".maps");

/* RoCE packets by enum rocesteer_observed. Written by the ingress program. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct rocesteer_observations);
} rs_observed SEC(".maps");

/* The version of these programs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct rocesteer_version);
} rs_version SEC(".maps");

/* Events that rocesteer daemon has to know at once: struct rocesteer_event. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} rs_events SEC(".maps");

/* Return: the time in the units of rocesteer_flow_path's responded. */
static __always_inline __u32 coarse_now(void)
{
	return bpf_ktime_get_coarse_ns() >> 20;
}

/* Count one under @index, of @max counters in the only entry of @map. */
static __always_inline void count(void *map, __u32 index, __u32 max)
{
	__u32 zero = 0;
	__u64 *counters = bpf_map_lookup_elem(map, &zero);

	barrier_var(index);	/* make clang index with the register that it checked */
	if (counters && index < max)
		counters[index]++;
}

#endif /* MAPS_BPF_H */
