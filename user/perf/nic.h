/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The NIC of one dimension: an RDMA device, and an RC queue pair to each member
 * of the group that the dimension's algorithm has an exchange with. Messages
 * are RDMA writes with immediate, from window to window.
 */
#ifndef ROCESTEER_PERF_NIC_H
#define ROCESTEER_PERF_NIC_H

#include <infiniband/verbs.h>

#include "base/base.h"
#include "outbox.h"

/*
 * Of a wr_id: the completion is of a queue pair that somebody else has made here, and is told
 * to him.
 */
#define NIC_GUEST	0x4000000000000000ull
typedef void nic_guest_fn(void *arg, const struct ibv_wc *wc);

#define NIC_ANY_GID	(-1)	/* the first of RoCE v2, IPv4 before IPv6 */

struct link;

/**
 * struct nic - one dimension's
 * @dim: dimension
 * @layout: of the plan
 * @rank: who we are
 * @name: of the RDMA device
 * @gid_index: of the GID that it sends from
 * @gid: that GID
 * @attr: of the device
 * @port: of its port 1
 * @retry: how long queue pairs wait before each of seven retries: 4.096 us *
 *	2^retry
 * @guests: completions that a guest may have at a time
 * @guest: told of them, with @guest_arg
 * @largest: message, in elements
 * @outbox: messages that go out
 * @link: to each member; without a queue pair to those that get no message
 * @engine: is told of messages
 * @completed: messages so far, both ways, with those of a guest
 * @source: of the loop
 * @err: why the loop has ended
 */
struct nic {
	__u32 dim;
	const struct layout *layout;
	__u32 rank;
	const char *name;
	int gid_index;
	union ibv_gid gid;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	__u32 retry;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	__u32 guests;
	nic_guest_fn *guest;
	void *guest_arg;
	__u64 largest;
	struct outbox outbox;
	struct link *link;
	struct engine *engine;
	__u64 completed;
	struct loop *loop;
	struct source source;
	struct err *err;
};

/* What a member needs to know to reach another: of each dimension. */
struct nic_address {
	__u8 gid[16];
	__u32 rkey;
	__u32 mtu;	/* enum ibv_mtu */
};

/* Is there an RDMA device of that name? */
bool nic_exists(const char *name);

/**
 * nic_open() - get a NIC ready
 * @nic: with @dim, @layout, @rank, @name, @gid_index, @guests, @err set; to be
 *	closed, also after a failure
 * @window: of the rank
 * @timeout: ns, in which a member that does not acknowledge is given up
 *
 * Return: 0, or a negative errno with @nic->err set, which names the device.
 */
int nic_open(struct nic *nic, void *window, __u64 timeout);

void nic_close(struct nic *nic);

/* What others need of the device, with the key of the window. */
void nic_describe_self(const struct nic *nic, struct nic_address *address);

/* What others need: @address, and the QPN for each member of the group. */
void nic_describe(const struct nic *nic, struct nic_address *address,
		  __u32 *qpns);

/**
 * nic_connect() - connect the queue pair to a member
 * @nic: NIC
 * @member: a member of the group
 * @address: of that member
 * @qpn: its queue pair for us
 *
 * Return: 0, or a negative errno with @nic->err set.
 */
int nic_connect(struct nic *nic, __u32 member,
		const struct nic_address *address, __u32 qpn);

/* The address of a member that is connected to, or NULL. */
const __u8 *nic_peer(const struct nic *nic, __u32 member);

/* Tell an engine of what happens, from loop_wait(). Return: as nic_open(). */
int nic_start(struct nic *nic, struct engine *engine, struct loop *loop);

/* Write a message, or keep it until it is its turn. Return: as nic_open(). */
int nic_write(struct nic *nic, const struct message *message);

#endif /* ROCESTEER_PERF_NIC_H */
