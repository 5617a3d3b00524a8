/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow labels and the UDP source ports that drivers derive from them, as
 * rdma_flow_label_to_udp_sport() of the kernel's rdma/ib_verbs.h does.
 */
#ifndef ROCESTEER_LABEL_H
#define ROCESTEER_LABEL_H

#include "types.h"

/* A label has 20 bits: the lower 14 are the port's, the upper 6 fold into them. */
#define ROCESTEER_LABEL_MAX	0xfffffu
#define ROCESTEER_LABEL_LOW	0x3fffu
#define ROCESTEER_LABEL_HIGH	0xfc000u
#define ROCESTEER_LABEL_SHIFT	14

/**
 * rocesteer_label_of() - a flow label that yields a source port
 * @sport: host order, at least ROCESTEER_SPORT_MIN
 *
 * Never 0, for which drivers derive a port from the queue pair numbers: where
 * the lower bits would be 0, an upper one cancels a lower one.
 */
static inline __u32 rocesteer_label_of(__u16 sport)
{
	__u32 low = sport & ROCESTEER_LABEL_LOW;

	return low ? low : 1u << ROCESTEER_LABEL_SHIFT | 1;
}

/**
 * rocesteer_label_sport() - the source port that a flow label yields
 * @label: not 0
 *
 * Return: host order, at least ROCESTEER_SPORT_MIN.
 */
static inline __u16 rocesteer_label_sport(__u32 label)
{
	__u32 high = label & ROCESTEER_LABEL_HIGH;

	return ROCESTEER_SPORT_MIN |
	       ((label & ROCESTEER_LABEL_LOW) ^ high >> ROCESTEER_LABEL_SHIFT);
}

#endif /* ROCESTEER_LABEL_H */
