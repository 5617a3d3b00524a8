// SPDX-License-Identifier: GPL-2.0
/* Flows: requests, and events. */
#include <linux/netdevice.h>
#include <linux/pid_namespace.h>
#include <linux/time64.h>

#include "conf.h"
#include "event.h"
#include "flow.h"
#include "net.h"
#include "netlink-gen.h"
#include "netlink_priv.h"
#include "qp_kprobe.h"
#include "reseq.h"

static int nl_flow_fill_qp(struct sk_buff *skb, const struct rocesteer_qp *qp,
			   struct pid_namespace *ns)
{
	if (nla_put_u32(skb, ROCESTEER_A_FLOW_ORIGIN,
			ROCESTEER_ORIGIN_LEARNT) ||
	    nla_put_u32(skb, ROCESTEER_A_FLOW_SQPN, qp->sqpn) ||
	    nla_put_string(skb, ROCESTEER_A_FLOW_RDMA_DEVICE, qp->device) ||
	    rocesteer_nl_put_pid(skb, ROCESTEER_A_FLOW_PID, qp->owner, ns) ||
	    nla_put_u32(skb, ROCESTEER_A_FLOW_PATH_MTU, qp->path_mtu) ||
	    nla_put_u32(skb, ROCESTEER_A_FLOW_LABEL, qp->label) ||
	    nla_put_in6_addr(skb, ROCESTEER_A_FLOW_SOURCE, &qp->local) ||
	    (qp->software && nla_put_flag(skb, ROCESTEER_A_FLOW_SOFTWARE)))
		return -EMSGSIZE;
	return 0;
}

static int nl_flow_fill_reseq(struct sk_buff *skb,
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
	    nla_put_uint(skb, ROCESTEER_A_FLOW_RESEQ_AGE,
			 stat.age / NSEC_PER_USEC) ||
	    nla_put_uint(skb, ROCESTEER_A_FLOW_RESEQ_HELD, stat.held) ||
	    nla_put_uint(skb, ROCESTEER_A_FLOW_RESEQ_LOST, stat.lost) ||
	    nla_put_uint(skb, ROCESTEER_A_FLOW_RESEQ_TIMEOUT, stat.timeout))
		return -EMSGSIZE;
	return 0;
}

static int nl_flow_fill(struct sk_buff *skb, const struct rocesteer_flow *flow,
			struct pid_namespace *ns)
{
	lockdep_assert_held(&rocesteer_lock);
	if (nla_put_u32(skb, ROCESTEER_A_FLOW_IFINDEX, flow->key.ifindex) ||
	    nla_put(skb, ROCESTEER_A_FLOW_PEER, sizeof(flow->key.peer),
		    flow->key.peer) ||
	    nla_put_u32(skb, ROCESTEER_A_FLOW_DQPN, flow->key.dqpn) ||
	    (flow->rival && nla_put_u32(skb, ROCESTEER_A_FLOW_RIVAL, flow->rival)) ||
	    nla_put_u32(skb, ROCESTEER_A_FLOW_JOB, flow->job))
		return -EMSGSIZE;
	if (flow->qp.qp)
		return nl_flow_fill_qp(skb, &flow->qp, ns) ?:
		       nl_flow_fill_reseq(skb, flow);
	return nla_put_u32(skb, ROCESTEER_A_FLOW_ORIGIN,
			   ROCESTEER_ORIGIN_NETLINK);
}

static int nl_flow_parse_key(struct rocesteer_flow_key *key,
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

/* Explain why a flow-add is refused. */
static void nl_flow_add_refuse(struct genl_info *info, int err)
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
	struct rocesteer_net *rn = rocesteer_nl_net(info);
	struct rocesteer_flow_key key;
	int err;
	u32 job;

	err = nl_flow_parse_key(&key, info);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_A_FLOW_JOB)) {
		NL_SET_ERR_MSG(info->extack, "Job is missing");
		return -EINVAL;
	}
	job = nla_get_u32(info->attrs[ROCESTEER_A_FLOW_JOB]);
	err = rocesteer_conf_flow_add(rn, &key, job);
	if (err)
		nl_flow_add_refuse(info, err);
	return err;
}

int rocesteer_nl_flow_adopt_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct net_device *dev;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_A_FLOW_IFINDEX)) {
		NL_SET_ERR_MSG(info->extack, "Device is missing");
		return -EINVAL;
	}
	if (GENL_REQ_ATTR_CHECK(info, ROCESTEER_A_FLOW_SQPN)) {
		NL_SET_ERR_MSG(info->extack, "Queue pair number is missing");
		return -EINVAL;
	}
	dev = dev_get_by_index(genl_info_net(info),
			       nla_get_u32(attrs[ROCESTEER_A_FLOW_IFINDEX]));
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[ROCESTEER_A_FLOW_IFINDEX],
				    "No such device");
		return -ENODEV;
	}
	err = rocesteer_qp_adopt(rocesteer_nl_net(info), dev,
				 nla_get_u32(attrs[ROCESTEER_A_FLOW_SQPN]));
	dev_put(dev);
	switch (err) {
	case 0:
		break;
	case -ENODEV:
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[ROCESTEER_A_FLOW_IFINDEX],
				    "Device has no RDMA device");
		break;
	case -ENOENT:
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[ROCESTEER_A_FLOW_SQPN],
				    "No such queue pair");
		break;
	case -ENOTCONN:
		NL_SET_ERR_MSG(info->extack, "Queue pair is not connected");
		break;
	case -EOPNOTSUPP:
		NL_SET_ERR_MSG(info->extack, "Queue pair is not RC over RoCE v2");
		break;
	default:
		NL_SET_ERR_MSG(info->extack, "Queue pair cannot be queried");
	}
	return err;
}

int rocesteer_nl_flow_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rocesteer_net *rn = rocesteer_nl_net(info);
	struct rocesteer_flow_key key;
	int err;

	err = nl_flow_parse_key(&key, info);
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
	struct rocesteer_net *rn = rocesteer_nl_net(info);
	struct rocesteer_flow_key key;
	struct rocesteer_flow *flow;
	struct sk_buff *msg;
	void *hdr;
	int err;

	err = nl_flow_parse_key(&key, info);
	if (err)
		return err;
	msg = rocesteer_nl_reply_new(info, &hdr);
	if (!msg)
		return -ENOMEM;
	err = -ENOENT;
	spin_lock(&rocesteer_lock);
	flow = rocesteer_flow_find(rn, &key);
	if (flow)
		err = nl_flow_fill(msg, flow, task_active_pid_ns(current));
	else
		NL_SET_ERR_MSG(info->extack, "No such flow");
	spin_unlock(&rocesteer_lock);
	return rocesteer_nl_reply_end(info, msg, hdr, err);
}

/* @flow was looked up under RCU and may be unlinked. */
static int nl_flow_dump(struct sk_buff *skb, struct netlink_callback *cb,
			const struct rocesteer_flow *flow,
			struct pid_namespace *ns)
{
	void *hdr = genlmsg_iput(skb, genl_info_dump(cb));
	int err = -ESTALE;

	if (!hdr)
		return -EMSGSIZE;
	spin_lock(&rocesteer_lock);
	if (flow->linked)
		err = nl_flow_fill(skb, flow, ns);
	spin_unlock(&rocesteer_lock);
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err == -ESTALE ? 0 : err;
}

/* The cursor is a flow id, and ids rise: a flow that exists throughout is dumped once. */
int rocesteer_nl_flow_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct rocesteer_net *rn = rocesteer_nl_net(genl_info_dump(cb));
	struct rocesteer_flow *flow;
	unsigned long id;
	int err = 0;

	rcu_read_lock();
	xa_for_each_start(&rn->flow_ids, id, flow, cb->args[0]) {
		err = nl_flow_dump(skb, cb, flow, ns);
		if (err)
			break;
		cb->args[0] = id + 1;
	}
	rcu_read_unlock();
	return err;
}

void rocesteer_event_flow(const struct rocesteer_flow *flow, u8 cmd)
{
	struct rocesteer_net *rn = flow->rn;
	struct sk_buff *msg;
	void *hdr;

	msg = rocesteer_nl_event_new(rn, cmd, &hdr);
	if (msg)
		rocesteer_nl_event_end(rn, msg, hdr, nl_flow_fill(msg, flow, NULL));
}
