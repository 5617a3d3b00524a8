// SPDX-License-Identifier: GPL-2.0
/* Changes of jobs and flows, told to who stands above them. */
#include "event.h"
#include "net.h"

static const struct rocesteer_event_ops *event_ops;	/* under rocesteer_lock */

void rocesteer_event_subscribe(const struct rocesteer_event_ops *ops)
{
	spin_lock(&rocesteer_lock);
	event_ops = ops;
	spin_unlock(&rocesteer_lock);
}

void rocesteer_event_job(struct rocesteer_net *rn,
			 const struct rocesteer_job_rule *job, u8 cmd)
{
	lockdep_assert_held(&rocesteer_lock);
	if (event_ops)
		event_ops->job(rn, job, cmd);
}

void rocesteer_event_flow(const struct rocesteer_flow *flow, u8 cmd)
{
	lockdep_assert_held(&rocesteer_lock);
	if (event_ops)
		event_ops->flow(flow, cmd);
}
