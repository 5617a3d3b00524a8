// SPDX-License-Identifier: GPL-2.0
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
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

static int write_synced(const char *temp, mode_t mode, const char *text,
			size_t len)
{
	int fd, ret;

	if (unlink(temp) && errno != ENOENT)
		return -errno;
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = file_write(fd, text, len);
	if (!ret && (fchmod(fd, mode) || fsync(fd)))
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

/* Make the new name last: its directory is what was changed. */
static int sync_directory(const char *file)
{
	char *slash, *dir = strdup(file);
	int fd, ret = 0;

	if (!dir)
		return -ENOMEM;
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		ret = -errno;
	close(fd);
	return ret;
}

int file_replace(const char *file, const char *temp, mode_t mode,
		 const char *text, size_t len)
{
	int ret = write_synced(temp, mode, text, len);

	if (!ret && rename(temp, file))
		ret = -errno;
	if (ret) {
		unlink(temp);
		return ret;
	}
	return sync_directory(file);
}
