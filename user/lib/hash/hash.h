/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the hash of a switch makes of source ports, learnt from a few of them. Pure: who uses
 * this sends the probes.
 *
 * The hashes of most switches, CRC and XOR, are affine over GF(2): the XOR of two ports leads to
 * the XOR of two differences of the hash. If the number of next hops is a power of two, their
 * numbers are affine as well. So the next hops of 15 ports, and of some more until each next hop
 * has a number, give that of every port; and a single port gives that of every port to another
 * peer, since the peer's address only adds a constant.
 */
#ifndef ROCESTEER_LIB_HASH_H
#define ROCESTEER_LIB_HASH_H

#include "hash_address.h"
#include "hash_learn.h"
#include "hash_model.h"
#include "hash_peer.h"
#include "hash_tiers.h"

#endif /* ROCESTEER_LIB_HASH_H */
