// SPDX-License-Identifier: GPL-2.0
#include "answers.h"

#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <rocesteer/types.h>

#include "base/base.h"

#define AT_A_TIME	256
#define WAIT_MS		4000

/* The SYN has left by the device: the answer may come by another uplink of the host. */
static int unbind(int fd)
{
	setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0);
	return fd;
}

/* Return: a socket that connects, or a negative errno: -ECONNREFUSED is an answer. */
static int begin(const char *device, const __u8 source[16], const __u8 host[16])
{
	struct sockaddr_storage to;
	unsigned int scope = if_nametoindex(device);
	socklen_t len = addr_to_sockaddr(source, 0, scope, &to);
	int fd, ret = 0;
	bool vrf;

	fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* An address in a VRF is one to sockets of its devices only. */
	vrf = bind(fd, (struct sockaddr *)&to, len);
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device,
		       strlen(device) + 1) ||
	    (vrf && bind(fd, (struct sockaddr *)&to, len)))
		ret = -errno;
	len = addr_to_sockaddr(host, ROCESTEER_ROCE_PORT, scope, &to);
	if (!ret && connect(fd, (struct sockaddr *)&to, len) && errno != EINPROGRESS)
		ret = -errno;
	if (!ret)
		return vrf ? fd : unbind(fd);
	close(fd);
	return ret;
}

static int outcome(int fd)
{
	socklen_t len = sizeof(int);
	int error = 0;

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	return -error;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Sockets that connect are in @fds; a negative number means that the result is known. */
static void wait_all(struct pollfd *fds, bool *answers, size_t n)
{
	long end = now_ms() + WAIT_MS, left;
	size_t i, open;

	do {
		for (i = 0, open = 0; i < n; i++)
			open += fds[i].fd >= 0;
		left = end - now_ms();
		if (!open || left <= 0 || (poll(fds, n, left) < 0 && errno != EINTR))
			break;
		for (i = 0; i < n; i++) {
			int ret;

			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			ret = outcome(fds[i].fd);
			answers[i] = !ret || ret == -ECONNREFUSED;
			close(fds[i].fd);
			fds[i].fd = -1;
		}
	} while (true);
	for (i = 0; i < n; i++)
		if (fds[i].fd >= 0)
			close(fds[i].fd);
}

int answers_check(const char *device, const __u8 (*source)[16],
		  const __u8 (*hosts)[16], bool *answers, size_t n)
{
	struct pollfd fds[AT_A_TIME];
	size_t i, k;

	for (i = 0; i < n; i += k) {
		for (k = 0; k < AT_A_TIME && i + k < n; k++) {
			int fd = begin(device, source[i + k], hosts[i + k]);

			if (fd == -EMFILE || fd == -ENFILE)
				break;
			answers[i + k] = fd == -ECONNREFUSED;
			fds[k] = (struct pollfd) { .fd = fd, .events = POLLOUT };
		}
		if (!k)
			return -EMFILE;
		wait_all(fds, answers + i, k);
	}
	return 0;
}
