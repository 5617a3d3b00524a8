// SPDX-License-Identifier: GPL-2.0
/*
 * Hold RC queue pairs connected to a peer, which need not exist.
 *
 *	qps DEVICE LOCAL PEER DQPN COUNT [PSN [FACTOR]]
 *
 * The queue pairs are moved to RTR, for DQPN, DQPN + 1, ..., and expect PSN, or
 * 0. With FACTOR the i-th has the flow label ~(FACTOR * i), as lanes of UCX do. Then
 * "ready" is printed and commands are read from stdin: connect (again, after reset),
 * reset, rtr (fails after reset, and in use), elsewhere (rtr to DQPN + COUNT, ...), error,
 * another (one more to DQPN), destroy, rts (the first PSN is PSN as well), read and write
 * (of 12 bytes, which take one PSN). Each is answered with "done" or the errno's name;
 * await, when one of those that were asked for is done; memory, with the address and rkey
 * of 1 MiB that may be read. At the end of the input the process ends, without cleaning
 * up: that is the kernel's.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#define MAX_QPS 4096
#define MAX_REQUESTS 128

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_qp *qps[MAX_QPS];
static union ibv_gid peer;
static unsigned int dqpn, count, psn, factor;
static int gid_index;

static union ibv_gid gid_of(const char *text)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	if (!inet_pton(AF_INET, text, gid.raw + 12) && !inet_pton(AF_INET6, text, gid.raw))
		errx(2, "%s: not an address", text);
	return gid;
}

static void device_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			context = ibv_open_device(*list);
	if (!context)
		errx(2, "%s: no such device", name);
	pd = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	cq = ibv_create_cq(context, MAX_REQUESTS, NULL, channel, 0);
	if (!pd || !channel || !cq)
		err(2, "PD, CQ");
}

static void gid_find(const char *local)
{
	union ibv_gid gid = gid_of(local);
	struct ibv_gid_entry entry;
	int i;

	for (i = 0; i < 64; i++) {
		if (ibv_query_gid_ex(context, 1, i, &entry, 0))
			continue;
		if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(&entry.gid, &gid, sizeof(gid))) {
			gid_index = i;
			return;
		}
	}
	errx(2, "%s: no RoCE v2 GID", local);
}

static struct ibv_qp *qp_new(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { MAX_REQUESTS, 1, 1, 1, 0 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp)
		err(2, "QP");
	return qp;
}

static int qp_rtr(struct ibv_qp *qp, unsigned int to)
{
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = to, .rq_psn = psn, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = peer, .sgid_index = gid_index,
				 .flow_label = factor ? ~(factor * (to - dqpn)) : 0,
				 .hop_limit = 64 },
		},
	};

	return ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			     IBV_QP_MIN_RNR_TIMER);
}

static int qp_connect(struct ibv_qp *qp, unsigned int to)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ,
	};

	return ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ?:
	       qp_rtr(qp, to);
}

static int qp_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

/* Infinite timeout */
static int qp_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS, .sq_psn = psn, .timeout = 0,
		.retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = MAX_REQUESTS,
	};

	return ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN |
			     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int request_post(struct ibv_qp *qp, enum ibv_wr_opcode opcode)
{
	static struct ibv_mr *mr;
	static char data[12];
	struct ibv_sge sge = { (uintptr_t)data, sizeof(data), 0 };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (!mr)
		mr = ibv_reg_mr(pd, data, sizeof(data), IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		err(2, "MR");
	sge.lkey = mr->lkey;
	return ibv_post_send(qp, &wr, &bad);
}

static int request_await(void)
{
	struct ibv_cq *ready;
	void *cq_context;
	struct ibv_wc wc;

	while (!ibv_poll_cq(cq, 1, &wc)) {
		ibv_req_notify_cq(cq, 0);
		if (ibv_poll_cq(cq, 1, &wc))
			break;
		if (ibv_get_cq_event(channel, &ready, &cq_context))
			err(2, "event");
		ibv_ack_cq_events(ready, 1);
	}
	return wc.status == IBV_WC_SUCCESS ? 0 : EIO;
}

static void memory_offer(void)
{
	static char memory[1 << 20];
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_REMOTE_READ);

	if (!mr)
		err(2, "MR");
	printf("%p %u\n", mr->addr, mr->rkey);
}

static int obey(const char *name, unsigned int i)
{
	if (!strcmp(name, "connect"))
		return qp_connect(qps[i], dqpn + i);
	if (!strcmp(name, "rtr"))
		return qp_rtr(qps[i], dqpn + i);
	if (!strcmp(name, "elsewhere"))
		return qp_rtr(qps[i], dqpn + count + i);
	if (!strcmp(name, "reset"))
		return qp_state(qps[i], IBV_QPS_RESET);
	if (!strcmp(name, "error"))
		return qp_state(qps[i], IBV_QPS_ERR);
	if (!strcmp(name, "destroy"))
		return ibv_destroy_qp(qps[i]);
	if (!strcmp(name, "rts"))
		return qp_rts(qps[i]);
	if (!strcmp(name, "read"))
		return request_post(qps[i], IBV_WR_RDMA_READ);
	if (!strcmp(name, "write"))
		return request_post(qps[i], IBV_WR_RDMA_WRITE);
	errx(2, "%s: no such command", name);
}

int main(int argc, char **argv)
{
	char line[64];
	unsigned int i;
	int error;

	if (argc < 6 || argc > 8)
		errx(2, "usage: qps DEVICE LOCAL PEER DQPN COUNT [PSN]");
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Inherited pipes to other helpers, which wait for them to close */
	close_range(3, ~0U, 0);
	device_open(argv[1]);
	gid_find(argv[2]);
	peer = gid_of(argv[3]);
	dqpn = strtoul(argv[4], NULL, 0);
	count = strtoul(argv[5], NULL, 0);
	if (argc > 6)
		psn = strtoul(argv[6], NULL, 0);
	if (argc > 7)
		factor = strtoul(argv[7], NULL, 0);
	if (count > MAX_QPS)
		errx(2, "%u: too many", count);

	for (i = 0; i < count; i++) {
		qps[i] = qp_new();
		error = qp_connect(qps[i], dqpn + i);
		if (error)
			errx(2, "connect: %s", strerror(error));
	}
	puts("ready");

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		error = 0;
		if (!strcmp(line, "memory")) {
			memory_offer();
			continue;
		}
		if (!strcmp(line, "another"))
			error = qp_connect(qp_new(), dqpn);
		else if (!strcmp(line, "await"))
			error = request_await();
		else
			for (i = 0; i < count && !error; i++)
				error = obey(line, i);
		puts(error ? strerrorname_np(error) : "done");
	}
	return 0;
}
