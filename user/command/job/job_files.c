// SPDX-License-Identifier: GPL-2.0
#include "job_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"
#include "job.h"

/* A list of flows is the longest thing in it. */
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

static int bad_field(struct err *err, const char *file, const char *field,
		     const char *what)
{
	return err_set(err, EXIT_BAD_INPUT, "job-file", "%s: %s: %s", file, field, what);
}

/* The option that a field is named after, or NULL. */
static const struct cli_option *find_option(const char *field)
{
	const struct cli_option *option;
	char name[32];
	size_t i;

	for (i = 0; field[i] && i < sizeof(name) - 1; i++)
		name[i] = field[i] == '_' ? '-' : field[i];
	name[i] = '\0';
	for (option = job_load_options; option->name; option++)
		if (!strcmp(option->name, name) && !strchr(field, '-'))
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
		return bad_field(err, file, field, "is no option of rocesteer job load");
	to = &args->value[option - job_load_options];
	if (!option->arg) {
		if (!json_object_is_type(value, json_type_boolean))
			return bad_field(err, file, field, "is neither true nor false");
		*to = json_object_get_boolean(value) ? "" : NULL;
		return 0;
	}
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
		return err_set(err, EXIT_BAD_INPUT, "job-file", "%s: is no object", file);
	at = json_object_iter_begin(root);
	end = json_object_iter_end(root);
	while (!ret && !json_object_iter_equal(&at, &end)) {
		ret = take_field(args, file, json_object_iter_peek_name(&at),
				 json_object_iter_peek_value(&at), err);
		json_object_iter_next(&at);
	}
	return ret;
}

/* Load the job of a file, or replace it. Return: its number, or a negative errno. */
static long put_job(const char *path, struct err *err)
{
	struct cli_args args = { .out.json = true, .options = job_load_options };
	struct json_object *root, *shown;
	long ret;

	ret = json_file_read(path, FILE_MAX, 4, &root, err);
	if (ret)
		return ret;
	ret = take_fields(&args, path, root, err) ?:
	      job_put(&args, JOB_EITHER, &shown, err);
	if (!ret) {
		ret = json_object_get_int64(json_object_object_get(shown, "job"));
		json_object_put(shown);
	}
	json_object_put(root);
	return ret;
}

static struct json_object *file_event(const char *name, const struct job_files *jobs,
				      const struct job_file *file)
{
	struct json_object *event = event_new(name);
	char path[PATH_MAX];

	if (file->job)
		out_uint(event, "job", file->job);
	snprintf(path, sizeof(path), "%s/%s", jobs->dir, file->name);
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

	if (file->job && !has_number(jobs, file, file->job) &&
	    !job_drop(file->job, &err))
		emit(file_event("job-unloaded", jobs, file), arg);
	file->job = 0;
}

static void load_file(struct job_files *jobs, struct job_file *file,
		      void (*emit)(struct json_object *event, void *arg), void *arg)
{
	struct json_object *event;
	char path[PATH_MAX];
	struct err err = {};
	long job;

	snprintf(path, sizeof(path), "%s/%s", jobs->dir, file->name);
	job = put_job(path, &err);
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
	if (!strcmp(file->said, err.message))
		return;
	memcpy(file->said, err.message, sizeof(file->said));
	event = file_event("error", jobs, file);
	out_string(event, "message", err.message);
	emit(event, arg);
}

bool job_file_is(const char *name)
{
	const char *end = strrchr(name, '.');

	return name[0] != '.' && end && !strcmp(end, ".json");
}

/* Which files are there? A directory that is not there has none. */
static void look(struct job_files *jobs)
{
	DIR *d = opendir(jobs->dir);
	struct job_file *file;
	struct dirent *de;
	size_t i;

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
}

bool job_files_read(struct job_files *jobs, bool all,
		    void (*emit)(struct json_object *event, void *arg), void *arg)
{
	struct job_file *file;
	bool failed = false;
	size_t i;

	if (all)
		look(jobs);
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
		if (!file->loaded)
			load_file(jobs, file, emit, arg);
		failed |= !file->loaded;
	}
	return failed;
}

void job_files_free(struct job_files *jobs)
{
	set_clear(&jobs->files, free);
}
