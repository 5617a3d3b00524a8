// SPDX-License-Identifier: GPL-2.0
/* rocesteer status: the host. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../job/job_files.h"
#include "status.h"

#define JOB_FILES	"/etc/rocesteer/jobs.d"
#define FULL		90	/* percent */

/* Does a job need the module? Then its absence is an error that is reported already. */
static bool is_missed(const struct status *st)
{
	size_t i, n = json_object_array_length(st->findings);

	for (i = 0; i < n; i++) {
		struct json_object *code =
			json_object_object_get(json_object_array_get_idx(st->findings, i), "code");

		if (!strncmp(json_object_get_string(code), "module-", 7))
			return true;
	}
	return false;
}

static void look_at_module(struct status *st)
{
	char version[32];

	if (!genl_module_is_loaded()) {
		out_string(st->host, "module", "not loaded");
		if (!is_missed(st))
			status_advise(status_find(st, STATUS_NOTE, "module-absent", 0,
						  "the module is not loaded, no job needs it"),
				      "Load it before a job that goes by cgroup or process, or is split.");
		return;
	}
	genl_module_says("version", version, sizeof(version));
	out_string(st->host, "module", version);
	out_bool(st->host, "btf", !access("/sys/kernel/btf/rocesteer", F_OK));
	if (version[0] && strcmp(version, ROCESTEER_VERSION))
		status_advise(status_find(st, STATUS_NOTE, "version", 0,
					  "the module is version %s, the command is version %s",
					  version, ROCESTEER_VERSION),
			      "Replace it: rocesteer prog load --module replace");
	if (st->steer && !steer_has_module(st->steer))
		status_advise(status_find(st, STATUS_NOTE, "module-not-used", 0,
					  "the programs were loaded before the module was"),
			      "Have them call it: rocesteer prog load");
}

static void look_at_kprobes(struct status *st)
{
	struct genl_stats stats;

	if (!st->genl || genl_stats(st->genl, &stats, NULL))
		return;
	out_bool(st->host, "kprobes", stats.value[ROCESTEER_A_STATS_KPROBES]);
	if (!stats.value[ROCESTEER_A_STATS_KPROBES])
		status_advise(status_find(st, STATUS_ERROR, "no-kprobes", 0,
					  "kprobes are off: the module sees no queue pair"),
			      "Write 1 to kernel.ftrace_enabled and /sys/kernel/debug/kprobes/enabled.");
}

/* Was the job loaded by --dev? */
static bool has_device(const struct status_job *item)
{
	return json_object_object_get(json_object_object_get(item->record, "options"), "dev");
}

static bool wants_daemon(const struct status *st)
{
	size_t i;

	for (i = 0; i < st->jobs.nr; i++) {
		const struct status_job *item = st->jobs.item[i];

		if (split_kind(item->job.split)->is_planned || item->observed || has_device(item))
			return true;
	}
	return false;
}

/* A socket without a listener is left by a daemon that was killed. */
static void miss_daemon(struct status *st, bool died)
{
	bool wanted = wants_daemon(st);

	status_advise(status_find(st, died || wanted ? STATUS_ERROR : STATUS_NOTE,
				  "daemon-dead", 0, "rocesteer daemon %s: %s",
				  died ? "was killed" : "does not run", wanted ?
				  "flows are not planned, or paths not found" :
				  "nobody takes dead paths out"),
		      "systemctl start rocesteer, or rocesteer daemon");
}

/* One that is starting has the directory locked until it listens. */
static bool is_starting(void)
{
	int fd = open(EVENT_SOCKET_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool locked = fd >= 0 && lock_try(fd, LOCK_SH, EVENT_SOCKET_DIR, NULL) == -EAGAIN;

	if (fd >= 0)
		close(fd);
	return locked;
}

static void look_at_daemon(struct status *st)
{
	int fd = event_socket_connect();

	out_bool(st->host, "daemon", fd >= 0);
	if (fd >= 0)
		close(fd);
	else if (fd == -EACCES)
		status_unseen(st, "the daemon: only root may ask");
	else if (is_starting())
		status_unseen(st, "the daemon: it is starting");
	else if (fd == -ECONNREFUSED || st->jobs.nr)
		miss_daemon(st, fd == -ECONNREFUSED);
}

static void look_at_tables(struct status *st)
{
	struct steer_use use;

	if (!st->steer || steer_fullest(st->steer, &use))
		return;
	out_string(st->host, "table", use.name);
	out_uint(st->host, "used", use.used);
	out_uint(st->host, "room", use.room);
	if (use.used < (__u64)use.room * FULL / 100)
		return;
	status_advise(status_find(st, STATUS_ERROR, "table-full", 0,
				  "the table %s has %u of %u entries: what finds no room is not steered",
				  use.name, use.used, use.room),
		      "Unload jobs that have ended: rocesteer job list. Silent flows go after 90 seconds.");
}

/* The job of a file, as the daemon reads it. Return: a negative errno where it is no such file. */
static long job_of_file(const char *path, struct err *err)
{
	struct json_object *root, *job;
	long id = -EINVAL;
	int ret;

	ret = json_file_read(path, 1u << 20, 8, &root, err);
	if (ret)
		return ret;
	if (json_object_is_type(root, json_type_object) &&
	    json_object_object_get_ex(root, "job", &job))
		id = strtoul(json_object_get_string(job) ?: "", NULL, 0);
	else
		err_set(err, EXIT_BAD_INPUT, "job-file", "%s: job: is missing", path);
	json_object_put(root);
	return id;
}

static int is_job_file(const struct dirent *entry)
{
	return job_file_is(entry->d_name);
}

static void look_at_file(struct status *st, const char *name)
{
	struct err err = {};
	char path[512];
	long job;
	__u32 id;

	snprintf(path, sizeof(path), JOB_FILES "/%s", name);
	job = job_of_file(path, &err);
	id = job > 0 ? job : 0;
	if (job < 0)
		status_advise(status_find(st, STATUS_ERROR, "job-file", 0, "%s", err.message),
			      "Mend it, and read it: systemctl reload rocesteer");
	else if (!set_find(&st->jobs, &id, sizeof(id)))
		status_advise(status_find(st, STATUS_ERROR, "not-loaded", id,
					  "%s is to be loaded, and is not", path),
			      "See why: journalctl -u rocesteer; or load it: rocesteer job load");
}

static void look_at_files(struct status *st)
{
	struct dirent **entries;
	int n = scandir(JOB_FILES, &entries, is_job_file, alphasort), i;

	for (i = 0; i < n; i++) {
		look_at_file(st, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static void look_at_programs(struct status *st)
{
	struct rocesteer_version by;

	if (!st->steer)
		return;
	out_string(st->host, "programs", steer_has_module(st->steer) ?
		   "with the module" : "without the module");
	if (steer_version(st->steer, &by) ||
	    !strncmp(by.version, ROCESTEER_VERSION, sizeof(by.version)))
		return;
	status_advise(status_find(st, STATUS_NOTE, "version", 0,
				  "the programs are version %.*s, the command is version %s",
				  (int)sizeof(by.version), by.version, ROCESTEER_VERSION),
		      "Put the programs of this version in place: rocesteer prog load");
}

void status_host(struct status *st)
{
	out_string(st->host, "command", ROCESTEER_VERSION);
	look_at_programs(st);
	look_at_module(st);
	look_at_kprobes(st);
	look_at_daemon(st);
	look_at_tables(st);
	look_at_files(st);
}
