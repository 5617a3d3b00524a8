// SPDX-License-Identifier: GPL-2.0
#include "export_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOT(port)	((port) - ROCESTEER_SPORT_MIN)

const char * const export_words[] = {
	[EXPORT_PERFTEST] = "perftest",
	[EXPORT_UCX] = "ucx",
	[EXPORT_MOONCAKE] = "mooncake",
	[EXPORT_UCCL] = "uccl",
	[EXPORT_NCCL] = "nccl",
	[EXPORT_JSON] = "json",
	NULL
};

static unsigned int divisor(unsigned int a, unsigned int b)
{
	return b ? divisor(b, a % b) : a;
}

/* Each port that the peer has; it has none twice. */
static void count_ports(const struct portmap_peer *peer, __u16 *count)
{
	unsigned int p;
	size_t i;

	for (p = 0; p < peer->nr_paths; p++)
		for (i = 0; i < peer->paths[p].nr_ports; i++)
			count[SLOT(peer->paths[p].ports[i])]++;
}

/* List the ports in the order of the first peer. */
static void list_ports(struct export *e, const __u16 *count)
{
	const struct portmap_peer *peer = e->peers[0];
	unsigned int p;
	size_t i;

	for (p = 0; p < peer->nr_paths; p++) {
		for (i = 0; i < peer->paths[p].nr_ports; i++) {
			__u16 port = peer->paths[p].ports[i];

			if (count[SLOT(port)] != e->nr_peers)
				continue;
			e->ports[e->nr_ports++] = port;
			e->index[SLOT(port)] = e->nr_ports;
		}
	}
}

static void note_paths(struct export *e, size_t j)
{
	const struct portmap_peer *peer = e->peers[j];
	unsigned int p;
	size_t i;

	for (p = 0; p < peer->nr_paths; p++) {
		for (i = 0; i < peer->paths[p].nr_ports; i++) {
			size_t at = e->index[SLOT(peer->paths[p].ports[i])];

			if (at)
				e->path[(at - 1) * e->nr_peers + j] = p;
		}
	}
}

int export_open(struct export *e, const struct portmap_peer * const *peers, size_t nr_peers)
{
	__u16 count[PORTMAP_MAX_PORTS] = {};
	size_t j;

	memset(e, 0, sizeof(*e));
	e->peers = peers;
	e->nr_peers = nr_peers;
	for (j = 0; j < nr_peers; j++)
		count_ports(peers[j], count);
	e->ports = calloc(PORTMAP_MAX_PORTS, sizeof(*e->ports));
	if (!e->ports)
		return -ENOMEM;
	list_ports(e, count);
	e->path = malloc(e->nr_ports * nr_peers ?: 1);
	if (!e->path)
		return -ENOMEM;
	for (j = 0; j < nr_peers; j++)
		note_paths(e, j);
	return 0;
}

void export_close(struct export *e)
{
	free(e->ports);
	free(e->path);
}

/* The sum of a peer's weights, divided by their greatest common divisor. */
static unsigned int weight_sum(const struct portmap_peer *peer)
{
	unsigned int common = 0, sum = 0, p;

	for (p = 0; p < peer->nr_paths; p++) {
		common = divisor(peer->paths[p].weight, common);
		sum += peer->paths[p].weight;
	}
	return sum / common;
}

unsigned int export_length(const struct export *e)
{
	__u64 all = 1;
	unsigned int most = 1, sum;
	size_t j;

	for (j = 0; j < e->nr_peers; j++) {
		sum = weight_sum(e->peers[j]);
		if (sum > most)
			most = sum;
		if (all <= EXPORT_MAX_LENGTH)
			all *= sum / divisor(sum, all);
	}
	if (all <= EXPORT_MAX_LENGTH)
		return all;
	return most <= EXPORT_MAX_LENGTH ? most : EXPORT_MAX_LENGTH;
}

unsigned int export_fullest(const struct portmap_peer *peer, const __u16 *load, unsigned int n)
{
	__u64 sum = 0, most = 0;
	unsigned int p;

	for (p = 0; p < peer->nr_paths; p++)
		sum += peer->paths[p].weight;
	for (p = 0; p < peer->nr_paths; p++) {
		__u64 mean = (__u64)peer->paths[p].weight * n;
		__u64 ratio = (load[p] * sum * EXPORT_EVEN + mean - 1) / mean;

		if (ratio > most)
			most = ratio;
	}
	return most;
}

bool export_is_better(const struct export_balance *a, const struct export_balance *b)
{
	return a->worst != b->worst ? a->worst < b->worst : a->sum < b->sum;
}

int export_measure(const struct export *e, const __u16 *ports, unsigned int n,
		   unsigned int *each, struct export_balance *balance)
{
	unsigned int i;
	size_t j;

	for (i = 0; i < n; i++)
		if (ports[i] < ROCESTEER_SPORT_MIN || !e->index[SLOT(ports[i])])
			return -ENOENT;
	*balance = (struct export_balance) {};
	for (j = 0; j < e->nr_peers; j++) {
		__u16 load[ROCESTEER_MAX_PATHS] = {};
		unsigned int most;

		for (i = 0; i < n; i++)
			load[e->path[(e->index[SLOT(ports[i])] - 1) * e->nr_peers + j]]++;
		most = export_fullest(e->peers[j], load, n);
		balance->sum += most;
		if (most > balance->worst)
			balance->worst = most;
		if (each)
			each[j] = most;
	}
	return 0;
}
