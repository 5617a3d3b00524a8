// SPDX-License-Identifier: GPL-2.0
#include "job_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "../interrupt.h"
#include "job.h"

/* The longest field is a list of flows. */
#define FILE_MAX	1048576

/**
 * struct job_file - a file of the directory
 * @name: its name there
 * @seen: it was there at the last look
 * @loaded: its job is as the file says
 * @job: number of the job that was loaded from it, or 0
 * @said: why it could not be loaded
 */
struct job_file {
	char name[NAME_MAX + 1];
	bool seen;
	bool loaded;
	__u32 job;
	char said[512];
};

/* Only root may write a file that is obeyed. A ConfigMap is mounted so that nobody can. */
static int check_owner(const char *path, struct err *err)
{
	struct statvfs fs;
	struct stat st;

	if (stat(path, &st) || statvfs(path, &fs))
		return err_errno(err, errno, "job-file", "cannot read %s", path);
	if (fs.f_flag & ST_RDONLY || ((!st.st_uid || st.st_uid == geteuid()) &&
				      !(st.st_mode & (st.st_gid ? 0022 : 0002))))
		return 0;
	err_set(err, EXIT_FAILED, "unsafe",
		"%s is open to others: its owner is user %u, its mode is %04o", path, st.st_uid,
		st.st_mode & 07777);
	err_hint(err, "Look at what is in it, then: chown root:root %s; chmod go-w %s", path, path);
	return -EPERM;
}

static int bad_field(struct err *err, const char *file, const char *field, const char *what)
{
	return err_set(err, EXIT_BAD_INPUT, "job-file", "%s: %s: %s", file, field, what);
}

/* The option that a field is named after, or NULL. Files describe jobs to be loaded. */
static const struct cli_option *find_option(const char *field)
{
	const struct cli_option *option;
	char name[32];
	size_t i;

	for (i = 0; field[i] && i < sizeof(name) - 1; i++)
		name[i] = field[i] == '_' ? '-' : field[i];
	name[i] = '\0';
	for (option = job_load_options; option->name; option++)
		if (!strcmp(option->name, name) && !strchr(field, '-') && strcmp(name, "dry-run"))
			return option;
	return NULL;
}

/* The values are @value's, or constants. */
static int take_field(struct cli_args *args, const char *file, const char *field,
		      struct json_object *value, struct err *err)
{
	const struct cli_option *option = find_option(field);
	const char **to;

	if (!option)
		return bad_field(err, file, field, "is not an option of rocesteer job load");
	to = &args->value[option - job_load_options];
	if (!option->arg) {
		if (!json_object_is_type(value, json_type_boolean))
			return bad_field(err, file, field, "is neither true nor false");
		*to = json_object_get_boolean(value) ? "" : NULL;
		return 0;
	}
	if (json_object_is_type(value, json_type_double))
		return bad_field(err, file, field, "is not a whole number");
	if (!json_object_is_type(value, json_type_string) &&
	    !json_object_is_type(value, json_type_int))
		return bad_field(err, file, field, "is neither a string nor a number");
	*to = json_object_get_string(value);
	/* The daemon has no directory of its own from which a name could go. */
	if (cli_is_path(option) && (*to)[0] != '/')
		return bad_field(err, file, field, "does not begin with /");
	return 0;
}

static int take_fields(struct cli_args *args, const char *file,
		       struct json_object *root, struct err *err)
{
	struct json_object_iterator at, end;
	int ret = 0;

	if (!json_object_is_type(root, json_type_object))
		return err_set(err, EXIT_BAD_INPUT, "job-file", "%s: is not an object", file);
	at = json_object_iter_begin(root);
	end = json_object_iter_end(root);
	while (!ret && !json_object_iter_equal(&at, &end)) {
		ret = take_field(args, file, json_object_iter_peek_name(&at),
				 json_object_iter_peek_value(&at), err);
		json_object_iter_next(&at);
	}
	return ret;
}

/* Load, replace or check the job of a file. Return: its number, or a negative errno. */
static long put_job(const char *path, enum job_put how, struct err *err)
{
	struct cli_args args = { .out.json = true, .options = job_load_options };
	struct json_object *root, *shown;
	long ret;

	ret = check_owner(path, err) ?: json_file_read(path, FILE_MAX, 4, &root, err);
	if (ret)
		return ret;
	ret = take_fields(&args, path, root, err) ?:
	      job_put(&args, how, &shown, err);
	if (!ret) {
		ret = json_object_get_int64(json_object_object_get(shown, "job"));
		json_object_put(shown);
	}
	json_object_put(root);
	return ret;
}

static const char *path_of(const struct job_files *jobs, const struct job_file *file,
			   char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", jobs->dir, file->name);
	return path;
}

static struct json_object *file_event(const char *name, const struct job_files *jobs,
				      const struct job_file *file)
{
	struct json_object *event = event_new(name);
	char path[PATH_MAX];

	if (file->job)
		out_uint(event, "job", file->job);
	path_of(jobs, file, path);
	out_string(event, "file", path);
	return event;
}

static bool has_number(const struct job_files *jobs, const struct job_file *but, __u32 job)
{
	size_t i;

	for (i = 0; i < jobs->files.nr; i++) {
		const struct job_file *file = jobs->files.item[i];

		if (file != but && file->job == job)
			return true;
	}
	return false;
}

/* The file has another number now, or is gone. */
static void drop_job(struct job_files *jobs, struct job_file *file,
		     void (*emit)(struct json_object *event, void *arg), void *arg)
{
	struct err err = {};

	if (file->job && !has_number(jobs, file, file->job) && !job_drop(file->job, &err))
		emit(file_event("job-unloaded", jobs, file), arg);
	file->job = 0;
}

/* The message without the name of the file, which the event has as well. */
static const char *without_file(const char *message, const char *path)
{
	size_t len = strlen(path);

	return !strncmp(message, path, len) && message[len] == ':' ? message + len + 2 : message;
}

static void load_file(struct job_files *jobs, struct job_file *file,
		      void (*emit)(struct json_object *event, void *arg), void *arg)
{
	struct json_object *event;
	char path[PATH_MAX];
	struct err err = {};
	long job;

	job = put_job(path_of(jobs, file, path), JOB_EITHER, &err);
	file->loaded = job >= 0;
	if (job >= 0) {
		if (file->job != job)
			drop_job(jobs, file, emit, arg);
		file->job = job;
		file->said[0] = '\0';
		emit(file_event("job-loaded", jobs, file), arg);
		return;
	}
	if (!err.code)
		err_errno(&err, -job, "system", "%s", path);
	if (!strcmp(err.code, "interrupted") || !strcmp(file->said, err.message))
		return;
	memcpy(file->said, err.message, sizeof(file->said));
	event = file_event("error", jobs, file);
	out_string(event, "message", without_file(err.message, path));
	emit(event, arg);
}

bool job_file_is(const char *name)
{
	const char *end = strrchr(name, '.');

	return name[0] != '.' && end && !strcmp(end, ".json");
}

/* List the files. -ENOENT: a directory that does not exist has none. */
static int look(struct job_files *jobs, struct err *err)
{
	int ret = check_owner(jobs->dir, err);
	struct job_file *file;
	struct dirent *de;
	size_t i;
	DIR *d;

	if (ret && ret != -ENOENT)
		return ret;
	d = opendir(jobs->dir);
	if (!d && !ret)
		return err_errno(err, errno, "job-file", "cannot read %s", jobs->dir);
	for (i = 0; i < jobs->files.nr; i++) {
		file = jobs->files.item[i];
		file->seen = false;
	}
	while (d && (de = readdir(d))) {
		char name[NAME_MAX + 1] = "";

		if (!job_file_is(de->d_name))
			continue;
		snprintf(name, sizeof(name), "%s", de->d_name);
		file = set_get(&jobs->files, name, sizeof(name), sizeof(*file));
		if (!file)
			break;
		file->seen = true;
		file->loaded = false;
		file->said[0] = '\0';
	}
	if (d)
		closedir(d);
	return ret;
}

/* Jobs stay loaded while the files cannot be read. */
static bool look_again(struct job_files *jobs,
		       void (*emit)(struct json_object *event, void *arg), void *arg)
{
	struct json_object *event;
	struct err err = {};
	int ret = look(jobs, &err);

	if (!ret)
		return true;
	event = event_new("error");
	out_string(event, "message", err.message);
	emit(event, arg);
	return ret == -ENOENT;
}

bool job_files_read(struct job_files *jobs, bool all,
		    void (*emit)(struct json_object *event, void *arg), void *arg)
{
	struct job_file *file;
	bool failed = false;
	size_t i;

	if (all && !look_again(jobs, emit, arg))
		return false;
	for (i = jobs->files.nr; i--;) {
		file = jobs->files.item[i];
		if (file->seen)
			continue;
		set_remove(&jobs->files, file->name, sizeof(file->name));
		drop_job(jobs, file, emit, arg);
		free(file);
	}
	for (i = 0; i < jobs->files.nr; i++) {
		file = jobs->files.item[i];
		if (!file->loaded && !interrupt_pending())
			load_file(jobs, file, emit, arg);
		failed |= !file->loaded;
	}
	return failed;
}

/* Two files of one number would replace each other's job. */
static long check_file(struct job_files *jobs, struct job_file *file, const char *path,
		       struct err *err)
{
	long job = put_job(path, JOB_CHECK, err);

	if (job < 0 && !err->code)
		return err_errno(err, -job, "system", "%s", path);
	if (job >= 0 && has_number(jobs, file, job))
		return bad_field(err, path, "job", "another file has this number");
	file->job = job > 0 ? job : 0;
	return job;
}

int job_files_check(const char *dir, struct json_object *array, struct err *err)
{
	struct job_files jobs = { .dir = dir };
	int ret = look(&jobs, err), wrong = 0;
	size_t i;

	for (i = 0; !ret && i < jobs.files.nr; i++) {
		struct json_object *row = out_append_object(array);
		struct err bad = {};
		char path[PATH_MAX];
		long job;

		job = check_file(&jobs, jobs.files.item[i],
				 path_of(&jobs, jobs.files.item[i], path), &bad);
		out_string(row, "file", path);
		if (job >= 0) {
			out_uint(row, "job", job);
			continue;
		}
		wrong++;
		out_string(row, "code", bad.code);
		out_string(row, "message", bad.message);
		if (bad.hint[0])
			out_string(row, "hint", bad.hint);
	}
	job_files_free(&jobs);
	return ret ?: wrong;
}

void job_files_free(struct job_files *jobs)
{
	set_clear(&jobs->files, free);
}
