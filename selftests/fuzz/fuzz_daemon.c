// SPDX-License-Identifier: GPL-2.0
/*
 * daemon_run() with tables in memory, which change as programs and commands change them,
 * probes that are answered or not, and a clock that the input moves. Memory and kernel do not
 * fail here, so the daemon must not end by itself.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include "base/base.h"
#include "daemon/daemon.h"
#include "daemon/qpn_search.h"
#include "daemon/rediscovery.h"
#include "discover/discover.h"
#include "discover/probe.h"
#include "steer/steer.h"
#include "fuzz.h"

#define JOBS	2
#define GROUPS	3
#define PEERS	4
#define FLOWS	6
#define STEPS	400
#define OUT	64	/* probes that are remembered */
#define MSEC	1000000ull
#define STOP	1

static struct fuzz_input in;
static __u64 now;
static int steps;
static bool changed;	/* as job load and unload touch the directory */
static bool races;	/* tables may change between any two calls */

static struct {
	bool there;
	struct rocesteer_job value;
} jobs[JOBS];

static struct table_group {
	bool there;
	struct rocesteer_group_key key;
	struct rocesteer_group value;
} groups[GROUPS];

static struct table_peer {
	bool there;
	struct rocesteer_peer_key key;
	struct rocesteer_peer value;
} peers[PEERS];

static struct table_flow {
	bool there;
	struct rocesteer_flow_key key;
	struct rocesteer_flow_path value;
} flows[FLOWS];

/* The row of @table with key @wanted, or NULL */
#define FIND(table, wanted) ({						\
	__auto_type row = &(table)[0];					\
	__auto_type end = row + sizeof(table) / sizeof(*row);		\
									\
	while (row < end && (!row->there || memcmp(&row->key, wanted, sizeof(row->key)))) \
		row++;							\
	row < end ? row : NULL;						\
})

/* Call fn(key, value, arg) for each row that is there and @matches, until it is not 0. */
#define EACH(table, matches) ({						\
	__auto_type row = &(table)[0];					\
	__auto_type end = row + sizeof(table) / sizeof(*row);		\
	int ret = 0;							\
									\
	for (; !ret && row < end; row++)				\
		if (row->there && (matches))				\
			ret = fn(&row->key, &row->value, arg);		\
	ret;								\
})

static void addr(__u8 *a, __u8 last)
{
	memcpy(a, (__u8[16]) { [10] = 0xff, 0xff, 10, [15] = last }, 16);
}

/* Peer @i is of job 2 and under the last leaf, or of job 1 and under one of two. */
static __u32 job_of(__u32 peer)
{
	return peer == PEERS - 1 ? 2 : 1;
}

static __u8 leaf_of(__u32 peer)
{
	return 100 + (peer == PEERS - 1 ? GROUPS - 1 : peer % (GROUPS - 1));
}

static void change_group(__u32 i, __u8 how)
{
	struct rocesteer_group *group = &groups[i].value;
	__u32 p, n = how & 128 ? ROCESTEER_MAX_PATHS : 1 + (how >> 2) % 5;

	groups[i].there = how & 3;
	memset(&groups[i].key, 0, sizeof(groups[i].key));
	memset(group, 0, sizeof(*group));
	groups[i].key.job = i == GROUPS - 1 ? 2 : 1;
	groups[i].key.ifindex = 1;
	addr(groups[i].key.leaf, 100 + i);
	group->nr_paths = n;
	group->first = i % n;
	for (p = 0; p < n; p++) {
		addr(group->router[p], 1 + p);
		group->weight[p] = how & 64 ? 1 + (fuzz_u8(&in) << (p & 7)) : 1;
	}
	if (how & 32)
		group->down = fuzz_u8(&in) & (n < 8 ? (1u << n) - 1 : 0xff);
	/* Flows go with their group. */
	for (p = 0; p < FLOWS; p++)
		if (!memcmp(flows[p].value.leaf, groups[i].key.leaf, 16))
			flows[p].there = false;
	changed = true;
}

static void change_peer(__u32 i, __u8 how)
{
	struct rocesteer_peer *peer = &peers[i].value;
	__u32 p;

	peers[i].there = how & 3;
	memset(&peers[i].key, 0, sizeof(peers[i].key));
	memset(peer, 0, sizeof(*peer));
	peers[i].key.job = job_of(i);
	peers[i].key.ifindex = 1;
	addr(peers[i].key.addr, 200 + i);
	addr(peer->leaf, leaf_of(i));
	addr(peers[i].key.source, 250);
	peer->nr_paths = ROCESTEER_MAX_PATHS;
	peer->hop = 2;
	for (p = 0; p < ROCESTEER_MAX_PATHS; p++)
		peer->sport[p] = htons(50000 + p + (how >> 4) * 64);
	if (how & 8)
		peer->sport[fuzz_u8(&in) % 6] = 0;
}

static void change_flow(__u32 i, __u8 where, __u8 how)
{
	struct rocesteer_flow_path *flow = &flows[i].value;
	__u32 peer = where % PEERS, p;

	flows[i].there = how & 7;
	memset(&flows[i].key, 0, sizeof(flows[i].key));
	memset(flow, 0, sizeof(*flow));
	flows[i].key.ifindex = 1;
	flows[i].key.dqpn = i;
	addr(flows[i].key.peer, 200 + peer);
	flow->job = job_of(peer);
	addr(flow->leaf, leaf_of(peer));
	addr(flow->source, 250);
	flow->nr_pieces = 1;
	flow->piece[0].end = 1;
	flow->piece[0].sport = htons(50000);
	for (p = 0; p < GROUPS; p++)
		if (groups[p].there && !memcmp(groups[p].key.leaf, flow->leaf, 16))
			flow->piece[0].path = (how >> 3) % groups[p].value.nr_paths;
	if (how & 64)
		flow->flags |= ROCESTEER_FLOW_PEER_RESEQ;
	if (how & 32)
		flow->flags |= ROCESTEER_FLOW_SHARE;
	if ((how & 31) == 31)
		flow->flags |= ROCESTEER_FLOW_QP | ROCESTEER_FLOW_SHARE;
	if (how & 128) {
		flow->detour.until = now + 1;
		flow->detour.to = fuzz_u8(&in) % ROCESTEER_MAX_PATHS;
		flow->next = flow->piece[0];
	}
	for (p = 0; p < 5; p++) {
		flow->sent[p].packets = fuzz_u8(&in);
		flow->sent[p].rounds = fuzz_u8(&in) & 15;
	}
}

static void change(__u8 what, __u8 x, __u8 how)
{
	switch (what % 8) {
	case 0:
		change_group(x % GROUPS, how);
		break;
	case 1:
		change_peer(x % PEERS, how);
		break;
	case 2:
		jobs[x % JOBS].there = how & 3;
		jobs[x % JOBS].value.split = (how >> 2) % 3;
		jobs[x % JOBS].value.deal = how >> 4 & 1;
		break;
	default:
		change_flow(x % FLOWS, x >> 4, how);
		break;
	}
}

static void race(void)
{
	if (races && in.left > 3 && (fuzz_u8(&in) & 31) == 7)
		change(fuzz_u8(&in), fuzz_u8(&in), fuzz_u8(&in));
}

/* Stand-ins for steer/steer_tables.h */
int steer_open(struct steer **s, int flags, struct err *err)
{
	static char steer;

	if (!jobs[0].there && !jobs[1].there) {
		err_set(err, EXIT_FAILED, "no-job", "no job is loaded");
		return -ENOENT;
	}
	*s = (struct steer *)&steer;
	return 0;
}

void steer_close(struct steer *s)
{
}

void steer_unlock(struct steer *s)
{
}

int steer_job_each(struct steer *s,
		   int (*fn)(__u32 id, const struct rocesteer_job *job, void *arg),
		   void *arg)
{
	int i, ret = 0;

	for (i = 0; !ret && i < JOBS; i++)
		if (jobs[i].there)
			ret = fn(i + 1, &jobs[i].value, arg);
	return ret;
}

int steer_devices_check(struct steer *s,
			void (*fn)(__u32 id, const char *device,
				   enum steer_device is, void *arg),
			void *arg, struct err *err)
{
	int i;

	for (i = 0; i < JOBS; i++)
		if (jobs[i].there)
			fn(i + 1, "eth0", races ? fuzz_u8(&in) % 3 : 0, arg);
	return 0;
}

int steer_group_each(struct steer *s, __u32 job,
		     int (*fn)(const struct rocesteer_group_key *key,
			       const struct rocesteer_group *group, void *arg),
		     void *arg)
{
	return EACH(groups, !job || row->key.job == job);
}

int steer_peer_each(struct steer *s, __u32 job,
		    int (*fn)(const struct rocesteer_peer_key *key,
			      const struct rocesteer_peer *peer, void *arg),
		    void *arg)
{
	return EACH(peers, !job || row->key.job == job);
}

int steer_flow_each(struct steer *s,
		    int (*fn)(const struct rocesteer_flow_key *key,
			      const struct rocesteer_flow_path *path, void *arg),
		    void *arg)
{
	return EACH(flows, true);
}

int steer_flow_get(struct steer *s, const struct rocesteer_flow_key *key,
		   struct rocesteer_flow_path *path)
{
	const struct table_flow *flow;

	race();
	flow = FIND(flows, key);
	if (!flow)
		return -ENOENT;
	*path = flow->value;
	return 0;
}

int steer_peer_get(struct steer *s, const struct rocesteer_peer_key *key,
		   struct rocesteer_peer *peer)
{
	const struct table_peer *found = FIND(peers, key);

	if (found)
		*peer = found->value;
	race();
	return found ? 0 : -ENOENT;
}

int steer_ports_get(struct steer *s, __u32 job, const struct rocesteer_flow_key *flow,
		    const __u8 source[16], struct rocesteer_peer *peer)
{
	struct rocesteer_peer_key pkey = steer_peer_key(job, flow, source);

	return steer_peer_get(s, &pkey, peer);
}

bool steer_serves_job(const struct steer *s, const struct rocesteer_job *job)
{
	return steer_serves(s, job->ifindex);
}

int steer_set_group(struct steer *s, const struct rocesteer_set_group *set)
{
	struct table_group *group = FIND(groups, &set->key);

	if (!group)
		return -ENOENT;
	group->value.down = set->down;
	return 0;
}

/* The refusals that struct rocesteer_set_flow names */
int steer_set_flow(struct steer *s, const struct rocesteer_set_flow *set)
{
	struct rocesteer_peer_key peer_key;
	struct rocesteer_group_key group_key = {
		.job = set->job, .ifindex = set->key.ifindex,
	};
	struct table_flow *found = FIND(flows, &set->key);
	const struct table_group *group;
	const struct table_peer *peer;
	struct rocesteer_flow_path *flow;
	__u32 i;

	assert(set->nr_pieces && set->nr_pieces <= ROCESTEER_MAX_PATHS);
	if (!found || found->value.job != set->job)
		return -ENOENT;
	flow = &found->value;
	if (flow->flags & ROCESTEER_FLOW_QP)
		return -EBUSY;
	if (set->nr_pieces > 1 && !(flow->flags & ROCESTEER_FLOW_PEER_RESEQ))
		return -EPERM;
	peer_key = steer_peer_key(set->job, &set->key, flow->source);
	memcpy(group_key.leaf, flow->leaf, 16);
	peer = FIND(peers, &peer_key);
	group = FIND(groups, &group_key);
	if (!peer || !group)
		return -ENOENT;
	for (i = 0; i < set->nr_pieces; i++) {
		const struct rocesteer_piece *piece = &set->piece[i];

		if (piece->path >= group->value.nr_paths || !piece->sport ||
		    piece->sport != peer->value.sport[piece->path])
			return -EINVAL;
		assert(!i || piece->end > piece[-1].end);
	}
	memcpy(flow->piece, set->piece, sizeof(flow->piece));
	flow->nr_pieces = set->nr_pieces;
	flow->next.end = 0;
	return 0;
}

/* Event sources of the daemon, recognised by their descriptors */
static int descriptor(void)
{
	return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static struct source *watch_source, *events_source, *link_source;
static int watch_fd, events_fd, link_fd_;

int steer_watch_open(struct err *err)
{
	watch_fd = descriptor();
	return watch_fd;
}

int steer_watch_read(int fd)
{
	return 1;
}

struct steer_events *steer_events_open(struct steer *s, struct err *err)
{
	events_fd = descriptor();
	return (struct steer_events *)&events_fd;
}

void steer_events_close(struct steer_events *events)
{
	close(events_fd);
	events_fd = -1;
}

int steer_events_fd(const struct steer_events *events)
{
	return events_fd;
}

int steer_events_read(struct steer_events *events,
		      void (*fn)(const struct rocesteer_event *event, void *arg),
		      void *arg)
{
	__u8 what = fuzz_u8(&in), i = fuzz_u8(&in) % FLOWS;
	struct rocesteer_event event = {
		.type = what % 4, .job = flows[i].value.job, .key = flows[i].key,
		.path = fuzz_u8(&in) % ROCESTEER_MAX_PATHS,
	};

	memcpy(event.leaf, flows[i].value.leaf, 16);
	if (fn)
		fn(&event, arg);
	return what & 64 && what & 128 ? -ENOBUFS : 0;
}

/* Stand-ins for clients of the socket, carriers, and searches for ports */
static size_t told;

int event_socket_open(struct event_socket **server, struct loop *loop,
		      void (*snapshot)(struct event_socket *server, void *arg),
		      void *arg, struct err *err)
{
	return 0;
}

int event_socket_listen(struct event_socket *server, struct err *err)
{
	return 0;
}

void event_socket_close(struct event_socket *server)
{
}

void event_socket_send(struct event_socket *server, struct json_object *event)
{
	told += strlen(event_line(event));
}

struct carrier_monitor *carrier_open(struct err *err)
{
	link_fd_ = descriptor();
	return (struct carrier_monitor *)&link_fd_;
}

void carrier_close(struct carrier_monitor *link)
{
	close(link_fd_);
}

int carrier_fd(const struct carrier_monitor *link)
{
	return link_fd_;
}

int carrier_read(struct carrier_monitor *link,
		 void (*fn)(__u32 ifindex, const char *name, bool carrier,
			    void *arg),
		 void *arg)
{
	__u8 how = fuzz_u8(&in);

	fn(1, how & 6 ? "eth0" : NULL, how & 1, arg);
	return 0;
}

int rediscovery_start(struct rediscovery *rediscovery, const struct group *group)
{
	rediscovery->job = group->key.job;
	rediscovery->ifindex = group->key.ifindex;
	return fuzz_u8(&in) & 1;
}

void task_stop(struct task *task)
{
}

void qpn_search_soon(struct qpn_search *search)
{
	search->at = 0;
}

int qpn_search_step(struct qpn_search *search)
{
	if (search->at == LOOP_NEVER)
		return 0;
	search->at = LOOP_NEVER;
	return fuzz_u8(&in) & 1 ? search->task.done("", search->task.arg) : 0;
}

__u64 qpn_search_due(const struct qpn_search *search)
{
	return search->at;
}

char *if_indextoname(unsigned int ifindex, char *name)
{
	return memcpy(name, "eth0", sizeof("eth0"));
}

unsigned int if_nametoindex(const char *name)
{
	return 1;
}

/* Probes that were sent. The input says which are answered, and how. */
static struct {
	bool there;
	struct probe_packet packet;
} out[OUT];
static size_t nr_out;

int probe_open(struct probe_socket *sock, const char *device,
	       const __u8 source[16], struct err *err)
{
	if ((fuzz_u8(&in) & 63) == 9)
		return err_set(err, EXIT_FAILED, "no-device", "it is gone");
	sock->fd = descriptor();
	memcpy(sock->source, source, 16);
	return 0;
}

void probe_close(struct probe_socket *sock)
{
	close(sock->fd);
}

int probe_send(const struct probe_socket *sock, const struct probe_packet *packet)
{
	size_t i = nr_out++ % OUT;

	out[i].there = true;
	out[i].packet = *packet;
	return 0;
}

int probe_receive(const struct probe_socket *sock, struct probe_answer *answer)
{
	__u8 how = fuzz_u8(&in);
	size_t i, n;

	if (!in.left || how > 200)
		return -EAGAIN;
	i = how % OUT;
	for (n = 0; n < OUT && !out[i].there; n++)
		i = (i + 1) % OUT;
	if (!out[i].there)
		return -EAGAIN;
	out[i].there = how & 128;	/* it may be answered again */
	memset(answer, 0, sizeof(*answer));
	answer->len = how & 64 ? PROBE_UDP_HEADER : out[i].packet.len;
	memcpy(answer->quote, out[i].packet.data, answer->len);
	memcpy(answer->peer, out[i].packet.peer, 16);
	how = fuzz_u8(&in);
	answer->type = how % 3;
	memcpy(answer->from, groups[how >> 2 & 1].value.router[how >> 3 & 3], 16);
	return 0;
}

/* Stand-ins for the loop: the input says what happens next, and when. */
__u64 clock_ns(void)
{
	return now;
}

int loop_open(struct loop *loop)
{
	loop->fd = descriptor();
	return 0;
}

void loop_close(struct loop *loop)
{
	close(loop->fd);
}

int loop_add(struct loop *loop, struct source *source)
{
	if (source->fd == watch_fd)
		watch_source = source;
	else if (source->fd == events_fd)
		events_source = source;
	else if (source->fd == link_fd_)
		link_source = source;
	return 0;
}

void loop_remove(struct loop *loop, const struct source *source)
{
	if (source == events_source)
		events_source = NULL;
}

static int wake(const struct source *source)
{
	return source ? source->ready(source->arg) : 0;
}

int loop_wait(struct loop *loop, __u64 until)
{
	__u8 what = fuzz_u8(&in);

	if (!in.left || steps++ == STEPS)
		return STOP;
	if (changed && watch_source) {
		changed = false;
		return wake(watch_source);
	}
	switch (what % 8) {
	case 0:
		change(fuzz_u8(&in), fuzz_u8(&in), fuzz_u8(&in));
		return 0;
	case 1:
		now += fuzz_u8(&in) * MSEC / 10;
		return 0;
	case 2:
		now += fuzz_u8(&in) * 10 * MSEC;
		return 0;
	case 3:
		if (until != LOOP_NEVER && until > now)
			now = until;
		return 0;
	case 4:
		return wake(link_source);
	case 5:
		return wake(watch_source);
	default:
		return wake(events_source);
	}
}

static void ready(void *arg)
{
}

static void emit(struct json_object *event, void *arg)
{
	event_socket_send(NULL, event);
}

/* A job with two groups, two peers and two flows. */
static void begin(void)
{
	memset(jobs, 0, sizeof(jobs));
	memset(groups, 0, sizeof(groups));
	memset(peers, 0, sizeof(peers));
	memset(flows, 0, sizeof(flows));
	memset(out, 0, sizeof(out));
	nr_out = 0;
	steps = 0;
	now = 1000 * MSEC;
	change(2, 0, 7);
	change(0, 0, 9);
	change(0, 1, 13);
	change(1, 0, 1);
	change(1, 1, 1);
	change(3, 0, 127);
	change(3, 17, 127);
	watch_source = NULL;
	events_source = NULL;
	link_source = NULL;
	watch_fd = -1;
	events_fd = -1;
	link_fd_ = -1;
	changed = false;
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	static const struct daemon_config config = {
		.hold_ms = 10, .timeout_ms = 5, .ready = ready, .emit = emit,
	};
	sigset_t signals;
	struct err err = {};
	int ret;

	sigprocmask(SIG_SETMASK, NULL, &signals);
	in = (struct fuzz_input) { data, size };
	races = fuzz_u8(&in) & 1;
	begin();
	ret = daemon_run(&config, &err);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	if (ret)
		fprintf(stderr, "the daemon ends: %d %s\n", ret, err.message);
	assert(!ret);
	return 0;
}
