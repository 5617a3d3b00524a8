// SPDX-License-Identifier: GPL-2.0
#include "hash_models.h"

#include <string.h>

#include "base/base.h"

#define SOURCE	0x0a00c801
#define LENGTH	13		/* addresses, ports, protocol */
#define QPN	3

static __u64 state = 88172645463325252ull;

__u32 draw(__u32 n)
{
	return (xorshift64(&state) * 2685821657736338717ull >> 33) % n;
}

struct fabric fabric_of(enum family family, unsigned int next_hops)
{
	return (struct fabric) {
		.family = family, .seed = draw(0x7fffffff), .offset = draw(16),
		.next_hops = next_hops, .silent = -1,
	};
}

static void put(__u8 *to, __u32 value, unsigned int bytes)
{
	while (bytes--)
		*to++ = value >> (8 * bytes);
}

static unsigned int fill(const struct fabric *fabric, __u32 peer, __u16 port, __u32 dqpn,
			 __u8 key[LENGTH + QPN])
{
	put(key, SOURCE, 4);
	put(key + 4, peer, 4);
	key[8] = IPPROTO_UDP;
	put(key + 9, port, 2);
	put(key + 11, 4791, 2);
	put(key + LENGTH, fabric->products ? dqpn & (dqpn >> 1) : dqpn, QPN);
	return fabric->qpn ? LENGTH + QPN : LENGTH;
}

static __u32 crc16(__u32 crc, const __u8 *key, unsigned int n)
{
	unsigned int i, k;

	for (i = 0; i < n; i++) {
		crc ^= key[i] << 8;
		for (k = 0; k < 8; k++)
			crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
	}
	return crc;
}

static __u32 crc32(__u32 crc, const __u8 *key, unsigned int n)
{
	unsigned int i, k;

	for (i = 0; i < n; i++) {
		crc ^= key[i];
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

static __u32 xor16(__u32 hash, const __u8 *key, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		hash ^= key[i] << (i == 8 || (i - (i > 8)) % 2 ? 0 : 8);
	return hash;
}

/* A number of its own for each seed and each number */
static __u32 mix(__u32 seed, __u32 x)
{
	x += seed * 0x9e3779b9u;
	x = (x ^ x >> 16) * 0x85ebca6bu;
	x = (x ^ x >> 13) * 0xc2b2ae35u;
	return x ^ x >> 16;
}

/* A random column for each bit */
static __u32 affine(__u32 seed, const __u8 *key, unsigned int n)
{
	__u32 hash = seed;
	unsigned int i;

	for (i = 0; i < 8 * n; i++)
		if (key[i / 8] >> (7 - i % 8) & 1)
			hash ^= mix(seed, i + 1);
	return hash & 0xffff;
}

static __u32 jhash(__u32 seed, const __u8 *key, unsigned int n)
{
	__u32 hash = seed;
	unsigned int i;

	for (i = 0; i < n; i++)
		hash = mix(hash, key[i]);
	return hash & 0xffff;
}

static __u32 hash_of(const struct fabric *fabric, __u32 peer, const __u8 *key, unsigned int n)
{
	enum family family = fabric->family;
	__u32 seed = fabric->seed;

	if (fabric->macro) {
		__u32 class = mix(fabric->seed, peer) % 4;

		seed = mix(seed, class);
		family = class % 2 ? CRC16 : CRC32_LOW;
	}
	switch (family) {
	case CRC16:
		return crc16(seed & 0xffff, key, n);
	case CRC32_LOW:
		return crc32(seed, key, n) & 0xffff;
	case CRC32_HIGH:
		return crc32(seed, key, n) >> 16;
	case XOR16:
		return xor16(seed & 0xffff, key, n) & 0xffff;
	case AFFINE:
		return affine(seed, key, n);
	default:
		return jhash(seed, key, n);
	}
}

/* Number @at of 0..n-1 in an order by @seed */
static __u32 shuffled(__u32 seed, __u32 n, __u32 at)
{
	__u32 order[256];

	random_order(seed | 1, n, order);
	return order[at];
}

unsigned int fabric_next_hop(const struct fabric *fabric, __u32 peer, __u16 port, __u32 dqpn)
{
	__u8 key[LENGTH + QPN];
	unsigned int n = fill(fabric, peer, port, dqpn, key);
	__u32 hash = hash_of(fabric, peer, key, n);

	hash = (hash >> fabric->offset | hash << (16 - fabric->offset)) & 0xffff;
	if (fabric->shuffle)
		hash = shuffled(fabric->shuffle, 256, hash % 256);
	hash %= fabric->next_hops;
	return fabric->order ? shuffled(mix(fabric->seed, peer >> 8), fabric->next_hops, hash) :
			       hash;
}

bool fabric_answers(const struct fabric *fabric, __u32 peer, __u16 port, __u32 dqpn,
		    __u8 router[16])
{
	unsigned int next = fabric_next_hop(fabric, peer, port, dqpn);

	memset(router, 0, 16);
	if ((int)next == fabric->silent || draw(1000) < fabric->loss)
		return false;
	router[15] = next + 1;
	return true;
}
