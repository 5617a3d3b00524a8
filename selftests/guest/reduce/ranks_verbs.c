// SPDX-License-Identifier: GPL-2.0
/* A rank's device, connections and messages. */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <rocesteer/label.h>

#include "ranks.h"

#define VIRTUAL_QPN	0xC00000u
#define ANSWER		0xC0u	/* of a virtual queue pair, for acknowledgments */

unsigned long sent, completed, received;
char *in, *out, *scratch;

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_comp_channel *channel;
static struct ibv_mr *in_mr, *out_mr;
static struct ibv_qp *sends, *receives;
static int gid_index;

unsigned long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ul + t.tv_nsec / 1000000;
}

static void host_enter(const struct host *host)
{
	char path[96];
	int fd;

	if (!*host->netns)
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", host->netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(SETUP, "%s", path);
	close(fd);
}

static union ibv_gid gid_of(const char *address)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	if (inet_pton(AF_INET, address, gid.raw + 12) != 1 &&
	    inet_pton(AF_INET6, address, gid.raw) != 1)
		errx(SETUP, "%s: not an address", address);
	return gid;
}

static void gid_find(const struct host *host)
{
	union ibv_gid *gid = &shared->rank[self].end.gid;
	struct ibv_gid_entry entry;

	*gid = gid_of(host->address);
	for (gid_index = 0; gid_index < 256; gid_index++)
		if (!ibv_query_gid_ex(context, 1, gid_index, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(&entry.gid, gid, sizeof(*gid)))
			return;
	errx(SETUP, "%s: no GID %s", host->device, host->address);
}

static void verbs_open(const struct host *host)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), host->device))
			context = ibv_open_device(*list);
	if (!context)
		errx(SETUP, "%s: no such device", host->device);
	gid_find(host);
	pd = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	cq = ibv_create_cq(context, 1024, NULL, channel, 0);
	if (!pd || !channel || !cq)
		err(SETUP, "%s", host->device);
}

static size_t out_size(void)
{
	return 2 * bytes + GUARD + 4 * MAX_RANKS;
}

/* The result, the guard, and where a ring receives what it adds. */
static void memory_map(void)
{
	in = input(self);
	out = mmap(NULL, out_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (out == MAP_FAILED)
		err(SETUP, "no memory");
	scratch = out + (bytes + GUARD + 3) / 4 * 4;
	in_mr = ibv_reg_mr(pd, in, bytes, IBV_ACCESS_LOCAL_WRITE);
	out_mr = ibv_reg_mr(pd, out, out_size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!in_mr || !out_mr)
		err(SETUP, "memory region");
}

void device_open(void)
{
	host_enter(&hosts[self]);
	verbs_open(&hosts[self]);
	memory_map();
}

static struct ibv_qp *qp_create(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 256, .max_recv_wr = 256,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp || ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				 IBV_QP_ACCESS_FLAGS))
		err(SETUP, "queue pair");
	return qp;
}

static enum ibv_mtu ibv_mtu(void)
{
	return IBV_MTU_256 + __builtin_ctz(mtu / 256);
}

static void qp_connect(struct ibv_qp *qp, union ibv_gid peer, __u32 dqpn, __u32 rq_psn,
		       __u32 sq_psn)
{
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = ibv_mtu(), .dest_qp_num = dqpn,
		.rq_psn = rq_psn, .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = peer, .hop_limit = 64,
				 .sgid_index = gid_index,
				 .flow_label = sport[self] ? rocesteer_label_of(sport[self]) : 0 },
		},
	}, rts = {
		.qp_state = IBV_QPS_RTS, .sq_psn = sq_psn, .timeout = timeout,
		.retry_cnt = retry, .rnr_retry = 7, .max_rd_atomic = 1,
	};

	if (ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER) ||
	    ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC))
		err(SETUP, "connection to %#x", dqpn);
}

static __u32 first_psn(unsigned int rank)
{
	return (psn + rank * 5) & 0xffffff;
}

static void receive_post(void)
{
	struct ibv_recv_wr wr = {}, *bad;

	if (ibv_post_recv(receives, &wr, &bad))
		err(SETUP, "receive");
}

static void group_write(void)
{
	FILE *f = fopen(file, "w");
	unsigned int i;

	if (!f)
		err(SETUP, "%s", file);
	fprintf(f, "{ \"group\": %u, \"type\": \"%s\", \"op\": \"%s\", \"mtu\": %u,\n"
		"  \"packets\": %u, \"window\": %u, ", group, formats[type].name, op_names[op],
		mtu, packets, window);
	if (box)
		fprintf(f, "\"box\": \"%s\", ", box);
	else
		fprintf(f, "\"root\": %u, ", root);
	fputs("\"ranks\": [", f);
	for (i = 0; i < nr_ranks; i++) {
		const struct end *end = &shared->rank[i].end;

		fprintf(f, "%s\n  { \"address\": \"%s\", \"leaf\": %u,", i ? "," : "",
			hosts[i].address, per_leaf ? i / per_leaf : 0);
		if (box)
			fprintf(f, " \"sender_qpn\": %u,", end->sends);
		fprintf(f, " \"qpn\": %u, \"psn\": %u, \"va\": %llu }", end->receives,
			first_psn(i), end->va);
	}
	fputs(" ]\n}\n", f);
	if (fclose(f))
		err(SETUP, "%s", file);
}

static void group_load(void)
{
	char command[512];

	if (file)
		group_write();
	if (!load || !*load)
		return;
	snprintf(command, sizeof(command), "%s %s", load, file);
	if (system(command))
		errx(SETUP, "the group is not loaded: %s", command);
}

/* By way of the group, a rank's connections are to the virtual queue pairs of a box. */
static void connect_both(bool is_virtual)
{
	struct end *next = &shared->rank[rank_next()].end;
	struct end *before = &shared->rank[rank_before()].end;
	__u32 to = next->receives, from = before->sends, number = VIRTUAL_QPN | group << 8;
	union ibv_gid to_gid = next->gid, from_gid = before->gid;

	if (is_virtual)
		to = number | self;
	if (is_virtual && box) {
		from = number | ANSWER | rank_before();
		to_gid = gid_of(box);
		from_gid = to_gid;
	}
	qp_connect(receives, from_gid, from, first_psn(rank_before()), 1);
	qp_connect(sends, to_gid, to, 1, first_psn(self));
}

void connections_make(bool is_virtual)
{
	struct rank *ranks = shared->rank;
	unsigned int i;

	sends = qp_create();
	receives = qp_create();
	ranks[self].end.sends = sends->qp_num;
	ranks[self].end.receives = receives->qp_num;
	ranks[self].end.rkey = out_mr->rkey;
	ranks[self].end.va = (uintptr_t)out;
	barrier();
	if (is_virtual && !self)
		group_load();
	barrier();
	connect_both(is_virtual);
	for (i = 0; i < 2 * window + 2 * nr_ranks && i < 256; i++)
		receive_post();
	barrier();
}

void post(const char *from, size_t len, size_t offset)
{
	bool is_input = from >= in && from < in + bytes;
	const struct end *to = &shared->rank[rank_next()].end;
	struct ibv_sge sge = { (uintptr_t)from, len,
			       is_input ? in_mr->lkey : out_mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = !!len, .send_flags = IBV_SEND_SIGNALED,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = htonl(sent),
		.wr.rdma = { .remote_addr = to->va + offset, .rkey = to->rkey },
	}, *bad;

	if (ibv_post_send(sends, &wr, &bad))
		err(SETUP, "send");
	sent++;
}

static void complete(const struct ibv_wc *wc)
{
	if (!(wc->opcode & IBV_WC_RECV)) {
		completed++;
		return;
	}
	if (ntohl(wc->imm_data) != received)
		errx(SETUP, "rank %u: message %u instead of %lu", self, ntohl(wc->imm_data),
		     received);
	received++;
	receive_post();
}

static enum outcome give_up(enum outcome outcome, const char *reason)
{
	snprintf(shared->rank[self].reason, sizeof(shared->rank[self].reason), "%s", reason);
	__atomic_store_n(&shared->failed, 1, __ATOMIC_SEQ_CST);
	return outcome;
}

/* Take completions. Return: RIGHT or FAILED; STALLED when there is none. */
static enum outcome poll_once(void)
{
	struct ibv_wc wc[16];
	int i, n = ibv_poll_cq(cq, 16, wc);

	for (i = 0; i < n; i++) {
		if (wc[i].status)
			return give_up(FAILED, ibv_wc_status_str(wc[i].status));
		complete(&wc[i]);
	}
	return n ? RIGHT : STALLED;
}

static void event_wait(void)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *ready;
	void *data;

	if (poll(&fd, 1, 200) <= 0)
		return;
	if (ibv_get_cq_event(channel, &ready, &data))
		err(SETUP, "event");
	ibv_ack_cq_events(ready, 1);
}

enum outcome progress(void)
{
	unsigned long end = now_ms() + stall * 1000;
	enum outcome outcome;

	for (;;) {
		outcome = poll_once();
		if (outcome != STALLED)
			return outcome;
		if (ibv_req_notify_cq(cq, 0))
			err(SETUP, "notify");
		outcome = poll_once();
		if (outcome != STALLED)
			return outcome;
		event_wait();
		if (now_ms() > end)
			return give_up(STALLED, "nothing has come");
		if (__atomic_load_n(&shared->failed, __ATOMIC_SEQ_CST))
			return give_up(STALLED, "another rank failed");
	}
}

void connections_end(void)
{
	struct ibv_wc wc;

	if (ibv_destroy_qp(sends) || ibv_destroy_qp(receives))
		err(SETUP, "queue pairs cannot be destroyed");
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
	sent = 0;
	completed = 0;
	received = 0;
}
