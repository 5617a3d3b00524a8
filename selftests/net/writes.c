// SPDX-License-Identifier: GPL-2.0
/*
 * Many hosts write to many others at the same time, or read from them: RDMA over RC
 * queue pairs, from a process per host, and every byte is checked where it arrives.
 *
 *	writes QPS MESSAGE WINDOW TIMEOUT <TRAFFIC
 *
 * Each flow is shared equally by QPS queue pairs, each of which has WINDOW
 * messages of MESSAGE bytes under way and waits 4.096 us * 2^TIMEOUT for an
 * acknowledgment. TRAFFIC describes hosts, from 0, and flows between them,
 * which a host starts in this order, step by step:
 *
 *	host CGROUP NETNS DEVICE GID_INDEX
 *	flow FROM TO BYTES [STEP]
 *	read FROM TO BYTES [STEP]
 *	ready | steps | repeat
 *
 * A flow is written by the host that it comes from; or read by the one it goes to.
 * CGROUP and NETNS are files; NETNS may be - for the caller's own. Steps count from 0,
 * which is that of a flow without one: a host's flows of a step begin when those of the
 * steps before have ended at all hosts. The last line may be left out. With "ready"
 * every queue pair writes one message to warm up; then it says "ready" as well, and at
 * the end of the input begins. With "steps" it also says CLOCK_MONOTONIC in nanoseconds
 * then, and at the end of each step. With "repeat" each queue pair of the first step
 * writes all of its messages again and again, until the end of the input.
 */
#include <linux/types.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#define MAX_HOSTS	256
#define MAX_FLOWS	16384
#define READS		16	/* of a queue pair under way */

struct host {
	char cgroup[128];
	char netns[128];
	char device[32];
	int gid_index;
};

struct flow {
	unsigned int from;
	unsigned int to;
	size_t bytes;
	unsigned int step;
	bool read;
};

/* A queue pair of a flow, as its sender's or its receiver's process has it. */
struct connection {
	const struct flow *flow;
	struct ibv_qp *qp;
	char *data;
	__u32 lkey;
	size_t bytes;
	size_t posted;
};

/* The end of a connection, for the process at the other end. */
struct end {
	__u32 qpn;
	__u32 rkey;
	__u64 addr;
};

struct shared {
	pthread_barrier_t barrier;
	bool over;		/* what repeats */
	union ibv_gid gid[MAX_HOSTS];
	struct end ends[];	/* sender, receiver of each connection */
};

static struct host hosts[MAX_HOSTS];
static struct flow flows[MAX_FLOWS];
static unsigned int nr_hosts, nr_flows, nr_connections, qps, window, timeout;
static size_t message;
static bool holds;	/* between a first message and all of them */
static bool repeats;
static bool timed;	/* says when each step ends */
static unsigned int nr_steps = 1;

/* Variables of this host's process */
static unsigned int self;
static struct shared *shared;
static struct connection *connections;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_comp_channel *channel;

static bool flow_parse(const char *line, struct flow *flow)
{
	char word[5];

	flow->step = 0;
	if (sscanf(line, "%4s %u %u %zu %u", word, &flow->from, &flow->to,
		   &flow->bytes, &flow->step) < 4)
		return false;
	flow->read = !strcmp(word, "read");
	return flow->read || !strcmp(word, "flow");
}

static void traffic_read(void)
{
	struct flow flow;
	struct host host;
	char line[512];

	while (!holds && !repeats && fgets(line, sizeof(line), stdin)) {
		timed = !strcmp(line, "steps\n");
		if (timed || !strcmp(line, "ready\n"))
			holds = true;
		else if (!strcmp(line, "repeat\n"))
			repeats = true;
		else if (nr_hosts < MAX_HOSTS &&
			 sscanf(line, "host %127s %127s %31s %d", host.cgroup,
				host.netns, host.device,
				&host.gid_index) == 4)
			hosts[nr_hosts++] = host;
		else if (nr_flows < MAX_FLOWS && flow_parse(line, &flow))
			flows[nr_flows++] = flow;
		else
			errx(2, "not understood, or too many: %s", line);
		if (nr_flows && (flow.from >= nr_hosts || flow.to >= nr_hosts ||
				 flow.from == flow.to || !flow.bytes ||
				 flow.bytes % (qps * message)))
			errx(2, "no such hosts, or not a multiple: %s", line);
		if (nr_flows && flow.step >= nr_steps)
			nr_steps = flow.step + 1;
	}
	nr_connections = nr_flows * qps;
}

/* Join the host's cgroup and network namespace. */
static void host_enter(const struct host *host)
{
	char procs[256];
	FILE *file;
	int fd;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", host->cgroup);
	file = fopen(procs, "w");
	if (!file || fprintf(file, "%d\n", getpid()) < 0 || fclose(file))
		err(1, "%s", procs);
	if (!strcmp(host->netns, "-"))
		return;
	fd = open(host->netns, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "%s", host->netns);
	close(fd);
}

static void device_open(const struct host *host)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), host->device))
			context = ibv_open_device(*list);
	if (!context)
		errx(1, "%s: no such device", host->device);
	pd = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	cq = ibv_create_cq(context, nr_connections * window, NULL, channel, 0);
	if (!pd || !channel || !cq ||
	    ibv_query_gid(context, 1, host->gid_index, &shared->gid[self]))
		err(1, "%s", host->device);
}

/* Return: word @i of the buffer of connection @c. */
static __u64 content(unsigned int c, size_t i)
{
	return (c + 1) * 0x9e3779b97f4a7c15ull + i;
}

static void fill(struct connection *conn)
{
	__u64 *data = (__u64 *)conn->data;
	size_t i;

	for (i = 0; i < conn->bytes / sizeof(*data); i++)
		data[i] = content(conn - connections, i);
}

static bool arrived(const struct connection *conn)
{
	const __u64 *data = (const __u64 *)conn->data;
	size_t i;

	for (i = 0; i < conn->bytes / sizeof(*data); i++)
		if (data[i] != content(conn - connections, i))
			return false;
	return true;
}

static bool is_sender(const struct connection *conn)
{
	return conn->flow->from == self;
}

/* Return: whether requests of this host move the data. */
static bool is_requester(const struct connection *conn)
{
	return is_sender(conn) != conn->flow->read;
}

static bool is_ours(const struct connection *conn)
{
	return is_sender(conn) || conn->flow->to == self;
}

/* The end of connection @c at its sender, or at its receiver. */
static struct end *end_of(unsigned int c, bool sender)
{
	return &shared->ends[2 * c + !sender];
}

static void connection_create(unsigned int c)
{
	struct connection *conn = &connections[c];
	struct end *end = end_of(c, is_sender(conn));
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = window, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_mr *mr;

	conn->data = mmap(NULL, conn->bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (conn->data == MAP_FAILED)
		err(1, "no memory");
	if (is_sender(conn))
		fill(conn);
	mr = ibv_reg_mr(pd, conn->data, conn->bytes,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ);
	conn->qp = ibv_create_qp(pd, &init);
	if (!mr || !conn->qp)
		err(1, "queue pair");
	conn->lkey = mr->lkey;
	end->qpn = conn->qp->qp_num;
	end->addr = (uintptr_t)conn->data;
	end->rkey = mr->rkey;
}

/* Both directions start anywhere in the 24 bits of a PSN, also near the end. */
static __u32 first_psn(__u32 qpn)
{
	return qpn * 0x9e3779b1u >> 8;
}

static void connection_connect(unsigned int c)
{
	struct connection *conn = &connections[c];
	bool sender = is_sender(conn);
	unsigned int peer = sender ? conn->flow->to : conn->flow->from;
	struct end *far = end_of(c, !sender);
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ,
	}, rtr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096,
		.dest_qp_num = far->qpn, .rq_psn = first_psn(far->qpn),
		.max_dest_rd_atomic = READS, .min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = shared->gid[peer], .hop_limit = 64,
				 .sgid_index = hosts[self].gid_index },
		},
	}, rts = {
		.qp_state = IBV_QPS_RTS, .sq_psn = first_psn(conn->qp->qp_num),
		.timeout = timeout, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = READS,
	};

	if (ibv_modify_qp(conn->qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ||
	    ibv_modify_qp(conn->qp, &rtr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) ||
	    ibv_modify_qp(conn->qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN |
			  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC))
		err(1, "connect");
}

/* The next message, if there is one. */
static bool connection_post(unsigned int c)
{
	struct connection *conn = &connections[c];
	struct end *far = end_of(c, conn->flow->read);
	struct ibv_sge sge = {
		.addr = (uintptr_t)conn->data + conn->posted,
		.length = message, .lkey = conn->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = c, .sg_list = &sge, .num_sge = 1,
		.opcode = conn->flow->read ? IBV_WR_RDMA_READ :
					     IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = far->addr + conn->posted,
			     .rkey = far->rkey },
	};

	if (conn->posted == conn->bytes)
		return false;
	if (ibv_post_send(conn->qp, &wr, &bad))
		err(1, "post");
	conn->posted += message;
	if (conn->posted == conn->bytes && repeats && !shared->over)
		conn->posted = 0;
	return true;
}

/* One message of each queue pair of @step, then the next. */
static unsigned int post_messages(unsigned int each, unsigned int step)
{
	unsigned int c, under_way = 0;

	for (; each; each--)
		for (c = 0; c < nr_connections; c++)
			if (is_requester(&connections[c]) && connections[c].flow->step == step)
				under_way += connection_post(c);
	return under_way;
}

/* Sleep until something is complete: hosts share few CPUs. */
static void wait_event(void)
{
	struct ibv_cq *ready;
	void *cq_context;

	if (ibv_get_cq_event(channel, &ready, &cq_context))
		err(1, "event");
	ibv_ack_cq_events(ready, 1);
	if (ibv_req_notify_cq(cq, 0))
		err(1, "notify");
}

/* Until @under_way messages are complete, and those that follow if @go_on. */
static void complete(unsigned int under_way, bool go_on)
{
	struct ibv_wc wc;

	while (under_way) {
		wait_event();
		while (ibv_poll_cq(cq, 1, &wc) > 0) {
			if (wc.status != IBV_WC_SUCCESS)
				errx(1, "failed: %s", ibv_wc_status_str(wc.status));
			under_way--;
			if (go_on)
				under_way += connection_post(wc.wr_id);
		}
	}
}

static void read_to_end(void)
{
	while (getchar() != EOF)
		;
}

static void warm_up(void)
{
	unsigned int c, step;

	for (step = 0; step < nr_steps; step++)
		complete(post_messages(1, step), false);
	for (c = 0; c < nr_connections; c++)
		connections[c].posted = 0;
	pthread_barrier_wait(&shared->barrier);
	if (!self) {
		puts("ready");
		fflush(stdout);
		read_to_end();
	}
	pthread_barrier_wait(&shared->barrier);
}

static void say_time(void)
{
	struct timespec now;

	if (!timed || self)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%lld%09ld\n", (long long)now.tv_sec, now.tv_nsec);
	fflush(stdout);
}

static void run_steps(void)
{
	unsigned int step;

	say_time();
	for (step = 0; step < nr_steps; step++) {
		complete(post_messages(window, step), true);
		pthread_barrier_wait(&shared->barrier);
		say_time();
	}
}

/* The life of a host's process; all of them are always at the same step. */
static int host_run(void)
{
	unsigned int c;

	host_enter(&hosts[self]);
	device_open(&hosts[self]);
	for (c = 0; c < nr_connections; c++)
		if (is_ours(&connections[c]))
			connection_create(c);
	pthread_barrier_wait(&shared->barrier);
	for (c = 0; c < nr_connections; c++)
		if (is_ours(&connections[c]))
			connection_connect(c);
	if (ibv_req_notify_cq(cq, 0))
		err(1, "notify");
	pthread_barrier_wait(&shared->barrier);
	if (holds)
		warm_up();
	run_steps();
	for (c = 0; c < nr_connections; c++)
		if (is_ours(&connections[c]) && !is_sender(&connections[c]) &&
		    !arrived(&connections[c]))
			errx(1, "host %u: connection %u: wrong data", self, c);
	return 0;
}

static void shared_create(void)
{
	pthread_barrierattr_t attr;
	unsigned int c;

	shared = mmap(NULL, sizeof(*shared) +
		      2 * nr_connections * sizeof(shared->ends[0]),
		      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	connections = calloc(nr_connections, sizeof(*connections));
	if (shared == MAP_FAILED || !connections)
		err(1, "no memory");
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &attr, nr_hosts);
	for (c = 0; c < nr_connections; c++) {
		connections[c].flow = &flows[c / qps];
		connections[c].bytes = connections[c].flow->bytes / qps;
	}
}

int main(int argc, char **argv)
{
	unsigned int left;
	int status;

	if (argc != 5)
		errx(2, "usage: writes QPS MESSAGE WINDOW TIMEOUT <TRAFFIC");
	qps = strtoul(argv[1], NULL, 0);
	message = strtoul(argv[2], NULL, 0);
	window = strtoul(argv[3], NULL, 0);
	timeout = strtoul(argv[4], NULL, 0);
	if (!qps || !message || message % sizeof(__u64) || !window)
		errx(2, "not a number above 0, or not whole words");
	traffic_read();
	shared_create();
	for (self = 0; self < nr_hosts; self++)
		if (!fork())
			/* The others would wait for ever for one that fails. */
			return prctl(PR_SET_PDEATHSIG, SIGKILL) ?: host_run();
	if (repeats) {
		read_to_end();
		shared->over = true;
	}
	for (left = nr_hosts; left; left--)
		if (wait(&status) < 0 || status)
			return 1;
	return 0;
}
