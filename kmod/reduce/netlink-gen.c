// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rocesteer_reduce.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink-gen.h"

#include <uapi/linux/rocesteer_reduce.h>

/* Integer value ranges */
static const struct netlink_range_validation rocesteer_reduce_a_rank_qpn_range = {
	.max	= 16777215ULL,
};

static const struct netlink_range_validation rocesteer_reduce_a_rank_psn_range = {
	.max	= 16777215ULL,
};

static const struct netlink_range_validation rocesteer_reduce_a_rank_sender_qpn_range = {
	.max	= 16777215ULL,
};

/* Common nested types */
const struct nla_policy roce_reduce_rank_nl_policy[ROCESTEER_REDUCE_A_RANK_SENDER_QPN + 1] = {
	[ROCESTEER_REDUCE_A_RANK_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[ROCESTEER_REDUCE_A_RANK_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rocesteer_reduce_a_rank_qpn_range),
	[ROCESTEER_REDUCE_A_RANK_PSN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rocesteer_reduce_a_rank_psn_range),
	[ROCESTEER_REDUCE_A_RANK_VA] = { .type = NLA_UINT, },
	[ROCESTEER_REDUCE_A_RANK_LEAF] = { .type = NLA_U32, },
	[ROCESTEER_REDUCE_A_RANK_SENDER_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rocesteer_reduce_a_rank_sender_qpn_range),
};

/* ROCESTEER_REDUCE_CMD_GROUP_ADD - do */
static const struct nla_policy roce_reduce_group_add_nl_policy[ROCESTEER_REDUCE_A_GROUP_BOX + 1] = {
	[ROCESTEER_REDUCE_A_GROUP_ID] = NLA_POLICY_MAX(NLA_U32, 16383),
	[ROCESTEER_REDUCE_A_GROUP_TYPE] = NLA_POLICY_MAX(NLA_U32, 5),
	[ROCESTEER_REDUCE_A_GROUP_OP] = NLA_POLICY_MAX(NLA_U32, 2),
	[ROCESTEER_REDUCE_A_GROUP_MTU] = NLA_POLICY_RANGE(NLA_U32, 256, 4096),
	[ROCESTEER_REDUCE_A_GROUP_PACKETS] = NLA_POLICY_RANGE(NLA_U32, 1, 4096),
	[ROCESTEER_REDUCE_A_GROUP_WINDOW] = NLA_POLICY_RANGE(NLA_U32, 1, 4096),
	[ROCESTEER_REDUCE_A_GROUP_RANK] = NLA_POLICY_NESTED(roce_reduce_rank_nl_policy),
	[ROCESTEER_REDUCE_A_GROUP_ROLE] = NLA_POLICY_MAX(NLA_U32, 2),
	[ROCESTEER_REDUCE_A_GROUP_LEAF] = { .type = NLA_U32, },
	[ROCESTEER_REDUCE_A_GROUP_BOX] = NLA_POLICY_EXACT_LEN(16),
};

/* ROCESTEER_REDUCE_CMD_GROUP_DEL - do */
static const struct nla_policy roce_reduce_group_del_nl_policy[ROCESTEER_REDUCE_A_GROUP_ID + 1] = {
	[ROCESTEER_REDUCE_A_GROUP_ID] = NLA_POLICY_MAX(NLA_U32, 16383),
};

/* ROCESTEER_REDUCE_CMD_GROUP_GET - do */
static const struct nla_policy roce_reduce_group_get_nl_policy[ROCESTEER_REDUCE_A_GROUP_ID + 1] = {
	[ROCESTEER_REDUCE_A_GROUP_ID] = NLA_POLICY_MAX(NLA_U32, 16383),
};

/* ROCESTEER_REDUCE_CMD_GROUP_JOIN - do */
static const struct nla_policy roce_reduce_group_join_nl_policy[ROCESTEER_REDUCE_A_GROUP_BOX + 1] = {
	[ROCESTEER_REDUCE_A_GROUP_ID] = NLA_POLICY_MAX(NLA_U32, 16383),
	[ROCESTEER_REDUCE_A_GROUP_TYPE] = NLA_POLICY_MAX(NLA_U32, 5),
	[ROCESTEER_REDUCE_A_GROUP_OP] = NLA_POLICY_MAX(NLA_U32, 2),
	[ROCESTEER_REDUCE_A_GROUP_MTU] = NLA_POLICY_RANGE(NLA_U32, 256, 4096),
	[ROCESTEER_REDUCE_A_GROUP_PACKETS] = NLA_POLICY_RANGE(NLA_U32, 1, 4096),
	[ROCESTEER_REDUCE_A_GROUP_WINDOW] = NLA_POLICY_RANGE(NLA_U32, 1, 4096),
	[ROCESTEER_REDUCE_A_GROUP_RANK] = NLA_POLICY_NESTED(roce_reduce_rank_nl_policy),
	[ROCESTEER_REDUCE_A_GROUP_ROLE] = NLA_POLICY_MAX(NLA_U32, 2),
	[ROCESTEER_REDUCE_A_GROUP_LEAF] = { .type = NLA_U32, },
	[ROCESTEER_REDUCE_A_GROUP_BOX] = NLA_POLICY_EXACT_LEN(16),
};

/* Ops table for roce_reduce */
static const struct genl_split_ops roce_reduce_nl_ops[] = {
	{
		.cmd		= ROCESTEER_REDUCE_CMD_GROUP_ADD,
		.doit		= roce_reduce_nl_group_add_doit,
		.policy		= roce_reduce_group_add_nl_policy,
		.maxattr	= ROCESTEER_REDUCE_A_GROUP_BOX,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= ROCESTEER_REDUCE_CMD_GROUP_DEL,
		.doit		= roce_reduce_nl_group_del_doit,
		.policy		= roce_reduce_group_del_nl_policy,
		.maxattr	= ROCESTEER_REDUCE_A_GROUP_ID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= ROCESTEER_REDUCE_CMD_GROUP_GET,
		.doit		= roce_reduce_nl_group_get_doit,
		.policy		= roce_reduce_group_get_nl_policy,
		.maxattr	= ROCESTEER_REDUCE_A_GROUP_ID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= ROCESTEER_REDUCE_CMD_GROUP_GET,
		.start	= roce_reduce_nl_group_get_start,
		.dumpit	= roce_reduce_nl_group_get_dumpit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= ROCESTEER_REDUCE_CMD_STATS_GET,
		.doit	= roce_reduce_nl_stats_get_doit,
		.flags	= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= ROCESTEER_REDUCE_CMD_GROUP_JOIN,
		.doit		= roce_reduce_nl_group_join_doit,
		.policy		= roce_reduce_group_join_nl_policy,
		.maxattr	= ROCESTEER_REDUCE_A_GROUP_BOX,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group roce_reduce_nl_mcgrps[] = {
	[ROCE_REDUCE_NLGRP_EVENTS] = { "events", .flags = GENL_MCAST_CAP_NET_ADMIN, },
};

struct genl_family roce_reduce_nl_family __ro_after_init = {
	.name		= ROCESTEER_REDUCE_FAMILY_NAME,
	.version	= ROCESTEER_REDUCE_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= roce_reduce_nl_ops,
	.n_split_ops	= ARRAY_SIZE(roce_reduce_nl_ops),
	.mcgrps		= roce_reduce_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(roce_reduce_nl_mcgrps),
};
