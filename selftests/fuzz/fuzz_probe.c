// SPDX-License-Identifier: GPL-2.0
/*
 * Answers to a probe or to none, changed, late, repeated, from any address, without end. Each
 * probe is answered once or lost, and an answer has to quote its cookie, unless short quotes
 * are accepted.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <linux/errqueue.h>
#include <rocesteer/roce.h>

#include "base/base.h"
#include "discover/probe_batch.h"
#include "fuzz.h"

#define PROBES	24
#define OUT	64	/* packets that are remembered */
#define MAX_READ 4096	/* answers in a step */
#define MSEC	1000000ull
#define ENOUGH	(PROBE_UDP_HEADER + sizeof(struct rocesteer_bth) + sizeof(__u64))

static struct fuzz_input in;
static __u64 now;
static bool flood;	/* there is always an answer more */
static int nr_read;

static struct probe_batch_config config = {
	.device = "eth0", .ports = 64, .rate = 1000, .retries = 2,
	.timeout_ms = 20,
};

/* Probes that were sent */
static struct {
	size_t len;
	__u8 data[64];
	struct sockaddr_storage to;
} out[OUT];
static size_t nr_out;

/* Probes that are done */
static bool done[PROBES];
static __u32 next_probe;

__u64 clock_ns(void)
{
	return now;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags);

int probe_open(struct probe_socket *sock, const char *device,
	       const __u8 source[16], struct err *err)
{
	sock->fd = eventfd(0, EFD_CLOEXEC);
	memcpy(sock->source, source, 16);
	return 0;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	size_t i = nr_out++ % OUT;

	out[i].len = msg->msg_iov[0].iov_len;
	assert(out[i].len <= sizeof(out[i].data));
	memcpy(out[i].data, msg->msg_iov[0].iov_base, out[i].len);
	memcpy(&out[i].to, msg->msg_name, msg->msg_namelen);
	return out[i].len;
}

/* A packet and its ICMP error, as recvmsg(MSG_ERRQUEUE) returns them */
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);
	struct {
		struct sock_extended_err ee;
		struct sockaddr_in6 offender;
	} answer = {};
	__u8 how = fuzz_u8(&in);
	size_t i, n, len;
	__u8 *at;

	assert(nr_read++ < MAX_READ);
	if (!nr_out || (!flood && (!in.left || how > 250))) {
		errno = EAGAIN;
		return -1;
	}
	i = how % (nr_out < OUT ? nr_out : OUT);
	len = out[i].len < msg->msg_iov[0].iov_len ? out[i].len :
						     msg->msg_iov[0].iov_len;
	memcpy(msg->msg_iov[0].iov_base, out[i].data, len);
	memcpy(msg->msg_name, &out[i].to, sizeof(out[i].to));
	cmsg->cmsg_level = how & 64 ? SOL_IPV6 : SOL_IP;
	cmsg->cmsg_type = how & 64 ? IPV6_RECVERR : IP_RECVERR;
	cmsg->cmsg_len = CMSG_LEN(sizeof(answer));
	answer.ee.ee_origin = how & 64 ? SO_EE_ORIGIN_ICMP6 : SO_EE_ORIGIN_ICMP;
	fuzz_bytes(&in, &answer.ee.ee_type, 2);
	how = fuzz_u8(&in);
	answer.offender.sin6_family = how & 1 ? AF_INET6 : AF_INET;
	fuzz_bytes(&in, (char *)&answer.offender + 2, how & 2 ? 26 : 6);
	at = msg->msg_iov[0].iov_base;
	if (how & 4)		/* quoted wrongly, or too little */
		at[fuzz_u8(&in) % len] ^= fuzz_u8(&in);
	if (how & 8)
		len = fuzz_u8(&in) % (len + 1);
	if (how & 16)		/* about another packet */
		fuzz_bytes(&in, (char *)msg->msg_name, 16);
	if (how & 32)		/* no such message, or more of them */
		fuzz_bytes(&in, &cmsg->cmsg_level, 8);
	memcpy(CMSG_DATA(cmsg), &answer, sizeof(answer));
	n = CMSG_SPACE(sizeof(answer));
	msg->msg_controllen = n;
	return len;
}

static int next(void *client, struct batch_probe *probe, const __u8 **source, const __u8 **peer)
{
	static __u8 addr[2][16] = {
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1 },
		{ 0xfd, 1 },
	};

	if (next_probe == PROBES)
		return -EAGAIN;
	*probe = (struct batch_probe) {
		.peer = next_probe, .kind = next_probe % (PROBE_PEER + 1),
		.port = 49152 + next_probe, .dqpn = next_probe,
	};
	*source = addr[next_probe & 1];
	*peer = *source;
	next_probe++;
	return 0;
}

static int end(const struct batch_probe *probe)
{
	assert(probe->peer < next_probe && !done[probe->peer]);
	assert(probe->port == 49152 + probe->peer && probe->sent);
	done[probe->peer] = true;
	return 0;
}

static int answered(void *client, const struct batch_probe *probe,
		    const struct probe_answer *answer)
{
	size_t i, n = nr_out < OUT ? nr_out : OUT;

	assert(answer->type <= PROBE_UNREACHABLE);
	for (i = 0; !config.short_quotes && i < n; i++)
		if (answer->len >= ENOUGH && !memcmp(out[i].data, answer->quote, ENOUGH))
			break;
	assert(i < n);
	return end(probe);
}

static int lost(void *client, const struct batch_probe *probe)
{
	return end(probe);
}

static void note(void *client, const char *line)
{
	assert(line[0]);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	static const struct probe_batch_ops ops = {
		.next = next, .answer = answered, .lost = lost, .note = note,
	};
	struct probe_batch *batch;
	struct err err = {};
	__u64 until;
	int ret, i;

	in = (struct fuzz_input) { data, size };
	config.short_quotes = fuzz_u8(&in) & 1;
	now = 1000 * MSEC;
	nr_out = 0;
	next_probe = 0;
	memset(done, 0, sizeof(done));
	assert(!probe_batch_start(&batch, &config, &ops, NULL));
	do {
		flood = in.left && !(fuzz_u8(&in) & 63);
		nr_read = 0;
		ret = probe_batch_step(batch, &until, &err);
		/* Time passes as the input says, and then until all probes are done. */
		now += in.left ? fuzz_u8(&in) * MSEC / 4 : 100 * MSEC;
	} while (!ret);
	assert(ret == 1);
	for (i = 0; i < PROBES; i++)
		assert(done[i]);
	probe_batch_end(batch);
	return 0;
}
