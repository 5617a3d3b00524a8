/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the NIC share. */
#ifndef ROCESTEER_PERF_NIC_PRIV_H
#define ROCESTEER_PERF_NIC_PRIV_H

#include "nic.h"

/**
 * struct link - to one member of the group
 * @qp: NULL: it gets no message
 * @gid: its address
 * @rkey: of its window
 * @messages: that a run writes to it
 * @answers: that it writes to us
 * @receives: that are posted
 */
struct link {
	struct ibv_qp *qp;
	__u8 gid[16];
	__u32 rkey;
	__u32 messages;
	__u32 answers;
	__u32 receives;
};

/* Sets nic->err: @what has failed, by errno. Return: a negative errno. */
int nic_fail(const struct nic *nic, int error, const char *code,
	     const char *what);

/* Query the port; it must be active. Return: as nic_open(). */
int nic_check_port(struct nic *nic);

/* The rank that a member of the group is. */
__u32 nic_rank(const struct nic *nic, __u32 member);

/* Be ready for one more message. Return: as nic_open(). */
int nic_post_receive(struct nic *nic, __u32 member);

/* Make a queue pair ready to be given receives. Return: 0 or a positive errno. */
int nic_qp_init(struct ibv_qp *qp);

/*
 * Connect it to queue pair @qpn there, with a flow label, or 0. Return: 0 or a positive errno.
 */
int nic_qp_connect(const struct nic *nic, struct ibv_qp *qp, const struct nic_address *address,
		   __u32 qpn, __u32 label);

/* Sequence numbers begin anywhere: by the number of the one that sends. */
__u32 nic_first_psn(__u32 qpn);

#endif /* ROCESTEER_PERF_NIC_PRIV_H */
