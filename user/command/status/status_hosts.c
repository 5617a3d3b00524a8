// SPDX-License-Identifier: GPL-2.0
/* rocesteer status --hosts: the status of many hosts, the worst first. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "status.h"

#define AT_ONCE		16	/* hosts that are asked at a time */
#define WAIT		60	/* seconds that a host has */
#define MAX_SIZE	0x1000000
#define MAX_DEPTH	16
#define CHARACTERS	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:@"

/**
 * struct host - a host of the list
 * @name: as ssh takes it
 * @pid: of ssh, or 0
 * @answer: file with what ssh printed
 * @said: file with what it said on standard error
 * @root: result of the host, or NULL
 * @message: why there is none
 * @errors: findings of this severity
 * @notes: likewise
 */
struct host {
	char name[256];
	pid_t pid;
	int answer;
	int said;
	struct json_object *root;
	char message[512];
	__u64 errors;
	__u64 notes;
};

/**
 * struct ask - how hosts are asked
 * @file: the list
 * @hosts: of struct host
 * @seconds: that a host has
 * @no_probe: hosts do not probe
 */
struct ask {
	const char *file;
	struct set hosts;
	int seconds;
	bool no_probe;
};

static const struct out_column host_columns[] = {
	{ "host", "HOST" },
	{ "answers", "ANSWERS" },
	{ "jobs", "JOBS" },
	{ "errors", "ERRORS" },
	{ "notes", "NOTES" },
	{ "message", "NO ANSWER BECAUSE" },
	{}
};

static const struct out_column finding_columns[] = {
	{ "host", "HOST" },
	{ "severity", "SEVERITY" },
	{ "code", "CODE" },
	{ "message", "FINDING" },
	{}
};

static const struct out_view views[] = {
	{ .rows = "hosts", .columns = host_columns },
	{ .rows = "findings", .columns = finding_columns, .empty = "no finding" },
	{}
};

/* A name goes into a command line, and into the name of a file. */
static int add_host(struct ask *ask, unsigned int line, const char *text, struct err *err)
{
	char name[sizeof(((struct host *)NULL)->name)] = "", quoted[64];
	struct host *host;

	if (strlen(text) >= sizeof(name) || text[strspn(text, CHARACTERS)] || text[0] == '-')
		return err_set(err, EXIT_BAD_INPUT, "bad-file",
			       "%s: line %u: '%s' is not the name of a host", ask->file, line,
			       reader_quote(text, quoted, sizeof(quoted)));
	memcpy(name, text, strlen(text));
	if (set_find(&ask->hosts, name, sizeof(name)))
		return err_set(err, EXIT_BAD_INPUT, "bad-file", "%s: line %u: %s is given twice",
			       ask->file, line, name);
	host = set_get(&ask->hosts, name, sizeof(name), sizeof(*host));
	if (!host)
		return -ENOMEM;
	host->answer = -1;
	host->said = -1;
	return 0;
}

static int read_hosts(struct ask *ask, struct err *err)
{
	FILE *f = fopen(ask->file, "re");
	unsigned int number = 0;
	char line[300];
	int ret = 0;

	if (!f)
		return err_errno(err, errno, "file", "%s", ask->file);
	while (!ret && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		number++;
		if (line[0] && line[0] != '#')
			ret = add_host(ask, number, line, err);
	}
	if (!ret && ferror(f))
		ret = err_errno(err, errno, "file", "%s", ask->file);
	fclose(f);
	if (!ret && !ask->hosts.nr)
		ret = err_set(err, EXIT_BAD_INPUT, "bad-file", "%s: contains no host", ask->file);
	return ret;
}

static int check_finding(struct reader *r, struct host *host, struct json_object *finding)
{
	static const char *const words[] = { "note", "error", NULL };
	char code[64], message[1024];
	int severity, ret;

	ret = reader_word(r, finding, "severity", words, &severity) ?:
	      reader_string(r, finding, "code", code, sizeof(code)) ?:
	      reader_string(r, finding, "message", message, sizeof(message));
	if (!ret && severity)
		host->errors++;
	else if (!ret)
		host->notes++;
	return ret;
}

static int check_result(struct reader *r, struct host *host)
{
	struct json_object *jobs, *findings;
	size_t i, mark;
	int ret;

	ret = reader_get(r, host->root, "jobs", json_type_array, &jobs) ?:
	      reader_get(r, host->root, "findings", json_type_array, &findings);
	for (i = 0; !ret && i < json_object_array_length(findings); i++) {
		mark = reader_enter(r, "findings", i);
		ret = check_finding(r, host, json_object_array_get_idx(findings, i));
		reader_leave(r, mark);
	}
	return ret;
}

/* A command that failed says why, in the place of a result. */
static const char *error_of(struct json_object *root)
{
	struct json_object *error = json_object_object_get(root, "error");

	return json_object_get_string(json_object_object_get(error, "message"));
}

/* Take the result from a file, which messages call @name. */
static void take(struct host *host, const char *file, const char *name)
{
	struct err err = {};
	struct reader r = { .file = name, .err = &err };
	int ret = json_file_read(file, MAX_SIZE, MAX_DEPTH, &host->root, &err);

	ret = ret ?: reader_object(&r, host->root);
	if (!ret && error_of(host->root))
		ret = err_set(&err, EXIT_FAILED, "failed", "%s", error_of(host->root));
	ret = ret ?: check_result(&r, host);
	if (!ret)
		return;
	snprintf(host->message, sizeof(host->message), "%s", err.message);
	json_object_put(host->root);
	host->root = NULL;
	host->errors = 0;
	host->notes = 0;
}

/* Is the result of the host beside the list? */
static bool take_file(const struct ask *ask, struct host *host)
{
	const char *slash = strrchr(ask->file, '/');
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.*s%s.json", slash ? (int)(slash + 1 - ask->file) : 0,
		 ask->file, host->name);
	if (access(path, F_OK))
		return false;
	take(host, path, path);
	return true;
}

/* The first line that ssh or the host said. */
static void take_said(struct host *host)
{
	ssize_t len = pread(host->said, host->message, sizeof(host->message) - 1, 0);

	host->message[len > 0 ? len : 0] = '\0';
	host->message[strcspn(host->message, "\r\n")] = '\0';
}

static void take_answer(const struct ask *ask, struct host *host, int status)
{
	char file[32];

	snprintf(file, sizeof(file), "/proc/self/fd/%d", host->answer);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 124)
		snprintf(host->message, sizeof(host->message), "no answer within %d seconds",
			 ask->seconds);
	else if (lseek(host->answer, 0, SEEK_END) > 0)
		take(host, file, host->name);
	else
		take_said(host);
	if (!host->root && !host->message[0])
		snprintf(host->message, sizeof(host->message), "ssh has failed");
	close(host->answer);
	close(host->said);
}

static void run_ssh(const struct ask *ask, const struct host *host)
{
	char seconds[16];

	snprintf(seconds, sizeof(seconds), "%d", ask->seconds ?: 1);	/* 0 is no limit */
	if (dup2(host->answer, STDOUT_FILENO) >= 0 && dup2(host->said, STDERR_FILENO) >= 0)
		execlp("timeout", "timeout", "--foreground", seconds, "ssh", "-n", "-o",
		       "BatchMode=yes", "--", host->name, "rocesteer", "--json", "status",
		       ask->no_probe ? "--no-probe" : NULL, NULL);
	_exit(127);
}

static int start(const struct ask *ask, struct host *host)
{
	host->answer = memfd_create("answer", MFD_CLOEXEC);
	host->said = memfd_create("said", MFD_CLOEXEC);
	host->pid = host->answer < 0 || host->said < 0 ? -1 : fork();
	if (!host->pid)
		run_ssh(ask, host);
	return host->pid < 0 ? -errno : 0;
}

static int wait_for_one(const struct ask *ask)
{
	int status;
	pid_t pid = wait(&status);
	size_t i;

	if (pid < 0)
		return -errno;
	for (i = 0; i < ask->hosts.nr; i++) {
		struct host *host = ask->hosts.item[i];

		if (host->pid == pid)
			take_answer(ask, host, status);
	}
	return 0;
}

static int ask_hosts(const struct ask *ask)
{
	size_t i, running = 0;
	int ret = 0;

	for (i = 0; !ret && i < ask->hosts.nr; i++) {
		if (take_file(ask, ask->hosts.item[i]))
			continue;
		if (running == AT_ONCE) {
			ret = wait_for_one(ask);
			running--;
		}
		ret = ret ?: start(ask, ask->hosts.item[i]);
		running += !ret;
	}
	while (running--)
		ret = wait_for_one(ask) ?: ret;
	return ret;
}

/* The worst first: nothing is known of who does not answer. */
static int compare(const void *a, const void *b)
{
	const struct host *x = *(struct host *const *)a, *y = *(struct host *const *)b;

	if (!x->root != !y->root)
		return x->root ? 1 : -1;
	if (x->errors != y->errors)
		return x->errors < y->errors ? 1 : -1;
	if (x->notes != y->notes)
		return x->notes < y->notes ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void put_host(struct json_object *obj, const struct host *host)
{
	out_string(obj, "host", host->name);
	out_bool(obj, "answers", host->root);
	if (!host->root) {
		out_string(obj, "message", host->message);
		return;
	}
	out_uint(obj, "jobs", json_object_array_length(json_object_object_get(host->root, "jobs")));
	out_uint(obj, "errors", host->errors);
	out_uint(obj, "notes", host->notes);
}

/* Findings of the host, with its name. */
static void put_findings(struct json_object *array, const struct host *host, const char *severity)
{
	struct json_object *findings = json_object_object_get(host->root, "findings"), *from, *obj;
	size_t i, n = findings ? json_object_array_length(findings) : 0;

	for (i = 0; i < n; i++) {
		from = json_object_array_get_idx(findings, i);
		if (strcmp(json_object_get_string(json_object_object_get(from, "severity")),
			   severity))
			continue;
		obj = out_append_object(array);
		out_string(obj, "host", host->name);
		json_object_object_foreach(from, key, value)
			json_object_object_add(obj, key, json_object_get(value));
	}
}

static int show(const struct cli_args *args, struct ask *ask)
{
	struct json_object *root = out_root(), *array = out_array(root, "hosts");
	struct host **host = (struct host **)ask->hosts.item;
	size_t i, n = ask->hosts.nr;
	bool fault = false;
	int ret;

	qsort(host, n, sizeof(*host), compare);	/* nothing is looked up any more */
	for (i = 0; i < n; i++) {
		put_host(out_append_object(array), host[i]);
		fault |= !host[i]->root || host[i]->errors;
	}
	array = out_array(root, "findings");
	for (i = 0; i < n; i++)
		put_findings(array, host[i], "error");
	for (i = 0; i < n; i++)
		put_findings(array, host[i], "note");
	out_bool(root, "fault", fault);
	ret = out_show(&args->out, root, views);
	return ret ?: fault ? EXIT_FAILED : EXIT_DONE;
}

static void free_host(void *item)
{
	struct host *host = item;

	json_object_put(host->root);
	free(host);
}

int status_hosts(const struct cli_args *args, const char *file, bool no_probe, struct err *err)
{
	struct ask ask = { .file = file, .no_probe = no_probe };
	int ret;

	ask.seconds = wait_limit("ROCESTEER_HOST_WAIT", WAIT, err);
	ret = ask.seconds < 0 ? ask.seconds : read_hosts(&ask, err) ?: ask_hosts(&ask);
	ret = ret ?: show(args, &ask);
	set_clear(&ask.hosts, free_host);
	return ret;
}
