// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces: each has its own jobs, flows and counters, and loses the
 * flows of a device that leaves it.
 */
#include <linux/netdevice.h>
#include <linux/percpu.h>

#include "flow.h"
#include "hook.h"
#include "job.h"
#include "net.h"
#include "resequence.h"

DEFINE_SPINLOCK(rocesteer_lock);
unsigned int rocesteer_net_id __read_mostly;

static LIST_HEAD(nets);	/* under rocesteer_lock */

static int __net_init net_init(struct net *net)
{
	struct rocesteer_net *rn = rocesteer_net(net);
	int err;

	rn->net = net;
	mutex_init(&rn->conf);
	xa_init_flags(&rn->jobs, XA_FLAGS_ACCOUNT);

	rn->stats = alloc_percpu(struct rocesteer_stats);
	if (!rn->stats)
		return -ENOMEM;

	err = rocesteer_flow_table_init(rn);
	if (err)
		goto free_stats;
	err = rocesteer_reseq_table_init(rn);
	if (err)
		goto free_flows;

	spin_lock(&rocesteer_lock);
	list_add(&rn->node, &nets);
	spin_unlock(&rocesteer_lock);
	return 0;

free_flows:
	rocesteer_flow_table_free(rn);
free_stats:
	free_percpu(rn->stats);
	return err;
}

/* A grace period passes until net_exit(): then no hook runs any more. */
static void __net_exit net_pre_exit(struct net *net)
{
	rocesteer_hook_end(rocesteer_net(net));
}

/*
 * Nobody else is here: the namespace has no sockets, thus no netlink requests,
 * and no devices, thus no packets and no queue pairs. Or the module goes, see
 * rocesteer_exit().
 */
static void __net_exit net_exit(struct net *net)
{
	struct rocesteer_net *rn = rocesteer_net(net);

	spin_lock(&rocesteer_lock);
	list_del(&rn->node);
	spin_unlock(&rocesteer_lock);

	rocesteer_flow_table_free(rn);
	rocesteer_reseq_table_free(rn);
	rocesteer_job_free_all(rn);
	free_percpu(rn->stats);
}

static struct pernet_operations net_ops = {
	.init = net_init,
	.pre_exit = net_pre_exit,
	.exit = net_exit,
	.id = &rocesteer_net_id,
	.size = sizeof(struct rocesteer_net),
};

/*
 * The event also comes when a device moves to another namespace, while
 * dev_net() is still the one it leaves.
 */
static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	if (event == NETDEV_UNREGISTER)
		rocesteer_flow_flush(rocesteer_net(dev_net(dev)),
				     dev->ifindex);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/**
 * rocesteer_net_find() - the module's part of a namespace, by its cookie
 * @cookie: as SO_NETNS_COOKIE says
 *
 * Also of one that is about to go and that the core does not list any more.
 *
 * Context: Holds rocesteer_lock, under which it stays.
 * Return: NULL when there is no such namespace.
 */
struct rocesteer_net *rocesteer_net_find(u64 cookie)
{
	struct rocesteer_net *rn;

	lockdep_assert_held(&rocesteer_lock);
	list_for_each_entry(rn, &nets, node)
		if (rn->net->net_cookie == cookie)
			return rn;
	return NULL;
}

/**
 * rocesteer_net_register() - set up all namespaces, present and future
 *
 * Return: 0 or a negative errno.
 */
int rocesteer_net_register(void)
{
	return register_pernet_subsys(&net_ops);
}

/**
 * rocesteer_net_unregister() - free everything in all namespaces
 *
 * Flows and jobs are freed by RCU: the caller must wait for the callbacks.
 */
void rocesteer_net_unregister(void)
{
	unregister_pernet_subsys(&net_ops);
}

/**
 * rocesteer_net_watch() - begin to watch for devices that go
 *
 * Return: 0 or a negative errno.
 */
int rocesteer_net_watch(void)
{
	return register_netdevice_notifier(&netdev_notifier);
}

/**
 * rocesteer_net_unwatch() - stop watching for devices that go
 *
 * The core sends NETDEV_UNREGISTER for every device to a notifier that leaves:
 * all flows are removed, and announced, by this call.
 */
void rocesteer_net_unwatch(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
}
