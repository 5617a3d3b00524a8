// SPDX-License-Identifier: GPL-2.0
/* Hashes that are learnt from a few ports, by models of switches */
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "hash/hash.h"
#include "hash_models.h"
#include "../../ktap.h"

#define BASE		0xc000
#define PEER		0x0a010101
#define FABRICS		200
#define PORTS		16384

static struct hash_learn learn;

static void answer(const struct fabric *fabric, __u32 peer, struct hash_ask *asks, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		asks[i].answered = fabric_answers(fabric, peer, asks[i].port, asks[i].dqpn,
						  asks[i].router.addr);
}

/* The base is a port that answers. */
static enum hash_verdict learn_it(const struct fabric *fabric)
{
	struct hash_router router = {};
	__u16 base;

	do {
		base = BASE + draw(PORTS);
	} while (!fabric_answers(fabric, PEER, base, 0, router.addr));
	hash_learn_start(&learn, base, &router, draw(0x7fffffff) + 1);
	learn.asked++;		/* the base */
	do {
		answer(fabric, PEER, learn.ask, learn.nr);
	} while (hash_learn_step(&learn) == HASH_OPEN);
	return learn.verdict;
}

/* The same of the ports by which flows go */
static unsigned int wrong_flows(const struct fabric *fabric, __u32 peer, __u8 constant)
{
	unsigned int label, wrong = 0;

	for (label = 0; label < hash_model_size(&learn.model); label++) {
		__u16 port = hash_model_port(&learn.model, label);

		wrong += hash_model_router(&learn.model, port, constant)->addr[15] !=
			 fabric_next_hop(fabric, peer, port, 0) + 1;
	}
	return wrong;
}

/* Ports whose next hop is another one than the model says; one that is silent says nothing. */
static unsigned int wrong_ports(const struct fabric *fabric, __u32 peer, __u8 constant)
{
	unsigned int port, wrong = 0;

	for (port = BASE; port < BASE + PORTS; port += 7) {
		const __u8 *router = hash_model_router(&learn.model, port, constant)->addr;
		unsigned int next = fabric_next_hop(fabric, peer, port, 0);

		wrong += addr_is_none(router) ? fabric->silent != (int)next :
						router[15] != next + 1;
	}
	return wrong;
}

/* At most so many ports are asked in the mean, and all others are right. */
static bool learns(unsigned int paths, unsigned int loss, unsigned int most)
{
	unsigned int i, asked = 0, max = 0, wrong = 0, refused = 0;

	for (i = 0; i < FABRICS; i++) {
		struct fabric fabric = fabric_of(i % (XOR16 - CRC16), paths);

		fabric.loss = loss;
		if (learn_it(&fabric) != HASH_LINEAR || hash_model_size(&learn.model) != paths) {
			refused++;
			continue;
		}
		wrong += wrong_ports(&fabric, PEER, 0);
		asked += learn.asked;
		if (learn.asked > max)
			max = learn.asked;
	}
	printf("# %2u next hops, %u.%u %% lost: %u.%02u ports, at most %u, %u refused\n",
	       paths, loss / 10, loss % 10, asked / FABRICS, asked * 100 / FABRICS % 100, max,
	       refused);
	return !wrong && refused <= (loss ? FABRICS / 50 : 0) && asked <= most * FABRICS;
}

static bool learns_all(void)
{
	return learns(4, 0, 24) & learns(8, 0, 26) & learns(16, 0, 32) & learns(32, 0, 50) &
	       learns(64, 0, 80);
}

static bool learns_with_losses(void)
{
	return learns(4, 10, 24) & learns(8, 10, 26) & learns(16, 10, 32) & learns(32, 10, 50) &
	       learns(64, 10, 80);
}

/* How many of the fabrics are accepted, none after more ports than @most */
static unsigned int accepted(struct fabric (*make)(unsigned int i), unsigned int fabrics,
			     unsigned int most)
{
	unsigned int i, n = 0, asked = 0, max = 0;

	for (i = 0; i < fabrics; i++) {
		struct fabric fabric = make(i);

		n += learn_it(&fabric) == HASH_LINEAR;
		asked += learn.asked;
		if (learn.asked > max)
			max = learn.asked;
	}
	printf("# %u of %u accepted, %u.%u ports in the mean, %u at most\n", n, fabrics,
	       asked / fabrics, asked * 10 / fabrics % 10, max);
	return max <= most ? n : fabrics;
}

static struct fabric not_linear(unsigned int i)
{
	return fabric_of(JHASH, 4u << i % 5);
}

static struct fabric no_power(unsigned int i)
{
	static const unsigned int next_hops[] = { 3, 5, 6, 7, 12, 15, 60 };

	return fabric_of(i % (XOR16 - CRC16), next_hops[i % ARRAY_SIZE(next_hops)]);
}

static struct fabric with_table(unsigned int i)
{
	struct fabric fabric = fabric_of(i % (XOR16 - CRC16), 4u << i % 5);

	fabric.shuffle = draw(0x7fffffff) + 1;
	return fabric;
}

static struct fabric with_qpn(unsigned int i)
{
	struct fabric fabric = fabric_of(i % (XOR16 - CRC16), 4u << i % 5);

	fabric.qpn = true;
	return fabric;
}

/* Numbers with one bit add nothing. */
static struct fabric with_products(unsigned int i)
{
	struct fabric fabric = with_qpn(i);

	fabric.products = true;
	return fabric;
}

/* One of 1,000 may be believed wrongly. */
static bool refuses(struct fabric (*make)(unsigned int i))
{
	return accepted(make, 6000, 50) <= 6;
}

static bool refuses_not_linear(void)
{
	return refuses(not_linear);
}

static bool refuses_no_power(void)
{
	return refuses(no_power);
}

static bool refuses_table(void)
{
	return refuses(with_table);
}

static bool refuses_products(void)
{
	return accepted(with_products, 6000, 120) <= 6;
}

/* The bits of XOR that choose may all be of the address. */
static bool no_influence(void)
{
	unsigned int i, none = 0, fewer = 0, wrong = 0;

	for (i = 0; i < FABRICS; i++) {
		struct fabric fabric = fabric_of(XOR16, 16);
		enum hash_verdict verdict = learn_it(&fabric);

		none += verdict == HASH_NO_INFLUENCE;
		fewer += verdict == HASH_LINEAR && learn.model.bits < 4;
		if (verdict == HASH_NOT_LINEAR ||
		    (verdict == HASH_LINEAR && wrong_ports(&fabric, PEER, 0)))
			wrong++;
	}
	printf("# XOR: %u of %u without influence, %u with fewer paths\n", none, FABRICS, fewer);
	return fewer && !wrong;
}

/* One router in 16 never answers: this is no contradiction. */
static bool silent_router(void)
{
	unsigned int i, wrong = 0, learnt = 0;

	for (i = 0; i < FABRICS; i++) {
		struct fabric fabric = fabric_of(i % (XOR16 - CRC16), 16);
		enum hash_verdict verdict;

		fabric.silent = draw(16);
		verdict = learn_it(&fabric);
		learnt += verdict == HASH_LINEAR;
		if (verdict == HASH_NOT_LINEAR ||
		    (verdict == HASH_LINEAR && wrong_ports(&fabric, PEER, 0)))
			wrong++;
	}
	printf("# %u of %u learnt with a silent router\n", learnt, FABRICS);
	return !wrong && learnt > FABRICS * 9 / 10;
}

/* The constant of a peer, by as many ports as the first one of a leaf, or another, needs */
static int peer_constant(const struct fabric *fabric, __u32 peer, bool first, unsigned int *asked)
{
	struct hash_ask asks[HASH_MAX_LABELS];
	unsigned int n = 1 + (first ? hash_model_checks(&learn.model) : 2);

	hash_peer_ask(&learn.model, asks, n, draw(HASH_MAX_LABELS));
	answer(fabric, peer, asks, n);
	*asked += n;
	return hash_peer_judge(&learn.model, asks, n, n);
}

/* Ports and queue pairs whose next hop is another one than the model says */
static unsigned int wrong_qpns(const struct fabric *fabric, __u32 peer, __u8 constant)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < 1000; i++) {
		__u32 dqpn = draw(1 << HASH_QPN_BITS);
		__u16 port = BASE + draw(PORTS);
		const struct hash_router *router =
			hash_model_router(&learn.model, port,
					  constant ^ hash_model_qpn(&learn.model, dqpn));

		wrong += router->addr[15] != fabric_next_hop(fabric, peer, port, dqpn) + 1;
	}
	return wrong;
}

/* A further peer needs no more ports than where queue pairs are not hashed. */
static bool learns_qpn(void)
{
	unsigned int i, asked = 0, ports = 0, max = 0, wrong = 0;

	for (i = 0; i < FABRICS; i++) {
		struct fabric fabric = with_qpn(i);
		int constant;

		if (learn_it(&fabric) != HASH_LINEAR || !hash_model_has_qpn(&learn.model))
			return false;
		asked += learn.asked;
		if (learn.asked > max)
			max = learn.asked;
		constant = peer_constant(&fabric, PEER + 1, true, &ports);
		wrong += constant < 0 || wrong_qpns(&fabric, PEER, 0) ||
			 wrong_qpns(&fabric, PEER + 1, constant);
	}
	printf("# %u ports in the mean, %u at most\n", asked / FABRICS, max);
	return !wrong && max <= 120;
}

static bool transfers(void)
{
	unsigned int i, k, peers = 0, asked = 0, wrong = 0;

	for (i = 0; i < FABRICS; i++) {
		struct fabric fabric = fabric_of(i % (XOR16 - CRC16), 4u << i % 5);

		if (learn_it(&fabric) != HASH_LINEAR)
			return false;
		for (k = 0; k < 20; k++) {
			__u32 peer = PEER + (k / 5 << 8) + k % 5 + 1;
			int constant = peer_constant(&fabric, peer, !(k % 5), &asked);

			wrong += constant < 0 || wrong_ports(&fabric, peer, constant);
			peers++;
		}
	}
	printf("# %u peers, %u.%02u ports each\n", peers, asked / peers, asked * 100 / peers % 100);
	return !wrong;
}

/* Peers behind another function, or another order of next hops, must not be believed. */
static bool others(bool macro)
{
	unsigned int i, k, asked = 0, peers = 0, believed = 0, wrong = 0;

	for (i = 0; i < 1000; i++) {
		struct fabric fabric = fabric_of(i % (XOR16 - CRC16), 4u << i % 5);

		fabric.macro = macro;
		fabric.order = !macro;
		if (learn_it(&fabric) != HASH_LINEAR)
			continue;
		for (k = 1; k <= 10; k++) {
			__u32 peer = PEER + (k << 8);
			int constant = peer_constant(&fabric, peer, true, &asked);

			peers++;
			if (constant < 0)
				continue;
			believed++;
			wrong += !!wrong_flows(&fabric, peer, constant);
		}
	}
	printf("# %u of %u peers believed, %u of them wrongly\n", believed, peers, wrong);
	return peers > 5000 && wrong * 1000 <= peers;
}

static bool other_order(void)
{
	return others(false);
}

static bool other_function(void)
{
	return others(true);
}

/* The constants of 10,000 peers follow from those of at most 20. */
static bool addresses(void)
{
	static struct hash_address address;
	struct fabric fabric = fabric_of(CRC16, 16);
	unsigned int i, asked = 0, wrong = 0;
	clock_t start = clock();
	double s;

	learn_it(&fabric);
	for (i = 0; i < 10000; i++) {
		__u32 peer = 0x0a010000 + (i / 32 << 8) + i % 32 + 1;
		__u8 addr[16] = { [10] = 0xff, [11] = 0xff, peer >> 24, peer >> 16, peer >> 8,
				  peer };
		int constant = hash_address_predict(&address, addr);

		if (constant < 0) {
			unsigned int ports = 0;

			constant = peer_constant(&fabric, peer, true, &ports);
			hash_address_add(&address, addr, constant);
			asked++;
		}
		wrong += hash_model_router(&learn.model, BASE + i, constant)->addr[15] !=
			 fabric_next_hop(&fabric, peer, BASE + i, 0) + 1;
	}
	s = (double)(clock() - start) / CLOCKS_PER_SEC;
	printf("# %u of 10000 peers asked, %.3f s\n", asked, s);
	return !wrong && asked <= 20 && s < 2;
}

int main(void)
{
	ktap_begin();
	ktap_result(learns_all(), "hashes of 4 to 64 next hops are learnt, all ports are right");
	ktap_result(learns_with_losses(), "one lost answer in 100 costs a port or two at most");
	ktap_result(refuses_not_linear(), "a hash that is not linear is refused");
	ktap_result(refuses_no_power(), "a number of next hops that is no power of two is refused");
	ktap_result(refuses_table(), "a table of buckets in no order is refused");
	ktap_result(learns_qpn(), "a hash of queue pair numbers is learnt as well");
	ktap_result(refuses_products(), "a hash of products of queue pair bits is refused");
	ktap_result(no_influence(), "a hash that takes few bits, or none, of the port is named");
	ktap_result(silent_router(), "a router that never answers is left out");
	ktap_result(transfers(), "ports to further peers are right");
	ktap_result(other_order(), "a leaf with another order of next hops is not believed");
	ktap_result(other_function(), "a hash function by address is not believed");
	ktap_result(addresses(), "constants of 10,000 peers follow from their addresses");
	return ktap_end();
}
