/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_KFUNC_H
#define ROCESTEER_KFUNC_H

#include <linux/types.h>

struct __sk_buff;
struct rocesteer_flow_key;

s64 bpf_rocesteer_flow_job(struct __sk_buff *ctx,
			   const struct rocesteer_flow_key *key, u32 key__sz);
s64 bpf_rocesteer_flow_dqpn(struct __sk_buff *ctx,
			    const struct rocesteer_flow_key *key, u32 key__sz);
s64 bpf_rocesteer_flow_answers(struct __sk_buff *ctx,
			       const struct rocesteer_flow_key *key, u32 key__sz);

int rocesteer_kfunc_register(void);

#endif /* ROCESTEER_KFUNC_H */
