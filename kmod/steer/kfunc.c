// SPDX-License-Identifier: GPL-2.0
/*
 * Unstable kfuncs for the TC programs in bpf/. A loaded program that calls one of them holds
 * the module.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>

#include <rocesteer/types.h>

#include "../compat.h"
#include "flow.h"
#include "kfunc.h"
#include "net.h"
#include "reseq.h"
#include "reseq_answers.h"

__bpf_kfunc_start_defs();

/* bpf_rocesteer_flow_job - Look up the job of a flow
 *
 * The flow is looked up in the network namespace of the packet's device.
 *
 * Parameters:
 * @ctx		Pointer to ctx (__sk_buff) in TC program. Cannot be NULL
 * @key		Flow to look up. Cannot be NULL. Its rival number counts at ingress; at
 *		egress the packet's socket tells
 * @key__sz	Length of the key, sizeof(struct rocesteer_flow_key)
 *
 * Returns the job number, 0 if the flow has no job, with ROCESTEER_FLOW_JOB_RESEQ if the
 * queue pair's packets are resequenced, and the rival number; -ENOENT if the flow is
 * unknown; -EEXIST if the key is known, but not the queue pair that sends the packet;
 * -EINVAL if the length is wrong.
 */
__bpf_kfunc s64 bpf_rocesteer_flow_job(struct __sk_buff *ctx,
				       const struct rocesteer_flow_key *key,
				       u32 key__sz)
{
	const struct sk_buff *skb = (struct sk_buff *)ctx;

	if (key__sz != sizeof(*key))
		return -EINVAL;
	return rocesteer_flow_job(rocesteer_net(dev_net(skb->dev)), key, skb);
}

/* bpf_rocesteer_flow_dqpn - Look up the flow of a local queue pair
 *
 * Only finds queue pairs whose packets are resequenced.
 *
 * Parameters:
 * @ctx		Pointer to ctx (__sk_buff) in TC program. Cannot be NULL
 * @key		Device, local queue pair number and peer. Cannot be NULL
 * @key__sz	Length of the key, sizeof(struct rocesteer_flow_key)
 *
 * Returns @dqpn of the flow that the queue pair sends, with its rival number; -ENOENT if
 * there is no such queue pair; -EINVAL if the length is wrong.
 */
__bpf_kfunc s64 bpf_rocesteer_flow_dqpn(struct __sk_buff *ctx,
					const struct rocesteer_flow_key *key,
					u32 key__sz)
{
	const struct sk_buff *skb = (struct sk_buff *)ctx;

	if (key__sz != sizeof(*key))
		return -EINVAL;
	return rocesteer_reseq_dqpn(rocesteer_net(dev_net(skb->dev)), key);
}

/* bpf_rocesteer_flow_answers - Note which packets a queue pair will receive
 *
 * To be called once for each acknowledgment, READ request and atomic that leaves. A NAK sets
 * the order of the requests back; a READ request or an atomic tells the responses that come. A
 * READ request is marked in place, and its ICRC corrected: pointers to the packet stay valid,
 * but the reserved bits of the BTH may change.
 *
 * Parameters:
 * @ctx		Pointer to ctx (__sk_buff) in TC program. Cannot be NULL
 * @key		Flow of the packet. Cannot be NULL
 * @key__sz	Length of the key, sizeof(struct rocesteer_flow_key)
 *
 * Returns 0, or for an acknowledgment 1 + how many PSNs before it a packet was late, see
 * rocesteer_bth_late(); -ENOENT if the packets of the queue pair that sends the packet are not
 * resequenced; -EINVAL if the length is wrong, at ingress, and for other packets than of RC.
 */
__bpf_kfunc s64 bpf_rocesteer_flow_answers(struct __sk_buff *ctx,
					   const struct rocesteer_flow_key *key,
					   u32 key__sz)
{
	struct sk_buff *skb = (struct sk_buff *)ctx;

	if (key__sz != sizeof(*key) || skb_at_tc_ingress(skb))
		return -EINVAL;
	return rocesteer_answers_note(rocesteer_net(dev_net(skb->dev)), key, skb);
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(rocesteer_kfunc_set)
BTF_ID_FLAGS(func, bpf_rocesteer_flow_job, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_rocesteer_flow_dqpn, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_rocesteer_flow_answers, KF_TRUSTED_ARGS)
BTF_KFUNCS_END(rocesteer_kfunc_set)

static const struct btf_kfunc_id_set rocesteer_bpf_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &rocesteer_kfunc_set,
};

/* There is no unregister. Programs find the kfuncs after the module's init has succeeded. */
int __init rocesteer_kfunc_register(void)
{
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_SCHED_CLS,
					 &rocesteer_bpf_kfunc_set);
}
