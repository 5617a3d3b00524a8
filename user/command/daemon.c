// SPDX-License-Identifier: GPL-2.0
/* rocesteer daemon: plan flows until a signal ends it. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "objects.h"
#include "events.h"
#include "job/job_files.h"

enum { HOLD_DOWN, TIMEOUT, SHORT_QUOTES, JOBS, CHECK };

static const struct cli_option options[] = {
	[HOLD_DOWN] = { "hold-down", "MS",
			"minimum time a dead path stays unused (default: 100)" },
	[TIMEOUT] = { "probe-timeout", "MS",
		      "time to wait for the first answer to a probe (default: 5)" },
	[SHORT_QUOTES] = { "short-quotes", NULL,
			   "believe answers that quote 8 bytes of a probe only" },
	[JOBS] = { "job-files", "DIR", "load the jobs that the files in this directory describe" },
	[CHECK] = { "check-job-files", "DIR", "only check such files, as loading would" },
	{}
};

static const struct out_column check_columns[] = {
	{ "file", "FILE" },
	{ "job", "JOB" },
	{ "message", "ERROR" },
	{ "hint", "WHAT TO DO" },
	{}
};

static const struct out_view check_views[] = {
	{ .rows = "files", .columns = check_columns, .empty = "no file" },
	{}
};

/**
 * struct daemon_cli - argument of the daemon's callbacks
 * @out: where to print
 * @jobs: files of --job-files
 * @journal: lines begin with a priority, as systemd's journal takes them
 */
struct daemon_cli {
	const struct out *out;
	struct job_files jobs;
	bool journal;
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

/* If a pipe or a socket can be written, an event fits. */
static bool has_room(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) > 0;
}

/*
 * Priorities of events that need attention, as in sd-daemon(3): 3 error, 4 warning, 5
 * notice.
 */
static int priority(const char *name)
{
	static const struct {
		const char *name;
		int priority;
	} known[] = {
		{ "error", 3 },		{ "table-full", 4 },
		{ "device-gone", 4 },	{ "no-carrier", 4 },
		{ "path-down", 4 },	{ "path-lossy", 4 },
		{ "nic-unproved", 4 },	{ "lost", 4 },
		{ "nic-proved", 5 },	{ "detour", 5 },
		{ "path-moved", 5 },	{ "path-up", 5 },
		{ "replan", 7 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].name, name))
			return known[i].priority;
	return 6;
}

static void print(struct daemon_cli *cli, struct json_object *event)
{
	const char *name = json_object_get_string(json_object_object_get(event, "event"));

	if (cli->journal)
		printf("<%d>", priority(name ?: ""));
	out_event(cli->out, event, event_columns);
}

/*
 * A reader of the output that does not read misses events and gets "lost" later, as the
 * clients of the socket do.
 */
static void emit(struct json_object *event, void *arg)
{
	static bool lost;

	if (lost && has_room()) {
		print(arg, event_new("lost"));
		lost = false;
	}
	if (has_room())
		print(arg, json_object_get(event));
	else
		lost = true;
}

static bool read_jobs(bool all, void (*say)(struct json_object *event, void *daemon),
		      void *daemon, void *arg)
{
	struct daemon_cli *cli = arg;

	return cli->jobs.dir && job_files_read(&cli->jobs, all, say, daemon);
}

static int check_jobs(const struct cli_args *args, struct err *err)
{
	struct json_object *root = out_root();
	int wrong, ret;

	wrong = job_files_check(args->value[CHECK], out_array(root, "files"), err);
	if (wrong < 0) {
		json_object_put(root);
		return wrong;
	}
	ret = out_show(&args->out, root, check_views);
	return ret ?: wrong ? EXIT_FAILED : EXIT_DONE;
}

static int run(const struct cli_args *args, struct err *err)
{
	struct daemon_cli cli = {
		.out = &args->out,
		.jobs.dir = args->value[JOBS],
		.journal = *(getenv("JOURNAL_STREAM") ?: ""),
	};
	struct daemon_config config = {
		.ready = ready,
		.emit = emit,
		.jobs = read_jobs,
		.arg = &cli,
	};
	__u64 hold = 100, timeout = 5;
	int ret;

	if (args->value[CHECK])
		return check_jobs(args, err);
	ret = cli_uint(args, HOLD_DOWN, 1, 3600000, &hold, err) ?:
	      cli_uint(args, TIMEOUT, 1, 10000, &timeout, err) ?:
	      permission_probe(err);
	if (ret)
		return ret;
	config.hold_ms = hold;
	config.timeout_ms = timeout;
	config.short_quotes = args->value[SHORT_QUOTES];
	signal(SIGPIPE, SIG_IGN);	/* who reads our output may go */
	ret = daemon_run(&config, err);
	job_files_free(&cli.jobs);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.help = "Plan flows and watch paths, until interrupted",
		.options = options,
		.example = "daemon --job-files /etc/rocesteer/jobs.d",
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
