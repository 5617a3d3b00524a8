/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sender of a packet. Any process can send packets by UDP that look like RoCE v2, and
 * forwarded packets may come from anybody. Only rxe's own sockets are believed, and raw and
 * packet sockets, which need privileges here.
 */
#ifndef SOCKET_BPF_H
#define SOCKET_BPF_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "parse.bpf.h"

/* Members of the kernel's structs that are read here. */
struct net;

struct possible_net___sender {
	struct net *net;
} __attribute__((preserve_access_index));

struct sock_common___sender {
	struct possible_net___sender skc_net;
	struct {
		__s64 counter;
	} skc_cookie;
} __attribute__((preserve_access_index));

struct sock___sender {
	struct sock_common___sender __sk_common;
	__u8 sk_kern_sock : 1;
	__u16 sk_protocol;
} __attribute__((preserve_access_index));

struct net_device___sender {
	struct possible_net___sender nd_net;
} __attribute__((preserve_access_index));

struct sk_buff___sender {
	struct sock___sender *sk;
	struct net_device___sender *dev;
} __attribute__((preserve_access_index));

extern void *bpf_cast_to_kern_ctx(void *obj) __ksym;

/* The socket that sends a packet, or NULL. */
static __always_inline const struct sock___sender *packet_socket(struct __sk_buff *skb)
{
	struct sk_buff___sender *kernel = bpf_cast_to_kern_ctx(skb);

	return kernel->sk;
}

/* Return: whether the socket has the cookie @known. 0: none is known */
static __always_inline bool is_sender(const struct sock___sender *sk, __u64 known)
{
	return known && sk->__sk_common.skc_cookie.counter == (__s64)known;
}

/* Return: whether the socket with the cookie @known sends the packet. */
static __always_inline bool is_sent_by(struct __sk_buff *skb, __u64 known)
{
	const struct sock___sender *sk = packet_socket(skb);

	return sk && is_sender(sk, known);
}

/* Return: whether the kernel uses the socket by itself, as rxe does. */
static __always_inline bool is_kernels(const struct sock___sender *sk)
{
	__u32 bit = 63 - __CORE_RELO(sk, sk_kern_sock, LSHIFT_U64);
	const __u8 *unit = (__u8 *)sk +
			   __CORE_RELO(sk, sk_kern_sock, BYTE_OFFSET);

	/* A byte, however wide the bit field's type is: as on all little-endians. */
	return unit[bit / 8] >> bit % 8 & 1;
}

/**
 * check_sender() - whether the sender of a packet may make a flow
 * @skb: the packet, at egress
 *
 * A packet that was bridged keeps its socket, and is known by its ingress device.
 *
 * Return: CONTINUE, or the verdict on the packet.
 */
__noinline int check_sender(struct __sk_buff *skb)
{
	struct sk_buff___sender *kernel = bpf_cast_to_kern_ctx(skb);
	struct sock___sender *sk = kernel->sk;

	if (!sk || skb->ingress_ifindex)
		return ROCESTEER_VERDICT_FORWARDED;
	if (is_kernels(sk))
		return CONTINUE;
	if (sk->sk_protocol == IPPROTO_UDP)
		return ROCESTEER_VERDICT_USER;
	if (sk->__sk_common.skc_net.net != kernel->dev->nd_net.net)
		return ROCESTEER_VERDICT_FORWARDED;
	return CONTINUE;
}

#endif /* SOCKET_BPF_H */
