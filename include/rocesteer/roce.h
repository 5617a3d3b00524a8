/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Headers of RoCE v2 packets: IB spec vol. 1, 9.2 (BTH), 9.3 (AETH), annex A17 (RoCE v2).
 * Neither BPF nor user space can include the kernel's rdma/ib_hdrs.h.
 */
#ifndef ROCESTEER_ROCE_H
#define ROCESTEER_ROCE_H

#include <linux/types.h>

/* Base Transport Header, follows the UDP header */
struct rocesteer_bth {
	__u8 opcode;
	__u8 flags;		/* solicited, migration, pad count, version */
	__be16 pkey;
	__be32 dqpn;		/* FECN, BECN, resv6; 24-bit QPN */
	__be32 apsn;		/* AckReq, resv7, 24-bit PSN */
};

/* RDMA Extended Transport Header, follows the BTH of WRITE and READ requests */
struct rocesteer_reth {
	__be32 va[2];
	__be32 rkey;
	__be32 length;
};

#define ROCESTEER_BTH_TVER	0x0f	/* in flags, 0 is the only version */
#define ROCESTEER_QPN_MASK	0xffffff
#define ROCESTEER_PSN_MASK	0xffffff
#define ROCESTEER_ICRC_SIZE	4

/* Serial number arithmetic, RFC 1982: how far PSN @a is ahead of @b. */
static inline __s32 rocesteer_psn_diff(__u32 a, __u32 b)
{
	return (__s32)((a - b) << 8) >> 8;
}

/*
 * Reserved bits of the BTH, sent as zero and ignored on receipt according to the IB spec:
 * resv6 of dqpn, masked in the ICRC, and resv7 of apsn, covered by the ICRC. The module
 * parameters bth_paths and bth_reseq select the bits in use. ROCESTEER_BTH_PATHS and
 * ROCESTEER_BTH_RESEQ are their defaults.
 *
 * In a packet of a flow, bth_paths is the number of paths of the flow, less one: 0 for a
 * whole flow. In an acknowledgment, the highest and the lowest bit are set if the sender of the
 * acknowledgment resequences what it receives; the others by rocesteer_bth_late(). If peers
 * disagree on the bits: missing bits disable splitting, extra bits overstate the number of paths.
 *
 * In a READ request, bth_reseq is set if the requester resequences the responses.
 */
#define ROCESTEER_BTH_SHIFT	24
#define ROCESTEER_BTH_RESV6	0x3fu
#define ROCESTEER_BTH_PATHS	0x3fu
#define ROCESTEER_BTH_RESV7	0x7fu
#define ROCESTEER_BTH_RESEQ	0x40u

/* Encode 1 + @more paths in the bits @bits of dqpn. */
static inline __u32 rocesteer_bth_paths(__u32 bits, __u32 more)
{
	return (more * (bits & -bits) & bits) << ROCESTEER_BTH_SHIFT;
}

/* The largest @more that @bits can encode. */
static inline __u32 rocesteer_bth_paths_most(__u32 bits)
{
	return bits / (bits & -bits);
}

/* The largest @late that rocesteer_bth_late() can encode. */
#define ROCESTEER_BTH_LATE_MAX	15

/*
 * In the bits @bits of dqpn, say in an acknowledgment that its sender resequences, and which packet
 * was late: the one with the PSN @late - 1 before the acknowledgment's. The flow waits for the path
 * of this packet. In a NAK @late is 1 if all other paths have delivered packets behind the missing
 * one. 0: nothing was late; also where @bits are too few.
 */
static inline __u32 rocesteer_bth_late(__u32 bits, __u32 late)
{
	__u32 most = rocesteer_bth_paths_most(bits);
	__u32 value = ((most / 2 + 1) | 1) + 2 * (late - 1);

	return rocesteer_bth_paths(bits, late && value < most ? value : most);
}

/* Return: @late of rocesteer_bth_late(). @value: what the bits @bits of dqpn encode. */
static inline __u32 rocesteer_bth_read_late(__u32 bits, __u32 value)
{
	__u32 most = rocesteer_bth_paths_most(bits), first = (most / 2 + 1) | 1;

	return value >= first && value < most ? (value - first) / 2 + 1 : 0;
}

/*
 * Queue pair numbers from here on are those of groups of NetReduce, see kmod/reduce/packet.h.
 * Flows to them are whole: a switch that sums takes packets out of order for losses.
 */
#define ROCESTEER_QPN_REDUCE	0xc00000u

/* Opcodes: bits 7..5 are the transport service */
#define ROCESTEER_OP_SERVICE	0xe0
#define ROCESTEER_OP_RC		0x00
#define ROCESTEER_OP_RC_WRITE_FIRST 0x06	/* has a RETH */
#define ROCESTEER_OP_RC_WRITE_LAST_IMM 0x09	/* last one without a RETH */
#define ROCESTEER_OP_RC_WRITE_ONLY 0x0a		/* has a RETH */
#define ROCESTEER_OP_RC_WRITE_ONLY_IMM 0x0b	/* has a RETH */
#define ROCESTEER_OP_RC_READ	0x0c	/* READ request */
#define ROCESTEER_OP_RC_RESPONSE 0x0d	/* responses: up to ATOMIC_ACK */
#define ROCESTEER_OP_RC_READ_LAST 0x0f
#define ROCESTEER_OP_RC_READ_ONLY 0x10
#define ROCESTEER_OP_RC_ACK	0x11
#define ROCESTEER_OP_RC_ATOMIC_ACK 0x12
#define ROCESTEER_OP_CNP	0x81

/*
 * Bit mask of RC requests that need a response of their own: READ 0x0c, CmpSwap 0x13,
 * FetchAdd 0x14, FLUSH 0x1c, ATOMIC WRITE 0x1d.
 */
#define ROCESTEER_OPS_ANSWERED	0x30181000u

/* AETH syndrome: IB spec tables 44 and 45 */
#define ROCESTEER_AETH_TYPE	0x60
#define ROCESTEER_AETH_ACK	0x00
#define ROCESTEER_AETH_RNR	0x20
#define ROCESTEER_AETH_NAK	0x60
#define ROCESTEER_AETH_NAK_PSN	0x60	/* PSN sequence error */

/*
 * Local ACK timeout 14 (4.096 us << 14, about 67 ms), in nanoseconds: the shortest in
 * common use. A sender that gets no response goes back after this time.
 */
#define ROCESTEER_ACK_TIMEOUT_MIN	(4096u << 14)

/* Shortest RoCE v2 datagram: UDP header, BTH and ICRC */
#define ROCESTEER_MIN_UDP_LEN	(8 + sizeof(struct rocesteer_bth) + ROCESTEER_ICRC_SIZE)
/* Longest: 40 bytes of extended headers and 4096 bytes of payload */
#define ROCESTEER_MAX_UDP_LEN	(ROCESTEER_MIN_UDP_LEN + 40 + 4096)

_Static_assert(sizeof(struct rocesteer_bth) == 12, "IB spec 9.2");
_Static_assert(sizeof(struct rocesteer_reth) == 16, "IB spec 9.3.3");

#endif /* ROCESTEER_ROCE_H */
