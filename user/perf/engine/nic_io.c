// SPDX-License-Identifier: GPL-2.0
/* Messages of a NIC, out and in. */
#include <arpa/inet.h>
#include <errno.h>

#include "nic_priv.h"

#define POLL_BATCH	32
#define ARRIVED		0x8000000000000000ull	/* of a wr_id: a receive */

int nic_post_receive(struct nic *nic, __u32 member)
{
	struct ibv_recv_wr *bad, wr = { .wr_id = ARRIVED | member };
	int error = ibv_post_recv(nic->link[member].qp, &wr, &bad);

	return error ? nic_fail(&nic->device, error, "queue-pair", "cannot receive") : 0;
}

static int post(struct nic *nic, const struct message *message, __u32 index)
{
	const struct link *link = &nic->link[message->member];
	struct ibv_sge sge = {
		.addr = WINDOW_IOVA + message->from * ELEMENT,
		.length = message->elements * ELEMENT,
		.lkey = nic->device.mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = index,
		.sg_list = &sge, .num_sge = message->elements ? 1 : 0,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(message->id),
		.wr.rdma = {
			.remote_addr = WINDOW_IOVA + message->to * ELEMENT,
			.rkey = link->rkey,
		},
	};
	int error = ibv_post_send(link->qp, &wr, &bad);

	return error ? nic_fail(&nic->device, error, "queue-pair", "cannot send") : 0;
}

static int post_waiting(struct nic *nic)
{
	const struct message *message;
	__u32 index;
	int ret = 0;

	while (!ret && (message = outbox_get(&nic->outbox, &index)))
		ret = post(nic, message, index);
	return ret;
}

int nic_write(struct nic *nic, const struct message *message)
{
	outbox_put(&nic->outbox, message);
	return post_waiting(nic);
}

static int sent(struct nic *nic, const struct message *message)
{
	return post_waiting(nic) ?: engine_sent(nic->engine, message->id);
}

/*
 * Report a failed queue pair, unless our own port is down: no status says so, and some
 * devices only flush what they cannot send.
 */
static int fail_member(struct nic *nic, __u32 member, const char *what)
{
	int ret = nic_check_port(&nic->device);

	if (ret)
		return ret;
	return err_set(nic->device.err, EXIT_FAILED, "rank-unreachable",
		       "dimension %u: rank %u: %s", nic->dim,
		       nic_rank(nic, member), what);
}

static int completed(struct nic *nic, const struct ibv_wc *wc)
{
	const struct message *message = NULL;
	__u32 member = wc->wr_id;
	int ret;

	nic->completed++;
	if (wc->wr_id & NIC_GUEST)
		return nic->guest(nic->guest_arg, wc);
	if (!(wc->wr_id & ARRIVED)) {
		message = outbox_done(&nic->outbox, wc->wr_id);
		member = message->member;
	}
	if (wc->status != IBV_WC_SUCCESS)
		return fail_member(nic, member, ibv_wc_status_str(wc->status));
	if (message)
		ret = sent(nic, message);
	else
		ret = nic_post_receive(nic, member) ?:
		      engine_arrived(nic->engine, nic->dim, member, ntohl(wc->imm_data));
	if (ret == -EPROTO)
		return fail_member(nic, member, "sent what it should not have");
	return ret;
}

static int drain(struct nic *nic)
{
	struct ibv_wc wc[POLL_BATCH];
	int nr, i, ret;

	while ((nr = ibv_poll_cq(nic->device.cq, POLL_BATCH, wc)) > 0)
		for (i = 0; i < nr; i++) {
			ret = completed(nic, &wc[i]);
			if (ret)
				return ret;
		}
	return nr < 0 ? nic_fail(&nic->device, errno, "device", "cannot poll") : 0;
}

/* Completions from before the queue was armed cause no event. */
static int arm(struct nic *nic)
{
	int error = ibv_req_notify_cq(nic->device.cq, 0);

	if (error)
		return nic_fail(&nic->device, error, "device", "cannot get events");
	return drain(nic);
}

static int ready(void *arg)
{
	struct nic *nic = arg;
	struct ibv_cq *cq;
	void *cq_context;

	if (ibv_get_cq_event(nic->device.channel, &cq, &cq_context))
		return nic_fail(&nic->device, errno, "device", "cannot get events");
	ibv_ack_cq_events(cq, 1);
	return arm(nic);
}

int nic_start(struct nic *nic, struct engine *engine, struct loop *loop)
{
	int ret;

	nic->engine = engine;
	nic->loop = loop;
	nic->source = (struct source) { nic->device.channel->fd, ready, nic };
	ret = loop_add(loop, &nic->source);
	return ret ?: arm(nic);
}
