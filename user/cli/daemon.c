// SPDX-License-Identifier: GPL-2.0
/* rocesteer daemon: plan, and keep the plans true, until it is told to end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "cli.h"
#include "events.h"
#include "permission.h"

enum { HOLD_DOWN, TIMEOUT, SHORT_QUOTES };

static const struct cli_option options[] = {
	[HOLD_DOWN] = { "hold-down", "MS",
			"minimum time a dead path stays unused (default: 100)" },
	[TIMEOUT] = { "probe-timeout", "MS",
		      "time to wait for the first answer to a probe (default: 5)" },
	[SHORT_QUOTES] = { "short-quotes", NULL,
			   "believe answers that quote 8 bytes of a probe only" },
	{}
};

/* sd_notify(3), for systemd's Type=notify. */
static void ready(void *arg)
{
	static const char text[] = "READY=1";
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	(void)arg;
	if (!path || strlen(path) >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, strlen(path));
	if (path[0] == '@')	/* not in the file system */
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	sendto(fd, text, strlen(text), 0, (struct sockaddr *)&address,
	       offsetof(struct sockaddr_un, sun_path) + strlen(path));
	close(fd);
}

/* An event fits into what a pipe or a socket has room for when it has any. */
static bool has_room(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) > 0;
}

/*
 * Who does not read our output does not hold us up: as the clients of the socket,
 * it is told later that events were lost.
 */
static void tell(struct json_object *event, void *arg)
{
	static bool lost;

	if (lost && has_room()) {
		out_event(arg, event_new("lost"), event_columns);
		lost = false;
	}
	if (has_room())
		out_event(arg, json_object_get(event), event_columns);
	else
		lost = true;
}

static int run(const struct cli_args *args, struct err *err)
{
	struct daemon_config config = {
		.ready = ready,
		.tell = tell,
		.arg = (void *)&args->out,
	};
	__u64 hold = 100, timeout = 5;
	int ret;

	ret = cli_uint(args, HOLD_DOWN, 1, 3600000, &hold, err) ?:
	      cli_uint(args, TIMEOUT, 1, 10000, &timeout, err) ?:
	      permission_probe(err);
	if (ret)
		return ret;
	config.hold_ms = hold;
	config.timeout_ms = timeout;
	config.short_quotes = args->value[SHORT_QUOTES];
	signal(SIGPIPE, SIG_IGN);	/* who reads our output may go */
	return daemon_run(&config, err);
}

static const struct cli_verb verbs[] = {
	{
		.help = "Plan flows and watch paths, until interrupted",
		.options = options,
		.changes = true,
		.run = run,
	},
	{}
};

const struct cli_object cli_daemon = {
	.name = "daemon",
	.help = "split flows over paths, and go around paths that are dead",
	.verbs = verbs,
};
