// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: answers to each request of the modules' families, and messages about devices and
 * routes. No reader may look beyond a message.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <sanitizer/asan_interface.h>

#include "discover/discover.h"
#include "reduce/reduce.h"
#include "steer/steer.h"
#include "fuzz.h"

static struct fuzz_input in;
static __u32 seq;
static bool opened;	/* the family is known: the rest is the input's */

/* The poisoned part of the caller's buffer */
static struct {
	char *at;
	size_t size;
} behind;

/* Stand-ins for libmnl's sockets */
struct mnl_socket {
	int unused;
};

static void forget(void)
{
	if (behind.size)
		ASAN_UNPOISON_MEMORY_REGION(behind.at, behind.size);
	behind.size = 0;
}

struct mnl_socket *mnl_socket_open(int bus)
{
	static struct mnl_socket socket;

	return &socket;
}

struct mnl_socket *mnl_socket_open2(int bus, int flags)
{
	return mnl_socket_open(bus);
}

int mnl_socket_bind(struct mnl_socket *nl, unsigned int groups, pid_t pid)
{
	return 0;
}

int mnl_socket_setsockopt(const struct mnl_socket *nl, int type, void *buf, socklen_t len)
{
	return 0;
}

int mnl_socket_get_fd(const struct mnl_socket *nl)
{
	return 0;
}

unsigned int mnl_socket_get_portid(const struct mnl_socket *nl)
{
	return 0;
}

int mnl_socket_close(struct mnl_socket *nl)
{
	forget();
	return 0;
}

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *req, size_t size)
{
	forget();
	seq = ((const struct nlmsghdr *)req)->nlmsg_seq;
	return size;
}

/*
 * The sequence numbers that are waited for would be hard to guess. Lengths beyond
 * 2^31 are left out: libmnl 1.0.4 goes round for ever.
 */
static bool fix(void *buf, size_t n)
{
	struct nlmsghdr *nlh = buf;
	int rest = n;

	for (; mnl_nlmsg_ok(nlh, rest); nlh = mnl_nlmsg_next(nlh, &rest)) {
		if (nlh->nlmsg_len >> 31)
			return false;
		if (nlh->nlmsg_seq == 0x61616161)
			nlh->nlmsg_seq = seq;
	}
	return true;
}

static size_t family(void *buf)
{
	struct {
		struct nlmsghdr head;
		__u8 genl[4];
		__u16 attr[12];
	} reply = {
		.head = { .nlmsg_len = 16 + 4 + 16, .nlmsg_type = 16, .nlmsg_seq = seq },
		.attr = { 6, 1 /* FAMILY_ID */, 26, 0, 8, 3 /* VERSION */,
			  ROCESTEER_FAMILY_VERSION, 0 },
	};
	struct {
		struct nlmsghdr head;
		int error;
		struct nlmsghdr about;
	} ack = { .head = { sizeof(ack), NLMSG_ERROR, 0, seq, 0 } };

	memcpy(buf, &reply, 36);
	memcpy((char *)buf + 36, &ack, sizeof(ack));
	return 36 + sizeof(ack);
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size)
{
	size_t n;

	forget();
	if (!opened) {
		opened = true;
		return family(buf);
	}
	n = (fuzz_u8(&in) | fuzz_u8(&in) << 8) % 4096;
	if (n > in.left)
		n = in.left;
	if (!n || n > size) {
		errno = EAGAIN;
		return -1;
	}
	fuzz_bytes(&in, buf, n);
	if (!fix(buf, n)) {
		errno = ENOBUFS;
		return -1;
	}
	/* ASan poisons whole words. */
	behind.at = (char *)buf + ((n + 7) & ~7ul);
	behind.size = (char *)buf + size - behind.at;
	ASAN_POISON_MEMORY_REGION(behind.at, behind.size);
	return n;
}

static int on_job(const struct genl_job *job, void *arg)
{
	assert(strlen(job->name) < ROCESTEER_NAME_SIZE);
	return 0;
}

static int on_flow(const struct genl_flow *flow, void *arg)
{
	assert(strlen(flow->rdma_device) < ROCESTEER_NAME_SIZE);
	return 0;
}

static int on_event(const struct genl_event *event, void *arg)
{
	assert(event->name);
	if (event->is_job)
		return on_job(&event->job, arg);
	return event->is_flow ? on_flow(&event->flow, arg) : 0;
}

static void on_link(__u32 ifindex, const char *name, bool carrier, void *arg)
{
	assert(!name || strlen(name) < 4096);
}

/* Send the requests that the input chooses to the module for hosts. */
static void talk(struct err *err)
{
	struct genl_stats stats;
	struct genl_job job;
	struct genl *genl;

	if (genl_open(&genl, err))
		return;
	forget();
	while (in.left) {
		switch (fuzz_u8(&in) % 5) {
		case 0:
			genl_job_each(genl, on_job, NULL, err);
			break;
		case 1:
			genl_flow_each(genl, on_flow, NULL, err);
			break;
		case 2:
			genl_job_get(genl, 1, &job, err);
			break;
		case 3:
			genl_stats(genl, &stats, err);
			break;
		case 4:
			genl_receive(genl, on_event, NULL);
			break;
		}
		forget();
	}
	genl_close(genl);
}

static void on_group(const struct reduce_group *group, void *arg)
{
	assert(group->config.nr_ranks <= ROCESTEER_REDUCE_MAX_RANKS);
	assert(reduce_poison_name(group->poison) && reduce_poison_text(group->poison));
}

/* The same for the module for switches */
static void talk_reduce(struct err *err)
{
	struct reduce_group group;
	struct reduce_stats stats;
	struct reduce *reduce;

	if (reduce_open(&reduce, err))
		return;
	forget();
	while (in.left) {
		switch (fuzz_u8(&in) % 3) {
		case 0:
			reduce_each(reduce, on_group, NULL, err);
			break;
		case 1:
			reduce_get(reduce, 1, &group, err);
			on_group(&group, NULL);
			break;
		case 2:
			reduce_stats(reduce, &stats, err);
			break;
		}
		forget();
	}
	reduce_close(reduce);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	static const __u8 peer[16] = { [10] = 0xff, [11] = 0xff, [12] = 10 };
	struct carrier_monitor *link;
	struct route route;
	struct err err = {};
	__u8 what;

	in = (struct fuzz_input) { data, size };
	what = fuzz_u8(&in);
	opened = what % 4;	/* or the input is also the family */
	switch (what % 4) {
	case 0:
	case 1:
		if (what & 8)
			talk_reduce(&err);
		else
			talk(&err);
		break;
	case 2:
		link = carrier_open(&err);
		carrier_read(link, on_link, NULL);
		carrier_close(link);
		break;
	case 3:
		route_lookup("lo", peer, what & 4 ? peer : NULL, &route, &err);
		break;
	}
	forget();
	return 0;
}
