/* SPDX-License-Identifier: GPL-2.0 */
/* The tables, packets and plans of the files flows*.c. */
#ifndef FLOWS_H
#define FLOWS_H

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include "tables.h"
#include "../../include/rocesteer/roce.h"
#include "../../include/rocesteer/set.h"
#include "../../include/rocesteer/stats.h"

#define FAILED		(-1)	/* no path: the packet left as it came */

#define WRITE_MIDDLE	0x07
#define READ_REQUEST	0x0c
#define READ_MIDDLE	0x0e

#define SOURCE	{ [10] = 0xff, [11] = 0xff }	/* 0.0.0.0 */

struct frame {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	struct rocesteer_bth bth;
	__u8 payload[64];
	__u32 icrc;
} __attribute__((packed));

extern const __u8 leaf[16], source[16];
extern struct rocesteer_bpf *skel;
extern __u8 host;		/* last octet of the address that packets go to */
extern struct frame out;	/* the last packet, as it left */
extern struct rocesteer_event last_event;

unsigned int take_events(void);
struct rocesteer_flow_key flow_key(__u32 dqpn);
struct frame frame_of(__u32 dqpn, __u8 opcode, __u32 psn);
__u32 udp_sum(const struct frame *f);
int forward_packet(__u32 from, __u32 dqpn, __u8 opcode, __u32 psn);
int send_packet(__u32 dqpn, __u8 opcode, __u32 psn);
struct rocesteer_flow_path flow_entry(__u32 dqpn);
struct rocesteer_group_key group_key(void);
struct rocesteer_group group_entry(void);
void begin_table(__u8 reseq, __u32 nr_flows, __u64 sweep_ns, __u32 bth_paths);
void begin(__u8 reseq);
void begin_job(enum rocesteer_split split, enum rocesteer_deal deal);
int run(struct bpf_program *prog, const void *ctx, size_t size);
int set_pieces(__u32 dqpn, __u32 nr, const __u32 *packets);
int set_piece(__u32 dqpn, __u16 path, __u16 sport);
void set_down(__u64 down);
__u64 verdicts(enum rocesteer_verdict verdict);
void send_many(__u32 dqpn, __u32 psn, int nr, int per_path[PATHS]);
__u64 now(void);

void flows_deal(void);
void flows_split(void);
void flows_detour(void);
void flows_table(void);
void flows_told(__u32 ifindex, __u32 qpn);

#endif /* FLOWS_H */
