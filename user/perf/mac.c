// SPDX-License-Identifier: GPL-2.0
#include "mac.h"

#include <endian.h>
#include <string.h>

static __u64 rotate(__u64 x, int by)
{
	return x << by | x >> (64 - by);
}

static void rounds(__u64 v[4], int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static __u64 word(const void *data)
{
	__u64 x;

	memcpy(&x, data, sizeof(x));
	return le64toh(x);
}

static void take(struct mac *mac, __u64 x)
{
	mac->v[3] ^= x;
	rounds(mac->v, 2);
	mac->v[0] ^= x;
}

void mac_begin(struct mac *mac, const __u8 key[MAC_KEY])
{
	__u64 k0 = word(key), k1 = word(key + 8);

	*mac = (struct mac) {
		.v = {
			k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
			k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573,
		},
	};
}

void mac_add(struct mac *mac, const void *data, size_t length)
{
	const char *at = data, *end = at + length / 8 * 8;

	for (; at < end; at += 8)
		take(mac, word(at));
	mac->length += length;
}

__u64 mac_end(struct mac *mac, const void *data, size_t length)
{
	size_t whole = length / 8 * 8;
	__u8 last[8] = {};

	mac_add(mac, data, whole);
	mac->length += length - whole;
	if (length > whole)
		memcpy(last, (const char *)data + whole, length - whole);
	last[7] = mac->length;
	take(mac, word(last));
	mac->v[2] ^= 0xff;
	rounds(mac->v, 4);
	return mac->v[0] ^ mac->v[1] ^ mac->v[2] ^ mac->v[3];
}
