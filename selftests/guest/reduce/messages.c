// SPDX-License-Identifier: GPL-2.0
/*
 * Send messages to the netlink family of the module for switches that are right, or nearly
 * so, or not at all:
 *
 *	messages COUNT SEED
 *
 * All commands and some that there are not; groups of any number of ranks, with any values;
 * attributes of all numbers, lengths and nestings. Each message gets an answer. Prints how
 * many of each command succeeded.
 */
#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include <linux/rocesteer_reduce.h>

#include "../../random.h"

#define GROUPS	4	/* numbers that are mostly used */

static struct mnl_socket *nl;
static __u16 family;
static char buf[65536];
static __u32 seq;
static unsigned long right[ROCESTEER_REDUCE_CMD_MAX + 1];

static struct nlmsghdr *make(__u16 type, __u8 cmd, __u16 flags)
{
	struct genlmsghdr *head;
	struct nlmsghdr *nlh;

	memset(buf, 0, sizeof(buf));
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	nlh->nlmsg_seq = ++seq;
	head = mnl_nlmsg_put_extra_header(nlh, sizeof(*head));
	head->cmd = cmd;
	head->version = ROCESTEER_REDUCE_FAMILY_VERSION;
	return nlh;
}

static int take_family(const struct nlattr *attr, void *data)
{
	(void)data;
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

/* Send, and read until there is an answer. Return: its errno, or 0. */
static int ask(struct nlmsghdr *nlh)
{
	static char reply[65536];
	const struct nlmsghdr *at;
	ssize_t len;
	int rest;

	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(1, "send");
	for (;;) {
		len = mnl_socket_recvfrom(nl, reply, sizeof(reply));
		if (len < 0)
			err(1, "no answer");
		at = (void *)reply;
		for (rest = len; mnl_nlmsg_ok(at, rest); at = mnl_nlmsg_next(at, &rest)) {
			if (at->nlmsg_seq != seq)
				continue;
			if (at->nlmsg_type == NLMSG_ERROR)
				return *(int *)mnl_nlmsg_get_payload(at);
			if (at->nlmsg_type == NLMSG_DONE)
				return 0;
			if (at->nlmsg_type == GENL_ID_CTRL)
				mnl_attr_parse(at, sizeof(struct genlmsghdr), take_family, NULL);
		}
	}
}

static void find_family(void)
{
	struct nlmsghdr *nlh = make(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, ROCESTEER_REDUCE_FAMILY_NAME);
	if (ask(nlh) || !family)
		errx(2, "there is no family " ROCESTEER_REDUCE_FAMILY_NAME);
}

static __u32 number(void)
{
	static const __u32 edges[] = {
		0, 1, 3, 4, 255, 256, 512, 2048, 4095, 4096, 4097, 16383, 16384,
		0xffffff, 0x1000000, 0x7fffffff, ~0u,
	};

	return random_below(3) ? random_below(12) :
				 edges[random_below(sizeof(edges) / sizeof(edges[0]))];
}

/* Mostly as it has to be: @value, or any number; or nothing. */
static void put(struct nlmsghdr *nlh, __u16 attribute, __u32 value)
{
	if (random_below(64))
		mnl_attr_put_u32(nlh, attribute, random_below(32) ? value : number());
}

/* A group that is not @joined has no queue pairs. */
static void put_rank(struct nlmsghdr *nlh, __u32 rank, bool joined)
{
	__u8 address[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = rank };
	struct nlattr *nest = mnl_attr_nest_start(nlh, ROCESTEER_REDUCE_A_GROUP_RANK);

	if (!random_below(64))
		address[random_below(16)] = random_below(256);
	if (random_below(64))
		mnl_attr_put(nlh, ROCESTEER_REDUCE_A_RANK_ADDRESS, random_below(64) ? 16 :
			     random_below(16), address);
	put(nlh, ROCESTEER_REDUCE_A_RANK_LEAF, rank / 2);
	if (joined) {
		put(nlh, ROCESTEER_REDUCE_A_RANK_QPN, 17);
		put(nlh, ROCESTEER_REDUCE_A_RANK_PSN, random_below(1 << 24));
		if (random_below(64))
			mnl_attr_put_u64(nlh, ROCESTEER_REDUCE_A_RANK_VA, number());
	}
	mnl_attr_nest_end(nlh, nest);
}

/* Some are @usual: a group that is there can be joined by those alone. */
static void put_group(struct nlmsghdr *nlh, bool usual)
{
	bool joined = random_below(4);
	__u32 ranks = random_below(8) ? 2 + random_below(4) : random_below(70), r;

	if (usual)
		ranks = 4;
	if (joined) {
		put(nlh, ROCESTEER_REDUCE_A_GROUP_TYPE, random_below(4));
		put(nlh, ROCESTEER_REDUCE_A_GROUP_OP, random_below(3));
	}
	put(nlh, ROCESTEER_REDUCE_A_GROUP_MTU, usual ? 1024 : 256 << random_below(5));
	put(nlh, ROCESTEER_REDUCE_A_GROUP_PACKETS, usual ? 4 : 1 + random_below(64));
	put(nlh, ROCESTEER_REDUCE_A_GROUP_WINDOW, usual ? 2 : 1 + random_below(4));
	put(nlh, ROCESTEER_REDUCE_A_GROUP_ROLE, usual ? ROCESTEER_REDUCE_ROLE_LEAF :
	    random_below(3));
	put(nlh, ROCESTEER_REDUCE_A_GROUP_LEAF, usual ? 1 : random_below(3));
	for (r = 0; r < ranks; r++)
		put_rank(nlh, r, joined);
}

/* An attribute of any number and length. */
static void put_any(struct nlmsghdr *nlh, int depth)
{
	__u16 type = random_below(ROCESTEER_REDUCE_A_GROUP_MAX + 4);
	__u8 bytes[80];
	struct nlattr *nest;
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = random_below(4) ? 0 : random_below(256);
	switch (random_below(4)) {
	case 0:
		mnl_attr_put(nlh, type, random_below(sizeof(bytes)), bytes);
		break;
	case 1:
		nest = mnl_attr_nest_start(nlh, type);
		for (i = depth < 8 ? random_below(4) : 0; i; i--)
			put_any(nlh, depth + 1);
		mnl_attr_nest_end(nlh, nest);
		break;
	default:
		mnl_attr_put_u32(nlh, type, number());
	}
}

static void send_one(void)
{
	__u8 cmd = random_below(ROCESTEER_REDUCE_CMD_MAX + 4);
	struct nlmsghdr *nlh = make(family, cmd, random_below(8) ? 0 : NLM_F_DUMP);
	bool changed = false;
	__u32 i;

	if (cmd != ROCESTEER_REDUCE_CMD_STATS_GET && !(nlh->nlmsg_flags & NLM_F_DUMP))
		put(nlh, ROCESTEER_REDUCE_A_GROUP_ID, random_below(GROUPS));
	if (cmd == ROCESTEER_REDUCE_CMD_GROUP_ADD)
		put_group(nlh, random_below(2));
	if (cmd == ROCESTEER_REDUCE_CMD_GROUP_JOIN)
		put_group(nlh, true);
	for (i = random_below(4) ? 0 : random_below(6); i; i--)
		put_any(nlh, 0);
	if (!random_below(8) && nlh->nlmsg_len > 20) {	/* a byte of it, behind the headers */
		buf[20 + random_below(nlh->nlmsg_len - 20)] = random_below(256);
		changed = true;
	}
	if (!random_below(16)) {			/* cut short, headers are not */
		nlh->nlmsg_len = 20 + random_below(nlh->nlmsg_len - 19);
		changed = true;
	}
	if (!ask(nlh) && !changed && cmd <= ROCESTEER_REDUCE_CMD_MAX)
		right[cmd]++;
}

int main(int argc, char **argv)
{
	unsigned long count, skip;

	if (argc != 3)
		errx(2, "usage: messages COUNT SEED");
	count = strtoul(argv[1], NULL, 0);
	for (skip = strtoul(argv[2], NULL, 0); skip; skip--)
		random_below(1);
	nl = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID))
		err(2, "netlink");
	find_family();
	while (count--)
		send_one();
	printf("add=%lu join=%lu del=%lu get=%lu stats=%lu\n",
	       right[ROCESTEER_REDUCE_CMD_GROUP_ADD], right[ROCESTEER_REDUCE_CMD_GROUP_JOIN],
	       right[ROCESTEER_REDUCE_CMD_GROUP_DEL], right[ROCESTEER_REDUCE_CMD_GROUP_GET],
	       right[ROCESTEER_REDUCE_CMD_STATS_GET]);
	return 0;
}
