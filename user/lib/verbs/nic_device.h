/* SPDX-License-Identifier: GPL-2.0 */
/* The RDMA device of a NIC, and its queue pairs. */
#ifndef ROCESTEER_LIB_NIC_DEVICE_H
#define ROCESTEER_LIB_NIC_DEVICE_H

#include <infiniband/verbs.h>

#include "base/base.h"

#define NIC_ANY_GID	(-1)	/* the first of RoCE v2 that fits, IPv4 before IPv6 */

/**
 * struct nic_device - device of a NIC
 * @where: begin of error messages: "dimension 2: ", or empty
 * @name: name of the RDMA device; NULL: the first one that has @source
 * @gid_index: index of the source GID
 * @source: address of the source GID; all zero: any
 * @family: AF_INET or AF_INET6: of that address; 0: any
 * @gid: source GID
 * @ifindex: its network device
 * @attr: attributes of the device
 * @port: attributes of its port 1
 * @retry: queue pairs wait 4.096 us * 2^retry before each of seven retries
 * @mr: memory region of the window, the input
 * @err: filled on failure
 */
struct nic_device {
	char where[24];
	const char *name;
	int gid_index;
	__u8 source[16];
	int family;
	union ibv_gid gid;
	__u32 ifindex;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	__u32 retry;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct err *err;
};

/* Address of a NIC. */
struct nic_address {
	__u8 gid[16];
	__u32 rkey;
	__u32 mtu;	/* enum ibv_mtu */
};

/* Is there an RDMA device with the name? */
bool nic_exists(const char *name);

/* Set nic->err: @what has failed with @error. Return: a negative errno. */
int nic_fail(const struct nic_device *nic, int error, const char *code, const char *what);

/**
 * nic_device_open() - open the device, and find the port and the GID
 * @nic: with the fields up to @family, and @err, set; to be closed, also after a failure
 * @timeout: ns after which a peer that does not acknowledge has failed
 *
 * Sets all but @mr, @channel and @cq.
 *
 * Return: 0, or a negative errno with @nic->err filled, which names the device.
 */
int nic_device_open(struct nic_device *nic, __u64 timeout);

/* Close the device, with @mr, @channel and @cq, where they are. */
void nic_device_close(struct nic_device *nic);

/* Query the port; it must be active. Return: as nic_device_open(). */
int nic_check_port(struct nic_device *nic);

/* Describe the device and the key of the window. */
void nic_describe_self(const struct nic_device *nic, struct nic_address *address);

/* Move a queue pair to INIT, for receives. Return: 0 or a positive errno. */
int nic_qp_init(struct ibv_qp *qp);

/*
 * Connect a queue pair to @qpn there, with a flow label, or 0, and the first PSNs that it
 * receives and sends. Return: 0 or a positive errno.
 */
int nic_qp_connect(const struct nic_device *nic, struct ibv_qp *qp,
		   const struct nic_address *address, __u32 qpn, __u32 receives, __u32 sends,
		   __u32 label);

#endif /* ROCESTEER_LIB_NIC_DEVICE_H */
