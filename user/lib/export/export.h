/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Source ports of a port map for other libraries: lists that put the queue pairs of a
 * connection evenly on paths, for one peer or many, and the best settings for libraries
 * with rules of their own.
 */
#ifndef ROCESTEER_LIB_EXPORT_H
#define ROCESTEER_LIB_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "portmap/portmap.h"

/* Parts of the mean load of a peer's paths, in which loads are compared. */
#define EXPORT_EVEN		10000u

/* Most ports of a list; longer lists are cut to the needs of the peer with the most paths. */
#define EXPORT_MAX_LENGTH	256

/* Data queue pairs that UCCL-EP has for each peer and proxy, behind one for control. */
#define EXPORT_UCCL_QPS		8

/* Ports that are probed for a library that makes its ports by a rule. */
#define EXPORT_MAX_EXTRA	1024

/* The library that settings are for; @export_words has the names. */
enum export_for {
	EXPORT_PERFTEST,
	EXPORT_UCX,
	EXPORT_MOONCAKE,
	EXPORT_UCCL,
	EXPORT_NCCL,
	EXPORT_JSON,
};

extern const char * const export_words[];

/**
 * struct export - some peers, and the ports that were probed for all of them
 * @peers: none of them local
 * @nr_peers: at least 1
 * @ports: in the order in which the first peer has them, by path
 * @nr_ports: may be 0
 * @index: place in @ports + 1 by port - ROCESTEER_SPORT_MIN, 0: it is not there
 * @path: @nr_peers numbers of paths for each of @ports
 */
struct export {
	const struct portmap_peer * const *peers;
	size_t nr_peers;
	__u16 *ports;
	size_t nr_ports;
	__u16 index[PORTMAP_MAX_PORTS];
	__u8 *path;
};

/**
 * struct export_balance - how evenly a list loads the paths of all peers
 * @worst: the largest load of a path of any peer; EXPORT_EVEN: every path of every peer has
 *	its share, which is in proportion to its weight
 * @sum: sum over the peers of the load of their fullest path
 */
struct export_balance {
	unsigned int worst;
	__u64 sum;
};

/**
 * export_open() - look for the ports that peers have in common
 * @e: filled; to be closed, also after a failure
 * @peers: kept, not copied
 * @nr_peers: how many, at least 1
 *
 * Return: 0 or -ENOMEM.
 */
int export_open(struct export *e, const struct portmap_peer * const *peers, size_t nr_peers);

/* Free what export_open() took. */
void export_close(struct export *e);

/**
 * export_length() - the least number of queue pairs that may be even for all peers
 * @e: peers
 *
 * The least common multiple of the sums of the peers' weights; beyond EXPORT_MAX_LENGTH the
 * greatest of these sums, or that bound.
 *
 * Return: 1..EXPORT_MAX_LENGTH.
 */
unsigned int export_length(const struct export *e);

/**
 * export_measure() - how evenly do queue pairs with some ports load the paths
 * @e: peers
 * @ports: one for each queue pair
 * @n: how many, at least 1
 * @each: set to the load of the fullest path of each peer; may be NULL
 * @balance: filled
 *
 * Return: 0, -ENOENT where a port was not probed for all peers, or -ENOMEM.
 */
int export_measure(const struct export *e, const __u16 *ports, unsigned int n,
		   unsigned int *each, struct export_balance *balance);

/**
 * export_search() - find a list of ports that loads the paths of all peers evenly
 * @e: peers, with at least one port
 * @length: of the list, up to EXPORT_MAX_LENGTH
 * @ports: filled; a port may be there more than once. The beginning of the list is as even
 *	as it can be with these ports
 *
 * The same map gives the same list. The time is bounded: below a second for 256 peers of 64
 * paths. The worst peer's load is minimised, then the sum over all peers.
 *
 * Return: 0 or -ENOMEM.
 */
int export_search(const struct export *e, unsigned int length, __u16 *ports);

/**
 * export_ucx_port() - the port of a lane of UCX
 * @factor: UCX_IB_ROCE_PATH_FACTOR
 * @lane: from 0
 * @devx: of a DEVX object, not of a queue pair that verbs made
 *
 * Return: host order.
 */
__u16 export_ucx_port(unsigned int factor, unsigned int lane, bool devx);

/**
 * export_ucx() - find the factor by which UCX's lanes load the paths most evenly
 * @e: peers
 * @lanes: how many, up to EXPORT_MAX_LENGTH
 * @devx: as for export_ucx_port()
 * @ports: set to the lanes' ports
 *
 * Return: the factor, the least one of equal ones; -ENOENT where no factor has only ports
 * that were probed, or -ENOMEM.
 */
int export_ucx(const struct export *e, unsigned int lanes, bool devx, __u16 *ports);

/**
 * export_uccl() - find the port from which on UCCL's ports load the paths most evenly
 * @e: peers
 * @ports: set to the EXPORT_UCCL_QPS ports of its data, which follow the one returned
 *
 * Return: as of export_ucx().
 */
int export_uccl(const struct export *e, __u16 *ports);

/**
 * export_extra() - ports that a library's rule may need, besides those that discovery walks
 * @library: whose
 * @ports: filled, EXPORT_MAX_EXTRA at most
 *
 * Return: how many.
 */
size_t export_extra(enum export_for library, __u16 *ports);

/**
 * export_expected() - load of the fullest path when each queue pair takes any path
 * @paths: of equal probability
 * @n: queue pairs
 *
 * Return: the expected value, in units of the mean; at least 1.
 */
double export_expected(unsigned int paths, unsigned int n);

#endif /* ROCESTEER_LIB_EXPORT_H */
