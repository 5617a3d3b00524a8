// SPDX-License-Identifier: GPL-2.0
/*
 * The struct_ops type by which BPF chooses the source ports of queue pairs, from the same
 * tables as those of packets. Each network namespace has its own tables and policy. A
 * policy names its namespace by cookie, and may outlive it. A loaded policy holds the
 * module.
 */
#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/module.h>

#include <rocesteer/policy.h>

#include "net.h"
#include "policy.h"

static int policy_reg(void *kdata, struct bpf_link *link)
{
	struct rocesteer_policy *policy = kdata;
	struct rocesteer_net *rn;
	int err = 0;

	spin_lock(&rocesteer_lock);
	rn = rocesteer_net_find(policy->netns);
	if (!rn)
		err = -ENOENT;
	else if (rn->policy)
		err = -EBUSY;
	else
		rn->policy = policy;
	spin_unlock(&rocesteer_lock);
	return err;
}

/* The namespace always has a policy meanwhile. */
static int policy_update(void *kdata, void *old_kdata, struct bpf_link *link)
{
	struct rocesteer_policy *policy = kdata, *old = old_kdata;
	struct rocesteer_net *rn;
	int err = 0;

	spin_lock(&rocesteer_lock);
	rn = rocesteer_net_find(policy->netns);
	if (!rn || rn->policy != old)
		err = -ENOENT;
	else
		rn->policy = policy;
	spin_unlock(&rocesteer_lock);
	return err;
}

/* source_port() is called under the lock: no call is under way afterwards. */
static void policy_unreg(void *kdata, struct bpf_link *link)
{
	const struct rocesteer_policy *policy = kdata;
	struct rocesteer_net *rn;

	spin_lock(&rocesteer_lock);
	rn = rocesteer_net_find(policy->netns);
	if (rn)
		rn->policy = NULL;
	spin_unlock(&rocesteer_lock);
}

/* source_port() is called with preemption off. */
static int policy_check_member(const struct btf_type *t,
			       const struct btf_member *member,
			       const struct bpf_prog *prog)
{
	return prog->sleepable ? -EINVAL : 0;
}

/* Return: 1 for a member that was copied here. */
static int policy_init_member(const struct btf_type *t,
			      const struct btf_member *member,
			      void *kdata, const void *udata)
{
	const struct rocesteer_policy *from = udata;
	struct rocesteer_policy *to = kdata;

	if (__btf_member_bit_offset(t, member) / 8 !=
	    offsetof(struct rocesteer_policy, netns))
		return 0;
	to->netns = from->netns;
	return 1;
}

static int policy_validate(void *kdata)
{
	const struct rocesteer_policy *policy = kdata;

	return policy->source_port ? 0 : -EINVAL;
}

static int policy_init(struct btf *btf)
{
	return 0;
}

static const struct bpf_verifier_ops policy_verifier_ops = {
	.get_func_proto = bpf_base_func_proto,
	.is_valid_access = bpf_tracing_btf_ctx_access,
};

/* Never called: programs are checked against its type. */
static __be16 policy_source_port(const struct rocesteer_flow_key *key, u32 job,
				 u32 flags, const struct in6_addr *source)
{
	return 0;
}

static struct rocesteer_policy policy_stubs = {
	.source_port = policy_source_port,
};

static struct bpf_struct_ops policy_struct_ops = {
	.verifier_ops = &policy_verifier_ops,
	.init = policy_init,
	.check_member = policy_check_member,
	.init_member = policy_init_member,
	.validate = policy_validate,
	.reg = policy_reg,
	.update = policy_update,
	.unreg = policy_unreg,
	.cfi_stubs = &policy_stubs,
	.name = "rocesteer_policy",
	.owner = THIS_MODULE,
};

/* There is no unregister. */
int __init rocesteer_policy_register(void)
{
	return register_bpf_struct_ops(&policy_struct_ops, rocesteer_policy);
}
