// SPDX-License-Identifier: GPL-2.0
#include "nic_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT		1
#define MAX_DEPTH	1024u	/* of a queue */
#define AHEAD_US	100u	/* of work that a NIC has, to stay busy */

int nic_fail(const struct nic *nic, int error, const char *code,
	     const char *what)
{
	return err_errno(nic->err, error, code, "dimension %u: %s: %s", nic->dim,
			 nic->name, what);
}

__u32 nic_rank(const struct nic *nic, __u32 member)
{
	return layout_rank(nic->layout, nic->rank, nic->dim, member);
}

static __u32 members(const struct nic *nic)
{
	return nic->layout->plan->of.dim[nic->dim].endpoints;
}

bool nic_exists(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	bool found = false;
	int i;

	for (i = 0; !found && list && list[i]; i++)
		found = !strcmp(ibv_get_device_name(list[i]), name);
	if (list)
		ibv_free_device_list(list);
	return found;
}

static int device_open(struct nic *nic)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), nic->name))
			continue;
		nic->context = ibv_open_device(list[i]);
		ibv_free_device_list(list);
		return nic->context ? 0 : nic_fail(nic, errno, "device", "cannot open it");
	}
	if (list)
		ibv_free_device_list(list);
	return err_set(nic->err, EXIT_FAILED, "no-device",
		       "dimension %u: there is no RDMA device %s", nic->dim,
		       nic->name);
}

/* How much a GID is wanted; 0: not at all. */
static int worth(const struct ibv_gid_entry *entry)
{
	const __u8 *raw = entry->gid.raw;

	if (entry->gid_type != IBV_GID_TYPE_ROCE_V2)
		return 0;
	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)raw))
		return 3;
	return IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)raw) ? 1 : 2;
}

/* The one that was asked for, or the first of the best. */
static int gid_find(struct nic *nic)
{
	bool any = nic->gid_index == NIC_ANY_GID;
	int i = any ? 0 : nic->gid_index;
	int end = any ? nic->port.gid_tbl_len : i + 1;
	struct ibv_gid_entry entry;
	int best = 0;

	for (; i < end; i++) {
		if (ibv_query_gid_ex(nic->context, PORT, i, &entry, 0) ||
		    worth(&entry) <= best)
			continue;
		best = worth(&entry);
		nic->gid_index = i;
		nic->gid = entry.gid;
	}
	if (best)
		return 0;
	return nic_fail(nic, EADDRNOTAVAIL, "no-gid", any ? "it has no GID of RoCE v2" :
			"the GID of this index is not one of RoCE v2");
}

static int window_register(struct nic *nic, void *window)
{
	nic->mr = ibv_reg_mr_iova(nic->pd, window,
				  nic->layout->elements * ELEMENT, WINDOW_IOVA,
				  IBV_ACCESS_LOCAL_WRITE |
				  IBV_ACCESS_REMOTE_WRITE);
	if (nic->mr)
		return 0;
	return nic_fail(nic, errno, "memory",
		    "cannot register the buffer (see ulimit -l)");
}

/* Messages of a run, by member. */
static void count(void *arg, __u32 chunk, __u32 stage,
		  const struct message *message)
{
	struct nic *nic = arg;

	(void)chunk;
	(void)stage;
	if (message->dim != nic->dim)
		return;
	nic->outbox.room++;
	nic->link[message->member].messages++;
	if (message->elements > nic->largest)
		nic->largest = message->elements;
	nic->link[message->source].answers++;
}

/* The wanted depth of a queue, within the limits of the device. */
static __u32 depth_of(const struct nic *nic, __u32 wanted)
{
	__u32 most = nic->attr.max_cqe / (2 * members(nic));

	if (most > (__u32)nic->attr.max_qp_wr)
		most = nic->attr.max_qp_wr;
	if (most > MAX_DEPTH)
		most = MAX_DEPTH;
	return wanted < most ? wanted : most;
}

static int link_create(struct nic *nic, struct link *link)
{
	struct ibv_qp_init_attr init = {
		.send_cq = nic->cq, .recv_cq = nic->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = depth_of(nic, link->messages) ?: 1,
			 .max_recv_wr = link->receives ?: 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	link->qp = ibv_create_qp(nic->pd, &init);
	return link->qp ? 0 : nic_fail(nic, errno, "queue-pair", "cannot create one");
}

static int outbox_create(struct nic *nic)
{
	const struct chunk_dim *dim = &nic->layout->plan->of.dim[nic->dim];

	nic->outbox.most = depth_of(nic, nic->outbox.room);
	nic->outbox.enough = ((__uint128_t)dim->bandwidth << 30) * AHEAD_US /
			     (1000000ull * CHUNK_BANDWIDTH_UNIT);
	return outbox_init(&nic->outbox);
}

static int links_create(struct nic *nic)
{
	__u32 completions = 1 + nic->guests, i;
	int ret;

	nic->link = calloc(members(nic), sizeof(*nic->link));
	if (!nic->link)
		return -ENOMEM;
	engine_messages(nic->layout, nic->rank, count, nic);
	if (nic->largest * ELEMENT > nic->port.max_msg_sz)
		return nic_fail(nic, EMSGSIZE, "message", "needs more chunks");
	for (i = 0; i < members(nic); i++) {
		struct link *link = &nic->link[i];

		link->receives = depth_of(nic, link->answers);
		completions += depth_of(nic, link->messages) + link->receives;
	}
	ret = outbox_create(nic);
	if (ret)
		return ret;
	nic->channel = ibv_create_comp_channel(nic->context);
	if (!nic->channel)
		return nic_fail(nic, errno, "device", "cannot get events");
	nic->cq = ibv_create_cq(nic->context, completions, NULL, nic->channel,
				0);
	if (!nic->cq)
		return nic_fail(nic, errno, "device", "cannot create a completion queue");
	for (i = 0; !ret && i < members(nic); i++)
		if (nic->link[i].messages || nic->link[i].answers)
			ret = link_create(nic, &nic->link[i]);
	return ret;
}

/* With seven retries a queue pair fails before the ranks time out. */
static __u32 retry_of(__u64 timeout)
{
	__u32 retry = 1;

	while (retry < 31 && (4096ull << (retry + 1)) * 8 < timeout)
		retry++;
	return retry;
}

int nic_check_port(struct nic *nic)
{
	if (ibv_query_port(nic->context, PORT, &nic->port))
		return nic_fail(nic, errno, "device", "cannot query it");
	if (nic->port.state == IBV_PORT_ACTIVE)
		return 0;
	return nic_fail(nic, ENETDOWN, "device", "its port is not active");
}

int nic_open(struct nic *nic, void *window, __u64 timeout)
{
	int ret;

	nic->retry = retry_of(timeout);
	ret = device_open(nic);
	if (ret)
		return ret;
	if (ibv_query_device(nic->context, &nic->attr))
		return nic_fail(nic, errno, "device", "cannot query it");
	ret = nic_check_port(nic) ?: gid_find(nic);
	if (ret)
		return ret;
	nic->pd = ibv_alloc_pd(nic->context);
	if (!nic->pd)
		return nic_fail(nic, errno, "device", "cannot allocate");
	return window_register(nic, window) ?: links_create(nic);
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
	if (nic->cq)
		ibv_destroy_cq(nic->cq);
	if (nic->channel)
		ibv_destroy_comp_channel(nic->channel);
	if (nic->mr)
		ibv_dereg_mr(nic->mr);
	if (nic->pd)
		ibv_dealloc_pd(nic->pd);
	if (nic->context)
		ibv_close_device(nic->context);
}

void nic_describe_self(const struct nic *nic, struct nic_address *address)
{
	memcpy(address->gid, nic->gid.raw, sizeof(address->gid));
	address->rkey = nic->mr->rkey;
	address->mtu = nic->port.active_mtu;
}

void nic_describe(const struct nic *nic, struct nic_address *address,
		  __u32 *qpns)
{
	__u32 i;

	nic_describe_self(nic, address);
	for (i = 0; i < members(nic); i++)
		qpns[i] = nic->link[i].qp ? nic->link[i].qp->qp_num : 0;
}

int nic_qp_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

__u32 nic_first_psn(__u32 qpn)
{
	return qpn * 0x9e3779b1u >> 8;
}

int nic_qp_connect(const struct nic *nic, struct ibv_qp *qp, const struct nic_address *address,
		   __u32 qpn, __u32 sender, __u32 label)
{
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = address->mtu < nic->port.active_mtu ?
			    address->mtu : nic->port.active_mtu,
		.dest_qp_num = qpn, .rq_psn = nic_first_psn(sender),
		.max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1, .port_num = PORT,
			.grh = { .hop_limit = 64, .flow_label = label,
				 .sgid_index = nic->gid_index },
		},
	}, rts = {
		.qp_state = IBV_QPS_RTS, .sq_psn = nic_first_psn(qp->qp_num),
		.timeout = nic->retry, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	memcpy(rtr.ah_attr.grh.dgid.raw, address->gid, sizeof(address->gid));
	return ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			     IBV_QP_MIN_RNR_TIMER) ?:
	       ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN |
			     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

int nic_connect(struct nic *nic, __u32 member,
		const struct nic_address *address, __u32 qpn)
{
	struct link *link = &nic->link[member];
	int ret, error;
	__u32 i;

	if (!link->qp)
		return 0;
	link->rkey = address->rkey;
	memcpy(link->gid, address->gid, sizeof(link->gid));
	error = nic_qp_init(link->qp);
	for (i = 0; !error && i < link->receives; i++) {
		ret = nic_post_receive(nic, member);
		if (ret)
			return ret;
	}
	error = error ?: nic_qp_connect(nic, link->qp, address, qpn, qpn, 0);
	if (!error)
		return 0;
	return err_errno(nic->err, error, "connect",
			 "dimension %u: %s: cannot connect to rank %u",
			 nic->dim, nic->name, nic_rank(nic, member));
}

const __u8 *nic_peer(const struct nic *nic, __u32 member)
{
	return nic->link[member].qp ? nic->link[member].gid : NULL;
}
