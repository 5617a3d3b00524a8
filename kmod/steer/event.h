/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Announce changes to netlink listeners, in the order of the changes. Implemented by
 * netlink_job.c and netlink_flow.c, which include the headers of jobs and flows.
 */
#ifndef ROCESTEER_EVENT_H
#define ROCESTEER_EVENT_H

#include <linux/types.h>

struct rocesteer_flow;
struct rocesteer_job_rule;
struct rocesteer_net;

/* Context: Holds rocesteer_lock. @cmd is a ROCESTEER_CMD_*_NTF. */
void rocesteer_event_job(struct rocesteer_net *rn,
			 const struct rocesteer_job_rule *job, u8 cmd);
void rocesteer_event_flow(const struct rocesteer_flow *flow, u8 cmd);

#endif /* ROCESTEER_EVENT_H */
