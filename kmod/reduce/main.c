// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer_reduce: a switch sums the RoCE v2 WRITEs of the hosts of a group, and returns the
 * sum on the same connections. See Documentation/reduce.rst.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <net/genetlink.h>

#include <uapi/linux/rocesteer_reduce.h>

#include "../compat.h"
#include "conf.h"
#include "group.h"
#include "hook.h"
#include "net.h"
#include "netlink.h"
#include "packet.h"
#include "receive.h"

unsigned int reduce_net_id __read_mostly;

static int __net_init reduce_net_init(struct net *net)
{
	struct reduce_net *rn = reduce_net(net);

	rn->net = net;
	mutex_init(&rn->conf);
	xa_init_flags(&rn->groups, XA_FLAGS_ACCOUNT);
	xa_init_flags(&rn->past, XA_FLAGS_ACCOUNT);
	reduce_nl_net_init(rn);
	rn->stats = alloc_percpu(struct reduce_stats);
	return rn->stats ? 0 : -ENOMEM;
}

/* A grace period follows before reduce_net_exit(), when no hook runs any more. */
static void __net_exit reduce_net_pre_exit(struct net *net)
{
	reduce_hook_end(reduce_net(net));
}

/* Nobody else uses the namespace. */
static void __net_exit reduce_net_exit(struct net *net)
{
	struct reduce_net *rn = reduce_net(net);

	reduce_conf_end(rn);
	cancel_work_sync(&rn->announce);
	free_percpu(rn->stats);
}

static struct pernet_operations reduce_net_ops = {
	.init = reduce_net_init,
	.pre_exit = reduce_net_pre_exit,
	.exit = reduce_net_exit,
	.id = &reduce_net_id,
	.size = sizeof(struct reduce_net),
};

/* Waiting packets hold no reference to their device. */
static int reduce_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	if (event == NETDEV_GOING_DOWN || event == NETDEV_UNREGISTER)
		reduce_group_device_down(reduce_net(dev_net(dev)), dev);
	return NOTIFY_DONE;
}

static struct notifier_block reduce_netdev_notifier = {
	.notifier_call = reduce_netdev_event,
};

static int __init reduce_init(void)
{
	int err;

	reduce_packet_init();
	err = register_pernet_subsys(&reduce_net_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&reduce_netdev_notifier);
	if (err)
		goto unregister_net;
	err = reduce_nl_register();
	if (err)
		goto unregister_netdev;
	return 0;

unregister_netdev:
	unregister_netdevice_notifier(&reduce_netdev_notifier);
unregister_net:
	unregister_pernet_subsys(&reduce_net_ops);
	return err;
}

/*
 * No packet begins to wait, and unregistering the notifier drops the waiting packets. netlink
 * waits for requests under way. The namespaces unregister their hooks, and free groups after a
 * grace period.
 */
static void __exit reduce_exit(void)
{
	reduce_receive_stop();
	unregister_netdevice_notifier(&reduce_netdev_notifier);
	reduce_nl_unregister();
	unregister_pernet_subsys(&reduce_net_ops);
	WARN_ON(!reduce_group_none_charged());
}

module_init(reduce_init);
module_exit(reduce_exit);

MODULE_DESCRIPTION("Sums of RoCE v2 payloads inside the network");
MODULE_AUTHOR("The rocesteer developers");
MODULE_LICENSE("GPL");
MODULE_ALIAS_GENL_FAMILY(ROCESTEER_REDUCE_FAMILY_NAME);
MODULE_VERSION(ROCESTEER_VERSION);
