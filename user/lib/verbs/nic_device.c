// SPDX-License-Identifier: GPL-2.0
#include "nic_device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#define PORT		1

int nic_fail(const struct nic_device *nic, int error, const char *code, const char *what)
{
	return err_errno(nic->err, error, code, "%s%s: %s", nic->where, nic->name, what);
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

/* Rank of a GID; 0: not one to use. */
static int worth(const struct nic_device *nic, const struct ibv_gid_entry *entry)
{
	const __u8 *raw = entry->gid.raw;
	bool v4 = addr_is_v4(raw);

	if (entry->gid_type != IBV_GID_TYPE_ROCE_V2 ||
	    (!addr_is_none(nic->source) && addr_compare(raw, nic->source)) ||
	    (nic->family && nic->family != (v4 ? AF_INET : AF_INET6)))
		return 0;
	if (v4)
		return 3;
	return IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)raw) ? 1 : 2;
}

/* The GID of the given index, or the first one of the best rank */
static bool gid_find(struct nic_device *nic)
{
	bool any = nic->gid_index == NIC_ANY_GID;
	int i = any ? 0 : nic->gid_index;
	int end = any ? nic->port.gid_tbl_len : i + 1;
	struct ibv_gid_entry entry;
	int best = 0;

	for (; i < end; i++) {
		if (ibv_query_gid_ex(nic->context, PORT, i, &entry, 0) ||
		    worth(nic, &entry) <= best)
			continue;
		best = worth(nic, &entry);
		nic->gid_index = i;
		nic->gid = entry.gid;
		nic->ifindex = entry.ndev_ifindex;
	}
	return best;
}

static int gid_missing(const struct nic_device *nic)
{
	char text[ADDR_STRLEN];

	if (!addr_is_none(nic->source))
		return err_set(nic->err, EXIT_FAILED, "no-gid",
			       "%s%s: no GID of RoCE v2 has the address %s", nic->where,
			       nic->name ?: "RDMA devices", addr_format(nic->source, text));
	return nic_fail(nic, EADDRNOTAVAIL, "no-gid", nic->gid_index == NIC_ANY_GID ?
			"it has no GID of RoCE v2" :
			"the GID of this index is not one of RoCE v2");
}

/* A device without a name need only be looked at. */
static bool has_source(struct nic_device *nic)
{
	bool found = !ibv_query_port(nic->context, PORT, &nic->port) && gid_find(nic);

	if (found)
		nic->name = ibv_get_device_name(nic->context->device);
	else
		ibv_close_device(nic->context);
	return found;
}

static int device_open(struct nic_device *nic)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	bool found = false;
	int i, error = 0;

	for (i = 0; !found && list && list[i]; i++) {
		if (nic->name && strcmp(ibv_get_device_name(list[i]), nic->name))
			continue;
		nic->context = ibv_open_device(list[i]);
		if (!nic->context)
			error = errno;
		found = nic->context && (nic->name || has_source(nic));
	}
	if (list)
		ibv_free_device_list(list);
	if (found)
		return 0;
	nic->context = NULL;
	if (error)
		return err_errno(nic->err, error, "device", "%s%s: cannot open it", nic->where,
				 nic->name ?: "an RDMA device");
	return nic->name ? err_set(nic->err, EXIT_FAILED, "no-device",
				   "%sthere is no RDMA device %s", nic->where, nic->name) :
			   gid_missing(nic);
}

/* With seven retries a queue pair fails before the ranks time out. */
static __u32 retry_of(__u64 timeout)
{
	__u32 retry = 1;

	while (retry < 31 && (4096ull << (retry + 1)) * 8 < timeout)
		retry++;
	return retry;
}

int nic_check_port(struct nic_device *nic)
{
	if (ibv_query_port(nic->context, PORT, &nic->port))
		return nic_fail(nic, errno, "device", "cannot query it");
	if (nic->port.state == IBV_PORT_ACTIVE)
		return 0;
	return nic_fail(nic, ENETDOWN, "device", "its port is not active");
}

int nic_device_open(struct nic_device *nic, __u64 timeout)
{
	int ret;

	nic->retry = retry_of(timeout);
	ret = device_open(nic);
	if (ret)
		return ret;
	if (ibv_query_device(nic->context, &nic->attr))
		return nic_fail(nic, errno, "device", "cannot query it");
	ret = nic_check_port(nic) ?: gid_find(nic) ? 0 : gid_missing(nic);
	if (ret)
		return ret;
	nic->pd = ibv_alloc_pd(nic->context);
	return nic->pd ? 0 : nic_fail(nic, errno, "device", "cannot allocate");
}

void nic_device_close(struct nic_device *nic)
{
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

void nic_describe_self(const struct nic_device *nic, struct nic_address *address)
{
	memcpy(address->gid, nic->gid.raw, sizeof(address->gid));
	address->rkey = nic->mr->rkey;
	address->mtu = nic->port.active_mtu;
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

int nic_qp_connect(const struct nic_device *nic, struct ibv_qp *qp,
		   const struct nic_address *address, __u32 qpn, __u32 receives, __u32 sends,
		   __u32 label)
{
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = address->mtu < nic->port.active_mtu ?
			    address->mtu : nic->port.active_mtu,
		.dest_qp_num = qpn, .rq_psn = receives,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1, .port_num = PORT,
			.grh = { .hop_limit = 64, .flow_label = label,
				 .sgid_index = nic->gid_index },
		},
	}, rts = {
		.qp_state = IBV_QPS_RTS, .sq_psn = sends,
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
