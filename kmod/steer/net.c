// SPDX-License-Identifier: GPL-2.0
/* The lock of jobs and flows, and the list of namespaces. */
#include "net.h"

DEFINE_SPINLOCK(rocesteer_lock);
unsigned int rocesteer_net_id __read_mostly;

static LIST_HEAD(net_list);	/* under rocesteer_lock */

void rocesteer_net_list(struct rocesteer_net *rn)
{
	spin_lock(&rocesteer_lock);
	list_add(&rn->node, &net_list);
	spin_unlock(&rocesteer_lock);
}

void rocesteer_net_unlist(struct rocesteer_net *rn)
{
	spin_lock(&rocesteer_lock);
	list_del(&rn->node);
	spin_unlock(&rocesteer_lock);
}

/**
 * rocesteer_net_find() - look up a namespace by its cookie
 * @cookie: SO_NETNS_COOKIE
 *
 * Finds a namespace until rocesteer_net_exit(), when the core does not list it any more.
 *
 * Context: Holds rocesteer_lock, under which the namespace stays.
 * Return: NULL if there is no such namespace.
 */
struct rocesteer_net *rocesteer_net_find(u64 cookie)
{
	struct rocesteer_net *rn;

	lockdep_assert_held(&rocesteer_lock);
	list_for_each_entry(rn, &net_list, node)
		if (rn->net->net_cookie == cookie)
			return rn;
	return NULL;
}
