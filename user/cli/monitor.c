// SPDX-License-Identifier: GPL-2.0
/* rocesteer monitor: the module's events, one line each, until interrupted. */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "../lib/event.h"
#include "cli.h"
#include "events.h"
#include "flow.h"
#include "module.h"

static const struct cli_option options[] = { {} };

const struct out_column event_columns[] = {
	{ "time", "" },
	{ "event", "" },
	{ "job", "job" },
	{ "name", "name" },
	{ "cgroup", "cgroup" },
	{ "device", "device" },
	{ "leaf", "leaf" },
	{ "path", "path" },
	{ "router", "router" },
	{ "peer", "peer" },
	{ "dqpn", "dqpn" },
	{ "sqpn", "sqpn" },
	{ "rdma_device", "rdma" },
	{ "pid", "pid" },
	{ "mtu", "mtu" },
	{ "flows", "flows" },
	{ "pieces", "pieces" },
	{ "written", "written" },
	{ "moved", "moved" },
	{ "cause", "cause" },
	{ "hold_ms", "hold_ms" },
	{ "loss", "loss" },
	{ "probes", "probes" },
	{ "answers", "answers" },
	{ "message", "" },
	{}
};

/* Interrupt and termination, as something to wait for. */
static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int print(const struct genl_event *event, void *arg)
{
	struct json_object *obj = event_new(event->name);

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
		flow_put_key(obj, &event->flow.key);
		flow_put(obj, &event->flow);
	}
	return out_event(arg, obj, event_columns);
}

static int run(const struct cli_args *args, struct err *err)
{
	struct genl *genl;
	int stop, ret;

	ret = module_open(&genl, MODULE_YES, err);
	if (ret)
		return ret;
	stop = catch_signals();
	if (stop < 0) {
		ret = -errno;
		goto out_close;
	}
	ret = genl_monitor(genl, stop, print, (void *)&args->out, err);
	close(stop);
out_close:
	genl_close(genl);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.help = "Print the module's events, one line each, until interrupted",
		.options = options,
		.run = run,
	},
	{}
};

const struct cli_object cli_monitor = {
	.name = "monitor",
	.help = "print jobs and flows as they come and go",
	.verbs = verbs,
};
