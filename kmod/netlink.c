// SPDX-License-Identifier: GPL-2.0
/*
 * The hand-written part of the netlink family; its shape is in
 * Documentation/netlink/specs/rocesteer.yaml, from which netlink-gen.c is made.
 */
#include <linux/cgroup.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/time64.h>
#include <net/genetlink.h>

#include "conf.h"
#include "event.h"
#include "flow.h"
#include "job.h"
#include "net.h"
#include "netlink.h"
#include "netlink-gen.h"
#include "qp_probe.h"
#include "resequence.h"
#include "window.h"

/* Room for a job or a flow with its header: all attributes are short. */
#define MSG_SIZE	(GENL_HDRLEN + 256)

/*
 * A process's number as the reader sees it. There is no such reader for an
 * event, which goes to all: @ns is NULL then.
 */
static int put_pid_nr(struct sk_buff *skb, int attr, struct pid *pid,
		      struct pid_namespace *ns)
{
	pid_t nr = ns ? pid_nr_ns(pid, ns) : 0;

	return nr ? nla_put_u32(skb, attr, nr) : 0;
}

/* Not nla_put_u64_64bit(): the family has no pad attribute. */
static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put(skb, attr, sizeof(value), &value);
}

static int job_fill(struct sk_buff *skb, const struct rocesteer_job_rule *job,
		    struct pid_namespace *ns)
{
	if (nla_put_u32(skb, ROCESTEER_A_JOB_ID, job->id) ||
	    (job->name[0] &&
	     nla_put_string(skb, ROCESTEER_A_JOB_NAME, job->name)) ||
	    (job->cgroup_id &&
	     put_u64(skb, ROCESTEER_A_JOB_CGROUP_ID, job->cgroup_id)) ||
	    put_pid_nr(skb, ROCESTEER_A_JOB_PID, job->pid, ns) ||
	    nla_put_u32(skb, ROCESTEER_A_JOB_FLOWS, READ_ONCE(job->flows)) ||
	    nla_put_u32(skb, ROCESTEER_A_JOB_RESEQUENCE, job->resequence))
		return -EMSGSIZE;
	return 0;
}

static int flow_fill_qp(struct sk_buff *skb, const struct rocesteer_qp *qp,
			struct pid_namespace *ns)
{
	if (nla_put_u32(skb, ROCESTEER_A_FLOW_ORIGIN,
			ROCESTEER_ORIGIN_LEARNT) ||
	    nla_put_u32(skb, ROCESTEER_A_FLOW_SQPN, qp->sqpn) ||
	    nla_put_string(skb, ROCESTEER_A_FLOW_RDMA_DEVICE, qp->device) ||
	    put_pid_nr(skb, ROCESTEER_A_FLOW_PID, qp->owner, ns) ||
	    nla_put_u32(skb, ROCESTEER_A_FLOW_PATH_MTU, qp->path_mtu) ||
	    nla_put_u32(skb, ROCESTEER_A_FLOW_LABEL, qp->label) ||
	    (qp->software && nla_put_flag(skb, ROCESTEER_A_FLOW_SOFTWARE)))
		return -EMSGSIZE;
	return 0;
}

static int flow_fill_reseq(struct sk_buff *skb,
			   const struct rocesteer_flow *flow)
{
	struct rocesteer_reseq_stat stat;
	struct rocesteer_reseq *reseq;

	reseq = rcu_dereference_protected(flow->reseq,
					  lockdep_is_held(&rocesteer_lock));
	if (!reseq)
		return 0;
	rocesteer_reseq_read(reseq, &stat);
	if (nla_put_u32(skb, ROCESTEER_A_FLOW_RESEQ_DEPTH, stat.depth) ||
	    put_u64(skb, ROCESTEER_A_FLOW_RESEQ_AGE,
		    stat.age / NSEC_PER_USEC) ||
	    put_u64(skb, ROCESTEER_A_FLOW_RESEQ_HELD, stat.held) ||
	    put_u64(skb, ROCESTEER_A_FLOW_RESEQ_LOST, stat.lost) ||
	    put_u64(skb, ROCESTEER_A_FLOW_RESEQ_TIMEOUT, stat.timeout))
		return -EMSGSIZE;
	return 0;
}

static int flow_fill(struct sk_buff *skb, const struct rocesteer_flow *flow,
		     struct pid_namespace *ns)
{
	lockdep_assert_held(&rocesteer_lock);
	if (nla_put_u32(skb, ROCESTEER_A_FLOW_IFINDEX, flow->key.ifindex) ||
	    nla_put(skb, ROCESTEER_A_FLOW_PEER, sizeof(flow->key.peer),
		    flow->key.peer) ||
	    nla_put_u32(skb, ROCESTEER_A_FLOW_DQPN, flow->key.dqpn) ||
	    nla_put_u32(skb, ROCESTEER_A_FLOW_JOB, flow->job))
		return -EMSGSIZE;
	if (flow->qp.qp)
		return flow_fill_qp(skb, &flow->qp, ns) ?:
		       flow_fill_reseq(skb, flow);
	return nla_put_u32(skb, ROCESTEER_A_FLOW_ORIGIN,
			   ROCESTEER_ORIGIN_NETLINK);
}

static struct rocesteer_net *info_net(const struct genl_info *info)
{
	return rocesteer_net(genl_info_net(info));
}

static struct rocesteer_net *dump_net(const struct netlink_callback *cb)
{
	return rocesteer_net(sock_net(cb->skb->sk));
}

/* Begin the answer to a request; genlmsg_end() and genlmsg_reply() follow. */
static struct sk_buff *reply_new(struct genl_info *info, void **hdr)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);

	if (!msg)
		return NULL;
	*hdr = genlmsg_iput(msg, info);
	if (!*hdr) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static int reply_end(struct genl_info *info, struct sk_buff *msg, void *hdr,
		     int err)
{
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

static int job_parse_cgroup(struct rocesteer_job_rule *rule,
			    struct genl_info *info)
{
	struct nlattr *attr = info->attrs[ROCESTEER_A_JOB_CGROUP_ID];
	struct cgroup *cgrp;

	if (!attr)
		return 0;
	/* Only to see that it exists and that the caller may know of it. */
	cgrp = cgroup_get_from_id(nla_get_u64(attr));
	if (IS_ERR(cgrp)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "No such cgroup");
		return PTR_ERR(cgrp);
	}
	cgroup_put(cgrp);
	rule->cgroup_id = nla_get_u64(attr);
	return 0;
}

static int job_parse_pid(struct rocesteer_job_rule *rule,
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

/* On success the caller must put rule->pid. */
static int job_parse(struct rocesteer_job_rule *rule, struct genl_info *info)
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
	err = job_parse_cgroup(rule, info);
	if (err)
		return err;
	return job_parse_pid(rule, info);
}

int rocesteer_nl_job_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rocesteer_net *rn = info_net(info);
	struct rocesteer_job_rule rule = {};
	int err;

	err = job_parse(&rule, info);
	if (err)
		return err;
	if ((rule.cgroup_id || rule.pid) && !rocesteer_qp_probe_test()) {
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
	struct rocesteer_net *rn = info_net(info);
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
	struct rocesteer_net *rn = info_net(info);
	struct nlattr *id = info->attrs[ROCESTEER_A_JOB_ID];
	struct rocesteer_job_rule *job;
	struct sk_buff *msg;
	int err = -ENOENT;
	void *hdr;

	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_A_JOB_ID)) {
		NL_SET_ERR_MSG(info->extack, "Job id is missing");
		return -EINVAL;
	}
	msg = reply_new(info, &hdr);
	if (!msg)
		return -ENOMEM;
	rcu_read_lock();
	job = xa_load(&rn->jobs, nla_get_u32(id));
	if (job)
		err = job_fill(msg, job, task_active_pid_ns(current));
	else
		NL_SET_ERR_MSG_ATTR(info->extack, id, "No such job");
	rcu_read_unlock();
	return reply_end(info, msg, hdr, err);
}

int rocesteer_nl_job_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct rocesteer_net *rn = dump_net(cb);
	struct rocesteer_job_rule *job;
	unsigned long id;
	int err = 0;

	/* Goes on at the number at which the last message was full. */
	rcu_read_lock();
	xa_for_each_start(&rn->jobs, id, job, cb->args[0]) {
		void *hdr = genlmsg_iput(skb, genl_info_dump(cb));

		err = hdr ? job_fill(skb, job, ns) : -EMSGSIZE;
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

static int flow_parse_key(struct rocesteer_flow_key *key,
			  struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_A_FLOW_IFINDEX)) {
		NL_SET_ERR_MSG(info->extack, "Device is missing");
		return -EINVAL;
	}
	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_A_FLOW_PEER)) {
		NL_SET_ERR_MSG(info->extack, "Peer address is missing");
		return -EINVAL;
	}
	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_A_FLOW_DQPN)) {
		NL_SET_ERR_MSG(info->extack,
			       "Destination queue pair number is missing");
		return -EINVAL;
	}
	key->ifindex = nla_get_u32(info->attrs[ROCESTEER_A_FLOW_IFINDEX]);
	nla_memcpy(key->peer, info->attrs[ROCESTEER_A_FLOW_PEER],
		   sizeof(key->peer));
	key->dqpn = nla_get_u32(info->attrs[ROCESTEER_A_FLOW_DQPN]);
	return 0;
}

/* Say what is wrong with which attribute of a flow-add. */
static void flow_add_refuse(struct genl_info *info, int err)
{
	struct nlattr **attrs = info->attrs;

	switch (err) {
	case -ENODEV:
		NL_SET_ERR_MSG_ATTR(info->extack,
				    attrs[ROCESTEER_A_FLOW_IFINDEX],
				    "No such device");
		break;
	case -ENOENT:
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[ROCESTEER_A_FLOW_JOB],
				    "No such job");
		break;
	case -EEXIST:
		NL_SET_ERR_MSG(info->extack, "Flow belongs to a job already");
		break;
	case -ENOSPC:
		NL_SET_ERR_MSG(info->extack,
			       "Namespace has max_flows flows already");
		break;
	default:
		NL_SET_ERR_MSG(info->extack, "No memory for the flow");
	}
}

int rocesteer_nl_flow_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rocesteer_net *rn = info_net(info);
	struct rocesteer_flow_key key;
	int err;
	u32 job;

	err = flow_parse_key(&key, info);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_A_FLOW_JOB)) {
		NL_SET_ERR_MSG(info->extack, "Job is missing");
		return -EINVAL;
	}
	job = nla_get_u32(info->attrs[ROCESTEER_A_FLOW_JOB]);
	err = rocesteer_conf_flow_add(rn, &key, job);
	if (err)
		flow_add_refuse(info, err);
	return err;
}

int rocesteer_nl_flow_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rocesteer_net *rn = info_net(info);
	struct rocesteer_flow_key key;
	int err;

	err = flow_parse_key(&key, info);
	if (err)
		return err;
	err = rocesteer_conf_flow_del(rn, &key);
	if (err == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "No such flow");
	else if (err)
		NL_SET_ERR_MSG(info->extack,
			       "Flow was learnt and goes with its queue pair");
	return err;
}

int rocesteer_nl_flow_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rocesteer_net *rn = info_net(info);
	struct rocesteer_flow_key key;
	struct rocesteer_flow *flow;
	struct sk_buff *msg;
	void *hdr;
	int err;

	err = flow_parse_key(&key, info);
	if (err)
		return err;
	msg = reply_new(info, &hdr);
	if (!msg)
		return -ENOMEM;
	err = -ENOENT;
	spin_lock(&rocesteer_lock);
	flow = rocesteer_flow_find(rn, &key);
	if (flow)
		err = flow_fill(msg, flow, task_active_pid_ns(current));
	else
		NL_SET_ERR_MSG(info->extack, "No such flow");
	spin_unlock(&rocesteer_lock);
	return reply_end(info, msg, hdr, err);
}

/* One flow of a dump, met under RCU; it may be gone. */
static int flow_dump(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct rocesteer_flow *flow,
		     struct pid_namespace *ns)
{
	void *hdr = genlmsg_iput(skb, genl_info_dump(cb));
	int err = -ESTALE;

	if (!hdr)
		return -EMSGSIZE;
	spin_lock(&rocesteer_lock);
	if (flow->linked)
		err = flow_fill(skb, flow, ns);
	spin_unlock(&rocesteer_lock);
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err == -ESTALE ? 0 : err;
}

/*
 * Ids rise, and the cursor is one: a flow that exists throughout the dump is
 * in it exactly once, whatever else comes and goes.
 */
int rocesteer_nl_flow_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct rocesteer_net *rn = dump_net(cb);
	struct rocesteer_flow *flow;
	unsigned long id;
	int err = 0;

	rcu_read_lock();
	xa_for_each_start(&rn->flow_ids, id, flow, cb->args[0]) {
		err = flow_dump(skb, cb, flow, ns);
		if (err)
			break;
		cb->args[0] = id + 1;
	}
	rcu_read_unlock();
	return err;
}

int rocesteer_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rocesteer_net *rn = info_net(info);
	struct sk_buff *msg;
	void *hdr;
	int err;

	msg = reply_new(info, &hdr);
	if (!msg)
		return -ENOMEM;
	err = nla_put_u32(msg, ROCESTEER_A_STATS_JOBS,
			  READ_ONCE(rn->nr_jobs)) ?:
	      nla_put_u32(msg, ROCESTEER_A_STATS_FLOWS,
			  READ_ONCE(rn->nr_flows)) ?:
	      nla_put_u32(msg, ROCESTEER_A_STATS_PROBES,
			  rocesteer_qp_probe_test()) ?:
	      rocesteer_stats_fill(rn, msg) ?:
	      put_u64(msg, ROCESTEER_A_STATS_RESEQ_BYTES,
		      rocesteer_window_bytes());
	return reply_end(info, msg, hdr, err);
}

static bool events_wanted(const struct rocesteer_net *rn)
{
	return genl_has_listeners(&rocesteer_nl_family, rn->net,
				  ROCESTEER_NLGRP_EVENTS);
}

static struct sk_buff *event_new(u8 cmd, void **hdr)
{
	struct sk_buff *msg = genlmsg_new(MSG_SIZE, GFP_ATOMIC);

	if (!msg)
		return NULL;
	*hdr = genlmsg_put(msg, 0, 0, &rocesteer_nl_family, 0, cmd);
	if (!*hdr) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static void event_send(const struct rocesteer_net *rn, struct sk_buff *msg,
		       void *hdr)
{
	genlmsg_end(msg, hdr);
	genlmsg_multicast_netns(&rocesteer_nl_family, rn->net, msg, 0,
				ROCESTEER_NLGRP_EVENTS, GFP_ATOMIC);
}

/* Let listeners know that they have missed something and must dump again. */
static void event_lost(const struct rocesteer_net *rn, struct sk_buff *msg)
{
	nlmsg_free(msg);
	genl_set_err(&rocesteer_nl_family, rn->net, 0, ROCESTEER_NLGRP_EVENTS,
		     -ENOBUFS);
}

static void nl_job_event(const struct rocesteer_net *rn,
			 const struct rocesteer_job_rule *job, u8 cmd)
{
	struct sk_buff *msg;
	void *hdr;

	lockdep_assert_held(&rocesteer_lock);
	if (!events_wanted(rn))
		return;
	msg = event_new(cmd, &hdr);
	if (msg && !job_fill(msg, job, NULL))
		event_send(rn, msg, hdr);
	else
		event_lost(rn, msg);
}

static void nl_flow_event(const struct rocesteer_flow *flow, u8 cmd)
{
	const struct rocesteer_net *rn = flow->rn;
	struct sk_buff *msg;
	void *hdr;

	lockdep_assert_held(&rocesteer_lock);
	if (!events_wanted(rn))
		return;
	msg = event_new(cmd, &hdr);
	if (msg && !flow_fill(msg, flow, NULL))
		event_send(rn, msg, hdr);
	else
		event_lost(rn, msg);
}

static const struct rocesteer_event_ops nl_event_ops = {
	.job = nl_job_event,
	.flow = nl_flow_event,
};

/**
 * rocesteer_nl_register() - offer the netlink family
 *
 * Return: 0 or a negative errno.
 */
int __init rocesteer_nl_register(void)
{
	int err;

	rocesteer_event_subscribe(&nl_event_ops);
	err = genl_register_family(&rocesteer_nl_family);
	if (err)
		rocesteer_event_subscribe(NULL);
	return err;
}

/**
 * rocesteer_nl_unregister() - withdraw the netlink family
 *
 * Context: Process context, waits for requests under way. There must be no
 * more events.
 */
void rocesteer_nl_unregister(void)
{
	genl_unregister_family(&rocesteer_nl_family);
	rocesteer_event_subscribe(NULL);
}
