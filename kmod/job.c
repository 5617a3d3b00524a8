// SPDX-License-Identifier: GPL-2.0
/*
 * Job registry: which job numbers exist in a namespace and whose queue pairs
 * belong to them.
 */
#include <linux/cgroup.h>
#include <linux/netlink.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat.h"
#include "flow.h"
#include "hook.h"
#include "job.h"
#include "net.h"
#include "netlink.h"

#include <rocesteer/types.h>

/* More specific than any cgroup. */
#define PID_RANK	INT_MAX

static void job_free_rcu(struct rcu_head *rcu)
{
	struct rocesteer_job_rule *job;

	job = container_of(rcu, struct rocesteer_job_rule, rcu);
	put_pid(job->pid);
	kfree(job);
}

/*
 * Two jobs with one owner would both claim its queue pairs; which of them gets
 * them would be chance.
 */
static int job_check(struct rocesteer_net *rn,
		     const struct rocesteer_job_rule *rule,
		     struct netlink_ext_ack *extack)
{
	struct rocesteer_job_rule *job;
	unsigned long id;

	lockdep_assert_held(&rn->conf);
	xa_for_each(&rn->jobs, id, job) {
		if (job->id == rule->id) {
			NL_SET_ERR_MSG(extack, "Job exists already");
			return -EEXIST;
		}
		if (rule->cgroup_id && job->cgroup_id == rule->cgroup_id) {
			NL_SET_ERR_MSG_FMT(extack,
					   "Cgroup belongs to job %u already",
					   job->id);
			return -EEXIST;
		}
		if (rule->pid && job->pid == rule->pid) {
			NL_SET_ERR_MSG_FMT(extack,
					   "Process belongs to job %u already",
					   job->id);
			return -EEXIST;
		}
	}
	if (rn->nr_jobs >= ROCESTEER_MAX_JOBS) {
		NL_SET_ERR_MSG_FMT(extack, "Namespace has %u jobs already",
				   rn->nr_jobs);
		return -ENOSPC;
	}
	return 0;
}

/**
 * rocesteer_job_add() - add a job and give it the flows it owns
 * @rn: namespace
 * @rule: what the job is; @rule->pid is held by the caller, the job takes a
 *	reference of its own
 * @extack: told why the job is refused
 *
 * Flows that belong to another job stay there, also where @rule is more
 * specific: a flow does not change its path table under way.
 *
 * Context: Process context, may sleep, holds @rn->conf.
 * Return: 0; -EEXIST when the number or the owner is taken; -ENOSPC when there
 * are ROCESTEER_MAX_JOBS; -ENOMEM.
 */
int rocesteer_job_add(struct rocesteer_net *rn,
		      const struct rocesteer_job_rule *rule,
		      struct netlink_ext_ack *extack)
{
	struct rocesteer_job_rule *job;
	int err;

	lockdep_assert_held(&rn->conf);
	err = job_check(rn, rule, extack);
	if (err)
		return err;

	/* Room first: xa_store() cannot sleep under the lock. */
	err = xa_reserve(&rn->jobs, rule->id, GFP_KERNEL_ACCOUNT);
	if (err)
		return err;
	err = rule->resequence ? rocesteer_hook_get(rn) : 0;
	if (err)
		goto release;
	job = kmemdup(rule, sizeof(*rule), GFP_KERNEL_ACCOUNT);
	if (!job) {
		err = -ENOMEM;
		goto put_hook;
	}
	get_pid(job->pid);

	spin_lock(&rocesteer_lock);
	xa_store(&rn->jobs, job->id, job, GFP_ATOMIC);
	rn->nr_jobs++;
	rocesteer_nl_job_notify(rn, job, ROCESTEER_CMD_JOB_ADD_NTF);
	spin_unlock(&rocesteer_lock);

	if (job->cgroup_id || job->pid)
		rocesteer_flow_claim(rn, job->id);
	return 0;

put_hook:
	if (rule->resequence)
		rocesteer_hook_put(rn);
release:
	xa_release(&rn->jobs, rule->id);
	return err;
}

/**
 * rocesteer_job_del() - delete a job
 * @rn: namespace
 * @id: job number
 *
 * Learnt flows belong to the job that owns their queue pair, if any, afterwards, the
 * others are deleted. Queue pairs that come meanwhile do not find the job any more.
 *
 * Context: Process context, may sleep, holds @rn->conf.
 * Return: 0, or -ENOENT when there is no such job.
 */
int rocesteer_job_del(struct rocesteer_net *rn, u32 id)
{
	struct rocesteer_job_rule *job;

	lockdep_assert_held(&rn->conf);
	spin_lock(&rocesteer_lock);
	job = xa_erase(&rn->jobs, id);
	if (job)
		rn->nr_jobs--;
	spin_unlock(&rocesteer_lock);
	if (!job)
		return -ENOENT;

	rocesteer_flow_disown(rn, id);
	if (job->resequence)
		rocesteer_hook_put(rn);

	spin_lock(&rocesteer_lock);
	rocesteer_nl_job_notify(rn, job, ROCESTEER_CMD_JOB_DEL_NTF);
	spin_unlock(&rocesteer_lock);
	call_rcu(&job->rcu, job_free_rcu);
	return 0;
}

/* How closely a job fits: 0 for not at all. */
static int job_rank(const struct rocesteer_job_rule *job, struct pid *owner,
		    struct cgroup *cgrp)
{
	int level;

	if (job->pid)
		return job->pid == owner ? PID_RANK : 0;
	if (!job->cgroup_id || !cgrp)
		return 0;
	for (level = cgrp->level; level >= 0; level--)
		if (cgroup_id(cgroup_ancestor(cgrp, level)) == job->cgroup_id)
			return level + 1;
	return 0;
}

/* The cgroup of a thread group, under RCU; NULL when it has exited. */
static struct cgroup *job_cgroup(struct pid *owner)
{
	/* The group's leader, so that a later match gives the same answer. */
	struct task_struct *task = pid_task(owner, PIDTYPE_TGID);

	return task ? task_dfl_cgroup(task) : NULL;
}

/**
 * rocesteer_job_owns() - do a process's queue pairs belong to a job?
 * @rn: namespace
 * @id: job number
 * @owner: thread group, or NULL for queue pairs of the kernel, which belong to
 *	no job
 *
 * Another job may be more specific.
 *
 * Context: Any process context, holds rocesteer_lock.
 */
bool rocesteer_job_owns(struct rocesteer_net *rn, u32 id, struct pid *owner)
{
	struct rocesteer_job_rule *job;
	bool owns = false;

	lockdep_assert_held(&rocesteer_lock);
	rcu_read_lock();
	job = xa_load(&rn->jobs, id);
	if (job && owner)
		owns = job_rank(job, owner, job_cgroup(owner));
	rcu_read_unlock();
	return owns;
}

/**
 * rocesteer_job_match() - the job that a process's queue pairs belong to
 * @rn: namespace
 * @owner: thread group, or NULL for queue pairs of the kernel, which belong to
 *	no job
 *
 * The most specific job wins: the process, then the deepest cgroup. A process
 * that has exited still has its number here (its queue pairs may live on in
 * another process) but no cgroup.
 *
 * Context: Any process context, holds rocesteer_lock, so that the job cannot
 * go before its number is stored.
 * Return: job number, or 0.
 */
u32 rocesteer_job_match(struct rocesteer_net *rn, struct pid *owner)
{
	struct rocesteer_job_rule *job;
	struct cgroup *cgrp;
	unsigned long id;
	int best = 0;
	u32 match = 0;

	lockdep_assert_held(&rocesteer_lock);
	if (!owner)
		return 0;

	rcu_read_lock();
	cgrp = job_cgroup(owner);
	xa_for_each(&rn->jobs, id, job) {
		int rank = job_rank(job, owner, cgrp);

		if (rank > best) {
			best = rank;
			match = job->id;
		}
	}
	rcu_read_unlock();
	return match;
}

/**
 * rocesteer_job_resequences() - are a job's packets resequenced?
 * @rn: namespace
 * @id: job number; 0, or a job just being deleted, resequences nothing
 *
 * Context: Holds rocesteer_lock.
 */
bool rocesteer_job_resequences(struct rocesteer_net *rn, u32 id)
{
	struct rocesteer_job_rule *job;

	lockdep_assert_held(&rocesteer_lock);
	job = xa_load(&rn->jobs, id);
	return job && job->resequence;
}

/**
 * rocesteer_job_count() - keep account of a job's flows
 * @rn: namespace
 * @id: job number; 0, or a job just being deleted, is ignored
 * @change: 1 or -1
 *
 * Context: Holds rocesteer_lock.
 */
void rocesteer_job_count(struct rocesteer_net *rn, u32 id, int change)
{
	struct rocesteer_job_rule *job;

	lockdep_assert_held(&rocesteer_lock);
	job = xa_load(&rn->jobs, id);
	if (job)
		WRITE_ONCE(job->flows, job->flows + change);
}

/**
 * rocesteer_job_free_all() - free all jobs of a namespace that goes
 * @rn: namespace
 *
 * Context: Nobody else uses @rn.
 */
void rocesteer_job_free_all(struct rocesteer_net *rn)
{
	struct rocesteer_job_rule *job;
	unsigned long id;

	xa_for_each(&rn->jobs, id, job)
		call_rcu(&job->rcu, job_free_rcu);
	xa_destroy(&rn->jobs);
}
