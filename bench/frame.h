/* SPDX-License-Identifier: GPL-2.0 */
/* RoCE v2 frames over IPv4, of packets from the middle of a WRITE. */
#ifndef FRAME_H
#define FRAME_H

#include <arpa/inet.h>
#include <string.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include "../include/rocesteer/roce.h"
#include "../include/rocesteer/types.h"

#define FRAME_WRITE_MIDDLE	0x07

struct frame {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	struct rocesteer_bth bth;
	unsigned char payload[4096 + ROCESTEER_ICRC_SIZE];
} __attribute__((packed));

static inline __u16 frame_ip_sum(struct iphdr ip)
{
	__u16 word[10];
	__u32 sum = 0;
	int i;

	ip.check = 0;
	memcpy(word, &ip, sizeof(word));
	for (i = 0; i < 10; i++)
		sum += word[i];
	sum = (sum >> 16) + (sum & 0xffff);
	return ~(sum + (sum >> 16));
}

/*
 * From MAC address 04:04:04:04:04:04 to 02:02:02:02:02:02, queue pair 0, without an ICRC.
 * Return: length of the frame.
 */
static inline size_t frame_make(struct frame *f, int payload, const char *from, const char *to)
{
	size_t udp = sizeof(f->udp) + sizeof(f->bth) + payload + ROCESTEER_ICRC_SIZE;
	int i;

	memset(f, 0, sizeof(*f));
	memset(f->eth.h_dest, 2, ETH_ALEN);
	memset(f->eth.h_source, 4, ETH_ALEN);
	f->eth.h_proto = htons(ETH_P_IP);
	f->ip.version = 4;
	f->ip.ihl = 5;
	f->ip.ttl = 64;
	f->ip.protocol = IPPROTO_UDP;
	f->ip.tot_len = htons(sizeof(f->ip) + udp);
	f->ip.saddr = inet_addr(from);
	f->ip.daddr = inet_addr(to);
	f->ip.check = frame_ip_sum(f->ip);
	f->udp.source = htons(ROCESTEER_SPORT_MIN);
	f->udp.dest = htons(ROCESTEER_ROCE_PORT);
	f->udp.len = htons(udp);
	f->bth.opcode = FRAME_WRITE_MIDDLE;
	f->bth.pkey = htons(0xffff);
	for (i = 0; i < payload; i++)
		f->payload[i] = 7 * i + 3;
	return sizeof(f->eth) + sizeof(f->ip) + udp;
}

#endif /* FRAME_H */
