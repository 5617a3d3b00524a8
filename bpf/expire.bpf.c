// SPDX-License-Identifier: GPL-2.0
/*
 * A flow that has been silent for long is forgotten, and gives its share back. Without the
 * module nothing else tells that a queue pair is gone. If the flow goes on, its next packet,
 * which overtakes nothing, enters the flow again.
 *
 * Listed flows stay, and flows of queue pairs, whose packets may not be seen.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "lib/deal.bpf.h"
#include "lib/tags.bpf.h"

/* SO_NETNS_COOKIE of the namespace these tables serve. */
const volatile __u64 rs_netns;

/* The module lost a flow, or the flow its job: kmod/steer/trace.h. */
SEC("tp_btf/rocesteer_flow_del")
int BPF_PROG(rocesteer_flow_del, __u64 netns,
	     const struct rocesteer_flow_key *gone)
{
	struct rocesteer_flow_key key;

	/* Never NULL, but Linux 7 wants to see it checked. */
	if (netns != rs_netns || !gone)
		return 0;
	key.ifindex = gone->ifindex;
	key.dqpn = gone->dqpn;
	bpf_probe_read_kernel(key.peer, sizeof(key.peer), gone->peer);
	bpf_map_delete_elem(&rs_tags, &key);
	forget_flow(&key);
	return 0;
}

/* The module learnt a flow, or gave a flow to a job. */
SEC("tp_btf/rocesteer_flow_add")
int BPF_PROG(rocesteer_flow_add, __u64 netns)
{
	if (netns == rs_netns)
		note_change();
	return 0;
}

#define CLOCK_MONOTONIC	1

/* Looks at a silent flow until it is forgotten; how often is rs_sweep_ns. */
#define SWEEP_LOOKS	2

/* Tests set another time. */
const volatile __u64 rs_sweep_ns = 30000000000ULL;

struct bpf_map;

/* A look takes too long for the softirq of a timer: 0.1 us or more for each flow. */
struct sweep {
	struct bpf_timer timer;
	struct bpf_wq look;
};

/* Pinned, as the timer ends with the last user of the map in user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct sweep);
} rs_sweep SEC(".maps");

extern int bpf_wq_init(struct bpf_wq *wq, void *map, unsigned int flags) __ksym;
extern int bpf_wq_start(struct bpf_wq *wq, unsigned int flags) __ksym;
/* Newer kernels have the first, with which they fill in @aux; older ones the second. */
extern int bpf_wq_set_callback(struct bpf_wq *wq,
			       int (*callback)(void *map, int *key, void *value),
			       unsigned int flags) __ksym __weak;
extern int bpf_wq_set_callback_impl(struct bpf_wq *wq,
				    int (*callback)(void *map, int *key, void *value),
				    unsigned int flags, void *aux__ign) __ksym __weak;

/* A packet that is sent meanwhile sets idle to 0. */
static long sweep_flow(struct bpf_map *map, const struct rocesteer_flow_key *key,
		       struct rocesteer_flow_path *flow, void *ctx)
{
	struct rocesteer_flow_key gone = *key;

	if (!(flow->flags & ROCESTEER_FLOW_FROM_PACKET) ||
	    flow->flags & ROCESTEER_FLOW_QP || ++flow->idle <= SWEEP_LOOKS)
		return 0;
	bpf_map_delete_elem(&rs_tags, &gone);
	forget_flow(&gone);
	return 0;
}

/* In a worker of the kernel, which others preempt */
static int look(void *map, int *key, void *value)
{
	full_reported = false;
	bpf_for_each_map_elem(&rs_flows, sweep_flow, NULL, 0);
	return 0;
}

static int sweep(void *map, __u32 *key, struct sweep *sweep)
{
	bpf_wq_start(&sweep->look, 0);
	bpf_timer_start(&sweep->timer, rs_sweep_ns, 0);
	return 0;
}

static __always_inline int set_look(struct bpf_wq *wq)
{
	if (bpf_ksym_exists(bpf_wq_set_callback))
		return bpf_wq_set_callback(wq, look, 0);
	return bpf_wq_set_callback_impl(wq, look, 0, NULL);
}

/* User space runs this once, when the tables are there. */
SEC("syscall")
int rocesteer_sweep(void *ctx)
{
	__u32 zero = 0;
	struct sweep *s = bpf_map_lookup_elem(&rs_sweep, &zero);

	if (!s)
		return -ENOENT;
	return bpf_wq_init(&s->look, &rs_sweep, 0) ?:
	       set_look(&s->look) ?:
	       bpf_timer_init(&s->timer, &rs_sweep, CLOCK_MONOTONIC) ?:
	       bpf_timer_set_callback(&s->timer, sweep) ?:
	       bpf_timer_start(&s->timer, rs_sweep_ns, 0);
}
