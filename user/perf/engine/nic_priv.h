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

/* The rank of a member. */
__u32 nic_rank(const struct nic *nic, __u32 member);

/* Post a receive. Return: as nic_open(). */
int nic_post_receive(struct nic *nic, __u32 member);

#endif /* ROCESTEER_PERF_NIC_PRIV_H */
