// SPDX-License-Identifier: GPL-2.0
#include "job_record.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "steer_priv.h"

#define RUN_DIR		"/run/rocesteer"
#define MAX_SIZE	0x100000
#define MAX_DEPTH	4

/* Path of the record, or with @id 0 of the directory. */
static void record_path(char *path, size_t size, const struct steer *s, __u32 id)
{
	int len = snprintf(path, size, RUN_DIR "/" PIN_DIR, s->netns);

	if (id)
		snprintf(path + len, size - len, "/job-%u.json", id);
}

static int make_dir(const char *dir, struct err *err)
{
	return mkdir(dir, 0700) && errno != EEXIST ?
	       err_errno(err, errno, "record", "cannot create %s", dir) : 0;
}

static int replace(const char *path, struct json_object *record, struct err *err)
{
	struct file_new new;
	int ret = file_begin(&new);

	if (ret)
		return ret;
	fprintf(new.out, "%s\n",
		json_object_to_json_string_ext(record, JSON_C_TO_STRING_PRETTY |
					       JSON_C_TO_STRING_NOSLASHESCAPE));
	ret = file_replace(path, &new);
	return ret < 0 ? err_errno(err, -ret, "record", "cannot write %s", path) : 0;
}

int job_record_write(struct steer *s, __u32 id, struct json_object *record, struct err *err)
{
	struct rocesteer_job job;
	char dir[64], path[96];
	int ret;

	record_path(dir, sizeof(dir), s, 0);
	record_path(path, sizeof(path), s, id);
	ret = steer_job_get(s, id, &job) ?: make_dir(RUN_DIR, err) ?:
	      make_dir(dir, err);
	if (ret)
		return ret;
	out_uint(record, "loaded_at", job.loaded_at);
	return replace(path, record, err);
}

static bool is_of(struct json_object *record, const struct rocesteer_job *job)
{
	struct json_object *at;

	return json_object_is_type(record, json_type_object) &&
	       json_object_object_get_ex(record, "loaded_at", &at) &&
	       json_object_get_uint64(at) == job->loaded_at;
}

struct json_object *job_record_read(struct steer *s, __u32 id)
{
	struct json_object *record;
	struct rocesteer_job job;
	char path[96];

	record_path(path, sizeof(path), s, id);
	if (steer_job_get(s, id, &job) || json_file_read(path, MAX_SIZE, MAX_DEPTH, &record, NULL))
		return NULL;
	if (is_of(record, &job))
		return record;
	json_object_put(record);
	return NULL;
}

void job_record_remove(struct steer *s, __u32 id)
{
	char path[96];

	record_path(path, sizeof(path), s, id);
	unlink(path);
	record_path(path, sizeof(path), s, 0);
	rmdir(path);	/* with the last one */
}

void job_records_remove(const char *name)
{
	char path[PATH_MAX];
	struct dirent *de;
	DIR *d;

	if (steer_pin_path(path, sizeof(path), RUN_DIR, name))
		return;
	d = opendir(path);
	if (!d)
		return;
	while ((de = readdir(d)))
		if (de->d_name[0] != '.')
			unlinkat(dirfd(d), de->d_name, 0);
	closedir(d);
	rmdir(path);
}
