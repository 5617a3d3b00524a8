// SPDX-License-Identifier: GPL-2.0
/*
 * Another CPU may act between two steps of a program. These programs do so at the entry of a
 * function that the program calls there: a flow goes and another flow gets its memory, or a
 * device's job goes. Flows that are forgotten are counted by whether a kernel worker forgot them.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "../../bpf/lib/maps.bpf.h"

struct rocesteer_flow_key old_key, new_key;
struct rocesteer_flow_path new_flow;
bool flow_goes, job_goes;
__u32 by_worker, by_others;

#define PF_WQ_WORKER	0x20

struct task_struct {
	unsigned int flags;
} __attribute__((preserve_access_index));

SEC("fentry")
int on_least_loaded(void *ctx)
{
	if (!flow_goes)
		return 0;
	flow_goes = false;
	bpf_map_delete_elem(&rs_flows, &old_key);
	bpf_map_update_elem(&rs_flows, &new_key, &new_flow, BPF_NOEXIST);
	return 0;
}

SEC("fentry")
int on_enter_flow(void *ctx)
{
	if (!job_goes)
		return 0;
	job_goes = false;
	bpf_map_delete_elem(&rs_devices, &old_key.ifindex);
	return 0;
}

SEC("fentry")
int on_forget_flow(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	__sync_fetch_and_add(task->flags & PF_WQ_WORKER ? &by_worker : &by_others, 1);
	return 0;
}

char _license[] SEC("license") = "GPL";
