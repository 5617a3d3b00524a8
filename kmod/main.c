// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer: tells BPF programs which RoCE v2 flows belong to which job, gives
 * queue pairs the source ports that they choose, and puts packets that took several
 * paths back into order.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "compat.h"
#include "flow.h"
#include "hook.h"
#include "net.h"
#include "netlink.h"
#include "policy.h"
#include "qp_probe.h"
#include "steer_bpf.h"
#include "window.h"

static int __init rocesteer_init(void)
{
	int err;

	err = rocesteer_hook_init();
	if (err)
		return err;

	err = rocesteer_flow_init();
	if (err)
		return err;
	err = rocesteer_net_register();
	if (err)
		goto exit_flow;
	err = rocesteer_nl_register();
	if (err)
		goto unregister_net;
	err = rocesteer_net_watch();
	if (err)
		goto unregister_nl;
	err = rocesteer_steer_bpf_register();
	if (err)
		goto unwatch_net;
	err = rocesteer_policy_register();
	if (err)
		goto unwatch_net;
	err = rocesteer_qp_probe_register();
	if (err)
		goto unwatch_net;
	return 0;

unwatch_net:
	rocesteer_net_unwatch();
unregister_nl:
	rocesteer_nl_unregister();
unregister_net:
	rocesteer_net_unregister();
exit_flow:
	rcu_barrier();
	rocesteer_flow_exit();
	return err;
}

/*
 * No BPF program uses the module any more: each held a reference. What is left
 * ends in this order:
 * - probes, so that no flow is learnt any more; handlers under way are waited
 *   for;
 * - the device notifier, whose parting events remove all flows, and announce
 *   it while the netlink family is still there;
 * - netlink; requests under way are waited for. Jobs, and flows added since,
 *   are left over;
 * - the namespaces, which free those, and their netfilter hooks;
 * - RCU callbacks, which are this module's code.
 */
static void __exit rocesteer_exit(void)
{
	rocesteer_qp_probe_unregister();
	rocesteer_net_unwatch();
	rocesteer_nl_unregister();
	rocesteer_net_unregister();
	rcu_barrier();
	rocesteer_flow_exit();
	WARN_ON(rocesteer_window_bytes());
}

module_init(rocesteer_init);
module_exit(rocesteer_exit);

MODULE_DESCRIPTION("Path steering for RoCE v2 flows");
MODULE_AUTHOR("The rocesteer developers");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
