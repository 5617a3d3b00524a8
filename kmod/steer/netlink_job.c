// SPDX-License-Identifier: GPL-2.0
/* Jobs: requests, and events. */
#include <linux/capability.h>
#include <linux/cgroup.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>

#include "conf.h"
#include "event.h"
#include "job.h"
#include "net.h"
#include "netlink-gen.h"
#include "netlink_priv.h"
#include "qp_kprobe.h"

static int nl_job_fill(struct sk_buff *skb, const struct rocesteer_job_rule *job,
		       struct pid_namespace *ns)
{
	if (nla_put_u32(skb, ROCESTEER_A_JOB_ID, job->id) ||
	    (job->name[0] &&
	     nla_put_string(skb, ROCESTEER_A_JOB_NAME, job->name)) ||
	    (job->cgroup_id &&
	     nla_put_uint(skb, ROCESTEER_A_JOB_CGROUP_ID, job->cgroup_id)) ||
	    rocesteer_nl_put_pid(skb, ROCESTEER_A_JOB_PID, job->pid, ns) ||
	    nla_put_u32(skb, ROCESTEER_A_JOB_FLOWS, READ_ONCE(job->flows)) ||
	    nla_put_u32(skb, ROCESTEER_A_JOB_RESEQUENCE, job->resequence))
		return -EMSGSIZE;
	return 0;
}

/*
 * Does the caller's cgroup namespace hide cgroups from it, and may it name them anyway? So it is
 * with a daemon in a container that has CAP_NET_ADMIN on the machine: it sees them in the
 * machine's cgroup file system. A job matches no queue pairs of other network namespaces.
 */
static bool nl_job_names_hidden(void)
{
	return current->nsproxy->cgroup_ns->root_cset->dfl_cgrp->level &&
	       capable(CAP_NET_ADMIN);
}

static int nl_job_parse_cgroup(struct rocesteer_job_rule *rule,
			       struct genl_info *info)
{
	struct nlattr *attr = info->attrs[ROCESTEER_A_JOB_CGROUP_ID];
	struct cgroup *cgrp;

	if (!attr)
		return 0;
	/* Only checks that the cgroup exists, and is visible to the caller. */
	cgrp = cgroup_get_from_id(nla_get_uint(attr));
	if (IS_ERR(cgrp) && !nl_job_names_hidden()) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "No such cgroup");
		return PTR_ERR(cgrp);
	}
	if (!IS_ERR(cgrp))
		cgroup_put(cgrp);
	rule->cgroup_id = nla_get_uint(attr);
	return 0;
}

static int nl_job_parse_pid(struct rocesteer_job_rule *rule,
			    struct genl_info *info)
{
	struct nlattr *attr = info->attrs[ROCESTEER_A_JOB_PID];
	bool group;

	if (!attr)
		return 0;
	if (rule->cgroup_id) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "Owner is a cgroup or a process, not both");
		return -EINVAL;
	}
	rule->pid = find_get_pid(nla_get_u32(attr));
	rcu_read_lock();
	group = rule->pid && pid_task(rule->pid, PIDTYPE_TGID);
	rcu_read_unlock();
	if (!group) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "No such process");
		put_pid(rule->pid);
		return -ESRCH;
	}
	return 0;
}

/* On success the caller puts @rule->pid. */
static int nl_job_parse(struct rocesteer_job_rule *rule, struct genl_info *info)
{
	int err;

	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_A_JOB_ID)) {
		NL_SET_ERR_MSG(info->extack, "Job id is missing");
		return -EINVAL;
	}
	rule->id = nla_get_u32(info->attrs[ROCESTEER_A_JOB_ID]);
	if (info->attrs[ROCESTEER_A_JOB_RESEQUENCE])
		rule->resequence =
			nla_get_u32(info->attrs[ROCESTEER_A_JOB_RESEQUENCE]);
	if (info->attrs[ROCESTEER_A_JOB_NAME])
		nla_strscpy(rule->name, info->attrs[ROCESTEER_A_JOB_NAME],
			    sizeof(rule->name));
	err = nl_job_parse_cgroup(rule, info);
	if (err)
		return err;
	return nl_job_parse_pid(rule, info);
}

int rocesteer_nl_job_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rocesteer_net *rn = rocesteer_nl_net(info);
	struct rocesteer_job_rule rule = {};
	int err;

	err = nl_job_parse(&rule, info);
	if (err)
		return err;
	if ((rule.cgroup_id || rule.pid) && !rocesteer_qp_kprobe_test()) {
		NL_SET_ERR_MSG(info->extack,
			       "Kprobes are switched off: see /sys/kernel/debug/kprobes/enabled, kernel.ftrace_enabled");
		put_pid(rule.pid);
		return -EOPNOTSUPP;
	}
	err = rocesteer_conf_job_add(rn, &rule, info->extack);
	put_pid(rule.pid);
	return err;
}

int rocesteer_nl_job_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rocesteer_net *rn = rocesteer_nl_net(info);
	struct nlattr *id = info->attrs[ROCESTEER_A_JOB_ID];
	int err;

	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_A_JOB_ID)) {
		NL_SET_ERR_MSG(info->extack, "Job id is missing");
		return -EINVAL;
	}
	err = rocesteer_conf_job_del(rn, nla_get_u32(id));
	if (err)
		NL_SET_ERR_MSG_ATTR(info->extack, id, "No such job");
	return err;
}

int rocesteer_nl_job_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rocesteer_net *rn = rocesteer_nl_net(info);
	struct nlattr *id = info->attrs[ROCESTEER_A_JOB_ID];
	struct rocesteer_job_rule *job;
	struct sk_buff *msg;
	int err = -ENOENT;
	void *hdr;

	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_A_JOB_ID)) {
		NL_SET_ERR_MSG(info->extack, "Job id is missing");
		return -EINVAL;
	}
	msg = rocesteer_nl_reply_new(info, &hdr);
	if (!msg)
		return -ENOMEM;
	rcu_read_lock();
	job = xa_load(&rn->jobs, nla_get_u32(id));
	if (job)
		err = nl_job_fill(msg, job, task_active_pid_ns(current));
	else
		NL_SET_ERR_MSG_ATTR(info->extack, id, "No such job");
	rcu_read_unlock();
	return rocesteer_nl_reply_end(info, msg, hdr, err);
}

int rocesteer_nl_job_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct rocesteer_net *rn = rocesteer_nl_net(genl_info_dump(cb));
	struct rocesteer_job_rule *job;
	unsigned long id;
	int err = 0;

	/* Resumes at the job that did not fit in the last message. */
	rcu_read_lock();
	xa_for_each_start(&rn->jobs, id, job, cb->args[0]) {
		void *hdr = genlmsg_iput(skb, genl_info_dump(cb));

		err = hdr ? nl_job_fill(skb, job, ns) : -EMSGSIZE;
		if (err) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
		cb->args[0] = id + 1;
	}
	rcu_read_unlock();
	return err;
}

void rocesteer_event_job(struct rocesteer_net *rn,
			 const struct rocesteer_job_rule *job, u8 cmd)
{
	struct sk_buff *msg;
	void *hdr;

	msg = rocesteer_nl_event_new(rn, cmd, &hdr);
	if (msg)
		rocesteer_nl_event_end(rn, msg, hdr, nl_job_fill(msg, job, NULL));
}
