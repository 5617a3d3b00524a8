// SPDX-License-Identifier: GPL-2.0
/*
 * Send valid and mutated messages of the netlink family:
 *
 *	messages COUNT SEED
 *
 * All commands and some unknown ones, with attributes of all numbers, lengths and nestings;
 * dumps are interrupted. Each message that requests a reply gets one. Prints the number
 * of changes, of messages without permission, and of attributes in the specification that
 * were in no valid message.
 */
#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "../../random.h"
#include "../../../include/uapi/linux/rocesteer.h"

enum { NLA_U32 = 4, NLA_UINT = 8, NLA_NUL_STRING = ROCESTEER_NAME_SIZE };
#define EXACT_LEN(bytes) bytes

/* Attributes of the commands, from the generated policies */
static const struct {
	__u8 cmd;
	__u16 attribute;
	__u8 type;
} requests[] = {
#include "requests.h"
};

#define REQUESTS	(sizeof(requests) / sizeof(requests[0]))
static bool sent[REQUESTS], right[REQUESTS];

static struct mnl_socket *nl;
static __u16 family;
static char buf[16384];
static unsigned long changes, denied;

static int find_id(const struct nlattr *attr, void *data)
{
	(void)data;
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int take_family(const struct nlmsghdr *nlh, void *data)
{
	return mnl_attr_parse(nlh, sizeof(struct genlmsghdr), find_id, data);
}

static void open_socket(void)
{
	if (nl)
		mnl_socket_close(nl);
	nl = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID))
		err(2, "netlink");
}

static void find_family(void)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *head;
	ssize_t len;

	nlh->nlmsg_type = GENL_ID_CTRL;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	head = mnl_nlmsg_put_extra_header(nlh, sizeof(*head));
	head->cmd = CTRL_CMD_GETFAMILY;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, ROCESTEER_FAMILY_NAME);
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(2, "send");
	len = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	if (len < 0 || mnl_cb_run(buf, len, 0, 0, take_family, NULL) < 0 || !family)
		errx(2, "there is no family " ROCESTEER_FAMILY_NAME);
}

static __u32 number(void)
{
	static const __u32 edges[] = {
		0, 1, 0xff, 0xffff, 0xffffff, 0x1000000, 0x7fffffff, ~0u,
	};

	return random_below(3) ? random_below(12) :
				 edges[random_below(sizeof(edges) / sizeof(edges[0]))];
}

/* An attribute of the command, or of any number and length */
static void put_attribute(struct nlmsghdr *nlh, int depth)
{
	__u16 type = random_below(ROCESTEER_A_FLOW_MAX + 4);
	__u8 bytes[80] = {};
	struct nlattr *nest;
	size_t i;

	if (nlh->nlmsg_len > 4096)
		return;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = random_below(4) ? 0 : random_below(256);
	switch (random_below(8)) {
	case 0:
		mnl_attr_put(nlh, type, random_below(sizeof(bytes)), bytes);
		break;
	case 1:
		mnl_attr_put_u64(nlh, type, number());
		break;
	case 2:		/* a peer */
		memset(bytes, 0, 10);
		memset(bytes + 10, 0xff, 2);
		mnl_attr_put(nlh, ROCESTEER_A_FLOW_PEER, 16, bytes);
		break;
	case 3:
		mnl_attr_put_strz(nlh, type, random_below(2) ? "name" : "\xff\x01");
		break;
	case 4:
		if (depth > 8)
			break;
		nest = mnl_attr_nest_start(nlh, type);
		for (i = random_below(4); i; i--)
			put_attribute(nlh, depth + 1);
		mnl_attr_nest_end(nlh, nest);
		break;
	default:
		mnl_attr_put_u32(nlh, 1 + random_below(4), number());
	}
}

/* All attributes of the command, nearly all, or half of them; some are mutated. */
static void put_request(struct nlmsghdr *nlh, __u8 cmd)
{
	__u8 peer[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = random_below(2) };
	__u32 all = random_below(2) ? 8 : 2;
	size_t i;

	for (i = 0; i < REQUESTS; i++) {
		__u16 attribute = requests[i].attribute;
		__u32 value = random_below(8) ? 1 + random_below(2) : number();

		sent[i] = requests[i].cmd == cmd && random_below(all);
		if (!sent[i])
			continue;
		if (cmd == ROCESTEER_CMD_JOB_ADD && attribute == ROCESTEER_A_JOB_PID &&
		    random_below(2))
			value = getpid();
		if (requests[i].type == NLA_U32)
			mnl_attr_put_u32(nlh, attribute, value);
		else if (requests[i].type == NLA_UINT)
			mnl_attr_put_u64(nlh, attribute, value);
		else if (requests[i].type == NLA_NUL_STRING)
			mnl_attr_put_strz(nlh, attribute, "name");
		else
			mnl_attr_put(nlh, attribute, requests[i].type, peer);
	}
}

static bool changes_something(__u8 cmd)
{
	return cmd == ROCESTEER_CMD_JOB_ADD || cmd == ROCESTEER_CMD_JOB_DEL ||
	       cmd == ROCESTEER_CMD_FLOW_ADD || cmd == ROCESTEER_CMD_FLOW_DEL;
}

static struct nlmsghdr *make(__u32 seq)
{
	struct nlmsghdr *nlh;
	struct genlmsghdr *head;
	__u32 i;

	memset(buf, 0, sizeof(buf));
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = family;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	nlh->nlmsg_seq = seq;
	head = mnl_nlmsg_put_extra_header(nlh, sizeof(*head));
	head->cmd = random_below(ROCESTEER_CMD_MAX + 4);
	/* Few job-dels: jobs shall stay for a while, and have flows. */
	if (head->cmd == ROCESTEER_CMD_JOB_DEL && random_below(4))
		head->cmd = ROCESTEER_CMD_FLOW_ADD;
	head->version = random_below(16) ? ROCESTEER_FAMILY_VERSION : random_below(256);
	if (!random_below(8))
		nlh->nlmsg_flags |= NLM_F_DUMP;
	if (!random_below(16))
		nlh->nlmsg_flags |= random_below(0x10000) & ~NLM_F_ECHO;
	put_request(nlh, random_below(4) ? head->cmd : 0);
	if (random_below(2))
		return nlh;
	for (i = random_below(6); i; i--)
		put_attribute(nlh, 0);
	if (!random_below(8) && nlh->nlmsg_len > 40) {	/* mutate a byte behind the headers */
		buf[20 + random_below(nlh->nlmsg_len - 20)] = random_below(256);
		memset(sent, 0, sizeof(sent));
	}
	if (!random_below(16)) {			/* truncate behind the headers */
		nlh->nlmsg_len = 20 + random_below(nlh->nlmsg_len - 19);
		memset(sent, 0, sizeof(sent));
	}
	return nlh;
}

/* Read until the reply. Return: its errno, or 0. */
static int answer(__u32 seq, bool dump)
{
	static char reply[65536];
	const struct nlmsghdr *nlh;
	ssize_t len;
	int rest;

	for (;;) {
		len = mnl_socket_recvfrom(nl, reply, sizeof(reply));
		if (len < 0)
			err(1, "no answer");
		nlh = (void *)reply;
		for (rest = len; mnl_nlmsg_ok(nlh, rest);
		     nlh = mnl_nlmsg_next(nlh, &rest)) {
			if (nlh->nlmsg_seq != seq)
				continue;
			if (nlh->nlmsg_type == NLMSG_ERROR)
				return *(int *)mnl_nlmsg_get_payload(nlh);
			if (nlh->nlmsg_type == NLMSG_DONE)
				return 0;
		}
		/* Do not read the dump to its end. */
		if (dump && !random_below(4)) {
			open_socket();
			return 0;
		}
	}
}

/* flow-adopt finds no queue pair. */
static bool is_answer(__u8 cmd, int ret)
{
	return !ret || (cmd == ROCESTEER_CMD_FLOW_ADOPT && (ret == -ENOENT || ret == -ENODEV));
}

static void send_one(__u32 seq)
{
	struct nlmsghdr *nlh = make(seq);
	__u8 cmd = ((struct genlmsghdr *)mnl_nlmsg_get_payload(nlh))->cmd;
	bool dump = (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	bool asked = nlh->nlmsg_flags & NLM_F_REQUEST;
	size_t i;
	int ret;

	/* Without NLM_F_REQUEST the kernel only acknowledges. */
	nlh->nlmsg_flags |= NLM_F_ACK;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(1, "send");
	ret = answer(seq, dump);
	if (!asked || dump)
		return;
	for (i = 0; i < REQUESTS; i++)
		right[i] |= sent[i] && is_answer(cmd, ret);
	if (!changes_something(cmd))
		return;
	changes += !ret;
	denied += ret == -EPERM;
}

int main(int argc, char **argv)
{
	unsigned long count, missing = 0, i;

	if (argc != 3)
		errx(2, "usage: messages COUNT SEED");
	count = strtoul(argv[1], NULL, 0);
	random_seed(strtoull(argv[2], NULL, 0));
	open_socket();
	find_family();
	for (i = 0; i < count; i++)
		send_one(i + 1);
	for (i = 0; i < REQUESTS; i++)
		missing += !right[i];
	printf("changes=%lu denied=%lu missing=%lu\n", changes, denied, missing);
	return 0;
}
