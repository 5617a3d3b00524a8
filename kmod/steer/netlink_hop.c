// SPDX-License-Identifier: GPL-2.0
/* The request for a hop limit */
#include "hop.h"
#include "netlink-gen.h"
#include "netlink_priv.h"

int rocesteer_nl_hop_limit_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_A_HOP_LIMIT_LIMIT))
		return -EINVAL;
	return rocesteer_hop_set(genl_info_net(info), info->snd_portid,
				 nla_get_u32(info->attrs[ROCESTEER_A_HOP_LIMIT_LIMIT]),
				 info->extack);
}
