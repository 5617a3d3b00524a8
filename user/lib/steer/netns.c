// SPDX-License-Identifier: GPL-2.0
#include "netns.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int netns_cookie(__u64 *cookie, struct err *err)
{
	socklen_t len = sizeof(*cookie);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = 0;

	if (fd < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &len))
		ret = err_errno(err, errno, "netns",
				"cannot tell this network namespace");
	if (fd >= 0)
		close(fd);
	return ret;
}
