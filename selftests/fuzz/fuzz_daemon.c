// SPDX-License-Identifier: GPL-2.0
/*
 * daemon_run() with tables in memory, which change as programs and commands change them,
 * probes that are answered or not, and a clock that the input moves. Memory and kernel do not
 * fail here, so the daemon must not end by itself.
 */
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
#include "daemon_tables.h"

#define STEPS	400
#define OUT	64	/* probes that are remembered */
#define MSEC	1000000ull
#define STOP	1

struct fuzz_input in;
__u64 now;
bool changed, races;
static int steps;

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
		.type = what % (ROCESTEER_EVENT_PEER + 1),
		.job = flows[i].value.job, .key = flows[i].key,
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
		 void (*fn)(__u32 ifindex, const char *name, bool carrier, void *arg),
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

/* No process of a fuzzer: what the task would find is in the input. */
int task_start(struct task *task)
{
	__u8 how = fuzz_u8(&in);

	return how & 1 ? -EAGAIN : task->done(how & 2 ? "it failed" : "", task->arg);
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
		tables_change();
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

static void begin(void)
{
	memset(out, 0, sizeof(out));
	nr_out = 0;
	steps = 0;
	now = 1000 * MSEC;
	tables_begin();
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
