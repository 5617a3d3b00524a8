/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow labels, and the UDP source ports that drivers derive from them, see
 * rdma_flow_label_to_udp_sport() in rdma/ib_verbs.h.
 */
#ifndef ROCESTEER_LABEL_H
#define ROCESTEER_LABEL_H

#include "types.h"

/* A label has 20 bits. The lower 14 are bits of the port, the upper 6 fold into them. */
#define ROCESTEER_LABEL_MAX	0xfffffu
#define ROCESTEER_LABEL_LOW	0x3fffu
#define ROCESTEER_LABEL_HIGH	0xfc000u
#define ROCESTEER_LABEL_SHIFT	14

/*
 * The flow label of source port @sport, host order, at least ROCESTEER_SPORT_MIN. Not 0, for
 * which drivers derive the port from the queue pair numbers: instead of lower bits 0, an
 * upper bit cancels a lower one.
 */
static inline __u32 rocesteer_label_of(__u16 sport)
{
	__u32 low = sport & ROCESTEER_LABEL_LOW;

	return low ? low : 1u << ROCESTEER_LABEL_SHIFT | 1;
}

/* The source port of flow label @label, not 0, in host order */
static inline __u16 rocesteer_label_sport(__u32 label)
{
	__u32 high = label & ROCESTEER_LABEL_HIGH;

	return ROCESTEER_SPORT_MIN |
	       ((label & ROCESTEER_LABEL_LOW) ^ high >> ROCESTEER_LABEL_SHIFT);
}

#endif /* ROCESTEER_LABEL_H */
