/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_RECEIVE_H
#define REDUCE_RECEIVE_H

#include "net.h"

struct nf_hook_state;
struct sk_buff;

/**
 * reduce_receive() - receive a packet to a virtual queue pair number
 * @rn: namespace
 * @dqpn: virtual queue pair number
 * @skb: packet
 * @state: state of the hook, whose okfn() sends the packet
 *
 * Context: RCU read-side critical section. Return: NF_DROP, NF_ACCEPT, or NF_STOLEN for a
 * packet of a group.
 */
unsigned int reduce_receive(struct reduce_net *rn, u32 dqpn, struct sk_buff *skb,
			    const struct nf_hook_state *state);

/* At unload: no packet begins to wait any more. Context: may sleep. */
void reduce_receive_stop(void);

#endif /* REDUCE_RECEIVE_H */
