/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_EVENT_H
#define ROCESTEER_EVENT_H

#include <linux/types.h>

struct rocesteer_flow;
struct rocesteer_job_rule;
struct rocesteer_net;

/**
 * struct rocesteer_event_ops - who is told of changes
 * @job: a job was added or deleted, @cmd is ROCESTEER_CMD_JOB_*_NTF
 * @flow: a flow was added, deleted or changed, @cmd is ROCESTEER_CMD_FLOW_*_NTF
 *
 * Both are called under rocesteer_lock, in the order of the changes.
 */
struct rocesteer_event_ops {
	void (*job)(struct rocesteer_net *rn,
		    const struct rocesteer_job_rule *job, u8 cmd);
	void (*flow)(const struct rocesteer_flow *flow, u8 cmd);
};

void rocesteer_event_subscribe(const struct rocesteer_event_ops *ops);
void rocesteer_event_job(struct rocesteer_net *rn,
			 const struct rocesteer_job_rule *job, u8 cmd);
void rocesteer_event_flow(const struct rocesteer_flow *flow, u8 cmd);

#endif /* ROCESTEER_EVENT_H */
