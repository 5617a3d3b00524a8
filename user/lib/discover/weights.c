// SPDX-License-Identifier: GPL-2.0
#include "weights.h"

#include <math.h>

#define LEAST_PORTS	5	/* of a path on average, for the test to hold */
#define DOUBT		0.05
#define SURE		0.000001
#define AGREES		0.1
#define MAX_WEIGHT	64

/* Probability that chi-square with @freedom degrees is @x or more. */
static double chi_square_tail(double x, unsigned int freedom)
{
	double p = freedom % 2 ? erfc(sqrt(x / 2)) : exp(-x / 2);
	double n;

	for (n = freedom % 2 ? 0.5 : 1; n < freedom / 2.0; n++)
		p += exp(n * log(x / 2) - x / 2 - lgamma(n + 1));
	return p;
}

static size_t count_ports(const struct portmap_peer *peer)
{
	size_t ports = 0;
	unsigned int i;

	for (i = 0; i < peer->nr_paths; i++)
		ports += peer->paths[i].nr_ports;
	return ports;
}

/* The ports that a path has by those that are like it: they differ by chance alone. */
static double usual_ports(const struct portmap_peer *peer, unsigned int path)
{
	double own = peer->paths[path].nr_ports, sum = 0;
	unsigned int n = 0, i;

	for (i = 0; i < peer->nr_paths; i++) {
		double other = peer->paths[i].nr_ports;

		if ((own - other) * (own - other) > 9 * (own + other))	/* 3 sigma */
			continue;
		sum += other;
		n++;
	}
	return sum / n;
}

/* Probability that paths of these weights have ports as uneven as that. */
static double chance(const struct portmap_peer *peer, const __u16 *weight)
{
	double ports = count_ports(peer), sum = 0, x = 0;
	unsigned int i;

	for (i = 0; i < peer->nr_paths; i++)
		sum += weight[i];
	for (i = 0; i < peer->nr_paths; i++) {
		double expected = ports * weight[i] / sum;
		double more = peer->paths[i].nr_ports - expected;

		x += more * more / expected;
	}
	return x > 0 ? chi_square_tail(x, peer->nr_paths - 1) : 1;
}

/* Weights in proportion to the ports, of which the greatest is @most. */
static void scale(const struct portmap_peer *peer, unsigned int most,
		  __u16 weight[ROCESTEER_MAX_PATHS])
{
	double ports[ROCESTEER_MAX_PATHS], max = 0;
	unsigned int i;

	for (i = 0; i < peer->nr_paths; i++) {
		ports[i] = usual_ports(peer, i);
		if (ports[i] > max)
			max = ports[i];
	}
	for (i = 0; i < peer->nr_paths; i++)
		weight[i] = lround(most * ports[i] / max) ?: 1;
}

enum weights_verdict weights_judge(const struct portmap_peer *peer)
{
	__u16 weight[ROCESTEER_MAX_PATHS];
	unsigned int i;
	double p;

	if (peer->nr_paths < 2 || count_ports(peer) < LEAST_PORTS * peer->nr_paths)
		return WEIGHTS_EQUAL;
	for (i = 0; i < peer->nr_paths; i++)
		weight[i] = 1;
	p = chance(peer, weight);
	return p < SURE ? WEIGHTS_DIFFER : p < DOUBT ? WEIGHTS_DOUBT : WEIGHTS_EQUAL;
}

void weights_propose(struct portmap_peer *peer)
{
	__u16 weight[ROCESTEER_MAX_PATHS];
	unsigned int most = 1, i;

	do {
		scale(peer, ++most, weight);
	} while (most < MAX_WEIGHT && chance(peer, weight) < AGREES);
	for (i = 0; i < peer->nr_paths; i++)
		peer->paths[i].weight = weight[i];
}
