/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ICMP errors about RoCE v2 packets of this network namespace, whoever sent these: what routers
 * quote of a packet. Anybody can forge an error.
 */
#ifndef ROCESTEER_LIB_QUOTE_H
#define ROCESTEER_LIB_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/**
 * enum quote_kind - why a router did not forward the packet
 * @QUOTE_UNREACHABLE: it has no way to the peer, or may not use it
 * @QUOTE_EXPIRED: the hop limit ended there
 */
enum quote_kind {
	QUOTE_UNREACHABLE,
	QUOTE_EXPIRED,
};

/**
 * struct quote - a packet, by the error about it
 * @kind: why it was not forwarded
 * @router: sender of the error; set by quote_receive()
 * @source: source address
 * @peer: destination address
 * @sport: UDP source port, network byte order
 * @has_bth: the quote is long enough for @dqpn and @psn
 * @dqpn: destination queue pair
 * @psn: PSN
 */
struct quote {
	enum quote_kind kind;
	__u8 router[16];
	__u8 source[16];
	__u8 peer[16];
	__be16 sport;
	bool has_bth;
	__u32 dqpn;
	__u32 psn;
};

/*
 * Read an ICMP packet from the IPv4 header on, or an ICMPv6 packet. Return: true for an error of
 * a router about a RoCE v2 packet. The host itself refuses protocols and ports.
 */
bool quote_read_v4(const __u8 *data, size_t len, struct quote *quote);
bool quote_read_v6(const __u8 *data, size_t len, struct quote *quote);

/* A raw socket, not blocking, which gets no other kind. Return: it, or a negative errno. */
int quote_open(bool v4, enum quote_kind kind);

/* The next quote. Return: 1; 0: an ICMP packet that is none; -EAGAIN; another negative errno. */
int quote_receive(int fd, bool v4, struct quote *quote);

#endif /* ROCESTEER_LIB_QUOTE_H */
