// SPDX-License-Identifier: GPL-2.0
#include "prove.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <rocesteer/roce.h>

#include "discover/discover.h"
#include "steer/steer.h"
#include "verbs/verbs.h"

/**
 * struct prove - a device
 * @nic: the device
 * @config: how to ask
 * @genl: connection to the module, which holds the limit
 * @hop: the limit, or 0
 * @icmp: raw socket
 */
struct prove {
	struct nic_device nic;
	struct prove_config config;
	struct genl *genl;
	__u8 hop;
	int icmp;
};

static bool is_v4(const struct prove *prove)
{
	return addr_is_v4(prove->config.peer);
}

static int open_icmp(struct prove *prove, struct err *err)
{
	prove->icmp = quote_open(is_v4(prove), QUOTE_EXPIRED);
	return prove->icmp < 0 ? err_errno(err, -prove->icmp, "socket",
					   "cannot listen to ICMP") : 0;
}

static int limit_hops(struct prove *prove, __u8 hop, struct err *err)
{
	int ret = prove->hop == hop ? 0 : genl_hop_limit(prove->genl, hop, err);

	if (ret == -EOPNOTSUPP)
		err_hint(err,
			 "The module is of an older version: rocesteer prog load --module replace.");
	if (!ret)
		prove->hop = hop;
	return ret;
}

int prove_open(struct prove **out, const struct prove_config *config, struct err *err)
{
	struct prove *prove = calloc(1, sizeof(*prove));
	int ret;

	if (!prove)
		return -ENOMEM;
	*prove = (struct prove) {
		.nic = { .name = config->device, .gid_index = config->gid_index, .err = err,
			 .family = addr_is_v4(config->peer) ? AF_INET : AF_INET6 },
		.config = *config,
		.icmp = -1,
	};
	memcpy(prove->nic.source, config->source, 16);
	ret = nic_device_open(&prove->nic, config->timeout) ?: open_icmp(prove, err) ?:
	      genl_open(&prove->genl, err);
	if (!ret) {
		prove->nic.cq = ibv_create_cq(prove->nic.context, PROVE_PACKETS, NULL, NULL, 0);
		if (!prove->nic.cq)
			ret = nic_fail(&prove->nic, errno, "device", "cannot allocate");
	}
	if (ret) {
		prove_close(prove);
		return ret;
	}
	*out = prove;
	return 0;
}

void prove_close(struct prove *prove)
{
	genl_close(prove->genl);
	if (prove->icmp >= 0)
		close(prove->icmp);
	nic_device_close(&prove->nic);
	free(prove);
}

__u32 prove_ifindex(const struct prove *prove)
{
	return prove->nic.ifindex;
}

const __u8 *prove_source(const struct prove *prove)
{
	return prove->nic.gid.raw;
}

/* Software devices have a parent, the network device, and no driver. */
void prove_describe(const struct prove *prove, struct json_object *obj)
{
	const struct ibv_device_attr *attr = &prove->nic.attr;
	char path[PATH_MAX], driver[PATH_MAX];
	const char *slash;
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/driver", prove->nic.name);
	len = readlink(path, driver, sizeof(driver) - 1);
	driver[len < 0 ? 0 : len] = '\0';
	slash = strrchr(driver, '/');
	out_string(obj, "driver", slash ? slash + 1 : "software");
	out_string(obj, "firmware", attr->fw_ver);
	out_uint(obj, "vendor", attr->vendor_id);
	out_uint(obj, "part", attr->vendor_part_id);
}

/* A driver that says another hop limit would send the packet to the peer. */
static int check_limit(const struct prove *prove, struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {};
	__u8 said;

	if (ibv_query_qp(qp, &attr, IBV_QP_AV, &init))
		return 0;
	said = attr.ah_attr.grh.hop_limit;
	if (!said || said == prove->hop)
		return 0;
	return nic_fail(&prove->nic, EPROTO, "hop-limit",
			"the queue pair did not get the hop limit");
}

static int connect_qp(struct prove *prove, struct ibv_qp *qp,
		      const struct prove_question *question, __u32 psn)
{
	struct nic_address address = { .mtu = IBV_MTU_1024 };
	int error;

	memcpy(address.gid, question->peer, 16);
	error = nic_qp_init(qp) ?: nic_qp_connect(&prove->nic, qp, &address, question->dqpn, psn,
						  psn, question->label);
	if (error)
		return nic_fail(&prove->nic, error, "connect", "cannot connect a queue pair");
	return check_limit(prove, qp);
}

/* Writes of no byte, which need no key */
static int send_all(struct prove *prove, struct ibv_qp *qp, unsigned int packets)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;
	int error = 0;

	while (!error && packets--)
		error = ibv_post_send(qp, &wr, &bad);
	return error ? nic_fail(&prove->nic, error, "send", "cannot send") : 0;
}

/*
 * Number of the packet that is quoted; negative: a packet of others. A quote without PSN counts for
 * the first packet.
 */
static int number_of(const struct prove *prove, const struct prove_question *question, __u32 psn,
		     const struct quote *quote)
{
	__s32 number = quote->has_bth ? rocesteer_psn_diff(quote->psn, psn) : 0;

	if (memcmp(quote->source, prove->nic.gid.raw, 16) ||
	    memcmp(quote->peer, question->peer, 16) ||
	    (quote->has_bth && quote->dqpn != question->dqpn) ||
	    number >= (int)question->packets)
		return -1;
	return number;
}

/* Answers to packets that were repeated are no new ones. */
static int hear(struct prove *prove, const struct prove_question *question, __u32 psn,
		__u64 start, struct prove_answer *answers)
{
	bool v4 = is_v4(prove);
	__u64 now = clock_ns(), until = now + prove->config.timeout;
	struct pollfd wait = { .fd = prove->icmp, .events = POLLIN };
	unsigned int n = 0, seen = 0;
	struct quote quote;
	int i, ret;

	while (n < question->packets && now < until) {
		poll(&wait, 1, (until - now) / 1000000 + 1);
		now = clock_ns();
		while ((ret = quote_receive(prove->icmp, v4, &quote)) >= 0) {
			i = ret ? number_of(prove, question, psn, &quote) : -1;
			if (i < 0 || seen >> i & 1)
				continue;
			seen |= 1u << i;
			answers[n] = (struct prove_answer) {
				.sport = ntohs(quote.sport),
				.ns = now - start,
			};
			memcpy(answers[n++].router, quote.router, 16);
		}
	}
	return n;
}

/* Old answers are of no interest. */
static void drain(struct prove *prove)
{
	struct quote quote;

	while (quote_receive(prove->icmp, is_v4(prove), &quote) >= 0)
		;
}

int prove_ask(struct prove *prove, const struct prove_question *question,
	      struct prove_answer *answers, __u32 *sqpn, struct err *err)
{
	struct ibv_qp_init_attr init = {
		.send_cq = prove->nic.cq, .recv_cq = prove->nic.cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = PROVE_PACKETS, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	__u32 psn = arc4random() & ROCESTEER_PSN_MASK;
	struct ibv_qp *qp;
	__u64 start;
	int ret = limit_hops(prove, question->hop, err);

	if (ret)
		return ret;
	prove->nic.err = err;
	qp = ibv_create_qp(prove->nic.pd, &init);
	if (!qp)
		return nic_fail(&prove->nic, errno, "device", "cannot create a queue pair");
	*sqpn = qp->qp_num;
	drain(prove);
	ret = connect_qp(prove, qp, question, psn);
	start = clock_ns();
	ret = ret ?: send_all(prove, qp, question->packets) ?:
	      hear(prove, question, psn, start, answers);
	if (ret >= 0 && question->heard)
		ret = question->heard(answers, ret, question->arg) ?: ret;
	ibv_destroy_qp(qp);
	return ret;
}
