// SPDX-License-Identifier: GPL-2.0
#include "nic_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH	1024u	/* of a queue */
#define AHEAD_PS	100000000ull	/* of work that a NIC has, to stay busy: 100 us */

__u32 nic_rank(const struct nic *nic, __u32 member)
{
	return layout_rank(nic->layout, nic->rank, nic->dim, member);
}

static __u32 members(const struct nic *nic)
{
	return nic->layout->plan->of.dim[nic->dim].endpoints;
}

static int window_register(struct nic *nic, void *window)
{
	struct nic_device *device = &nic->device;

	device->mr = ibv_reg_mr_iova(device->pd, window, nic->layout->elements * ELEMENT,
				     WINDOW_IOVA, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (device->mr)
		return 0;
	return nic_fail(device, errno, "memory", "cannot register the buffer (see ulimit -l)");
}

/* Messages of a run, by member. */
static void count(void *arg, __u32 chunk, __u32 stage, const struct message *message)
{
	struct nic *nic = arg;
	__u32 me = layout_member(nic->layout, nic->rank, nic->dim);

	(void)chunk;
	(void)stage;
	if (message->dim != nic->dim || message->sum)
		return;
	if (message->member != me) {
		nic->outbox.room++;
		nic->link[message->member].messages++;
	}
	if (message->elements > nic->largest)
		nic->largest = message->elements;
	if (message->source != me)
		nic->link[message->source].answers++;
}

/* The wanted depth of a queue, within the limits of the device. */
static __u32 depth_of(const struct nic *nic, __u32 wanted)
{
	__u32 most = nic->device.attr.max_cqe / (2 * members(nic));

	if (most > (__u32)nic->device.attr.max_qp_wr)
		most = nic->device.attr.max_qp_wr;
	if (most > MAX_DEPTH)
		most = MAX_DEPTH;
	return wanted < most ? wanted : most;
}

static int link_create(struct nic *nic, struct link *link)
{
	struct ibv_qp_init_attr init = {
		.send_cq = nic->device.cq, .recv_cq = nic->device.cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = depth_of(nic, link->messages) ?: 1,
			 .max_recv_wr = link->receives ?: 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	link->qp = ibv_create_qp(nic->device.pd, &init);
	return link->qp ? 0 : nic_fail(&nic->device, errno, "queue-pair", "cannot create one");
}

/* Bytes that the dimension carries in a time */
static __u64 bytes_in(const struct chunk_dim *dim, __u64 ps)
{
	return ((__uint128_t)dim->bandwidth * ps << 30) /
	       ((__uint128_t)1000000000000ull * CHUNK_BANDWIDTH_UNIT);
}

static int outbox_create(struct nic *nic)
{
	const struct chunk_dim *dim = &nic->layout->plan->of.dim[nic->dim];

	nic->outbox.most = depth_of(nic, nic->outbox.room);
	nic->outbox.enough = bytes_in(dim, AHEAD_PS);
	nic->outbox.under_way = bytes_in(dim, 2 * chunk_step_latency(dim));
	return outbox_init(&nic->outbox);
}

/* The first PSN follows from the number of the sending queue pair. */
static __u32 first_psn(__u32 qpn)
{
	return qpn * 0x9e3779b1u >> 8;
}

static int links_create(struct nic *nic)
{
	struct nic_device *device = &nic->device;
	__u32 completions = 1 + nic->guests, i;
	int ret;

	nic->link = calloc(members(nic), sizeof(*nic->link));
	if (!nic->link)
		return -ENOMEM;
	engine_messages(nic->layout, nic->rank, count, nic);
	if (nic->largest * ELEMENT > device->port.max_msg_sz)
		return nic_fail(device, EMSGSIZE, "message", "needs more chunks");
	for (i = 0; i < members(nic); i++) {
		struct link *link = &nic->link[i];

		link->receives = depth_of(nic, link->answers);
		completions += depth_of(nic, link->messages) + link->receives;
	}
	ret = outbox_create(nic);
	if (ret)
		return ret;
	device->channel = ibv_create_comp_channel(device->context);
	if (!device->channel)
		return nic_fail(device, errno, "device", "cannot get events");
	device->cq = ibv_create_cq(device->context, completions, NULL, device->channel, 0);
	if (!device->cq)
		return nic_fail(device, errno, "device", "cannot create a completion queue");
	for (i = 0; !ret && i < members(nic); i++)
		if (nic->link[i].messages || nic->link[i].answers)
			ret = link_create(nic, &nic->link[i]);
	return ret;
}

int nic_open(struct nic *nic, void *window, __u64 timeout)
{
	snprintf(nic->device.where, sizeof(nic->device.where), "dimension %u: ", nic->dim);
	return nic_device_open(&nic->device, timeout) ?: window_register(nic, window) ?:
	       links_create(nic);
}

void nic_close(struct nic *nic)
{
	__u32 i;

	if (nic->source.ready)
		loop_remove(nic->loop, &nic->source);
	for (i = 0; nic->link && i < members(nic); i++)
		if (nic->link[i].qp)
			ibv_destroy_qp(nic->link[i].qp);
	free(nic->link);
	outbox_free(&nic->outbox);
	nic_device_close(&nic->device);
}

void nic_describe(const struct nic *nic, struct nic_address *address, __u32 *qpns)
{
	__u32 i;

	nic_describe_self(&nic->device, address);
	for (i = 0; i < members(nic); i++)
		qpns[i] = nic->link[i].qp ? nic->link[i].qp->qp_num : 0;
}

int nic_connect(struct nic *nic, __u32 member, const struct nic_address *address, __u32 qpn)
{
	struct link *link = &nic->link[member];
	int ret, error;
	__u32 i;

	memcpy(link->gid, address->gid, sizeof(link->gid));
	if (!link->qp)
		return 0;
	link->rkey = address->rkey;
	error = nic_qp_init(link->qp);
	for (i = 0; !error && i < link->receives; i++) {
		ret = nic_post_receive(nic, member);
		if (ret)
			return ret;
	}
	error = error ?: nic_qp_connect(&nic->device, link->qp, address, qpn, first_psn(qpn),
					first_psn(link->qp->qp_num), 0);
	if (!error)
		return 0;
	return err_errno(nic->device.err, error, "connect",
			 "dimension %u: %s: cannot connect to rank %u",
			 nic->dim, nic->device.name, nic_rank(nic, member));
}

const __u8 *nic_peer(const struct nic *nic, __u32 member)
{
	return nic->link[member].gid;
}
