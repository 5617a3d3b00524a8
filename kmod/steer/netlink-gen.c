// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rocesteer.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink-gen.h"

#include <uapi/linux/rocesteer.h>

/* Integer value ranges */
static const struct netlink_range_validation rocesteer_a_flow_dqpn_range = {
	.max	= 16777215ULL,
};

/* ROCESTEER_CMD_JOB_ADD - do */
static const struct nla_policy rocesteer_job_add_nl_policy[ROCESTEER_A_JOB_RESEQUENCE + 1] = {
	[ROCESTEER_A_JOB_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCESTEER_A_JOB_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[ROCESTEER_A_JOB_CGROUP_ID] = NLA_POLICY_MIN(NLA_UINT, 1),
	[ROCESTEER_A_JOB_PID] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCESTEER_A_JOB_RESEQUENCE] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* ROCESTEER_CMD_JOB_DEL - do */
static const struct nla_policy rocesteer_job_del_nl_policy[ROCESTEER_A_JOB_ID + 1] = {
	[ROCESTEER_A_JOB_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* ROCESTEER_CMD_JOB_GET - do */
static const struct nla_policy rocesteer_job_get_nl_policy[ROCESTEER_A_JOB_ID + 1] = {
	[ROCESTEER_A_JOB_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* ROCESTEER_CMD_FLOW_ADD - do */
static const struct nla_policy rocesteer_flow_add_nl_policy[ROCESTEER_A_FLOW_JOB + 1] = {
	[ROCESTEER_A_FLOW_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCESTEER_A_FLOW_PEER] = NLA_POLICY_EXACT_LEN(16),
	[ROCESTEER_A_FLOW_DQPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rocesteer_a_flow_dqpn_range),
	[ROCESTEER_A_FLOW_JOB] = { .type = NLA_U32, },
};

/* ROCESTEER_CMD_FLOW_DEL - do */
static const struct nla_policy rocesteer_flow_del_nl_policy[ROCESTEER_A_FLOW_DQPN + 1] = {
	[ROCESTEER_A_FLOW_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCESTEER_A_FLOW_PEER] = NLA_POLICY_EXACT_LEN(16),
	[ROCESTEER_A_FLOW_DQPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rocesteer_a_flow_dqpn_range),
};

/* ROCESTEER_CMD_FLOW_GET - do */
static const struct nla_policy rocesteer_flow_get_nl_policy[ROCESTEER_A_FLOW_DQPN + 1] = {
	[ROCESTEER_A_FLOW_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCESTEER_A_FLOW_PEER] = NLA_POLICY_EXACT_LEN(16),
	[ROCESTEER_A_FLOW_DQPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rocesteer_a_flow_dqpn_range),
};

/* ROCESTEER_CMD_FLOW_ADOPT - do */
static const struct nla_policy rocesteer_flow_adopt_nl_policy[ROCESTEER_A_FLOW_SQPN + 1] = {
	[ROCESTEER_A_FLOW_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCESTEER_A_FLOW_SQPN] = { .type = NLA_U32, },
};

/* ROCESTEER_CMD_HOP_LIMIT_SET - do */
static const struct nla_policy rocesteer_hop_limit_set_nl_policy[ROCESTEER_A_HOP_LIMIT_LIMIT + 1] = {
	[ROCESTEER_A_HOP_LIMIT_LIMIT] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
};

/* Ops table for rocesteer */
static const struct genl_split_ops rocesteer_nl_ops[] = {
	{
		.cmd		= ROCESTEER_CMD_JOB_ADD,
		.doit		= rocesteer_nl_job_add_doit,
		.policy		= rocesteer_job_add_nl_policy,
		.maxattr	= ROCESTEER_A_JOB_RESEQUENCE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= ROCESTEER_CMD_JOB_DEL,
		.doit		= rocesteer_nl_job_del_doit,
		.policy		= rocesteer_job_del_nl_policy,
		.maxattr	= ROCESTEER_A_JOB_ID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= ROCESTEER_CMD_JOB_GET,
		.doit		= rocesteer_nl_job_get_doit,
		.policy		= rocesteer_job_get_nl_policy,
		.maxattr	= ROCESTEER_A_JOB_ID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= ROCESTEER_CMD_JOB_GET,
		.dumpit	= rocesteer_nl_job_get_dumpit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= ROCESTEER_CMD_FLOW_ADD,
		.doit		= rocesteer_nl_flow_add_doit,
		.policy		= rocesteer_flow_add_nl_policy,
		.maxattr	= ROCESTEER_A_FLOW_JOB,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= ROCESTEER_CMD_FLOW_DEL,
		.doit		= rocesteer_nl_flow_del_doit,
		.policy		= rocesteer_flow_del_nl_policy,
		.maxattr	= ROCESTEER_A_FLOW_DQPN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= ROCESTEER_CMD_FLOW_GET,
		.doit		= rocesteer_nl_flow_get_doit,
		.policy		= rocesteer_flow_get_nl_policy,
		.maxattr	= ROCESTEER_A_FLOW_DQPN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= ROCESTEER_CMD_FLOW_GET,
		.dumpit	= rocesteer_nl_flow_get_dumpit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= ROCESTEER_CMD_STATS_GET,
		.doit	= rocesteer_nl_stats_get_doit,
		.flags	= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= ROCESTEER_CMD_FLOW_ADOPT,
		.doit		= rocesteer_nl_flow_adopt_doit,
		.policy		= rocesteer_flow_adopt_nl_policy,
		.maxattr	= ROCESTEER_A_FLOW_SQPN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= ROCESTEER_CMD_HOP_LIMIT_SET,
		.doit		= rocesteer_nl_hop_limit_set_doit,
		.policy		= rocesteer_hop_limit_set_nl_policy,
		.maxattr	= ROCESTEER_A_HOP_LIMIT_LIMIT,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group rocesteer_nl_mcgrps[] = {
	[ROCESTEER_NLGRP_EVENTS] = { "events", .flags = GENL_MCAST_CAP_NET_ADMIN, },
};

struct genl_family rocesteer_nl_family __ro_after_init = {
	.name		= ROCESTEER_FAMILY_NAME,
	.version	= ROCESTEER_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= rocesteer_nl_ops,
	.n_split_ops	= ARRAY_SIZE(rocesteer_nl_ops),
	.mcgrps		= rocesteer_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(rocesteer_nl_mcgrps),
};
