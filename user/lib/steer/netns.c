// SPDX-License-Identifier: GPL-2.0
#include "netns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Directory of the names of "ip netns". */
#define NAMES	"/run/netns"

int netns_cookie(__u64 *cookie, struct err *err)
{
	socklen_t len = sizeof(*cookie);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = 0;

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &len))
		ret = err_errno(err, errno, "netns", "cannot tell this network namespace");
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Return: is @name a number, hence a process? */
static bool is_pid(const char *name)
{
	return !name[strspn(name, "0123456789")];
}

static int no_namespace(const char *name, bool pid, struct err *err)
{
	if (pid) {
		err_set(err, EXIT_BAD_INPUT, "no-process", "--netns: there is no process %s", name);
		err_hint(err, "A number is a process of this pid namespace.");
	} else {
		err_set(err, EXIT_BAD_INPUT, "no-netns",
			"--netns: there is no network namespace %s", name);
		err_hint(err, "See: ip netns list; or name a process in it by its number.");
	}
	return -ENOENT;
}

static int not_permitted(const char *name, const char *missing, struct err *err)
{
	err_set(err, EXIT_FAILED, "permission",
		"--netns: not permitted: entering the network namespace %s needs %s", name,
		missing);
	err_hint(err, "Run it as root of the host.");
	return -EPERM;
}

static int open_namespace(const char *name, struct err *err)
{
	bool pid = is_pid(name);
	char path[PATH_MAX];
	int fd;

	if (strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..") ||
	    snprintf(path, sizeof(path), pid ? "/proc/%s/ns/net" : NAMES "/%s", name) >=
		    (int)sizeof(path))
		return no_namespace(name, false, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT || errno == ESRCH || errno == ENAMETOOLONG)
		return no_namespace(name, pid, err);
	if (errno == EACCES || errno == EPERM)
		return not_permitted(name, "CAP_SYS_PTRACE", err);
	return err_errno(err, errno, "netns", "--netns: cannot open %s", path);
}

int netns_enter(const char *name, struct err *err)
{
	int fd = open_namespace(name, err);
	int ret = 0;

	if (fd < 0)
		return fd;
	if (setns(fd, CLONE_NEWNET))
		ret = errno == EPERM ? not_permitted(name, "CAP_SYS_ADMIN", err) :
		      errno == EINVAL ? no_namespace(name, false, err) :
		      err_errno(err, errno, "netns",
				"--netns: cannot enter the network namespace %s", name);
	close(fd);
	return ret;
}

static bool is_own_namespace(const char *name)
{
	struct stat own, named;
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), NAMES "/%s", name) < (int)sizeof(path) &&
	       !stat(path, &named) && !stat("/proc/self/ns/net", &own) &&
	       named.st_ino == own.st_ino && named.st_dev == own.st_dev;
}

/* The name is the source of the mount; mounts that come later hide it. */
bool netns_of_ip(char *name, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *mount;

	name[0] = '\0';
	while (mounts && (mount = getmntent(mounts)))
		if (!strcmp(mount->mnt_dir, "/sys"))
			snprintf(name, size, "%s", mount->mnt_fsname);
	if (mounts)
		endmntent(mounts);
	return name[0] && is_own_namespace(name);
}
