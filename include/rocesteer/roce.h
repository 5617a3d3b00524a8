/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of a RoCE v2 packet that rocesteer reads. IB spec vol. 1, 9.2
 * (BTH), 9.3 (AETH), annex A17 (RoCE v2). The kernel's include/rdma/ib_hdrs.h
 * has the same facts but neither BPF nor user space can include it.
 */
#ifndef ROCESTEER_ROCE_H
#define ROCESTEER_ROCE_H

#include <linux/types.h>

/* Base Transport Header, right behind the UDP header. */
struct rocesteer_bth {
	__u8 opcode;
	__u8 flags;		/* solicited, migration, pad count, version */
	__be16 pkey;
	__be32 dqpn;		/* FECN, BECN, resv6; 24-bit QPN */
	__be32 apsn;		/* AckReq, resv7, 24-bit PSN */
};

/* RDMA Extended Transport Header of WRITE and READ requests, behind the BTH. */
struct rocesteer_reth {
	__be32 va[2];
	__be32 rkey;
	__be32 length;
};

#define ROCESTEER_BTH_TVER	0x0f	/* in flags, 0 is the only version */
#define ROCESTEER_QPN_MASK	0xffffff
#define ROCESTEER_PSN_MASK	0xffffff
#define ROCESTEER_ICRC_SIZE	4

/* How far PSN @a is ahead of @b, by serial number arithmetic (RFC 1982). */
static inline __s32 rocesteer_psn_diff(__u32 a, __u32 b)
{
	return (__s32)((a - b) << 8) >> 8;
}

/*
 * Bits that the IB spec has sent as zero and ignored when received: six of dqpn, resv6,
 * masked in the ICRC; seven of apsn, resv7, which the ICRC covers. The module's
 * parameters bth_paths and bth_reseq say which are used, counted from the shift:
 * here are all of them, and the default.
 *
 * By bth_paths, side by side: the number of paths, less one, that the sender deals the
 * flow's packets to. So it is zero where nobody deals. In an acknowledgment, which is
 * not dealt: all are set where its sender restores the order of what it receives.
 * So of peers that have not the same bits, one that misses some splits nothing, and
 * one that has more of them is told of too many paths, never of too few.
 */
#define ROCESTEER_BTH_SHIFT	24
#define ROCESTEER_BTH_RESV6	0x3fu
#define ROCESTEER_BTH_PATHS	0x3fu

/* One bit: the sender of this READ request restores the order of what answers it. */
#define ROCESTEER_BTH_RESV7	0x7fu
#define ROCESTEER_BTH_RESEQ	0x40u

/* What says in dqpn, by the bits @bits, that there are @more paths than one. */
static inline __u32 rocesteer_bth_paths(__u32 bits, __u32 more)
{
	return (more * (bits & -bits) & bits) << ROCESTEER_BTH_SHIFT;
}

/* Of how many more they can say so. */
static inline __u32 rocesteer_bth_paths_most(__u32 bits)
{
	return bits / (bits & -bits);
}

/* Opcodes: bits 7..5 are the transport service, RC is 0. */
#define ROCESTEER_OP_SERVICE	0xe0
#define ROCESTEER_OP_RC		0x00
#define ROCESTEER_OP_RC_WRITE_FIRST 0x06	/* has a RETH */
#define ROCESTEER_OP_RC_WRITE_LAST_IMM 0x09	/* to here the rest, without */
#define ROCESTEER_OP_RC_WRITE_ONLY 0x0a		/* has a RETH, as has the next */
#define ROCESTEER_OP_RC_WRITE_ONLY_IMM 0x0b
#define ROCESTEER_OP_RC_READ	0x0c	/* READ request */
#define ROCESTEER_OP_RC_RESPONSE 0x0d	/* to ATOMIC_ACK: no requests */
#define ROCESTEER_OP_RC_READ_LAST 0x0f
#define ROCESTEER_OP_RC_READ_ONLY 0x10
#define ROCESTEER_OP_RC_ACK	0x11
#define ROCESTEER_OP_RC_ATOMIC_ACK 0x12
#define ROCESTEER_OP_CNP	0x81

/*
 * RC requests that an acknowledgment of later ones does not answer, as bits: READ
 * 0x0c, CmpSwap 0x13, FetchAdd 0x14; of the memory placement extensions FLUSH 0x1c
 * and ATOMIC WRITE 0x1d.
 */
#define ROCESTEER_OPS_ANSWERED	0x30181000u

/* AETH syndrome, its first byte: IB spec table 44 and 45. */
#define ROCESTEER_AETH_TYPE	0x60
#define ROCESTEER_AETH_ACK	0x00
#define ROCESTEER_AETH_RNR	0x20
#define ROCESTEER_AETH_NAK	0x60
#define ROCESTEER_AETH_NAK_PSN	0x60	/* NAK with code 0, PSN sequence error */

/* UDP payload no shorter than this can be RoCE v2: BTH and ICRC. */
#define ROCESTEER_MIN_UDP_LEN	(8 + sizeof(struct rocesteer_bth) + ROCESTEER_ICRC_SIZE)
/* The longest: GRH-sized room for extended headers, 4096 bytes payload. */
#define ROCESTEER_MAX_UDP_LEN	(ROCESTEER_MIN_UDP_LEN + 40 + 4096)

_Static_assert(sizeof(struct rocesteer_bth) == 12, "IB spec 9.2");
_Static_assert(sizeof(struct rocesteer_reth) == 16, "IB spec 9.3.3");

#endif /* ROCESTEER_ROCE_H */
