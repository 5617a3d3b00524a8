// SPDX-License-Identifier: GPL-2.0
/*
 * Mutate packets sent to port 4791 without a mark, before the module sees them:
 *
 *	mangle SEED
 *
 * Packets pass NFQUEUE, so they keep their socket. The nftables rule ends with this
 * process. Prints "ready", and for each line of input counters of the packets of the
 * queue pairs' own flows so far: NAKs; mutated NAKs; READ requests and atomics after
 * mutation.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <linux/udp.h>

#include "../../random.h"
#include "../../../include/rocesteer/roce.h"
#include "../../../include/rocesteer/types.h"

#define QUEUE	0
#define TABLE	"mangle"

/* The same headers as in kmod/steer/reseq_hook.c */
struct headers {
	struct udphdr udp;
	struct rocesteer_bth bth;
	__u8 syndrome;
	__u8 rest[3];
};

#define READ_LENGTH	(sizeof(struct udphdr) + sizeof(struct rocesteer_bth) + \
			 offsetof(struct rocesteer_reth, length))

static struct mnl_socket *nl;
static char buf[1 << 17];
static unsigned long naks, mutated_naks, mutated_asks;

static struct nlmsghdr *message(void *at, __u16 type, __u16 flags, __u8 pf, __u16 id)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(at);
	struct nfgenmsg *head;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	head = mnl_nlmsg_put_extra_header(nlh, sizeof(*head));
	head->nfgen_family = pf;
	head->res_id = htons(id);
	return nlh;
}

static void send_all(const void *from, size_t len)
{
	if (mnl_socket_sendto(nl, from, len) < 0)
		err(2, "netlink");
}

/* Send the messages up to @end. One of them is acknowledged. */
static void ask(const char *what, char *end)
{
	ssize_t len;

	send_all(buf, end - buf);
	len = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	if (len < 0 || mnl_cb_run(buf, len, 0, 0, NULL, NULL) < 0)
		err(2, "%s", what);
}

static void put_chain(struct nlmsghdr *nlh)
{
	struct nlattr *hook;

	mnl_attr_put_strz(nlh, NFTA_CHAIN_TABLE, TABLE);
	mnl_attr_put_strz(nlh, NFTA_CHAIN_NAME, "out");
	mnl_attr_put_strz(nlh, NFTA_CHAIN_TYPE, "filter");
	hook = mnl_attr_nest_start(nlh, NFTA_CHAIN_HOOK);
	mnl_attr_put_u32(nlh, NFTA_HOOK_HOOKNUM, htonl(NF_INET_LOCAL_OUT));
	mnl_attr_put_u32(nlh, NFTA_HOOK_PRIORITY, htonl(0));
	mnl_attr_nest_end(nlh, hook);
}

/* Queue all packets. */
static void put_rule(struct nlmsghdr *nlh)
{
	struct nlattr *list, *element, *data;

	mnl_attr_put_strz(nlh, NFTA_RULE_TABLE, TABLE);
	mnl_attr_put_strz(nlh, NFTA_RULE_CHAIN, "out");
	list = mnl_attr_nest_start(nlh, NFTA_RULE_EXPRESSIONS);
	element = mnl_attr_nest_start(nlh, NFTA_LIST_ELEM);
	mnl_attr_put_strz(nlh, NFTA_EXPR_NAME, "queue");
	data = mnl_attr_nest_start(nlh, NFTA_EXPR_DATA);
	mnl_attr_put_u16(nlh, NFTA_QUEUE_NUM, htons(QUEUE));
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, element);
	mnl_attr_nest_end(nlh, list);
}

static void hold_up(void)
{
	static const __u16 subsys = NFNL_SUBSYS_NFTABLES << 8;
	struct nlmsghdr *nlh;

	nlh = message(buf, NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
	nlh = message(mnl_nlmsg_get_payload_tail(nlh), subsys | NFT_MSG_NEWTABLE,
		      NLM_F_CREATE, NFPROTO_INET, 0);
	mnl_attr_put_strz(nlh, NFTA_TABLE_NAME, TABLE);
	mnl_attr_put_u32(nlh, NFTA_TABLE_FLAGS, htonl(NFT_TABLE_F_OWNER));
	nlh = message(mnl_nlmsg_get_payload_tail(nlh), subsys | NFT_MSG_NEWCHAIN,
		      NLM_F_CREATE, NFPROTO_INET, 0);
	put_chain(nlh);
	nlh = message(mnl_nlmsg_get_payload_tail(nlh), subsys | NFT_MSG_NEWRULE,
		      NLM_F_CREATE | NLM_F_APPEND | NLM_F_ACK, NFPROTO_INET, 0);
	put_rule(nlh);
	nlh = message(mnl_nlmsg_get_payload_tail(nlh), NFNL_MSG_BATCH_END, 0, AF_UNSPEC,
		      NFNL_SUBSYS_NFTABLES);
	ask("nftables", mnl_nlmsg_get_payload_tail(nlh));
}

static void open_queue(void)
{
	struct nfqnl_msg_config_cmd bind = { .command = NFQNL_CFG_CMD_BIND };
	struct nfqnl_msg_config_params params = {
		.copy_range = htonl(0xffff), .copy_mode = NFQNL_COPY_PACKET,
	};
	int room = 8 << 20;
	struct nlmsghdr *nlh;

	nl = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) ||
	    setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		err(2, "netlink");
	nlh = message(buf, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_CONFIG, NLM_F_ACK, AF_UNSPEC, QUEUE);
	mnl_attr_put(nlh, NFQA_CFG_CMD, sizeof(bind), &bind);
	mnl_attr_put(nlh, NFQA_CFG_PARAMS, sizeof(params), &params);
	mnl_attr_put_u32(nlh, NFQA_CFG_QUEUE_MAXLEN, htonl(1 << 16));
	ask("queue", mnl_nlmsg_get_payload_tail(nlh));
}

static bool is_rc(const struct headers *h, size_t len)
{
	return len >= sizeof(*h) && h->udp.dest == htons(ROCESTEER_ROCE_PORT) &&
	       !(h->bth.flags & ROCESTEER_BTH_TVER) &&
	       (h->bth.opcode & ROCESTEER_OP_SERVICE) == ROCESTEER_OP_RC;
}

static bool is_nak(const struct headers *h)
{
	return h->bth.opcode == ROCESTEER_OP_RC_ACK &&
	       (h->syndrome == ROCESTEER_AETH_NAK_PSN ||
		(h->syndrome & ROCESTEER_AETH_TYPE) == ROCESTEER_AETH_RNR);
}

/* Return: the new length of the datagram. */
static size_t mutate(struct headers *h, size_t len)
{
	__u8 *byte = (__u8 *)h;
	size_t at = random_below(len);

	switch (random_below(8)) {
	case 0:		/* a NAK */
	case 1:
		h->bth.opcode = ROCESTEER_OP_RC_ACK;
		h->syndrome = random_below(2) ? ROCESTEER_AETH_NAK_PSN :
					 ROCESTEER_AETH_RNR | random_below(32);
		break;
	case 2:		/* another PSN, often close */
	case 3:
		h->bth.apsn ^= htonl(random_below(2) ? random_below(64) : random_below(1 << 24));
		break;
	case 4:		/* a READ of any length */
		h->bth.opcode = random_below(2) ? ROCESTEER_OP_RC_READ : random_below(0x20);
		break;
	case 5:		/* maybe the length of a READ */
		if (len >= READ_LENGTH + 4 && random_below(2))
			at = READ_LENGTH + random_below(4);
		byte[at] = random_below(256);
		break;
	case 6:
		h->bth.dqpn ^= htonl(random_below(8));
		break;
	case 7:
		return at;
	}
	return len;
}

static void mangle(struct headers *h, size_t *len)
{
	struct headers was = *h;
	bool mutated;

	if (random_below(4))
		*len = mutate(h, *len);
	mutated = memcmp(h, &was, sizeof(was));
	if (!is_rc(h, *len) || (h->bth.dqpn ^ was.bth.dqpn) & htonl(ROCESTEER_QPN_MASK))
		return;
	naks += is_nak(h);
	mutated_naks += is_nak(h) && mutated;
	mutated_asks += (ROCESTEER_OPS_ANSWERED >> h->bth.opcode & 1) && mutated;
}

static int take(const struct nlattr *attr, void *data)
{
	const struct nlattr **tb = data;

	if (mnl_attr_get_type(attr) <= NFQA_MAX)
		tb[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

/* Accept a packet, maybe mutated. A packet with a mark is from a process. */
static int go_on(const struct nlmsghdr *in, void *unused)
{
	const struct nlattr *tb[NFQA_MAX + 1] = {};
	struct nfqnl_msg_verdict_hdr verdict = { .verdict = htonl(NF_ACCEPT) };
	const struct nfqnl_msg_packet_hdr *header;
	static char out[1 << 17];
	struct nlmsghdr *nlh;
	size_t len, l4;
	__u8 *ip;

	(void)unused;
	if (in->nlmsg_type != (NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET))
		return MNL_CB_OK;
	mnl_attr_parse(in, sizeof(struct nfgenmsg), take, tb);
	header = mnl_attr_get_payload(tb[NFQA_PACKET_HDR]);
	verdict.id = header->packet_id;
	nlh = message(out, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_VERDICT, 0, AF_UNSPEC, QUEUE);
	mnl_attr_put(nlh, NFQA_VERDICT_HDR, sizeof(verdict), &verdict);
	if (tb[NFQA_PAYLOAD] && !tb[NFQA_MARK]) {
		ip = mnl_attr_get_payload(tb[NFQA_PAYLOAD]);
		len = mnl_attr_get_payload_len(tb[NFQA_PAYLOAD]);
		l4 = ip[0] >> 4 == 6 ? 40 : (ip[0] & 15) * 4;
		if (ip[ip[0] >> 4 == 6 ? 6 : 9] == IPPROTO_UDP && len >= l4 &&
		    is_rc((void *)(ip + l4), len - l4)) {
			len -= l4;
			mangle((void *)(ip + l4), &len);
			mnl_attr_put(nlh, NFQA_PAYLOAD, l4 + len, ip);
		}
	}
	send_all(nlh, nlh->nlmsg_len);
	return MNL_CB_OK;
}

int main(int argc, char **argv)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	char line[64];
	ssize_t len;

	if (argc != 2)
		errx(2, "usage: mangle SEED");
	random_seed(strtoull(argv[1], NULL, 0));
	setvbuf(stdout, NULL, _IOLBF, 0);
	setvbuf(stdin, NULL, _IONBF, 0);
	/* Inherited pipes to other helpers, which wait for them to close */
	close_range(3, ~0U, 0);
	open_queue();
	hold_up();
	puts("ready");
	fds[0].fd = mnl_socket_get_fd(nl);
	while (poll(fds, 2, -1) > 0) {
		if (fds[0].revents) {
			len = mnl_socket_recvfrom(nl, buf, sizeof(buf));
			if (len < 0 && errno != ENOBUFS)
				err(1, "queue");
			if (len > 0 && mnl_cb_run(buf, len, 0, 0, go_on, NULL) < 0)
				err(1, "verdict");
			continue;
		}
		if (!fgets(line, sizeof(line), stdin))
			break;
		printf("naks=%lu mutated-naks=%lu mutated-asks=%lu\n", naks,
		       mutated_naks, mutated_asks);
	}
	return 0;
}
