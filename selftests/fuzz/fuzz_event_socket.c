// SPDX-License-Identifier: GPL-2.0
/* The client prints the daemon's events, which arrive in pieces. */
#include <errno.h>
#include <sys/socket.h>

#include "base/base.h"
#include "command/events.h"
#include "daemon/daemon.h"
#include "fuzz.h"

static int print(struct json_object *event, void *arg)
{
	table_print_line(event, event_columns);
	json_object_put(event);
	return 0;
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct event_socket_reader *reader = calloc(1, sizeof(*reader));
	char piece[700];
	int fd[2], ret = 0;
	size_t n;

	assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	reader->fd = fd[0];
	while (!ret && in.left) {
		n = fuzz_bytes(&in, piece, 1 + data[0] * 3 % sizeof(piece));
		assert(write(fd[1], piece, n) == (ssize_t)n);
		ret = event_socket_read(reader, print, NULL);
		assert(!ret || ret == -EBADMSG);
	}
	close(fd[1]);
	if (!ret)
		assert(event_socket_read(reader, print, NULL) == -EPIPE);
	close(fd[0]);
	free(reader);
	return 0;
}
