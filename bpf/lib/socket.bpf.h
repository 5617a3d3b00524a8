/* SPDX-License-Identifier: GPL-2.0 */
/* Who sends a packet: any process can send what looks like RoCE v2. */
#ifndef SOCKET_BPF_H
#define SOCKET_BPF_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Of the kernel's struct sock and sk_buff what is read here. */
struct sock___sender {
	__u8 sk_kern_sock : 1;
	__u16 sk_protocol;
} __attribute__((preserve_access_index));

struct sk_buff___sender {
	struct sock___sender *sk;
} __attribute__((preserve_access_index));

extern void *bpf_cast_to_kern_ctx(void *obj) __ksym;

/*
 * Is it of a UDP socket of user space? Those of rxe are the kernel's. Raw and packet
 * sockets need CAP_NET_RAW; what is forwarded has no socket.
 */
static __always_inline bool is_user(struct __sk_buff *skb)
{
	struct sk_buff___sender *kernel = bpf_cast_to_kern_ctx(skb);
	struct sock___sender *sk = kernel->sk;
	__u64 bits;

	if (!sk || sk->sk_protocol != IPPROTO_UDP)
		return false;
	/* BPF_CORE_READ_BITFIELD() would look how many bytes it is in. */
	bits = *((__u8 *)sk + __CORE_RELO(sk, sk_kern_sock, BYTE_OFFSET));
	return !(bits << __CORE_RELO(sk, sk_kern_sock, LSHIFT_U64) >> 63);
}

#endif /* SOCKET_BPF_H */
