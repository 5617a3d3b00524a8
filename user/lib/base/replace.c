// SPDX-License-Identifier: GPL-2.0
#include "replace.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_write(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= n;
	}
	return 0;
}

static int give(int fd, const struct stat *like)
{
	/* Without privilege only a group of the user can be set. */
	if (fchown(fd, like->st_uid, like->st_gid) &&
	    fchown(fd, -1, like->st_gid) && errno != EPERM && errno != EINVAL)
		return -errno;
	return fchmod(fd, like->st_mode & 0777) ? -errno : 0;
}

static int write_synced(const char *temp, const struct stat *like, const char *text, size_t len)
{
	int fd, ret;

	if (unlink(temp) && errno != ENOENT)
		return -errno;
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = file_write(fd, text, len) ?: give(fd, like);
	if (!ret && fsync(fd))
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

/* Return: a descriptor of a file's directory, or a negative errno. */
static int open_directory(const char *file)
{
	char *slash, *dir = strdup(file);
	int fd;

	if (!dir)
		return -ENOMEM;
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	return fd < 0 ? -errno : fd;
}

/* Try to write to a file without a name in a file's directory, if that can have such. */
static int try_directory(const char *file)
{
	int dir = open_directory(file), fd, ret;
	char block[4096] = {};

	if (dir < 0)
		return dir;
	fd = openat(dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd >= 0)
		ret = file_write(fd, block, sizeof(block));
	else if (errno == EOPNOTSUPP || errno == EISDIR)
		ret = faccessat(dir, ".", W_OK, AT_EACCESS) ? -errno : 0;
	else
		ret = -errno;
	if (fd >= 0)
		close(fd);
	close(dir);
	return ret;
}

/* Write nothing: even that fails on a full device. */
static int try_device(const char *file)
{
	int fd = open(file, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, "", 0) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

int file_has_place(const char *file)
{
	char *real = realpath(file, NULL);
	struct stat st;
	int ret = 0;

	if (stat(file, &st))
		ret = errno == ENOENT ? try_directory(file) : -errno;
	else if (S_ISDIR(st.st_mode))
		ret = -EISDIR;
	else if (S_ISREG(st.st_mode))
		ret = try_directory(real ?: file);
	else if (S_ISCHR(st.st_mode))
		ret = try_device(file);
	free(real);
	return ret;
}

/* White space is passed over. An empty file has nothing to lose. */
static bool begins_as(FILE *in, const char *begin)
{
	int c = getc(in);
	bool empty = c == EOF;

	for (; *begin && c != EOF; c = getc(in)) {
		if (isspace(c))
			continue;
		begin += strspn(begin, " ");
		if (c != *begin++)
			return false;
	}
	return empty || !*begin;
}

int file_check(const char *file, const char *begin, const char *what, struct err *err)
{
	int ret = file_has_place(file);
	struct stat st;
	FILE *in;

	if (ret)
		return err_errno(err, -ret, "write", "cannot write %s", file);
	if (stat(file, &st) || !S_ISREG(st.st_mode))
		return 0;
	in = fopen(file, "re");
	if (!in)
		return err_errno(err, errno, "write", "cannot read %s", file);
	if (!begins_as(in, begin))
		ret = err_set(err, EXIT_BAD_INPUT, "bad-file", "%s: exists, and is not a %s", file,
			      what);
	if (ret)
		err_hint(err, "Remove it, or choose another file.");
	fclose(in);
	return ret;
}

/*
 * Create a file without a name and link it when it is complete, so that it never appears
 * without the owner and permissions of @like. If the file system has no nameless files, a
 * process that is killed in between leaves a file of its own. Return: 0, -EEXIST, or
 * another negative errno.
 */
static int file_create(const char *name, const struct stat *like)
{
	int dir = open_directory(name), fd, ret;
	char self[32];

	if (dir < 0)
		return dir;
	fd = openat(dir, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	close(dir);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		ret = fd < 0 ? -errno : give(fd, like);
	} else {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		ret = fd < 0 ? -errno : give(fd, like);
		if (!ret && linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW))
			ret = -errno;
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

int file_check_names(const char *file, struct err *err)
{
	struct stat st;

	/* A file that is replaced at this moment has none. */
	if (stat(file, &st) || !S_ISREG(st.st_mode) || st.st_nlink <= 1)
		return 0;
	err_set(err, EXIT_BAD_INPUT, "bad-file",
		"%s: has %u names (hard links), and a change would reach one of them", file,
		(unsigned int)st.st_nlink);
	err_hint(err, "Leave it one name; a symbolic link may be the other.");
	return -EINVAL;
}

int file_open_like(const char *name, const struct stat *like, int flags)
{
	int fd, ret;

	flags |= O_RDWR | O_NOFOLLOW | O_CLOEXEC;
	fd = open(name, flags);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	ret = file_create(name, like);
	if (ret && ret != -EEXIST)
		return ret;
	fd = open(name, flags);
	return fd < 0 ? -errno : fd;
}

/* Write to a device or a pipe. */
static int write_through(const char *file, const struct file_new *new)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = file_write(fd, new->text, new->len);
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static int replace(const char *file, const struct stat *like, const struct file_new *new)
{
	int dir = open_directory(file), ret;
	char *temp;

	if (dir < 0)
		return dir;
	if (asprintf(&temp, "%s.new", file) < 0) {
		close(dir);
		return -ENOMEM;
	}
	ret = write_synced(temp, like, new->text, new->len);
	if (!ret && rename(temp, file))
		ret = -errno;
	if (ret)
		unlink(temp);
	else if (fsync(dir))	/* what makes the new name last */
		ret = errno;
	free(temp);
	close(dir);
	return ret;
}

int file_begin(struct file_new *new)
{
	*new = (struct file_new) {};
	new->out = open_memstream(&new->text, &new->len);
	return new->out ? 0 : -ENOMEM;
}

int file_replace(const char *file, struct file_new *new)
{
	struct stat like = { .st_mode = S_IFREG | 0644, .st_uid = -1,
			     .st_gid = -1 };
	char *real = realpath(file, NULL);
	int ret;

	if (fclose(new->out))
		ret = -ENOMEM;
	else if (stat(file, &like) && errno != ENOENT)
		ret = -errno;
	else if (!S_ISREG(like.st_mode))
		ret = write_through(file, new);
	else
		ret = replace(real ?: file, &like, new);
	free(real);
	free(new->text);
	return ret;
}
