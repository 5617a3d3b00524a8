/* SPDX-License-Identifier: GPL-2.0 */
/* Hashes of switches, for tests of who learns them */
#ifndef ROCESTEER_HASH_MODELS_H
#define ROCESTEER_HASH_MODELS_H

#include <stdbool.h>
#include <linux/types.h>

enum family { CRC16, CRC32_LOW, CRC32_HIGH, XOR16, AFFINE, JHASH, FAMILIES };

/**
 * struct fabric - a leaf that chooses next hops
 * @family: hash
 * @seed: of the hash
 * @offset: the hash is rotated by these bits
 * @next_hops: number of next hops; the hash modulo this
 * @shuffle: seed of a table of 256 buckets, or 0
 * @macro: a function for each of four classes of addresses
 * @order: the order of next hops differs between destination leaves
 * @qpn: the hash takes the destination queue pair as well
 * @products: of which it takes the products of neighbouring bits
 * @silent: next hop that does not answer, or -1
 * @loss: answers of 1000 that are lost
 */
struct fabric {
	enum family family;
	__u32 seed;
	unsigned int offset;
	unsigned int next_hops;
	__u32 shuffle;
	bool macro;
	bool order;
	bool qpn;
	bool products;
	int silent;
	unsigned int loss;
};

/* A random fabric with so many next hops */
struct fabric fabric_of(enum family family, unsigned int next_hops);

/* Random numbers, the same in each run */
__u32 draw(__u32 n);

/* The next hop of a packet from a host to @peer */
unsigned int fabric_next_hop(const struct fabric *fabric, __u32 peer, __u16 port, __u32 dqpn);

/* The same, if it answers. Return: whether it does. */
bool fabric_answers(const struct fabric *fabric, __u32 peer, __u16 port, __u32 dqpn,
		    __u8 router[16]);

#endif /* ROCESTEER_HASH_MODELS_H */
