// SPDX-License-Identifier: GPL-2.0
/*
 * Learn flows from queue pairs: kprobes on the functions of the RDMA core that connect and
 * destroy RC queue pairs. Queue pairs that bypass the core (DEVX of mlx5) are not seen.
 *
 * A flow is registered when its queue pair is moved to RTR, which sets address and queue
 * pair number of the peer. The probe is at the entry of the function, where the flow label
 * can still be changed in the kernel's copy of the attributes. No request is sent before
 * RTS. A flow whose modify has failed ends when the queue pair is connected again, reset or
 * destroyed. A connected queue pair may be in use and stays so when the driver refuses to
 * connect it again: until RESET such calls change nothing.
 *
 * A flow is removed after the driver has reset or destroyed its queue pair, which sends
 * until then. If the flow were removed earlier, a job with --all would create it again, and
 * nothing would remove it. Without a free kretprobe instance the return of RESET is missed,
 * and the next RTR makes up for it; or that of RTR, and a queue pair in use that is
 * connected again loses its order until the next NAK. ERR removes no flow: most queue pairs
 * get there without a call, and send nothing. flow_learn() handles a second queue pair of
 * the process to the same peer.
 *
 * Handlers run in the calling process, with preemption off and, for a breakpoint,
 * interrupts off: no sleeping, no _bh locks.
 */
#include <linux/inetdevice.h>
#include <linux/kprobes.h>
#include <linux/netdevice.h>
#include <linux/sched.h>
#include <linux/user_namespace.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

#include <rocesteer/label.h>
#include <rocesteer/roce.h>

#include "../compat.h"
#include "flow.h"
#include "hop.h"
#include "label.h"
#include "net.h"
#include "qp_kprobe.h"

#if IS_ENABLED(CONFIG_LTO)
/* A function may be inlined where it is called, although the symbol to be probed stays. */
#error "rocesteer needs a kernel without link-time optimization"
#endif

/* Required attributes of RTR */
#define QP_RTR_MASK	(IB_QP_STATE | IB_QP_AV | IB_QP_DEST_QPN | IB_QP_RQ_PSN)

/* The creator of a user namespace is charged for all of its users. */
static u32 qp_user(const struct cred *cred)
{
	struct user_namespace *ns;
	kuid_t uid = cred->uid;

	for (ns = cred->user_ns; ns != &init_user_ns; ns = ns->parent)
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	return __kuid_val(uid);
}

/* All members but the owner */
static struct rocesteer_qp qp_describe(const struct ib_qp *qp,
				       const struct ib_qp_attr *attr, int mask,
				       const union ib_gid *local)
{
	struct rocesteer_qp info = {
		.qp = qp,
		.sqpn = qp->qp_num,
		.rq_psn = attr->rq_psn & ROCESTEER_PSN_MASK,
		.label = rocesteer_label_kind(attr),
		/* Without DMA the kernel generates the packets. */
		.software = ib_uses_virt_dma(qp->device),
	};
	int mtu = -1;

	static_assert(sizeof(info.local) == sizeof(local->raw));
	memcpy(&info.local, local->raw, sizeof(info.local));
	if (mask & IB_QP_PATH_MTU)
		mtu = ib_mtu_enum_to_int(attr->path_mtu);
	info.path_mtu = max(mtu, 0);
	/* A rename would free dev_name(). */
	strscpy(info.device, qp->device->name);
	return info;
}

static struct rocesteer_flow_key qp_key(const struct ib_qp_attr *attr,
					const struct net_device *dev)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);
	struct rocesteer_flow_key key = {
		.ifindex = dev->ifindex,
		.dqpn = attr->dest_qp_num & ROCESTEER_QPN_MASK,
	};

	static_assert(sizeof(key.peer) == sizeof(grh->dgid.raw));
	memcpy(key.peer, grh->dgid.raw, sizeof(key.peer));
	return key;
}

/* @dev stays listed in this RCU read-side critical section. */
static void qp_learn_rcu(const struct ib_qp *qp, struct ib_qp_attr *attr,
			 int mask, const union ib_gid *local,
			 const struct net_device *dev)
{
	struct rocesteer_qp info = qp_describe(qp, attr, mask, local);
	struct rocesteer_flow_key key = qp_key(attr, dev);
	u16 sport;

	/* It asks which port the driver makes of this label, and is no flow. */
	if (info.label == ROCESTEER_LABEL_OWN && rocesteer_hop_limit())
		return;
	/* Queue pairs of kernel threads have no owner. */
	if (!(current->flags & PF_KTHREAD)) {
		info.owner = task_tgid(current);
		info.uid = qp_user(current_cred());
	}
	sport = rocesteer_flow_learn(rocesteer_net(dev_net(dev)), &key, &info);
	if (sport)
		rdma_ah_retrieve_grh(&attr->ah_attr)->flow_label =
			rocesteer_label_of(sport);
}

static void qp_learn(const struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	const struct rdma_ah_attr *ah = &attr->ah_attr;
	const struct ib_gid_attr *gid;
	const struct net_device *dev;

	if ((mask & QP_RTR_MASK) != QP_RTR_MASK || qp->qp_type != IB_QPT_RC ||
	    ah->type != RDMA_AH_ATTR_TYPE_ROCE)
		return;

	gid = rdma_get_gid_attr(qp->device, rdma_ah_get_port_num(ah),
				rdma_ah_read_grh(ah)->sgid_index);
	if (IS_ERR(gid))	/* the modify will fail */
		return;
	if (gid->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP) {
		rcu_read_lock();
		dev = rdma_read_gid_attr_ndev_rcu(gid);
		if (!IS_ERR(dev))
			qp_learn_rcu(qp, attr, mask, &gid->gid, dev);
		rcu_read_unlock();
	}
	rdma_put_gid_attr(gid);
}

/* Return: 0; -ENOENT if the device is in another namespace. */
static int qp_adopt_rcu(struct rocesteer_net *rn, const struct ib_qp *qp,
			const struct ib_qp_attr *attr, int mask,
			const struct ib_gid_attr *gid, struct pid *owner)
{
	const struct net_device *dev = rdma_read_gid_attr_ndev_rcu(gid);
	struct rocesteer_flow_key key;
	struct rocesteer_qp info;

	if (IS_ERR(dev) || rocesteer_net(dev_net(dev)) != rn)
		return -ENOENT;
	key = qp_key(attr, dev);
	info = qp_describe(qp, attr, mask, &gid->gid);
	info.running = true;
	info.owner = owner;
	if (qp->res.task)
		info.uid = qp_user(__task_cred(qp->res.task));
	rocesteer_flow_learn(rn, &key, &info);
	return 0;
}

/* The queue pair is held. */
static int qp_adopt(struct rocesteer_net *rn, struct ib_qp *qp)
{
	const int mask = QP_RTR_MASK | IB_QP_PATH_MTU;
	struct ib_qp_init_attr init = {};
	const struct ib_gid_attr *gid;
	struct ib_qp_attr attr = {};
	struct pid *owner = NULL;
	u32 port;
	int err;

	if (qp->qp_type != IB_QPT_RC)
		return -EOPNOTSUPP;
	err = ib_query_qp(qp, &attr, mask, &init);
	if (err)
		return err;
	port = rdma_ah_get_port_num(&attr.ah_attr);
	if (attr.qp_state < IB_QPS_RTR || attr.qp_state > IB_QPS_SQE)
		return -ENOTCONN;
	/* Drivers need not fill in the type of the address. */
	if (rdma_ah_find_type(qp->device, port) != RDMA_AH_ATTR_TYPE_ROCE)
		return -EOPNOTSUPP;
	gid = rdma_get_gid_attr(qp->device, port,
				rdma_ah_read_grh(&attr.ah_attr)->sgid_index);
	if (IS_ERR(gid))
		return PTR_ERR(gid);
	if (qp->res.task)
		owner = get_task_pid(qp->res.task, PIDTYPE_TGID);
	err = -EOPNOTSUPP;
	if (gid->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP) {
		rcu_read_lock();
		err = qp_adopt_rcu(rn, qp, &attr, mask, gid, owner);
		rcu_read_unlock();
	}
	put_pid(owner);
	rdma_put_gid_attr(gid);
	return err;
}

/**
 * rocesteer_qp_adopt() - learn the flow of a queue pair that is connected
 * @rn: namespace
 * @dev: net device of a port of its RDMA device
 * @sqpn: queue pair number
 *
 * A known flow is left alone. The policy is not asked: the queue pair has its port.
 *
 * The core removes a queue pair from restrack right after the call that qp_destroyed
 * probes. A queue pair that was destroyed meanwhile is therefore not found again, and its
 * memory is not used again while it is held.
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENODEV if @dev has no RDMA device; -ENOENT if that has no such queue pair
 * here; -ENOTCONN if it is not connected; -EOPNOTSUPP if it is not RC over RoCE v2; or an
 * error of its driver.
 */
int rocesteer_qp_adopt(struct rocesteer_net *rn, struct net_device *dev, u32 sqpn)
{
	struct rdma_restrack_entry *res, *still;
	struct ib_device *device;
	struct ib_qp *qp;
	int err;

	device = ib_device_get_by_netdev(dev, RDMA_DRIVER_UNKNOWN);
	if (!device)
		return -ENODEV;
	res = rdma_restrack_get_byid(device, RDMA_RESTRACK_QP, sqpn);
	err = PTR_ERR_OR_ZERO(res);
	if (err)
		goto put_device;
	qp = container_of(res, struct ib_qp, res);
	err = qp_adopt(rn, qp);

	still = rdma_restrack_get_byid(device, RDMA_RESTRACK_QP, sqpn);
	if (still != res)
		rocesteer_flow_forget(qp);
	if (!IS_ERR(still))
		rdma_restrack_put(still);
	rdma_restrack_put(res);
put_device:
	ib_device_put(device);
	return err;
}

/* int ib_modify_qp*(struct ib_qp *, struct ib_qp_attr *, int mask, ...) */
static int qp_modify(struct kprobe *kp, struct pt_regs *regs)
{
	const struct ib_qp *qp = (void *)regs_get_kernel_argument(regs, 0);
	struct ib_qp_attr *attr = (void *)regs_get_kernel_argument(regs, 1);
	int mask = regs_get_kernel_argument(regs, 2);

	/* An XRC queue pair may have several handles. */
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RTR)
		qp_learn(qp->real_qp, attr, mask);
	else if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET)
		rocesteer_flow_set_connected(qp->real_qp, false);
	return 0;
}

struct qp_call {
	const struct ib_qp *qp;
	enum ib_qp_state state;
};

/* Return: nonzero to ignore the return of the function. */
static int qp_modify_begin(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct ib_qp *qp = (void *)regs_get_kernel_argument(regs, 0);
	const struct ib_qp_attr *attr = (void *)regs_get_kernel_argument(regs, 1);
	int mask = regs_get_kernel_argument(regs, 2);
	struct qp_call *call = (void *)ri->data;

	call->qp = qp->real_qp;
	call->state = attr->qp_state;
	return !(mask & IB_QP_STATE) ||
	       (call->state != IB_QPS_RTR && call->state != IB_QPS_RESET);
}

static int qp_modify_end(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct qp_call *call = (void *)ri->data;

	if (regs_return_value(regs))
		return 0;
	if (call->state == IB_QPS_RTR)
		rocesteer_flow_set_connected(call->qp, true);
	else
		rocesteer_flow_forget(call->qp);
	return 0;
}

/* void rdma_restrack_*del(struct rdma_restrack_entry *) */
static int qp_destroy_end(struct kprobe *kp, struct pt_regs *regs)
{
	struct rdma_restrack_entry *res;

	res = (void *)regs_get_kernel_argument(regs, 0);
	if (res->type == RDMA_RESTRACK_QP)
		rocesteer_flow_forget(container_of(res, struct ib_qp, res));
	return 0;
}

static struct kprobe qp_modify_user = {
	.symbol_name = "ib_modify_qp_with_udata",
	.pre_handler = qp_modify,
};

static struct kprobe qp_modify_kernel = {
	.symbol_name = "ib_modify_qp",
	.pre_handler = qp_modify,
};

static struct kretprobe qp_modified_user = {
	.kp.symbol_name = "ib_modify_qp_with_udata",
	.entry_handler = qp_modify_begin,
	.handler = qp_modify_end,
	.data_size = sizeof(struct qp_call),
};

static struct kretprobe qp_modified_kernel = {
	.kp.symbol_name = "ib_modify_qp",
	.entry_handler = qp_modify_begin,
	.handler = qp_modify_end,
	.data_size = sizeof(struct qp_call),
};

/*
 * ib_destroy_qp_user() calls one of these after the driver has destroyed the queue pair and
 * before its memory is freed. A kernel that has both may call either. A kretprobe could
 * miss the end.
 */
static struct kprobe qp_destroyed = {
	.symbol_name = "rdma_restrack_del",
	.pre_handler = qp_destroy_end,
};

static struct kprobe qp_destroyed_commit = {
	.symbol_name = "rdma_restrack_commit_del",
	.pre_handler = qp_destroy_end,
};

/* Detects that kprobes were switched off by debugfs or sysctl. */
static atomic_t qp_canary_calls;

static noinline void qp_canary_hit(void)
{
	barrier();
}

static int qp_canary_called(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_inc(&qp_canary_calls);
	return 0;
}

static struct kprobe qp_canary = {
	.addr = (kprobe_opcode_t *)qp_canary_hit,
	.pre_handler = qp_canary_called,
};

/* Context: process context. Return: whether kprobes are live. */
bool rocesteer_qp_kprobe_test(void)
{
	int before = atomic_read(&qp_canary_calls);

	qp_canary_hit();
	return atomic_read(&qp_canary_calls) != before;
}

static struct kprobe *qp_kprobes[] = {
	&qp_canary, &qp_modify_user, &qp_modify_kernel,
};

static struct kretprobe *qp_returns[] = { &qp_modified_user, &qp_modified_kernel };

/* unregister_kprobe() ignores a probe that is not registered. */
static void qp_unwatch_destroyed(void)
{
	unregister_kprobe(&qp_destroyed_commit);
	unregister_kprobe(&qp_destroyed);
}

/* A kernel has one of the two functions, or both. */
static int qp_watch_destroyed(void)
{
	int err = register_kprobe(&qp_destroyed);
	int err_commit = register_kprobe(&qp_destroyed_commit);

	if (err && err != -ENOENT)
		goto unwatch;
	if (err_commit && (err_commit != -ENOENT || err)) {
		err = err_commit;
		goto unwatch;
	}
	return 0;

unwatch:
	pr_err("cannot probe %s() or %s(): %pe\n", qp_destroyed.symbol_name,
	       qp_destroyed_commit.symbol_name, ERR_PTR(err));
	qp_unwatch_destroyed();
	return err;
}

/* An int3 of x86 is an NMI, in which no lock may be taken. */
static bool qp_can_lock(const struct kprobe *kp)
{
	bool registered = kp->addr;

	if (!IS_ENABLED(CONFIG_X86) || !registered ||
	    kprobe_ftrace((struct kprobe *)kp))
		return true;
	pr_err("no ftrace at %s\n", kp->symbol_name);
	return false;
}

/**
 * rocesteer_qp_kprobe_register() - begin to learn flows
 *
 * The end of queue pairs is probed first, so that no flow is learnt whose end is missed.
 *
 * Return: 0; -EOPNOTSUPP if probes would run in NMI context; or an error of
 * register_kprobe().
 */
int rocesteer_qp_kprobe_register(void)
{
	int err;

	err = qp_watch_destroyed();
	if (err)
		return err;
	err = register_kretprobes(qp_returns, ARRAY_SIZE(qp_returns));
	if (err)
		goto no_modify;
	err = register_kprobes(qp_kprobes, ARRAY_SIZE(qp_kprobes));
	if (err) {
		unregister_kretprobes(qp_returns, ARRAY_SIZE(qp_returns));
		goto no_modify;
	}
	if (qp_can_lock(&qp_destroyed) && qp_can_lock(&qp_destroyed_commit) &&
	    qp_can_lock(&qp_modify_user) && qp_can_lock(&qp_modify_kernel))
		return 0;

	rocesteer_qp_kprobe_unregister();
	return -EOPNOTSUPP;

no_modify:
	pr_err("cannot probe %s() or %s(): %pe\n", qp_modify_user.symbol_name,
	       qp_modify_kernel.symbol_name, ERR_PTR(err));
	qp_unwatch_destroyed();
	return err;
}

/* Context: process context, may sleep. No handler runs any more afterwards. */
void rocesteer_qp_kprobe_unregister(void)
{
	unregister_kprobes(qp_kprobes, ARRAY_SIZE(qp_kprobes));
	unregister_kretprobes(qp_returns, ARRAY_SIZE(qp_returns));
	qp_unwatch_destroyed();
}
