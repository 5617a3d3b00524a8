// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer: tells BPF programs the jobs of RoCE v2 flows, sets the source ports of queue
 * pairs that a BPF policy chooses, and resequences packets that took several paths.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <net/genetlink.h>

#include <uapi/linux/rocesteer.h>

#include "../compat.h"
#include "flow.h"
#include "hop.h"
#include "job.h"
#include "kfunc.h"
#include "label.h"
#include "net.h"
#include "netlink.h"
#include "policy.h"
#include "qp_kprobe.h"
#include "reseq.h"
#include "reseq_hook.h"
#include "reseq_mark.h"
#include "reseq_window.h"

static int __net_init rocesteer_net_init(struct net *net)
{
	struct rocesteer_net *rn = rocesteer_net(net);
	int err;

	rn->net = net;
	mutex_init(&rn->conf);
	xa_init_flags(&rn->jobs, XA_FLAGS_ACCOUNT);
	rocesteer_nl_net_init(rn);

	rn->stats = alloc_percpu(struct rocesteer_stats);
	if (!rn->stats)
		return -ENOMEM;

	err = rocesteer_flow_table_init(rn);
	if (err)
		goto free_stats;
	err = rocesteer_reseq_table_init(rn);
	if (err)
		goto free_flows;

	rocesteer_net_list(rn);
	return 0;

free_flows:
	rocesteer_flow_table_free(rn);
free_stats:
	free_percpu(rn->stats);
	return err;
}

/* A grace period follows before rocesteer_net_exit(), when no hook runs any more. */
static void __net_exit rocesteer_net_pre_exit(struct net *net)
{
	rocesteer_hook_end(rocesteer_net(net));
}

/*
 * The namespace has no sockets, thus no netlink requests, and no devices, thus no packets
 * and no queue pairs. Or the module is being unloaded, see rocesteer_exit().
 */
static void __net_exit rocesteer_net_exit(struct net *net)
{
	struct rocesteer_net *rn = rocesteer_net(net);

	rocesteer_net_unlist(rn);
	rocesteer_nl_net_exit(rn);
	rocesteer_flow_table_free(rn);
	rocesteer_reseq_table_free(rn);
	rocesteer_job_free_all(rn);
	free_percpu(rn->stats);
}

static struct pernet_operations rocesteer_net_ops = {
	.init = rocesteer_net_init,
	.pre_exit = rocesteer_net_pre_exit,
	.exit = rocesteer_net_exit,
	.id = &rocesteer_net_id,
	.size = sizeof(struct rocesteer_net),
};

/* Also called when a device moves to another namespace, with dev_net() the old one. */
static int rocesteer_netdev_event(struct notifier_block *nb, unsigned long event,
				  void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	if (event == NETDEV_UNREGISTER)
		rocesteer_flow_flush(rocesteer_net(dev_net(dev)),
				     dev->ifindex);
	return NOTIFY_DONE;
}

static struct notifier_block rocesteer_netdev_notifier = {
	.notifier_call = rocesteer_netdev_event,
};

static int __init rocesteer_init(void)
{
	int err;

	err = rocesteer_hook_init();
	if (err)
		return err;
	err = rocesteer_read_mark_init();
	if (err)
		return err;

	err = rocesteer_flow_init();
	if (err)
		return err;
	err = register_pernet_subsys(&rocesteer_net_ops);
	if (err)
		goto exit_flow;
	err = rocesteer_hop_register();
	if (err)
		goto unregister_net;
	err = rocesteer_nl_register();
	if (err)
		goto unregister_hop;
	err = register_netdevice_notifier(&rocesteer_netdev_notifier);
	if (err)
		goto unregister_nl;
	err = rocesteer_kfunc_register();
	if (err)
		goto unregister_netdev;
	err = rocesteer_policy_register();
	if (err)
		goto unregister_netdev;
	err = rocesteer_label_register();
	if (err)
		goto unregister_netdev;
	err = rocesteer_qp_kprobe_register();
	if (err)
		goto unregister_label;
	return 0;

unregister_label:
	rocesteer_label_unregister();
unregister_netdev:
	unregister_netdevice_notifier(&rocesteer_netdev_notifier);
unregister_nl:
	rocesteer_nl_unregister();
unregister_hop:
	rocesteer_hop_unregister();
unregister_net:
	unregister_pernet_subsys(&rocesteer_net_ops);
exit_flow:
	rcu_barrier();
	rocesteer_flow_exit();
	return err;
}

/*
 * No BPF program uses the module any more: each held a reference. In this order:
 * - kprobes: no flow is learnt any more;
 * - the device notifier: unregistering it removes all flows, announced while the netlink
 *   family still exists;
 * - netlink: sends queued events and waits for requests, which may have added flows or limits;
 * - namespaces, with their hook, jobs and remaining flows;
 * - RCU callbacks, which are code of this module.
 */
static void __exit rocesteer_exit(void)
{
	rocesteer_qp_kprobe_unregister();
	rocesteer_label_unregister();
	unregister_netdevice_notifier(&rocesteer_netdev_notifier);
	rocesteer_nl_unregister();
	rocesteer_hop_unregister();
	unregister_pernet_subsys(&rocesteer_net_ops);
	rcu_barrier();
	rocesteer_flow_exit();
	WARN_ON(rocesteer_window_bytes());
}

module_init(rocesteer_init);
module_exit(rocesteer_exit);

MODULE_DESCRIPTION("Path steering for RoCE v2 flows");
MODULE_AUTHOR("The rocesteer developers");
MODULE_LICENSE("GPL");
MODULE_ALIAS_GENL_FAMILY(ROCESTEER_FAMILY_NAME);
MODULE_VERSION(ROCESTEER_VERSION);
