// SPDX-License-Identifier: GPL-2.0
/*
 * The origin of the flow label of a queue pair that is being connected.
 *
 * The connection manager computes a label from the port numbers of a connection and returns
 * it among the attributes for RTR. A kretprobe of rdma_init_qp_attr() notes a digest of the
 * label and of the connection. If it is missed, without a free kretprobe instance, the
 * label is taken for the application's, and kept.
 */
#include <linux/kprobes.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <rocesteer/label.h>

#include "label.h"

/*
 * Most connections between rdma_init_qp_attr() and RTR. On a collision the older label is
 * taken for the application's, and kept.
 */
#define LABEL_NOTES	1024

static siphash_key_t label_key __read_mostly;
static u64 label_notes[LABEL_NOTES];

static u64 label_digest(const struct ib_qp_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);

	return siphash_3u32(grh->flow_label, attr->dest_qp_num, attr->rq_psn,
			    &label_key);
}

static u64 *label_note(u64 digest)
{
	return &label_notes[digest % LABEL_NOTES];
}

/**
 * rocesteer_label_kind() - who chose the flow label of a queue pair?
 * @attr: RoCE attributes of RTR
 *
 * UCX sets ~(k * i) for lane i of a connection, in 32 bits
 * (uct_ib_iface_fill_ah_attr_from_gid_lid() in src/uct/ib/base/ib_iface.c). Other labels
 * have 20 bits.
 *
 * Return: not ROCESTEER_LABEL_POLICY.
 */
enum rocesteer_label rocesteer_label_kind(const struct ib_qp_attr *attr)
{
	u32 label = rdma_ah_read_grh(&attr->ah_attr)->flow_label;
	u64 digest;

	if (!label)
		return ROCESTEER_LABEL_NONE;
	if ((label | ROCESTEER_LABEL_MAX) == U32_MAX)
		return ROCESTEER_LABEL_LANE;
	digest = label_digest(attr);
	return READ_ONCE(*label_note(digest)) == digest ? ROCESTEER_LABEL_CM :
							  ROCESTEER_LABEL_OWN;
}

struct label_call {
	const struct ib_qp_attr *attr;
};

/* int rdma_init_qp_attr(struct rdma_cm_id *, struct ib_qp_attr *, int *mask) */
static int label_begin(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct label_call *call = (void *)ri->data;

	call->attr = (void *)regs_get_kernel_argument(regs, 1);
	return call->attr->qp_state != IB_QPS_RTR;
}

static int label_end(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct label_call *call = (void *)ri->data;
	u64 digest;

	if (regs_return_value(regs) ||
	    call->attr->ah_attr.type != RDMA_AH_ATTR_TYPE_ROCE)
		return 0;
	digest = label_digest(call->attr);
	WRITE_ONCE(*label_note(digest), digest);
	return 0;
}

static struct kretprobe label_given = {
	.kp.addr = (kprobe_opcode_t *)rdma_init_qp_attr,
	.entry_handler = label_begin,
	.handler = label_end,
	.data_size = sizeof(struct label_call),
};

int rocesteer_label_register(void)
{
	get_random_bytes(&label_key, sizeof(label_key));
	return register_kretprobe(&label_given);
}

/* No handler runs any more afterwards. */
void rocesteer_label_unregister(void)
{
	unregister_kretprobe(&label_given);
}
