/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Update of the ICRC for a new UDP source port, for the module, the BPF programs and user
 * space.
 *
 * The ICRC (IB spec 7.8.1, annex A17.3.3) is CRC-32 IEEE over the packet with its mutable
 * fields masked, stored little-endian. The source port is not masked. A CRC is affine:
 * the change of the CRC depends only on the changed bits and on the number of bytes that
 * follow, so
 *
 *	new ICRC = old ICRC ^ rocesteer_icrc_delta(v, K[udp_len / 4])
 *
 * with v = old port ^ new port, both as __be16 loaded on a little-endian CPU,
 * and K[] = x^(8 * (udp_len - 2)) mod P, bit-reflected: udp_len - 2 bytes
 * follow the port up to the end of the message, the ICRC itself standing for
 * the 32-bit shift of the remainder.
 */
#ifndef ROCESTEER_ICRC_H
#define ROCESTEER_ICRC_H

#include "roce.h"

#define ROCESTEER_CRC32_POLY	0xedb88320u	/* CRC-32 IEEE, reflected */

/* UDP lengths of RoCE v2 are multiples of 4: one word of K for each length */
#define ROCESTEER_ICRC_WORDS	(ROCESTEER_MAX_UDP_LEN / 4 + 1)

/* The products v * K of each four bits of v, for one UDP length: sixteen words, four times */
#define ROCESTEER_ICRC_TABLE	64

/* Multiply @a by x modulo the CRC polynomial. */
static inline __u32 rocesteer_crc32_shift(__u32 a)
{
	return (a >> 1) ^ (a & 1 ? ROCESTEER_CRC32_POLY : 0);
}

/**
 * rocesteer_icrc_init() - compute K
 * @k: ROCESTEER_ICRC_WORDS words
 *
 * k[0], for a UDP length of 0, is never used: x^-16 has no place here.
 */
static inline void rocesteer_icrc_init(__u32 *k)
{
	__u32 a = 0x80000000u;	/* x^0 */
	unsigned int i, bit;

	k[0] = 0;
	for (bit = 0; bit < 16; bit++)	/* UDP length 4: x^16 */
		a = rocesteer_crc32_shift(a);
	for (i = 1; i < ROCESTEER_ICRC_WORDS; i++) {
		k[i] = a;
		for (bit = 0; bit < 32; bit++)
			a = rocesteer_crc32_shift(a);
	}
}

/**
 * rocesteer_icrc_delta() - change of the ICRC for a change of source port
 * @v: old port ^ new port, both __be16 as loaded on a little-endian CPU
 * @k: K of the packet's UDP length
 *
 * The product v * k mod P by Horner's rule, lowest power last. Return: the
 * word to XOR into the ICRC loaded little-endian.
 */
static inline __u32 rocesteer_icrc_delta(__u16 v, __u32 k)
{
	__u32 a = 0;
	int i;

	/* Unrolled: a third fewer instructions to verify and to run. */
#pragma GCC unroll 16
	for (i = 0; i < 16; i++) {
		__u32 carry = a & 1, bit = (v >> i) & 1;

		/*
		 * Hide the range of both from clang. Otherwise clang uses branches,
		 * and the BPF verifier explores 2^32 paths.
		 */
		asm volatile("" : "+r"(carry));
		asm volatile("" : "+r"(bit));
		a = (a >> 1) ^ carry * ROCESTEER_CRC32_POLY ^ bit * k;
	}
	return a;
}

/**
 * rocesteer_icrc_tables() - compute the tables of all UDP lengths, in user space
 * @tables: ROCESTEER_ICRC_WORDS of them; the first is never used
 */
static inline void rocesteer_icrc_tables(__u32 (*tables)[ROCESTEER_ICRC_TABLE])
{
	__u32 k[ROCESTEER_ICRC_WORDS];
	unsigned int i, n;

	rocesteer_icrc_init(k);
	for (i = 0; i < ROCESTEER_ICRC_WORDS; i++)
		for (n = 0; n < ROCESTEER_ICRC_TABLE; n++)
			tables[i][n] = rocesteer_icrc_delta((n & 15) << (n / 16 * 4), k[i]);
}

/**
 * rocesteer_icrc_sum() - rocesteer_icrc_delta() by a table
 * @table: of the packet's UDP length
 * @v: old port ^ new port
 *
 * Return: the word to XOR into the ICRC loaded little-endian.
 */
static inline __u32 rocesteer_icrc_sum(const __u32 *table, __u16 v)
{
	const char *row = (const char *)table;

	/* By bytes: clang shifts each index twice. */
	return *(const __u32 *)(row + (v << 2 & 60)) ^ *(const __u32 *)(row + 64 + (v >> 2 & 60)) ^
	       *(const __u32 *)(row + 128 + (v >> 6 & 60)) ^
	       *(const __u32 *)(row + 192 + (v >> 10 & 60));
}

#endif /* ROCESTEER_ICRC_H */
