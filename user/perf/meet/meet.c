// SPDX-License-Identifier: GPL-2.0
#include "meet.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

#define MSEC	1000000ull
#define PAUSE	(50 * MSEC)	/* before it is tried again */
#define FIRST_WAIT	(250 * MSEC)	/* with an address at first, twice as much next */
#define BACKLOG	1024

static int resolve(const char *host, const char *port, struct addrinfo **list, struct err *err)
{
	static const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	int ret = getaddrinfo(host, port, &hints, list);

	if (!ret)
		return 0;
	return err_set(err, EXIT_FAILED, "no-address", "rendezvous: %s:%s: %s", host, port,
		       gai_strerror(ret));
}

/* Return: the socket, or a negative errno. */
static int listen_on(const struct addrinfo *info)
{
	int on = 1, fd, ret;

	fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!bind(fd, info->ai_addr, info->ai_addrlen) && !listen(fd, BACKLOG))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* If another process has the port of one address already, ranks would meet that process. */
int meet_listen(const char *host, const char *port, int *fd, struct err *err)
{
	struct addrinfo *list, *info;
	int ret;

	ret = resolve(host, port, &list, err);
	if (ret)
		return ret;
	*fd = -EADDRNOTAVAIL;
	for (info = list; info && *fd < 0 && *fd != -EADDRINUSE; info = info->ai_next)
		*fd = listen_on(info);
	freeaddrinfo(list);
	if (*fd >= 0)
		return 0;
	ret = err_errno(err, -*fd, "listen", "rendezvous: cannot listen on %s port %s", host, port);
	err_hint(err, ret == -EADDRINUSE ? "--rendezvous HOST:PORT names another port." :
		 "Rank 0 runs on the host of --rendezvous; --listen names another address of it.");
	return ret;
}

/*
 * A connection to an ephemeral port without a listener may get this port, and connect to
 * itself.
 */
static bool is_self(int fd)
{
	struct sockaddr_storage here = {}, there = {};
	socklen_t len = sizeof(here), there_len = sizeof(there);

	return !getsockname(fd, (struct sockaddr *)&here, &len) &&
	       !getpeername(fd, (struct sockaddr *)&there, &there_len) &&
	       !memcmp(&here, &there, sizeof(here));
}

/* Return: the socket, or a negative errno. */
static int try_one(const struct addrinfo *info, __u64 wait)
{
	struct pollfd poll_fd = { .events = POLLOUT };
	int error = ETIMEDOUT;
	socklen_t len = sizeof(error);
	int fd;

	fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	poll_fd.fd = fd;
	if (!connect(fd, info->ai_addr, info->ai_addrlen))
		error = 0;
	else if (errno != EINPROGRESS)
		error = errno;
	else if (poll(&poll_fd, 1, wait / MSEC) > 0)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (!error && !is_self(fd))
		return fd;
	close(fd);
	return -(error ?: ECONNREFUSED);
}

/* Late as it may be: time for an answer from nearby. */
static __u64 time_left(__u64 until, __u64 wait)
{
	__u64 now = clock_ns();

	if (now + PAUSE >= until)
		return PAUSE;
	return wait < until - now ? wait : until - now;
}

int meet_connect(const char *host, const char *port, __u64 until, int *fd, struct err *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE };
	struct addrinfo *list, *info;
	__u64 wait = FIRST_WAIT;
	int ret;

	ret = resolve(host, port, &list, err);
	if (ret)
		return ret;
	for (;;) {
		for (info = list; info; info = info->ai_next) {
			*fd = try_one(info, time_left(until, wait));
			if (*fd >= 0)
				break;
		}
		if (*fd >= 0 || clock_ns() >= until)
			break;
		nanosleep(&pause, NULL);
		wait *= 2;
	}
	freeaddrinfo(list);
	if (*fd < 0) {
		ret = err_errno(err, -*fd, "rank-absent", "rank 0 does not listen on %s port %s",
				host, port);
		err_hint(err, "Rank 0 says at its end where it listens: see --listen.");
		return ret;
	}
	/* Writes block, up to SO_SNDTIMEO. */
	fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK);
	return 0;
}

void meet_name(const struct sockaddr_storage *addr, socklen_t len, char *name, size_t size)
{
	if (getnameinfo((const struct sockaddr *)addr, len, name, size, NULL, 0, NI_NUMERICHOST))
		snprintf(name, size, "unknown address");
}

void meet_here(int fd, char *name, size_t size)
{
	struct sockaddr_storage addr = {};
	socklen_t len = sizeof(addr);

	getsockname(fd, (struct sockaddr *)&addr, &len);
	meet_name(&addr, len, name, size);
}
