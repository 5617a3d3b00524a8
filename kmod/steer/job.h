/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_JOB_H
#define ROCESTEER_JOB_H

#include <linux/types.h>
#include <uapi/linux/rocesteer.h>

struct pid;
struct rocesteer_net;

/**
 * struct rocesteer_job_rule - a job
 * @id: job number, not 0
 * @flows: number of flows, written under rocesteer_lock
 * @cgroup_id: cgroup on the default hierarchy that owns the queue pairs, or 0. Not a
 *	reference, which would keep a removed cgroup alive: 64-bit ids are not reused
 * @pid: thread group that owns the queue pairs, with a reference, or NULL
 * @resequence: resequence the packets that the queue pairs receive
 * @name: name for people, or empty
 * @rcu: frees this
 *
 * Immutable but for @flows. In rocesteer_net.jobs until rocesteer_conf_job_del(), which
 * frees it by RCU.
 */
struct rocesteer_job_rule {
	u32 id;
	u32 flows;
	u64 cgroup_id;
	struct pid *pid;
	bool resequence;
	char name[ROCESTEER_NAME_SIZE];
	struct rcu_head rcu;
};

bool rocesteer_job_owns(struct rocesteer_net *rn, u32 id, struct pid *owner);
u32 rocesteer_job_match(struct rocesteer_net *rn, struct pid *owner);
bool rocesteer_job_resequences(struct rocesteer_net *rn, u32 id);
void rocesteer_job_count(struct rocesteer_net *rn, u32 id, int change);
void rocesteer_job_free(struct rocesteer_job_rule *job);
void rocesteer_job_free_all(struct rocesteer_net *rn);

#endif /* ROCESTEER_JOB_H */
