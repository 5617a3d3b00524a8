// SPDX-License-Identifier: GPL-2.0
/*
 * Mark READ requests: the requester resequences the responses. The mark is a bit of the BTH,
 * which the ICRC covers.
 */
#include <linux/log2.h>
#include <linux/moduleparam.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/checksum.h>

#include <rocesteer/icrc.h>
#include <rocesteer/roce.h>

#include "reseq_mark.h"

/* User space passes it to the BPF programs. */
static unsigned int bth_reseq __ro_after_init = ROCESTEER_BTH_RESEQ;
module_param(bth_reseq, uint, 0444);
MODULE_PARM_DESC(bth_reseq,
		 "Bit of resv7 in the BTH that marks READ requests whose responses are resequenced; the same at all hosts (default: 0x40)");

/* A READ request has no payload: all have the same length. */
struct read_mark_packet {
	struct udphdr udp;
	struct rocesteer_bth bth;
	struct rocesteer_reth reth;
	__le32 icrc;
};

/* The bit in the upper half of apsn, and its change of the ICRC */
static __be16 read_mark_bit __ro_after_init;
static u32 read_mark_delta __ro_after_init;

int __init rocesteer_read_mark_init(void)
{
	/* See icrc.h, with apsn in place of the source port. */
	int bits = 8 * (sizeof(struct read_mark_packet) -
			offsetof(struct read_mark_packet, bth.apsn) -
			sizeof(read_mark_bit));
	u32 k = 0x80000000;

	if (bth_reseq & ~ROCESTEER_BTH_RESV7 || !is_power_of_2(bth_reseq)) {
		pr_err("bth_reseq=%#x: not one bit of %#x\n", bth_reseq, ROCESTEER_BTH_RESV7);
		return -EINVAL;
	}
	while (bits--)
		k = rocesteer_crc32_shift(k);
	read_mark_bit = htons(bth_reseq << ROCESTEER_BTH_SHIFT >> 16);
	read_mark_delta =
		rocesteer_icrc_delta(le16_to_cpu((__force __le16)read_mark_bit), k);
	return 0;
}

/**
 * rocesteer_read_mark_set() - mark a READ request
 * @skb: READ request as rxe sends it
 * @l4_off: offset of the UDP header from skb->data
 *
 * A packet that is cloned or not linear is left alone; its responses take one path.
 *
 * Context: Any; the caller owns @skb.
 */
void rocesteer_read_mark_set(struct sk_buff *skb, unsigned int l4_off)
{
	unsigned int len = l4_off + sizeof(struct read_mark_packet);
	struct read_mark_packet *h;
	__le32 icrc;
	__be16 *to;

	if (len > skb_headlen(skb) ||
	    (skb_cloned(skb) && !skb_clone_writable(skb, len)))
		return;
	h = (void *)skb->data + l4_off;
	to = (__be16 *)&h->bth.apsn;
	if (ntohs(h->udp.len) != sizeof(*h) || *to & read_mark_bit)
		return;

	icrc = h->icrc ^ cpu_to_le32(read_mark_delta);
	if (h->udp.check) {
		/* Neither changes a checksum that the device will complete. */
		inet_proto_csum_replace2(&h->udp.check, skb, *to,
					 *to | read_mark_bit, false);
		inet_proto_csum_replace4(&h->udp.check, skb,
					 (__force __be32)h->icrc,
					 (__force __be32)icrc, false);
		if (!h->udp.check && skb->ip_summed != CHECKSUM_PARTIAL)
			h->udp.check = CSUM_MANGLED_0;
	}
	h->icrc = icrc;
	*to |= read_mark_bit;
}
