// SPDX-License-Identifier: GPL-2.0
/* How flows go from the table: silent ones, and those that meet others in their memory. */

#include "flows.h"
#include "../../include/rocesteer/chunk.h"
#include "between.skel.h"

/*
 * Load what happens to flow 1 between two steps of the programs. Return: NULL where
 * tracing programs are not permitted.
 */
static struct between_bpf *between(void)
{
	struct between_bpf *hook = between_bpf__open();
	int meet = bpf_program__fd(skel->progs.rocesteer_new_flow);
	int sweep = bpf_program__fd(skel->progs.rocesteer_sweep);
	struct bpf_map *map, *shared;

	if (!hook)
		die("between");
	bpf_object__for_each_map(map, hook->obj) {
		bpf_map__set_pin_path(map, NULL);
		shared = bpf_object__find_map_by_name(skel->obj, bpf_map__name(map));
		if (shared && bpf_map__reuse_fd(map, bpf_map__fd(shared)))
			die(bpf_map__name(map));
	}
	if (bpf_program__set_attach_target(hook->progs.on_least_loaded, meet,
					   "least_loaded") ||
	    bpf_program__set_attach_target(hook->progs.on_enter_flow, meet, "enter_flow") ||
	    bpf_program__set_attach_target(hook->progs.on_forget_flow, sweep, "forget_flow"))
		die("between");
	if (between_bpf__load(hook)) {
		if (errno != EPERM)
			die("between");
		between_bpf__destroy(hook);
		return NULL;
	}
	if (between_bpf__attach(hook))
		die("between");
	hook->bss->old_key = flow_key(1);
	return hook;
}

/*
 * The table holds FEW flows. A flow is forgotten after three sweeps without a packet,
 * which take longer than a busy machine keeps this test from running.
 */
#define FEW		8
#define SWEEP_NS	400000000

/* Keep flow 100 busy until no more than @nr flows are left, for 30 seconds at most. */
static bool others_end(unsigned int nr, unsigned int *sent)
{
	__u64 begin = now();

	while (count_flows(skel) > nr && now() - begin < 30000000000ULL) {
		send_packet(100, WRITE_MIDDLE, *sent);
		++*sent;
	}
	return count_flows(skel) == nr;
}

static void test_sweep(void)
{
	struct rocesteer_flow_path listed = { .job = JOB, .nr_pieces = 1,
					      .source = SOURCE }, left;
	struct rocesteer_flow_key key = flow_key(101), silent = flow_key(1);
	struct rocesteer_tags tags = {};
	unsigned int sent = 1, i, told;
	struct rocesteer_group group;
	struct between_bpf *hook;
	bool ended;

	begin_table(ROCESTEER_RESEQ_NONE, FEW, SWEEP_NS, 0);
	hook = between();
	for (i = 0; i < FEW; i++)
		send_packet(i ? i : 100, WRITE_MIDDLE, 0);
	take_events();
	send_packet(FEW, WRITE_MIDDLE, 0);
	send_packet(FEW + 1, WRITE_MIDDLE, 0);
	told = take_events();
	ktap_result(verdicts(ROCESTEER_VERDICT_TABLE_FULL) == 2 && told == 1 &&
		    last_event.type == ROCESTEER_EVENT_FULL &&
		    last_event.job == JOB,
		    "flows that find no room in the table are reported to user space once");
	put(skel->maps.rs_tags, &silent, &tags);
	if (run(skel->progs.rocesteer_sweep, NULL, 0))
		die("sweep");
	ended = others_end(1, &sent);
	group = group_entry();
	left = flow_entry(100);
	ktap_result(ended && rocesteer_sent_on(&left, 2).packets == sent &&
		    group.flows[0] + group.flows[1] + group.flows[2] +
		    group.flows[3] == 1,
		    "flows that are silent end, and give their share back");
	ktap_result(!hook || (hook->bss->by_worker && !hook->bss->by_others),
		    hook ? "a worker forgets silent flows, not a softirq" :
			   "a worker forgets silent flows, not a softirq # SKIP no fentry");
	between_bpf__destroy(hook);
	ktap_result(bpf_map_lookup_elem(bpf_map__fd(skel->maps.rs_tags),
					&silent, &tags),
		    "the tags of a silent flow are forgotten with the flow");
	take_events();
	ktap_result(send_packet(FEW, WRITE_MIDDLE, 0) != FAILED &&
		    take_events() && last_event.type == ROCESTEER_EVENT_SHARE,
		    "a new flow takes a share where silent flows have made room");
	put(skel->maps.rs_flows, &key, &listed);
	ktap_result(others_end(2, &sent) && flow_entry(101).job == JOB,
		    "a silent flow that its job lists stays");
}

/*
 * Flow 1 goes while it takes its share, and flow 2 of @generation gets its memory.
 * Return: whether flow 2 was given the share.
 */
static bool share_goes_to(struct between_bpf *hook, __u32 generation)
{
	struct rocesteer_flow_path flow = { .job = JOB, .nr_pieces = 1, .source = SOURCE,
					    .piece[0] = { .end = 1 } };
	struct rocesteer_flow_key key = flow_key(1);

	memcpy(flow.leaf, leaf, sizeof(leaf));
	put(skel->maps.rs_flows, &key, &flow);
	flow.generation = generation;
	hook->bss->new_key = flow_key(2);
	hook->bss->new_flow = flow;
	hook->bss->flow_goes = true;
	send_packet(1, WRITE_MIDDLE, 0);
	key = flow_key(2);
	flow = flow_entry(2);
	bpf_map_delete_elem(bpf_map__fd(skel->maps.rs_flows), &key);
	return flow.flags;
}

static void test_reuse(void)
{
	struct rocesteer_group before, after;
	struct between_bpf *hook;

	begin(ROCESTEER_RESEQ_NONE);
	hook = between();
	if (!hook) {
		ktap_result(true,
			    "a flow that goes while it takes its share gives it back # SKIP no fentry");
		return;
	}
	/* A flow 2 of the same generation gets the share: flow 2 has the memory of flow 1. */
	ktap_result(share_goes_to(hook, 0),
		    "a new flow may get the memory of a flow that has just gone");
	before = group_entry();
	ktap_result(!share_goes_to(hook, 1),
		    "a new flow in the memory of a gone flow does not get the gone flow's share");
	after = group_entry();
	ktap_result(!memcmp(&before, &after, sizeof(after)),
		    "the share of a flow that goes while it is dealt is given back");
	hook->bss->job_goes = true;
	send_packet(1, WRITE_MIDDLE, 0);
	ktap_result(!hook->bss->job_goes && !count_flows(skel),
		    "a flow whose job goes while the flow is entered is forgotten");
	between_bpf__destroy(hook);
}

void flows_table(void)
{
	test_sweep();
	test_reuse();
}
