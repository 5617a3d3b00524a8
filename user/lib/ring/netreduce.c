// SPDX-License-Identifier: GPL-2.0
#include "netreduce.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESULT		1ull	/* of a wr_id: a receive */
#define TAG_SHIFT	1
#define DEPTH		(NETREDUCE_COMPLETIONS / 2)	/* of each queue */

static __u64 wr_id(const struct netreduce *n)
{
	return NIC_GUEST | (__u64)n->tag << TAG_SHIFT;
}

__u32 netreduce_tag(const struct ibv_wc *wc)
{
	return (wc->wr_id & ~NIC_GUEST) >> TAG_SHIFT;
}

static struct ibv_qp *qp_create(const struct netreduce *n)
{
	struct ibv_qp_init_attr init = {
		.send_cq = n->nic->cq, .recv_cq = n->nic->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return ibv_create_qp(n->nic->pd, &init);
}

static int post_receive(struct netreduce *n)
{
	struct ibv_recv_wr *bad, wr = { .wr_id = wr_id(n) | RESULT };

	return ibv_post_recv(n->in, &wr, &bad);
}

/* Without a list the last may be shorter. */
static struct netreduce_message message_of(const struct netreduce *n, __u64 number)
{
	__u64 from = number * n->message, left = n->bytes - from;

	if (n->list)
		return n->list[number];
	return (struct netreduce_message) {
		.from = WINDOW_IOVA + n->from + from,
		.to = NETREDUCE_IOVA + n->from + from,
		.bytes = left < n->message ? left : n->message,
	};
}

static int post(struct netreduce *n)
{
	struct netreduce_message message = message_of(n, n->posted);
	struct ibv_sge sge = {
		.addr = message.from,
		.length = message.bytes,
		.lkey = n->nic->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id(n),
		.sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(n->before + n->posted),
		.wr.rdma = { .remote_addr = message.to, .rkey = n->rkey },
	};

	return ibv_post_send(n->out, &wr, &bad);
}

static __u32 window(const struct netreduce *n)
{
	return n->group->config.window < REDUCE_WINDOW ? n->group->config.window : REDUCE_WINDOW;
}

/*
 * Send as many messages as the window allows. Acknowledgments may be late, as long as the
 * queue is not full.
 */
static void proceed(struct netreduce *n)
{
	int error = 0;

	while (!error && n->posted < n->messages &&
	       n->posted < n->received + window(n) && n->posted < n->sent + DEPTH) {
		error = post(n);
		n->posted++;
	}
	if (error)
		netreduce_fail(n, "cannot send: %s", strerror(error));
}

/* The switch gives each result the number that all ranks' messages have. */
static void take_result(struct netreduce *n, __u32 number)
{
	__u32 wanted = n->before + n->received;
	int error;

	if (number != wanted || n->received == n->posted) {
		netreduce_fail(n, "result %u has come, not %u", number, wanted);
		return;
	}
	n->received++;
	error = post_receive(n);
	if (error)
		netreduce_fail(n, "cannot receive: %s", strerror(error));
}

void netreduce_completed(struct netreduce *n, const struct ibv_wc *wc)
{
	bool result = wc->wr_id & RESULT;

	if (n->failure[0])
		return;
	if (wc->status != IBV_WC_SUCCESS)
		netreduce_fail(n, "message %llu %s: %s", result ? n->received : n->sent,
			       result ? "from the switch" : "to the switch",
			       ibv_wc_status_str(wc->status));
	else if (result)
		take_result(n, ntohl(wc->imm_data));
	else
		n->sent++;
	if (!n->failure[0])
		proceed(n);
}

int netreduce_open(struct netreduce *n)
{
	n->out = qp_create(n);
	n->in = n->out ? qp_create(n) : NULL;
	return n->in ? 0 : nic_fail(n->nic, errno, "queue-pair", "cannot create one");
}

void netreduce_stop(struct netreduce *n)
{
	if (n->in)
		ibv_destroy_qp(n->in);
	if (n->out)
		ibv_destroy_qp(n->out);
	n->in = NULL;
	n->out = NULL;
}

void netreduce_describe(const struct netreduce *n, struct netreduce_card *card)
{
	nic_describe_self(n->nic, &card->address);
	card->address.rkey = n->key;
	card->out = n->out->qp_num;
	card->in = n->in->qp_num;
	card->psn = arc4random_uniform(GROUP_PSN_SPREAD);
}

void netreduce_put(const struct netreduce_card *card, struct group *group, __u32 rank)
{
	struct reduce_rank *to = &group->config.rank[rank];

	memcpy(to->address, card->address.gid, sizeof(to->address));
	to->qpn = card->in;
	to->sender_qpn = card->out;
	to->va = NETREDUCE_IOVA;
	group->part[rank] = card->psn;
}

static __u32 mtu_bytes(enum ibv_mtu mtu)
{
	return 128u << mtu;
}

/* The MTU is the same on all ranks, at most that of the plan. */
static enum ibv_mtu least_mtu(const struct group *group, const struct netreduce_card *cards)
{
	enum ibv_mtu mtu = IBV_MTU_4096;
	__u32 i;

	for (i = 0; i < group->config.nr_ranks; i++)
		if (cards[i].address.mtu < mtu)
			mtu = cards[i].address.mtu;
	while (group->planned && mtu_bytes(mtu) > group->config.mtu)
		mtu--;
	return mtu;
}

__u32 netreduce_common_mtu(const struct group *group, const struct netreduce_card *cards)
{
	return mtu_bytes(least_mtu(group, cards));
}

/* A box beside the switches is at the other end of all connections. */
static int connect_one(struct netreduce *n, struct ibv_qp *qp, struct nic_address address,
		       __u32 qpn, __u32 psn, __u32 label)
{
	address.mtu = n->mtu;
	if (reduce_config_is_box(&n->group->config))
		memcpy(address.gid, n->group->config.box, sizeof(address.gid));
	return nic_qp_connect(n->nic, qp, &address, qpn, psn, psn, label);
}

static int connect_in(struct netreduce *n, const struct netreduce_card *from, __u32 rank)
{
	const struct reduce_config *config = &n->group->config;
	__u32 qpn = reduce_config_is_box(config) ? group_answer_qpn(config->id, rank) : from->out;
	__u32 psn = group_psn(n->group, rank, from->psn);
	int error = nic_qp_init(n->in), i;

	for (i = 0; !error && i < (int)DEPTH; i++)
		error = post_receive(n);
	return error ?: connect_one(n, n->in, from->address, qpn, psn, 0);
}

static int connect_out(struct netreduce *n, const struct netreduce_card *own,
		       const struct netreduce_card *to, __u32 rank)
{
	__u32 qpn = group_qpn(n->group->config.id, rank);
	__u32 psn = group_psn(n->group, rank, own->psn);

	return nic_qp_init(n->out) ?: connect_one(n, n->out, to->address, qpn, psn, n->label);
}

int netreduce_connect(struct netreduce *n, const struct netreduce_card *cards, __u32 rank)
{
	__u32 ranks = n->group->config.nr_ranks, before = (rank + ranks - 1) % ranks;
	const struct netreduce_card *to = &cards[(rank + 1) % ranks];
	int error;

	n->mtu = least_mtu(n->group, cards);
	n->message = (__u64)n->group->config.packets * netreduce_mtu(n);
	n->rkey = to->address.rkey;
	error = connect_in(n, &cards[before], before) ?:
		connect_out(n, &cards[rank], to, rank);
	return error ? nic_fail(n->nic, error, "connect", "cannot connect to the switch") : 0;
}

__u32 netreduce_mtu(const struct netreduce *n)
{
	return mtu_bytes(n->mtu);
}

void netreduce_deal(struct netreduce *n, __u64 from, __u64 bytes)
{
	n->from = from;
	n->bytes = bytes;
	n->messages = (bytes + n->message - 1) / n->message;
}

void netreduce_reset(struct netreduce *n)
{
	n->before += n->posted;
	n->posted = 0;
	n->sent = 0;
	n->received = 0;
}

void netreduce_start(struct netreduce *n)
{
	proceed(n);
}

bool netreduce_is_over(const struct netreduce *n)
{
	return n->failure[0] || (n->received == n->messages && n->sent == n->messages);
}

void netreduce_fail(struct netreduce *n, const char *fmt, ...)
{
	va_list args;

	if (n->failure[0])
		return;
	va_start(args, fmt);
	vsnprintf(n->failure, sizeof(n->failure), fmt, args);
	va_end(args);
}
