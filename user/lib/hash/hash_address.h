/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The constants of peers, by their addresses: an affine hash adds the XOR of what each bit of the
 * address adds. Peers that are known span the addresses whose constants follow from theirs.
 */
#ifndef ROCESTEER_LIB_HASH_ADDRESS_H
#define ROCESTEER_LIB_HASH_ADDRESS_H

#include <stdbool.h>
#include <linux/types.h>

#define HASH_ADDRESS_BITS	128

/**
 * struct hash_address - constants of known peers
 * @nr_rows: number of @row
 * @known: there is a first peer
 * @first: its address
 * @constant: its constant
 * @row: differences to @first; the highest bit of each is in no later one
 */
struct hash_address {
	unsigned int nr_rows;
	bool known;
	__u8 first[16];
	__u8 constant;
	struct {
		__u8 differ[16];
		unsigned int bit;
		__u8 constant;
	} row[HASH_ADDRESS_BITS];
};

/* The constant of a peer, or -1 where it does not follow. */
int hash_address_predict(const struct hash_address *address, const __u8 addr[16]);

/* A peer's constant is known. One that follows from others changes nothing. */
void hash_address_add(struct hash_address *address, const __u8 addr[16], __u8 constant);

#endif /* ROCESTEER_LIB_HASH_ADDRESS_H */
