/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One probe: a UDP packet to the RoCE port with a flow's own addresses and
 * source port, that a router on the way drops for its TTL and answers with
 * ICMP time exceeded. Socket, packet and answer; no policy.
 */
#ifndef ROCESTEER_LIB_PROBE_H
#define ROCESTEER_LIB_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "base/base.h"

#define PROBE_UDP_HEADER	8
#define PROBE_MAX		(PROBE_UDP_HEADER + 44)

/**
 * enum probe_kind - what a probe is for
 * @PROBE_PATH: which router is at the hop that tells paths apart
 * @PROBE_LEAF: by which address does the leaf of the peer answer
 * @PROBE_NEAR: is the peer itself at that hop? To a port that nobody listens on
 * @PROBE_QPN: as PROBE_PATH, of a packet to a certain queue pair
 * @PROBE_QPN_LEAF: as PROBE_LEAF, of the same packet
 * @PROBE_BEFORE: which router is one hop before
 * @PROBE_PEER: is the peer itself where its leaf should be? As PROBE_NEAR
 *
 * An answer may quote no more than the UDP header: the kinds differ in length.
 */
enum probe_kind {
	PROBE_PATH,
	PROBE_LEAF,
	PROBE_NEAR,
	PROBE_QPN,
	PROBE_QPN_LEAF,
	PROBE_BEFORE,
	PROBE_PEER,
};

/**
 * probe_ttl() - where a probe ends
 * @kind: what for
 * @hop: distance of the routers that tell paths to the peer apart
 * @leaf_hop: distance of the leaf of the peer
 *
 * Return: its TTL.
 */
unsigned int probe_ttl(enum probe_kind kind, unsigned int hop, unsigned int leaf_hop);

/**
 * struct probe_socket - a raw socket for one source address
 * @fd: the socket
 * @source: its address
 */
struct probe_socket {
	int fd;
	__u8 source[16];
};

/**
 * struct probe_packet - a packet to send
 * @peer: destination
 * @ttl: hops it lives
 * @len: bytes of @data
 * @data: UDP header and payload
 */
struct probe_packet {
	__u8 peer[16];
	unsigned int ttl;
	size_t len;
	__u8 data[PROBE_MAX];
};

enum probe_answer_type {
	PROBE_TIME_EXCEEDED,
	PROBE_PORT_UNREACHABLE,
	PROBE_UNREACHABLE,
};

/**
 * struct probe_answer - an ICMP error for one of our packets
 * @type: which
 * @from: who sent it
 * @peer: destination of the packet
 * @len: bytes of @quote, at least PROBE_UDP_HEADER
 * @quote: what the answer quotes of the packet, from its UDP header on
 */
struct probe_answer {
	enum probe_answer_type type;
	__u8 from[16];
	__u8 peer[16];
	size_t len;
	__u8 quote[PROBE_MAX];
};

/**
 * enum probe_match - how an answer fits a packet
 * @PROBE_OTHER: it answers another packet
 * @PROBE_SHORT: its quote fits, but ends before the cookie: to forge such an answer,
 *	others have to guess 16 bits only
 * @PROBE_OURS: its quote fits, with the cookie
 */
enum probe_match {
	PROBE_OTHER,
	PROBE_SHORT,
	PROBE_OURS,
};

/**
 * probe_open() - open a socket
 * @sock: filled; to be closed by probe_close()
 * @device: its packets leave by this device; answers come by any
 * @source: with this address
 * @err: filled on failure: "permission", "no-device", "other-host"
 *
 * Return: 0 or a negative errno.
 */
int probe_open(struct probe_socket *sock, const char *device,
	       const __u8 source[16], struct err *err);

/**
 * probe_source_check() - check that a source address is one of this host
 * @device: the packets leave by this device
 * @source: address
 * @err: filled where it is not: "other-host"
 *
 * Return: 0 or a negative errno.
 */
int probe_source_check(const char *device, const __u8 source[16], struct err *err);

/* The same, without the reason. */
bool probe_source_is_own(const char *device, const __u8 source[16]);

void probe_close(struct probe_socket *sock);

/**
 * probe_build() - make a packet
 * @packet: filled
 * @sock: it will be sent on
 * @peer: destination
 * @kind: what for
 * @ttl: hops it lives
 * @port: UDP source port, host order
 * @dqpn: destination queue pair number, which some switches hash
 * @cookie: random, by which an answer to this packet is known
 */
void probe_build(struct probe_packet *packet, const struct probe_socket *sock,
		 const __u8 peer[16], enum probe_kind kind, unsigned int ttl,
		 __u16 port, __u32 dqpn, __u64 cookie);

/* Send a packet. Return: 0 or a negative errno. */
int probe_send(const struct probe_socket *sock, const struct probe_packet *packet);

/**
 * probe_receive() - take one answer
 * @sock: socket
 * @answer: filled
 *
 * Return: 0; -EAGAIN when there is none; -ENOMSG: something else was there, go
 * on; another negative errno.
 */
int probe_receive(const struct probe_socket *sock, struct probe_answer *answer);

/* Compare an answer with a packet. */
enum probe_match probe_match(const struct probe_packet *packet, const struct probe_answer *answer);

#endif /* ROCESTEER_LIB_PROBE_H */
