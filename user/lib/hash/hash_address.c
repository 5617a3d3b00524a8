// SPDX-License-Identifier: GPL-2.0
#include "base/base.h"

#include <string.h>

#include "hash_address.h"

static bool has_bit(const __u8 addr[16], unsigned int bit)
{
	return addr[bit / 8] >> (7 - bit % 8) & 1;
}

static void add(__u8 addr[16], const __u8 other[16])
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		addr[i] ^= other[i];
}

/* Take known differences from an address. Return: the constant of what was taken. */
static __u8 reduce(const struct hash_address *address, __u8 differ[16])
{
	__u8 constant = address->constant;
	unsigned int i;

	add(differ, address->first);
	for (i = 0; i < address->nr_rows; i++)
		if (has_bit(differ, address->row[i].bit)) {
			add(differ, address->row[i].differ);
			constant ^= address->row[i].constant;
		}
	return constant;
}

int hash_address_predict(const struct hash_address *address, const __u8 addr[16])
{
	__u8 differ[16], constant;

	if (!address->known)
		return -1;
	memcpy(differ, addr, 16);
	constant = reduce(address, differ);
	return addr_is_none(differ) ? constant : -1;
}

void hash_address_add(struct hash_address *address, const __u8 addr[16], __u8 constant)
{
	unsigned int bit = 0;
	__u8 differ[16];

	if (!address->known) {
		address->known = true;
		memcpy(address->first, addr, 16);
		address->constant = constant;
		return;
	}
	memcpy(differ, addr, 16);
	constant ^= reduce(address, differ);
	if (addr_is_none(differ))
		return;
	while (!has_bit(differ, bit))
		bit++;
	memcpy(address->row[address->nr_rows].differ, differ, 16);
	address->row[address->nr_rows].bit = bit;
	address->row[address->nr_rows++].constant = constant;
}
