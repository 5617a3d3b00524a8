/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which addresses are of one leaf. A leaf has an address for each host network and each spine,
 * and hosts see different ones of them: the first hop of one host, the leaf of its peer for
 * another, the entry of a path. Addresses that have to be of one leaf are joined. Pure.
 */
#ifndef ROCESTEER_LIB_REPORT_LEAVES_H
#define ROCESTEER_LIB_REPORT_LEAVES_H

#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

#include "base/base.h"

/* No leaf, or one that is not known */
#define REPORT_NO_LEAF		SIZE_MAX

/* Addresses of all leaves of a report, at most */
#define REPORT_ADDRESSES_MAX	65536

/**
 * struct report_leaves - addresses of leaves; all zero: none
 * @addresses: each with the smallest address of the same leaf that is known
 * @leaves: the smallest address of each leaf, ascending: report_leaves_number()
 * @nr: how many
 */
struct report_leaves {
	struct set addresses;
	const __u8 **leaves;
	size_t nr;
};

/**
 * report_leaves_join() - note that two addresses are of one leaf
 * @leaves: leaves
 * @a: an address, known or not
 * @b: another, or the same to add it alone
 *
 * Numbers that were given before are void.
 *
 * Return: 0; -E2BIG beyond REPORT_ADDRESSES_MAX; -ENOMEM.
 */
int report_leaves_join(struct report_leaves *leaves, const __u8 a[16], const __u8 b[16]);

/**
 * report_leaves_number() - number the leaves, in the order of their smallest address
 * @leaves: leaves
 *
 * The numbers do not depend on the order in which addresses were joined.
 *
 * Return: 0 or -ENOMEM.
 */
int report_leaves_number(struct report_leaves *leaves);

/* The number of the leaf with this address, or REPORT_NO_LEAF. */
size_t report_leaves_find(const struct report_leaves *leaves, const __u8 addr[16]);

/* Forget all. */
void report_leaves_clear(struct report_leaves *leaves);

#endif /* ROCESTEER_LIB_REPORT_LEAVES_H */
