// SPDX-License-Identifier: GPL-2.0
/* Changes by user space: load, join and unload groups. */
#include <linux/log2.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include "box.h"
#include "conf.h"
#include "emit.h"
#include "group.h"
#include "hook.h"
#include "net.h"
#include "packet.h"

static int conf_check_rank(const struct reduce_config *config, u32 i,
			   struct netlink_ext_ack *extack)
{
	const struct in6_addr *address = &config->rank[i].address;
	u32 k;

	if (ipv6_addr_any(address) || ipv6_addr_is_multicast(address) ||
	    ipv6_addr_v4mapped(address) != ipv6_addr_v4mapped(&config->rank[0].address)) {
		NL_SET_ERR_MSG_FMT(extack, "Rank %u: address is none, or of another family", i);
		return -EINVAL;
	}
	if (i && config->rank[i].leaf < config->rank[i - 1].leaf) {
		NL_SET_ERR_MSG_FMT(extack, "Rank %u: leaf %u is behind leaf %u", i,
				   config->rank[i].leaf, config->rank[i - 1].leaf);
		return -EINVAL;
	}
	if (config->rank[i].qpn >= REDUCE_VIRTUAL ||
	    config->rank[i].sender_qpn >= REDUCE_VIRTUAL) {
		NL_SET_ERR_MSG_FMT(extack, "Rank %u: queue pair 0x%x is a virtual one", i,
				   max(config->rank[i].qpn, config->rank[i].sender_qpn));
		return -EINVAL;
	}
	for (k = 0; config->joined && k < i; k++)
		if (ipv6_addr_equal(address, &config->rank[k].address) &&
		    config->rank[i].qpn == config->rank[k].qpn) {
			NL_SET_ERR_MSG_FMT(extack, "Ranks %u and %u have one queue pair", k, i);
			return -EINVAL;
		}
	return 0;
}

/* Leaves and a root form a tree; a single switch sums for ranks of any leaf. */
static int conf_check_role(const struct reduce_config *config, struct netlink_ext_ack *extack)
{
	u32 i;

	if (config->role == ROCESTEER_REDUCE_ROLE_ALONE)
		return 0;
	if (config->rank[0].leaf == config->rank[config->nr_ranks - 1].leaf) {
		NL_SET_ERR_MSG(extack, "All ranks are below one leaf: there is no root");
		return -EINVAL;
	}
	if (config->role == ROCESTEER_REDUCE_ROLE_ROOT)
		return 0;
	for (i = 0; i < config->nr_ranks; i++)
		if (config->rank[i].leaf == config->leaf)
			return 0;
	NL_SET_ERR_MSG_FMT(extack, "No rank is below leaf %u", config->leaf);
	return -EINVAL;
}

/* The box is beside the switches, and none of the ranks. */
static int conf_check_box(struct reduce_net *rn, const struct reduce_config *config,
			  struct netlink_ext_ack *extack)
{
	const struct in6_addr *first = &config->rank[0].address;
	u32 i;

	if (!reduce_config_is_box(config))
		return 0;
	if (config->role != ROCESTEER_REDUCE_ROLE_ALONE) {
		NL_SET_ERR_MSG(extack, "A box is neither a leaf nor a root");
		return -EINVAL;
	}
	if (ipv6_addr_v4mapped(&config->box) != ipv6_addr_v4mapped(first)) {
		NL_SET_ERR_MSG(extack, "Box: address is of another family than those of ranks");
		return -EINVAL;
	}
	for (i = 0; i < config->nr_ranks; i++)
		if (ipv6_addr_equal(&config->box, &config->rank[i].address)) {
			NL_SET_ERR_MSG_FMT(extack, "Box: address is that of rank %u", i);
			return -EINVAL;
		}
	if (!reduce_box_is_local(rn->net, &config->box)) {
		NL_SET_ERR_MSG(extack, "Box: address is none of this network namespace");
		return -EADDRNOTAVAIL;
	}
	return 0;
}

static int conf_check(struct reduce_net *rn, const struct reduce_config *config,
		      struct netlink_ext_ack *extack)
{
	int err = 0;
	u32 i;

	if (!is_power_of_2(config->mtu)) {
		NL_SET_ERR_MSG(extack, "MTU is none of 256, 512, 1024, 2048, 4096");
		return -EINVAL;
	}
	if (config->window > ROCESTEER_REDUCE_MAX_WINDOW / config->packets) {
		NL_SET_ERR_MSG_FMT(extack, "Window times packets is more than %u",
				   ROCESTEER_REDUCE_MAX_WINDOW);
		return -EINVAL;
	}
	if (config->nr_ranks < 2) {
		NL_SET_ERR_MSG(extack, "A group has 2 ranks or more");
		return -EINVAL;
	}
	for (i = 0; !err && i < config->nr_ranks; i++)
		err = conf_check_rank(config, i, extack);
	return err ?: conf_check_role(config, extack) ?: conf_check_box(rn, config, extack);
}

/* Past runs of a group's virtual numbers, which the namespace does not forget */
static struct reduce_past *conf_past(struct reduce_net *rn, u32 id)
{
	struct reduce_past *past = xa_load(&rn->past, id);

	lockdep_assert_held(&rn->conf);
	if (past)
		return past;
	past = kmalloc(sizeof(*past), GFP_KERNEL_ACCOUNT);
	if (!past)
		return NULL;
	memset32(past->used, REDUCE_NO_PSN, ARRAY_SIZE(past->used));
	if (!xa_err(xa_store(&rn->past, id, past, GFP_KERNEL_ACCOUNT)))
		return past;
	kfree(past);
	return NULL;
}

/*
 * The PSNs of a run tell its packets from late packets of earlier runs, which were sent to the
 * same virtual numbers.
 */
static int conf_check_psns(const struct reduce_past *past, const struct reduce_config *config,
			   struct netlink_ext_ack *extack)
{
	u32 r;

	for (r = 0; config->joined && r < config->nr_ranks; r++)
		if (!reduce_psn_is_apart(config->rank[r].psn, past->used[r])) {
			NL_SET_ERR_MSG_FMT(extack,
					   "Rank %u: first PSN %u is near %u, where an earlier run ended",
					   r, config->rank[r].psn, past->used[r]);
			return -EADDRINUSE;
		}
	return 0;
}

static int conf_insert(struct reduce_net *rn, struct reduce_group *group,
		       struct netlink_ext_ack *extack)
{
	u32 id = group->config.id;
	int err;

	lockdep_assert_held(&rn->conf);
	if (xa_load(&rn->groups, id)) {
		NL_SET_ERR_MSG(extack, "There is such a group already");
		return -EEXIST;
	}
	group->past = conf_past(rn, id);
	if (!group->past) {
		NL_SET_ERR_MSG(extack, "No memory for the table of groups");
		return -ENOMEM;
	}
	err = conf_check_psns(group->past, &group->config, extack) ?: reduce_hook_get(rn, extack);
	if (err)
		return err;
	err = xa_err(xa_store(&rn->groups, id, group, GFP_KERNEL_ACCOUNT));
	if (err) {
		NL_SET_ERR_MSG(extack, "No memory for the table of groups");
		return err;
	}
	rn->nr_groups++;
	return 0;
}

int reduce_conf_load(struct reduce_net *rn, const struct reduce_config *config,
		     struct netlink_ext_ack *extack)
{
	struct reduce_group *group;
	int err;

	err = conf_check(rn, config, extack);
	if (err)
		return err;
	group = reduce_group_new(rn, config, extack);
	if (IS_ERR(group))
		return PTR_ERR(group);
	reduce_emit_init(group);
	mutex_lock(&rn->conf);
	err = conf_insert(rn, group, extack);
	mutex_unlock(&rn->conf);
	if (err)
		reduce_group_free(group);
	return err;
}

/* Immutable values must be those that the group was loaded with. */
static int conf_check_same(const struct reduce_config *was, const struct reduce_config *config,
			   struct netlink_ext_ack *extack)
{
	u32 i;

	if (!config->joined) {
		NL_SET_ERR_MSG(extack, "Queue pairs are missing");
		return -EINVAL;
	}
	if (!ipv6_addr_equal(&was->box, &config->box)) {
		NL_SET_ERR_MSG(extack, "The group has another box, or none");
		return -EINVAL;
	}
	if (was->mtu != config->mtu || was->packets != config->packets ||
	    was->window != config->window || was->role != config->role ||
	    was->leaf != config->leaf || was->nr_ranks != config->nr_ranks) {
		NL_SET_ERR_MSG_FMT(extack,
				   "The group has MTU %u, %u packets, window %u, %u ranks, role %u, leaf %u",
				   was->mtu, was->packets, was->window, was->nr_ranks,
				   was->role, was->leaf);
		return -EINVAL;
	}
	for (i = 0; i < was->nr_ranks; i++)
		if (!ipv6_addr_equal(&was->rank[i].address, &config->rank[i].address) ||
		    was->rank[i].leaf != config->rank[i].leaf) {
			NL_SET_ERR_MSG_FMT(extack,
					   "Rank %u: address and leaf must be those of the loaded group",
					   i);
			return -EINVAL;
		}
	return 0;
}

int reduce_conf_join(struct reduce_net *rn, const struct reduce_config *config,
		     struct netlink_ext_ack *extack)
{
	struct reduce_group *group;
	int err;

	err = conf_check(rn, config, extack);
	if (err)
		return err;
	mutex_lock(&rn->conf);
	group = xa_load(&rn->groups, config->id);
	if (!group) {
		NL_SET_ERR_MSG(extack, "No such group");
		err = -ENOENT;
		goto unlock;
	}
	reduce_group_remember(group);
	err = conf_check_same(&group->config, config, extack) ?:
	      conf_check_psns(group->past, config, extack);
	if (!err)
		reduce_group_join(group, config);
unlock:
	mutex_unlock(&rn->conf);
	return err;
}

int reduce_conf_unload(struct reduce_net *rn, u32 id)
{
	struct reduce_group *group;

	mutex_lock(&rn->conf);
	group = xa_erase(&rn->groups, id);
	if (group) {
		rn->nr_groups--;
		reduce_group_stop(group);
	}
	mutex_unlock(&rn->conf);
	if (!group)
		return -ENOENT;
	/* CPUs that have looked it up first send its packets. */
	synchronize_net();
	reduce_group_free(group);
	return 0;
}

void reduce_conf_end(struct reduce_net *rn)
{
	struct reduce_group *group;
	struct reduce_past *past;
	unsigned long id;

	mutex_lock(&rn->conf);
	xa_for_each(&rn->groups, id, group) {
		reduce_group_stop(group);
		reduce_group_free(group);
	}
	xa_for_each(&rn->past, id, past)
		kfree(past);
	mutex_unlock(&rn->conf);
	xa_destroy(&rn->groups);
	xa_destroy(&rn->past);
}
