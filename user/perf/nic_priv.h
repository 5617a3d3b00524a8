/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the NIC. */
#ifndef ROCESTEER_PERF_NIC_PRIV_H
#define ROCESTEER_PERF_NIC_PRIV_H

#include "nic.h"

/**
 * struct link - connection to a member of the group
 * @qp: queue pair; NULL: the member gets no message
 * @gid: its address
 * @rkey: remote key of its window
 * @messages: messages of a run to the member
 * @answers: messages of a run from the member
 * @receives: posted receives
 */
struct link {
	struct ibv_qp *qp;
	__u8 gid[16];
	__u32 rkey;
	__u32 messages;
	__u32 answers;
	__u32 receives;
};

/* Set nic->err: @what has failed with errno. Return: a negative errno. */
int nic_fail(const struct nic *nic, int error, const char *code,
	     const char *what);

/*
 * Open the device, find the port and the GID, and allocate what nic_open() registers memory
 * with. A NIC without @layout belongs to no plan. Return: as nic_open().
 */
int nic_device_open(struct nic *nic, __u64 timeout);

/* Close the device, with the queue of completions and the memory, where they are. */
void nic_device_close(struct nic *nic);

/* Query the port; it must be active. Return: as nic_open(). */
int nic_check_port(struct nic *nic);

/* The rank of a member. */
__u32 nic_rank(const struct nic *nic, __u32 member);

/* Post a receive. Return: as nic_open(). */
int nic_post_receive(struct nic *nic, __u32 member);

/* Move a queue pair to INIT, for receives. Return: 0 or a positive errno. */
int nic_qp_init(struct ibv_qp *qp);

/*
 * Connect a queue pair to @qpn there, with a flow label, or 0, and the first PSNs that it
 * receives and sends. Return: 0 or a positive errno.
 */
int nic_qp_connect(const struct nic *nic, struct ibv_qp *qp, const struct nic_address *address,
		   __u32 qpn, __u32 receives, __u32 sends, __u32 label);

#endif /* ROCESTEER_PERF_NIC_PRIV_H */
