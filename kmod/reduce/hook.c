// SPDX-License-Identifier: GPL-2.0
/*
 * Netfilter hooks. On a bridge at PRE_ROUTING: at FORWARD a bridge that floods passes clones
 * of a packet, one for each port. On a router at FORWARD, after routing. A packet that has
 * waited continues with okfn(), so packet sockets and TC programs at ingress see it once.
 * A box beside the switches receives packets at LOCAL_IN, and sends them as its own.
 * The hooks come last: what other hooks drop is not summed.
 *
 * A namespace has the hooks from its first group on.
 */
#include <linux/netfilter.h>
#include <linux/netfilter_bridge.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netlink.h>

#include "hook.h"
#include "net.h"
#include "packet.h"
#include "receive.h"

static noinline unsigned int reduce_hook_closer(struct reduce_net *rn, struct sk_buff *skb,
						const struct nf_hook_state *state)
{
	u32 dqpn = reduce_packet_virtual(skb);

	return dqpn ? reduce_receive(rn, dqpn, skb, state) : NF_ACCEPT;
}

/* @priv is the struct reduce_net of the namespace. */
static unsigned int reduce_hook(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	if (!reduce_packet_maybe_virtual(skb))
		return NF_ACCEPT;
	return reduce_hook_closer(priv, skb, state);
}

static const struct nf_hook_ops hook_ops[] = {
	{
		.hook = reduce_hook,
		.pf = NFPROTO_BRIDGE,
		.hooknum = NF_BR_PRE_ROUTING,
		.priority = NF_BR_PRI_LAST,
	},
	{
		.hook = reduce_hook,
		.pf = NFPROTO_INET,
		.hooknum = NF_INET_FORWARD,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = reduce_hook,
		.pf = NFPROTO_INET,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
};

static_assert(ARRAY_SIZE(hook_ops) == ARRAY_SIZE(((struct reduce_net *)NULL)->hooks));

int reduce_hook_get(struct reduce_net *rn, struct netlink_ext_ack *extack)
{
	size_t i;
	int err;

	lockdep_assert_held(&rn->conf);
	if (rn->hooked)
		return 0;
	if (!IS_ENABLED(CONFIG_NETFILTER_FAMILY_BRIDGE)) {
		NL_SET_ERR_MSG(extack,
			       "The kernel has no hooks in bridges (CONFIG_NF_TABLES_BRIDGE)");
		return -EOPNOTSUPP;
	}
	for (i = 0; i < ARRAY_SIZE(hook_ops); i++) {
		rn->hooks[i] = hook_ops[i];
		rn->hooks[i].priv = rn;
	}
	err = nf_register_net_hooks(rn->net, rn->hooks, ARRAY_SIZE(rn->hooks));
	rn->hooked = !err;
	if (err)
		NL_SET_ERR_MSG(extack, "Cannot register netfilter hooks");
	return err;
}

void reduce_hook_end(struct reduce_net *rn)
{
	if (rn->hooked)
		nf_unregister_net_hooks(rn->net, rn->hooks, ARRAY_SIZE(rn->hooks));
}
