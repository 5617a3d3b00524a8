// SPDX-License-Identifier: GPL-2.0
/* The cluster file: lock, read, replace. */
#include "cluster_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "cluster_priv.h"

#define MAX_DEPTH	32	/* the format needs 6 */
#define PLAIN		(JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

int cluster_open_beside(const struct cluster *c, const char *suffix, int flags)
{
	struct stat like;
	char *name;
	int fd;

	if (stat(c->file, &like))
		return -errno;
	if (asprintf(&name, "%s.%s", c->file, suffix) < 0)
		return -ENOMEM;
	fd = file_open_like(name, &like, flags);
	free(name);
	return fd;
}

/* A user who may not write FILE may not read its lock: to read a file is enough to lock it. */
static int open_lock(const struct cluster *c, const char *name)
{
	struct stat like, is;
	mode_t write;
	int fd;

	if (stat(c->file, &like))
		return -errno;
	write = like.st_mode & 0222;
	like.st_mode = write | write << 1;
	fd = file_open_like(name, &like, 0);
	if (fd >= 0 && !fstat(fd, &is) && is.st_mode & 0777 & ~like.st_mode)
		fchmod(fd, is.st_mode & like.st_mode);
	return fd;
}

static int take_lock(struct cluster *c, struct err *err)
{
	char *name;
	int ret;

	if (asprintf(&name, "%s.lock", c->file) < 0)
		return -ENOMEM;
	c->lock = open_lock(c, name);
	if (c->lock >= 0) {
		ret = lock_take(c->lock, LOCK_EX, name, err);
	} else {
		ret = c->lock;
		err_set(err, EXIT_FAILED, "lock", "cannot open %s: %s", name, strerror(-ret));
	}
	free(name);
	return ret;
}

static int begin(struct cluster *c, const char *file, struct err *err)
{
	int ret;

	memset(c, 0, sizeof(*c));
	c->lock = -1;
	c->journal = -1;
	c->file = realpath(file, NULL);
	if (c->file)
		return 0;
	ret = -errno;
	err_set(err, EXIT_BAD_INPUT, "no-file", "%s: %s", file, strerror(-ret));
	return ret;
}

static int read_all(struct cluster *c, struct err *err)
{
	return json_file_read(c->file, CLUSTER_MAX_SIZE, MAX_DEPTH, &c->root,
			      err) ?: cluster_parse(c, err);
}

/* Slices need no root. */
static int hint_access(int ret, struct err *err)
{
	if (ret == -EACCES || ret == -EPERM)
		err_hint(err, "Root is not needed, but access to the file and its directory.");
	return ret;
}

int cluster_read(struct cluster *c, const char *file, struct err *err)
{
	int ret = begin(c, file, err) ?: read_all(c, err);

	if (ret)
		cluster_close(c);
	return hint_access(ret, err);
}

int cluster_open(struct cluster *c, const char *file, struct err *err)
{
	int ret = begin(c, file, err) ?: file_check_names(c->file, err) ?:
		  take_lock(c, err) ?: read_all(c, err) ?: cluster_journal_open(c, err);

	if (ret)
		cluster_close(c);
	return hint_access(ret, err);
}

void cluster_unlock(struct cluster *c)
{
	if (c->lock >= 0)
		close(c->lock);
	c->lock = -1;
}

void cluster_close(struct cluster *c)
{
	if (c->journal >= 0)
		close(c->journal);
	cluster_unlock(c);
	json_object_put(c->root);
	json_object_put(c->nodes);
	free(c->fabric.free_gpus);
	free(c->fabric.free_links);
	ocs_free(&c->ocs);
	free(c->failed_servers);
	free(c->failed_links);
	free(c->file);
	memset(c, 0, sizeof(*c));
}

static const char *plain(struct json_object *value)
{
	return json_object_to_json_string_ext(value, PLAIN);
}

static void print_key(FILE *file, const char *key)
{
	struct json_object *text = json_object_new_string(key);

	fprintf(file, "%s: ", plain(text));
	json_object_put(text);
}

static void print_rows(FILE *file, struct json_object *array)
{
	size_t i, n = json_object_array_length(array);

	for (i = 0; i < n; i++)
		fprintf(file, "%s%s", i ? ",\n" : "[\n",
			plain(json_object_array_get_idx(array, i)));
	fputs(n ? "\n]" : "[]", file);
}

static void print_members(FILE *file, struct json_object *obj)
{
	bool first = true;

	json_object_object_foreach(obj, key, value) {
		fputs(first ? "{\n" : ",\n", file);
		print_key(file, key);
		fputs(plain(value), file);
		first = false;
	}
	fputs(first ? "{}" : "\n}", file);
}

/* Each row of a table and each job has a line of its own. */
static void print_root(FILE *file, struct json_object *root)
{
	bool first = true;

	json_object_object_foreach(root, key, value) {
		fputs(first ? "{\n" : ",\n", file);
		print_key(file, key);
		if (json_object_get_type(value) == json_type_array)
			print_rows(file, value);
		else if (json_object_get_type(value) == json_type_object)
			print_members(file, value);
		else
			fputs(plain(value), file);
		first = false;
	}
	fputs("\n}\n", file);
}

int cluster_commit(struct cluster *c, struct json_object *decision, struct err *err)
{
	struct file_new new;
	int ret;

	ret = cluster_journal_add(c, c->generation + 1, decision, err);
	if (ret)
		return ret;
	c->generation++;
	out_uint(c->root, "generation", c->generation);
	ret = file_begin(&new);
	if (!ret) {
		print_root(new.out, c->root);
		ret = file_replace(c->file, &new);
	}
	c->replaced = ret >= 0;
	if (ret < 0)
		err_set(err, EXIT_FAILED, "write", "cannot replace %s: %s",
			c->file, strerror(-ret));
	if (!ret)
		cluster_unlock(c);
	if (ret > 0)
		err_set(err, EXIT_FAILED, "sync",
			"%s is replaced, but a crash may undo that: its directory: %s",
			c->file, strerror(ret));
	return hint_access(-abs(ret), err);
}

int cluster_note(struct cluster *c, struct json_object *decision, struct err *err)
{
	return cluster_journal_add(c, c->generation, decision, err);
}
