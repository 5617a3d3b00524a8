/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_RECEIVE_H
#define REDUCE_RECEIVE_H

#include "net.h"

struct nf_hook_state;
struct sk_buff;

/**
 * reduce_receive() - take a packet that goes to a virtual queue pair number
 * @rn: namespace
 * @dqpn: that number
 * @skb: packet
 * @state: of the hook, whose okfn() the packet goes on by
 *
 * Context: RCU read side. Return: NF_DROP, or NF_STOLEN: the packet of a group.
 */
unsigned int reduce_receive(struct reduce_net *rn, u32 dqpn, struct sk_buff *skb,
			    const struct nf_hook_state *state);

/* The module goes: no packet begins to wait any more. Context: may sleep. */
void reduce_receive_stop(void);

#endif /* REDUCE_RECEIVE_H */
