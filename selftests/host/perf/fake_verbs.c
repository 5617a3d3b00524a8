// SPDX-License-Identifier: GPL-2.0
/*
 * Stand-ins for the verbs that rocesteer-perf uses, with devices fake0 and fake1. A queue
 * pair is a datagram socket, which other processes find by its number. A message that the
 * socket has taken is acknowledged, as by a NIC whose process sleeps. GID 0 is of RoCE v1,
 * GID 1 of RoCE v2.
 *
 * FAULT=WHAT:N in the environment makes the process fail at its Nth message:
 *
 *	kill	the process ends
 *	stop	the process stops
 *	lost	the process and its NICs stop
 *	down	its ports are down: its messages are flushed
 *	wrong	the message has a bit flipped
 *	mute	this one and all later ones to the same member never leave
 *	connect	the Nth queue pair cannot be connected
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#include "base/base.h"

#undef ibv_query_port
#undef ibv_reg_mr_iova

#define MAX_QPS		64u
#define MAX_BYTES	65536u
#define MAX_WRS		4096u

/* A write on its way. */
struct packet {
	__u64 addr;
	__u32 length;
	__be32 imm;
	__u64 label;			/* flow label */
	__u64 wr_id;
	char data[MAX_BYTES];
};

struct fake_qp {
	struct ibv_qp qp;
	int fd;
	struct sockaddr_un peer;
	__u32 label;
	__u64 patience;			/* ns */
	__u64 since;			/* the first packet waits */
	struct packet *packet[MAX_WRS];	/* rings */
	__u32 packets, sent;
	__u64 receive[MAX_WRS];
	__u32 receives, received;
	bool dead, mute;
};

struct fake_cq {
	struct ibv_cq cq;
	struct ibv_wc wc[2 * MAX_WRS];
	__u32 head, tail;
	int timer;
};

struct fake_channel {
	struct ibv_comp_channel channel;
	struct ibv_cq *cq;
};

static struct ibv_device devices[] = {
	{ .name = "fake0" }, { .name = "fake1" },
};

static struct fake_qp *qps[MAX_QPS];
static bool port_down;

/* Registered memory: the window, and what else there is. */
static struct region {
	char *at;
	__u64 iova;
	__u64 length;
} regions[2];

/* Whether it is time for this fault */
static bool fault(const char *what)
{
	const char *text = getenv("FAULT");
	size_t len = strlen(what);
	static __u32 times;

	return text && !strncmp(text, what, len) && text[len] == ':' &&
	       ++times == strtoul(text + len + 1, NULL, 10);
}

struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list = calloc(3, sizeof(*list));

	(void)num;
	list[0] = &devices[0];
	list[1] = &devices[1];
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	*attr = (struct ibv_device_attr) {
		.max_cqe = MAX_WRS, .max_qp_wr = MAX_WRS,
	};
	return 0;
}

int ibv_query_port(struct ibv_context *context, __u8 port, struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)compat;

	(void)context;
	(void)port;
	attr->state = port_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
	attr->active_mtu = IBV_MTU_1024;
	attr->max_msg_sz = MAX_BYTES;
	attr->gid_tbl_len = 2;
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, __u32 port,
		      __u32 index, struct ibv_gid_entry *entry,
		      __u32 flags, size_t size)
{
	(void)context;
	(void)port;
	(void)flags;
	memset(entry, 0, size);
	entry->gid_type = index ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
	memcpy(entry->gid.raw + 10, "\xff\xff\x0a\x00\x00\x01", 6);
	return index > 1 ? ENODATA : 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
			       unsigned long iova, int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	(void)pd;
	(void)access;
	regions[!!regions[0].at] = (struct region) { addr, iova, length };
	return mr;
}

/* Where registered memory is, or NULL. */
static char *memory(__u64 addr, __u64 length)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(regions); i++)
		if (addr >= regions[i].iova && addr + length <= regions[i].iova + regions[i].length)
			return regions[i].at + (addr - regions[i].iova);
	return NULL;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	free(mr);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct fake_channel *fake = calloc(1, sizeof(*fake));

	fake->channel.context = context;
	fake->channel.fd = epoll_create1(EPOLL_CLOEXEC);
	return &fake->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	free(channel);
	return 0;
}

static void watch(struct ibv_comp_channel *channel, int fd, void *arg)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = arg };

	epoll_ctl(channel->fd, EPOLL_CTL_ADD, fd, &event);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *arg,
			     struct ibv_comp_channel *channel, int vector)
{
	struct fake_cq *cq = calloc(1, sizeof(*cq));

	(void)cqe;
	(void)arg;
	(void)vector;
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	watch(channel, cq->timer, cq);
	((struct fake_channel *)channel)->cq = &cq->cq;
	return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *ibv_cq)
{
	struct fake_cq *cq = (struct fake_cq *)ibv_cq;

	close(cq->timer);
	free(cq);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **arg)
{
	*cq = ((struct fake_channel *)channel)->cq;
	*arg = NULL;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int events)
{
	(void)cq;
	(void)events;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	return status == IBV_WC_RETRY_EXC_ERR ?
	       "transport retry counter exceeded" : "Work Request Flushed Error";
}

static void name_of(struct sockaddr_un *addr, __u32 qpn)
{
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	sprintf(addr->sun_path + 1, "rocesteer-fake-%u", qpn);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct fake_qp *qp = calloc(1, sizeof(*qp));
	struct sockaddr_un addr;
	__u32 i;

	qp->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	qp->qp.qp_num = getpid() * MAX_QPS;
	do
		name_of(&addr, ++qp->qp.qp_num);
	while (bind(qp->fd, (struct sockaddr *)&addr, sizeof(addr)));
	qp->qp.context = pd->context;
	qp->qp.send_cq = init->send_cq;
	watch(init->send_cq->channel, qp->fd, qp);
	for (i = 0; qps[i]; i++)
		;
	qps[i] = qp;
	return &qp->qp;
}

int ibv_destroy_qp(struct ibv_qp *ibv_qp)
{
	struct fake_qp *qp = (struct fake_qp *)ibv_qp;
	__u32 i;

	for (i = 0; qps[i] != qp; i++)
		;
	for (; qps[i]; i++)
		qps[i] = qps[i + 1];
	close(qp->fd);
	for (; qp->sent < qp->packets; qp->sent++)
		free(qp->packet[qp->sent % MAX_WRS]);
	free(qp);
	return 0;
}

int ibv_modify_qp(struct ibv_qp *ibv_qp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *qp = (struct fake_qp *)ibv_qp;

	if (mask & IBV_QP_DEST_QPN)
		name_of(&qp->peer, attr->dest_qp_num);
	if (mask & IBV_QP_AV)
		qp->label = attr->ah_attr.grh.flow_label;
	if (mask & IBV_QP_TIMEOUT)
		qp->patience = (4096ull << attr->timeout) *
			       (attr->retry_cnt + 1);
	return mask & IBV_QP_DEST_QPN && fault("connect") ? EHOSTUNREACH : 0;
}

static void complete(struct fake_qp *qp, __u64 wr_id, enum ibv_wc_status status, __be32 imm)
{
	struct fake_cq *cq = (struct fake_cq *)qp->qp.send_cq;

	cq->wc[cq->head++ % (2 * MAX_WRS)] = (struct ibv_wc) {
		.wr_id = wr_id, .status = status, .imm_data = imm,
	};
}

static void die(struct fake_qp *qp, enum ibv_wc_status status)
{
	qp->dead = true;
	for (; qp->sent < qp->packets; qp->sent++) {
		struct packet *packet = qp->packet[qp->sent % MAX_WRS];

		complete(qp, packet->wr_id, status, 0);
		status = IBV_WC_WR_FLUSH_ERR;
		free(packet);
	}
	for (; qp->received < qp->receives; qp->received++)
		complete(qp, qp->receive[qp->received % MAX_WRS], IBV_WC_WR_FLUSH_ERR, 0);
}

/* Take no more messages from others. */
static void lose(void)
{
	int i;

	for (i = 0; qps[i]; i++)
		close(qps[i]->fd);
	raise(SIGSTOP);
}

static void transmit(struct fake_qp *qp)
{
	__u64 now = clock_ns();

	while (!qp->dead && !qp->mute && qp->sent < qp->packets) {
		struct packet *packet = qp->packet[qp->sent % MAX_WRS];

		if (sendto(qp->fd, packet, sizeof(*packet) - MAX_BYTES +
			   packet->length, MSG_NOSIGNAL,
			   (struct sockaddr *)&qp->peer, sizeof(qp->peer)) < 0) {
			if (!qp->since)
				qp->since = now;
			if (now - qp->since > qp->patience)
				die(qp, IBV_WC_RETRY_EXC_ERR);
			return;
		}
		qp->since = 0;
		qp->sent++;
		complete(qp, packet->wr_id, IBV_WC_SUCCESS, 0);
		free(packet);
	}
}

static void receive(struct fake_qp *qp)
{
	static struct packet packet;

	while (qp->received < qp->receives && recv(qp->fd, &packet, sizeof(packet), 0) > 0) {
		memcpy(memory(packet.addr, packet.length), packet.data, packet.length);
		complete(qp, qp->receive[qp->received++ % MAX_WRS], IBV_WC_SUCCESS, packet.imm);
	}
}

/* The channel is ready when a completion is there, and now and then. */
static void set_timer(struct fake_cq *cq)
{
	struct itimerspec when = { .it_value.tv_nsec =
				   cq->tail < cq->head ? 1 : 2000000 };

	timerfd_settime(cq->timer, 0, &when, NULL);
}

static int poll_cq(struct ibv_cq *ibv_cq, int entries, struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)ibv_cq;
	int i;

	for (i = 0; qps[i]; i++)
		if (qps[i]->qp.send_cq == ibv_cq) {
			transmit(qps[i]);
			receive(qps[i]);
		}
	for (i = 0; i < entries && cq->tail < cq->head; i++)
		wc[i] = cq->wc[cq->tail++ % (2 * MAX_WRS)];
	set_timer(cq);
	return i;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	(void)solicited;
	set_timer((struct fake_cq *)cq);
	return 0;
}

static int post_send(struct ibv_qp *ibv_qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)ibv_qp;
	struct packet *packet = malloc(sizeof(*packet));

	(void)bad;
	if (fault("kill"))
		raise(SIGKILL);
	if (fault("stop"))
		raise(SIGSTOP);
	if (fault("lost"))
		lose();
	qp->mute |= fault("mute");
	packet->addr = wr->wr.rdma.remote_addr;
	packet->imm = wr->imm_data;
	packet->label = qp->label;
	packet->wr_id = wr->wr_id;
	packet->length = wr->num_sge ? wr->sg_list->length : 0;
	if (packet->length)
		memcpy(packet->data, memory(wr->sg_list->addr, packet->length), packet->length);
	packet->data[0] ^= fault("wrong");
	qp->packet[qp->packets++ % MAX_WRS] = packet;
	port_down |= fault("down");
	if (port_down)
		die(qp, IBV_WC_WR_FLUSH_ERR);
	transmit(qp);
	set_timer((struct fake_cq *)qp->qp.send_cq);
	return 0;
}

static int post_recv(struct ibv_qp *ibv_qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)ibv_qp;

	(void)bad;
	qp->receive[qp->receives++ % MAX_WRS] = wr->wr_id;
	return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context = calloc(1, sizeof(*context));

	context->device = device;
	context->ops.poll_cq = poll_cq;
	context->ops.req_notify_cq = req_notify_cq;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	free(context);
	return 0;
}
