// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer monitor: the events of the module and of the daemon, one line each,
 * until interrupted.
 */
#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/base.h"
#include "groups/groups.h"
#include "objects.h"
#include "events.h"
#include "flow/flow.h"
#include "module.h"

#define STOP	1

/* Time between two looks for a daemon that does not run, ns. */
#define LOOK	500000000ull

static const struct cli_option options[] = { {} };

/*
 * State; a closed file descriptor is -1. @look_at: time of the next search for a daemon,
 * CLOCK_MONOTONIC ns.
 */
struct monitor {
	const struct out *out;
	struct err *err;
	struct loop loop;
	struct genl *genl;
	struct source signals;
	struct source module;
	struct source daemon;
	struct event_socket_reader reader;
	__u64 look_at;
};

/* Interrupt and termination, as something to wait for. */
static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int print_module(const struct genl_event *event, void *arg)
{
	const struct monitor *m = arg;
	struct json_object *obj = event_new(event->name);
	char device[IF_NAMESIZE];

	if (event->is_job) {
		out_uint(obj, "job", event->job.id);
		if (event->job.name[0])
			out_string(obj, "name", event->job.name);
		if (event->job.cgroup_id)
			out_uint(obj, "cgroup", event->job.cgroup_id);
		if (event->job.pid)
			out_uint(obj, "pid", event->job.pid);
	}
	if (event->is_flow) {
		out_uint(obj, "job", event->flow.job);
		flow_put_key(obj, out_device_name(event->flow.key.ifindex, device),
			     &event->flow.key);
		flow_put(obj, &event->flow);
	}
	return out_event(m->out, obj, event_columns);
}

static int print_daemon(struct json_object *event, void *arg)
{
	const struct monitor *m = arg;

	return out_event(m->out, event, event_columns);
}

static int stopped(void *arg)
{
	(void)arg;
	return STOP;
}

static int module_ready(void *arg)
{
	struct monitor *m = arg;

	return genl_receive(m->genl, print_module, m);
}

/* The daemon came or went. */
static int print_change(const struct monitor *m, const char *name)
{
	return out_event(m->out, event_new(name), event_columns);
}

static int daemon_ready(void *arg)
{
	struct monitor *m = arg;
	int ret = event_socket_read(&m->reader, print_daemon, m);

	if (ret != -EPIPE)
		return ret;
	loop_remove(&m->loop, &m->daemon);
	close(m->reader.fd);
	m->reader = (struct event_socket_reader) { .fd = -1 };
	m->look_at = clock_ns() + LOOK;
	return print_change(m, "daemon-down");
}

static int add(struct monitor *m, struct source *source, int fd, int (*ready)(void *arg))
{
	*source = (struct source) { .fd = fd, .ready = ready, .arg = m };
	return fd < 0 ? fd : loop_add(&m->loop, source);
}

/* It is no failure that the daemon does not run. */
static int connect_daemon(struct monitor *m)
{
	m->reader.fd = event_socket_connect();
	return m->reader.fd < 0 ? 0 :
	       add(m, &m->daemon, m->reader.fd, daemon_ready);
}

/* The module or the daemon is enough. */
static int listen_to(struct monitor *m)
{
	struct err module = {};
	int ret;

	ret = connect_daemon(m);
	if (ret)
		return ret;
	ret = module_open(&m->genl, MODULE_YES, &module);
	if (ret && m->reader.fd == -EACCES) {
		err_set(m->err, EXIT_FAILED, "permission",
			"not permitted: only root may read the daemon's events");
		err_hint(m->err, "Run it as root.");
		return ret;
	}
	if (ret && m->reader.fd < 0) {
		*m->err = module;
		err_hint(m->err,
			 "Load it: modprobe rocesteer; or start the daemon: systemctl start rocesteer");
		return ret;
	}
	if (ret) {
		out_note(m->out, "Only the daemon's events: %s.", module.message);
		return 0;
	}
	return add(m, &m->module, genl_listen(m->genl, m->err), module_ready) ?:
	       (m->reader.fd < 0 ? print_change(m, "daemon-down") : 0);
}

/* One event, or a while without any. */
static int step(struct monitor *m)
{
	int ret;

	ret = loop_wait(&m->loop, m->reader.fd < 0 ? m->look_at : LOOP_NEVER);
	if (ret || m->reader.fd >= 0 || clock_ns() < m->look_at)
		return ret;
	m->look_at = clock_ns() + LOOK;
	ret = connect_daemon(m);
	return ret || m->reader.fd < 0 ? ret : print_change(m, "daemon-up");
}

static int run(const struct cli_args *args, struct err *err)
{
	struct monitor m = {
		.out = &args->out,
		.err = err,
		.signals.fd = -1,
		.reader.fd = -1,
	};
	int ret;

	ret = loop_open(&m.loop) ?: listen_to(&m) ?:
	      add(&m, &m.signals, catch_signals(), stopped);
	while (!ret)
		ret = step(&m);
	if (m.signals.fd >= 0)
		close(m.signals.fd);
	if (m.reader.fd >= 0)
		close(m.reader.fd);
	genl_close(m.genl);
	loop_close(&m.loop);
	return ret == STOP ? 0 : ret;
}

static const struct cli_verb verbs[] = {
	{
		.help = "Print events of the module and the daemon, until interrupted",
		.options = options,
		.example = "monitor",
		.run = run,
	},
	{}
};

const struct cli_object cli_monitor = {
	.name = "monitor",
	.help = "print what happens to jobs, flows and paths",
	.verbs = verbs,
};
