/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The NIC of one dimension: an RDMA device, with an RC queue pair to each member of the group
 * that the dimension's algorithm exchanges messages with. Messages are RDMA writes with
 * immediate, from window to window.
 */
#ifndef ROCESTEER_PERF_NIC_H
#define ROCESTEER_PERF_NIC_H

#include "ring/ring.h"
#include "verbs/verbs.h"
#include "outbox.h"

/* Completions of NIC_GUEST. Return: 0, or a negative errno with the NIC's err set. */
typedef int nic_guest_fn(void *arg, const struct ibv_wc *wc);

struct link;

/**
 * struct nic - NIC of a dimension
 * @dim: dimension
 * @layout: layout of the plan
 * @rank: this rank
 * @device: RDMA device, whose @err says why the loop has ended
 * @guests: completions that a guest may have at a time
 * @guest: called for these, with @guest_arg
 * @largest: elements of the largest message
 * @outbox: messages to send
 * @link: link to each member; without a queue pair if the member gets no message
 * @engine: engine that messages are reported to
 * @completed: messages so far, both ways, with those of a guest
 * @source: source of the event loop
 */
struct nic {
	__u32 dim;
	const struct layout *layout;
	__u32 rank;
	struct nic_device device;
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
};

/**
 * nic_open() - open a NIC
 * @nic: with @dim, @layout, @rank, @guests, and @name, @gid_index, @err of @device set; to be
 *	closed, also after a failure
 * @window: window of the rank
 * @timeout: ns after which a member that does not acknowledge has failed
 *
 * Return: 0, or a negative errno with @err set, which names the device.
 */
int nic_open(struct nic *nic, void *window, __u64 timeout);

void nic_close(struct nic *nic);

/* Describe the device in @address, and the QPN for each member of the group. */
void nic_describe(const struct nic *nic, struct nic_address *address, __u32 *qpns);

/**
 * nic_connect() - connect the queue pair to a member
 * @nic: NIC
 * @member: a member of the group
 * @address: its address
 * @qpn: its queue pair for this rank
 *
 * Return: as nic_open().
 */
int nic_connect(struct nic *nic, __u32 member, const struct nic_address *address, __u32 qpn);

/* The address of a member, when connected. */
const __u8 *nic_peer(const struct nic *nic, __u32 member);

/* Report messages to an engine from loop_wait(). Return: as nic_open(). */
int nic_start(struct nic *nic, struct engine *engine, struct loop *loop);

/* Write a message, now or in its turn. Return: as nic_open(). */
int nic_write(struct nic *nic, const struct message *message);

#endif /* ROCESTEER_PERF_NIC_H */
