// SPDX-License-Identifier: GPL-2.0
/*
 * Probes to queue pairs, and verdicts from the answers, in fabrics that hash the number, that
 * do not, and that spray packets, while answers are lost and hashes change.
 */
#include <string.h>
#include <rocesteer/roce.h>

#include "discover/discover_run.h"
#include "discover/qpn_check.h"
#include "../../ktap.h"

#define RUNS	20000
#define NEVER	(RUNS + 1)

enum fabric { FIVE_TUPLE, HASHED, LINEAR, SPRAYED };

/*
 * @loss: of a hundred probes so many get no answer. @change: after so many probes routers
 * have another seed; 0: never.
 */
struct model {
	enum fabric fabric;
	unsigned int paths;
	unsigned int loss;
	unsigned int change;
	__u32 seed;
	unsigned int sent;
};

static __u32 random_state = 1;

static __u32 mix(__u32 x)
{
	x = (x ^ x >> 16) * 0x85ebca6b;
	x = (x ^ x >> 13) * 0xc2b2ae35;
	return x ^ x >> 16;
}

static __u32 draw(void)
{
	return mix(random_state += 0x9e3779b9);
}

/* A CRC of 32 bits: what differs in the input decides what differs in the output. */
static __u32 crc(__u32 sum, __u32 word)
{
	int i;

	sum ^= word;
	for (i = 0; i < 32; i++)
		sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
	return sum;
}

static unsigned int path_of(const struct model *model, __u16 port, __u32 dqpn)
{
	__u32 hash = 0;

	switch (model->fabric) {
	case FIVE_TUPLE:
		hash = mix(mix(model->seed) + port);
		break;
	case HASHED:
		hash = mix(mix(mix(model->seed) + port) + dqpn);
		break;
	case LINEAR:
		hash = crc(crc(model->seed, port), dqpn);
		break;
	case SPRAYED:
		hash = draw();
		break;
	}
	return hash % model->paths;
}

/* Return: number of the router that answers, or -1. */
static int ask(struct model *model, __u16 port, __u32 dqpn)
{
	if (++model->sent == model->change)
		model->seed = draw();
	return draw() % 100 < model->loss ? -1 : (int)path_of(model, port, dqpn);
}

static enum qpn_verdict examine(struct model *model, unsigned int ports)
{
	struct portmap_peer peer = {};
	struct qpn_check check;
	struct hash_router router = {};
	unsigned int i;
	__u32 dqpn;
	__u16 port;
	int path;

	model->seed = draw();
	model->sent = 0;
	for (i = 0; i < ports; i++) {
		router.addr[15] = path_of(model, discover_port(i), 0) + 1;
		portmap_peer_add_port(&peer, &router, NULL, discover_port(i));
	}
	qpn_check_start(&check, &peer, ports, 1024);
	do {
		while (qpn_check_has_next(&check)) {
			qpn_check_next(&check, &port, &dqpn);
			path = ask(model, port, dqpn);
			router.addr[15] = path + 1;
			if (path >= 0)
				qpn_check_saw(&check, port, dqpn, router.addr);
		}
	} while (qpn_check_go_on(&check));
	portmap_peer_free(&peer);
	return check.verdict;
}

/* How many of RUNS fabrics get a verdict that is not @want. */
static unsigned int misjudged(struct model model, unsigned int ports, enum qpn_verdict want)
{
	unsigned int i, wrong = 0, change = model.change;

	for (i = 0; i < RUNS; i++) {
		model.change = change ? 1 + draw() % change : 0;
		wrong += examine(&model, ports) != want;
	}
	return wrong;
}

/* At most one in @one_in is misjudged. */
static void judges(const char *name, struct model model, enum qpn_verdict want, unsigned int one_in)
{
	unsigned int wrong = misjudged(model, 20, want);

	ktap_result(wrong * one_in <= RUNS, "%u paths: %s", model.paths, name);
	printf("# %u of %u misjudged\n", wrong, RUNS);
}

static void test_verdicts(unsigned int paths)
{
	struct model ports = { .fabric = FIVE_TUPLE, .paths = paths };
	struct model pairs = { .fabric = HASHED, .paths = paths };
	struct model linear = { .fabric = LINEAR, .paths = paths };
	struct model sprayed = { .fabric = SPRAYED, .paths = paths };

	judges("a hash of ports is recognised", ports, QPN_NO_MATTER, NEVER);
	ports.loss = 20;
	judges("a hash of ports is recognised with loss", ports, QPN_NO_MATTER, NEVER);
	ports.change = 60;
	judges("a hash of ports is recognised when its seed changes", ports, QPN_NO_MATTER, NEVER);
	judges("a hash of queue pairs is recognised", pairs, QPN_HASHED, 5000);
	judges("a linear hash of queue pairs is recognised", linear, QPN_HASHED, 5000);
	judges("spraying is recognised", sprayed, QPN_SPRAYED, 5000);
	pairs.loss = 5;
	judges("a hash of queue pairs is recognised with loss", pairs, QPN_HASHED, 1000);
	pairs.change = 60;
	judges("a hash of queue pairs is recognised when its seed changes",
	       pairs, QPN_HASHED, 1000);
	sprayed.loss = 5;
	judges("spraying is recognised with loss", sprayed, QPN_SPRAYED, 1000);
}

/* Fewer ports are known than are probed. */
static void test_few_ports(void)
{
	struct model hashed = { .fabric = HASHED, .paths = 2 };
	struct model five_tuple = { .fabric = FIVE_TUPLE, .paths = 2 };

	ktap_result(misjudged(hashed, 2, QPN_HASHED) * 5000 <= RUNS &&
		    !misjudged(five_tuple, 2, QPN_NO_MATTER),
		    "two known ports are enough for a verdict");
}

static void test_probe(void)
{
	struct probe_socket sock = { .source = { [10] = 0xff, 0xff, 10, 1, 0, 1 } };
	const __u8 addr[16] = { [10] = 0xff, 0xff, 10, 1, 1, 1 };
	struct probe_packet path, qpn, leaf;
	struct probe_answer answer = {};
	struct rocesteer_bth bth;

	probe_build(&path, &sock, addr, PROBE_PATH, 3, 50000, 0, 1);
	probe_build(&qpn, &sock, addr, PROBE_QPN, probe_ttl(PROBE_QPN, 3, 5), 50000,
		    0xfa3c69e1, 1);
	probe_build(&leaf, &sock, addr, PROBE_QPN_LEAF, probe_ttl(PROBE_QPN_LEAF, 3, 5), 50000,
		    0x3c69e1, 1);
	memcpy(&bth, qpn.data + PROBE_UDP_HEADER, sizeof(bth));
	ktap_result(!memcmp(&bth.dqpn, "\0\x3c\x69\xe1", 4),
		    "a probe has 24 bits of the queue pair number");
	ktap_result(qpn.ttl == 3 && leaf.ttl == 5 && probe_ttl(PROBE_BEFORE, 3, 5) == 2 &&
		    qpn.len < leaf.len && path.len < qpn.len && leaf.len < PROBE_MAX,
		    "probes have their TTL and length");
	ktap_result(!memcmp(path.data, qpn.data, 4),
		    "probes of a path and a queue pair have equal ports");
	memcpy(answer.peer, addr, 16);
	answer.len = qpn.len;
	memcpy(answer.quote, qpn.data, qpn.len);
	ktap_result(probe_match(&qpn, &answer) == PROBE_OURS &&
		    probe_match(&path, &answer) == PROBE_OTHER &&
		    probe_match(&leaf, &answer) == PROBE_OTHER, "an answer matches one probe only");
	answer.len = PROBE_UDP_HEADER;
	ktap_result(probe_match(&qpn, &answer) == PROBE_SHORT &&
		    probe_match(&path, &answer) == PROBE_OTHER &&
		    probe_match(&leaf, &answer) == PROBE_OTHER,
		    "an answer with a short quote matches one probe only");
}

int main(void)
{
	ktap_begin();
	test_probe();
	test_verdicts(2);
	test_verdicts(4);
	test_verdicts(32);
	test_few_ports();
	return ktap_end();
}
