// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer-perf's rendezvous: frames from strangers and ranks to rank 0, and from rank 0 to a
 * rank. The rendezvous ends in time, and a failure has a code and a printable text.
 */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/base.h"
#include "perf/meet/meet.h"
#include "perf/meet/rendezvous.h"
#include "perf/meet/setting.h"
#include "fuzz.h"

#define CLIENTS	3
#define SECOND	1000000000ull

static struct fuzz_input in;
static int client[CLIENTS];
static __u64 now;

__u64 clock_ns(void)
{
	return now;
}

/* The sockets are local, so nobody else can connect to them. */
int meet_listen(const char *host, const char *port, int *fd, struct err *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(addr.sun_family);
	int i;

	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert(!bind(*fd, (struct sockaddr *)&addr, len));
	assert(!listen(*fd, CLIENTS));
	len = sizeof(addr);
	assert(!getsockname(*fd, (struct sockaddr *)&addr, &len));
	for (i = 0; i < CLIENTS; i++) {
		client[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert(!connect(client[i], (struct sockaddr *)&addr, len));
	}
	return 0;
}

int meet_connect(const char *host, const char *port, __u64 until, int *fd, struct err *err)
{
	int pair[2];

	assert(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	*fd = pair[0];
	client[0] = pair[1];
	return 0;
}

void meet_name(const struct sockaddr_storage *addr, socklen_t len, char *name, size_t size)
{
	snprintf(name, size, "10.0.0.9");
}

void meet_here(int fd, char *name, size_t size)
{
	snprintf(name, size, "10.0.0.1");
}

static void go(int i)
{
	if (client[i] >= 0)
		close(client[i]);
	client[i] = -1;
}

/* A connection that the input chooses sends a part of the input, or closes. */
static void act(void)
{
	__u8 who = fuzz_u8(&in), len = fuzz_u8(&in);
	char piece[256];
	int i = who % CLIENTS;
	size_t n = fuzz_bytes(&in, piece, len);

	if (client[i] >= 0 && n)
		send(client[i], piece, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (who & 128)
		go(i);
}

int __real_loop_wait(struct loop *loop, __u64 until);
int __wrap_loop_wait(struct loop *loop, __u64 until);

/* At the end of the input all connections close, and the time is up. */
int __wrap_loop_wait(struct loop *loop, __u64 until)
{
	int i;

	if (in.left) {
		act();
	} else {
		for (i = 0; i < CLIENTS; i++)
			go(i);
		now += SECOND;
	}
	return __real_loop_wait(loop, now < until ? now : until);
}

static bool is_printable(const char *text)
{
	while (*text >= ' ' && *text < 0x7f)
		text++;
	return !*text;
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	static const struct setting settings[] = {
		{ "dims", "2,2" }, { "size", "64" }, { "plan hash", "0123" }, {}
	};
	struct rendezvous_config config = {
		.ranks = 3, .host = "h", .port = "1", .timeout = 8 * SECOND,
		.settings = settings, .largest = 8,
	};
	char all[3 * 8];
	struct rendezvous *rendezvous;
	struct loop loop;
	struct err err = {};
	int ret, i;

	for (i = 0; i < CLIENTS; i++)
		client[i] = -1;
	in = (struct fuzz_input) { data, size };
	now = SECOND;
	config.rank = fuzz_u8(&in) & 1;
	assert(!loop_open(&loop));
	ret = rendezvous_open(&rendezvous, &config, &loop, &err);
	if (!ret)
		ret = rendezvous_gather(rendezvous, "word", "12345678", all, 8, 0, &err);
	if (ret && !err.code && rendezvous_error(rendezvous))
		err = *rendezvous_error(rendezvous);
	assert(!ret || (err.code && is_printable(err.message)));
	for (i = 0; i < CLIENTS; i++)
		go(i);
	rendezvous_close(rendezvous, &err);
	loop_close(&loop);
	return 0;
}
