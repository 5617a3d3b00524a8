// SPDX-License-Identifier: GPL-2.0
/*
 * Hop limits that a process asks for, so that routers answer to the packets of its queue
 * pairs, and show which way these take.
 *
 * The RDMA core ignores the hop limit of ib_modify_qp() and of address handles, and asks
 * rdma_addr_find_l2_eth_by_grh() for that of the route, in the calling process. A kretprobe
 * changes the answer. It is there from the first request on, so that requests cannot patch
 * the kernel again and again. If it is missed, without a free kretprobe instance, packets
 * reach their peer.
 *
 * A limit ends with the netlink socket that asked for it, thus also when its process is
 * killed. Connections of other processes are not touched.
 */
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "hop.h"

/**
 * struct hop - a limit
 * @node: in hop_list
 * @rcu: frees the limit
 * @net: namespace of the socket, which is compared only
 * @portid: address of the socket
 * @owner: thread group that asked
 * @limit: hop limit
 */
struct hop {
	struct list_head node;
	struct rcu_head rcu;
	const struct net *net;
	u32 portid;
	struct pid *owner;
	int limit;
};

static LIST_HEAD(hop_list);
static DEFINE_MUTEX(hop_lock);	/* for changes of the list, and the kretprobe */
static bool hop_probed;

struct hop_call {
	int *limit;
	int wanted;
};

/**
 * rocesteer_hop_limit() - the hop limit that the calling process asked for
 *
 * Context: Process context, also with interrupts off.
 * Return: limit, or 0.
 */
int rocesteer_hop_limit(void)
{
	const struct hop *hop;
	int limit = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(hop, &hop_list, node)
		if (hop->owner == task_tgid(current)) {
			limit = hop->limit;
			break;
		}
	rcu_read_unlock();
	return limit;
}

/*
 * int rdma_addr_find_l2_eth_by_grh(sgid, dgid, u8 *dmac, sgid_attr, int *hoplimit). Return:
 * nonzero to ignore the return of the function.
 */
static int hop_begin(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct hop_call *call = (void *)ri->data;

	call->wanted = rocesteer_hop_limit();
	call->limit = (void *)regs_get_kernel_argument(regs, 4);
	return !call->wanted;
}

static int hop_end(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct hop_call *call = (void *)ri->data;

	if (!regs_return_value(regs))
		*call->limit = call->wanted;
	return 0;
}

static struct kretprobe hop_found = {
	.kp.symbol_name = "rdma_addr_find_l2_eth_by_grh",
	.entry_handler = hop_begin,
	.handler = hop_end,
	.data_size = sizeof(struct hop_call),
};

static int hop_probe(struct netlink_ext_ack *extack)
{
	int err;

	lockdep_assert_held(&hop_lock);
	err = hop_probed ? 0 : register_kretprobe(&hop_found);
	hop_probed = !err;
	if (err) {
		hop_found.kp.addr = NULL;	/* the next attempt goes by name again */
		NL_SET_ERR_MSG(extack, "Cannot probe the RDMA core for hop limits");
	}
	return err;
}

static void hop_free(struct rcu_head *rcu)
{
	struct hop *hop = container_of(rcu, struct hop, rcu);

	put_pid(hop->owner);
	kfree(hop);
}

/* The limit of a socket, if any, ends; with NULL each limit. */
static void hop_drop(const struct net *net, u32 portid)
{
	struct hop *hop, *next;

	lockdep_assert_held(&hop_lock);
	list_for_each_entry_safe(hop, next, &hop_list, node)
		if (!net || (hop->net == net && hop->portid == portid)) {
			list_del_rcu(&hop->node);
			call_rcu(&hop->rcu, hop_free);
		}
}

/**
 * rocesteer_hop_set() - limit the hops of what the calling process connects
 * @net: namespace of the socket that asks
 * @portid: its address; it has one limit, and the last one holds
 * @limit: hop limit, at least 1
 * @extack: says why not
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOMEM; or an error of register_kretprobe().
 */
int rocesteer_hop_set(struct net *net, u32 portid, u8 limit, struct netlink_ext_ack *extack)
{
	struct hop *hop;
	int err;

	hop = kzalloc(sizeof(*hop), GFP_KERNEL_ACCOUNT);
	if (!hop) {
		NL_SET_ERR_MSG(extack, "No memory for the limit");
		return -ENOMEM;
	}
	hop->net = net;
	hop->portid = portid;
	hop->limit = limit;
	hop->owner = get_pid(task_tgid(current));

	mutex_lock(&hop_lock);
	err = hop_probe(extack);
	if (!err) {
		hop_drop(net, portid);
		list_add_rcu(&hop->node, &hop_list);
	}
	mutex_unlock(&hop_lock);
	if (err)
		hop_free(&hop->rcu);
	return err;
}

/* A socket is closed. Its requests have ended, so that a limit of its own would be seen. */
static int hop_released(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct netlink_notify *notify = ptr;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC ||
	    list_empty(&hop_list))
		return NOTIFY_DONE;
	mutex_lock(&hop_lock);
	hop_drop(notify->net, notify->portid);
	mutex_unlock(&hop_lock);
	return NOTIFY_DONE;
}

static struct notifier_block hop_notifier = {
	.notifier_call = hop_released,
};

int rocesteer_hop_register(void)
{
	return netlink_register_notifier(&hop_notifier);
}

/* No request is under way. The caller waits for RCU callbacks. */
void rocesteer_hop_unregister(void)
{
	netlink_unregister_notifier(&hop_notifier);
	mutex_lock(&hop_lock);
	if (hop_probed)
		unregister_kretprobe(&hop_found);
	hop_probed = false;
	hop_drop(NULL, 0);
	mutex_unlock(&hop_lock);
}
