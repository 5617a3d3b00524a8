/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_RECEIVE_H
#define REDUCE_RECEIVE_H

#include "net.h"

struct nf_hook_state;
struct sk_buff;

/*
 * Receive a packet to a virtual queue pair number; okfn() of @state sends it later. RCU read-side
 * critical section. Return: NF_DROP, NF_ACCEPT, or NF_STOLEN for a packet of a group.
 */
unsigned int reduce_receive(struct reduce_net *rn, u32 dqpn, struct sk_buff *skb,
			    const struct nf_hook_state *state);

/* At unload: no packet begins to wait any more. Context: may sleep. */
void reduce_receive_stop(void);

#endif /* REDUCE_RECEIVE_H */
