// SPDX-License-Identifier: GPL-2.0
/* Jobs of a namespace, and which queue pairs belong to them. */
#include <linux/cgroup.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "job.h"
#include "net.h"

#include <rocesteer/types.h>

/* More specific than any cgroup */
#define JOB_RANK_PID	INT_MAX

static void job_free_rcu(struct rcu_head *rcu)
{
	struct rocesteer_job_rule *job;

	job = container_of(rcu, struct rocesteer_job_rule, rcu);
	put_pid(job->pid);
	kfree(job);
}

/* Return: how specific the match of a job is; 0 for no match. */
static int job_rank(const struct rocesteer_job_rule *job, struct pid *owner,
		    struct cgroup *cgrp)
{
	int level;

	if (job->pid)
		return job->pid == owner ? JOB_RANK_PID : 0;
	if (!job->cgroup_id || !cgrp)
		return 0;
	for (level = cgrp->level; level >= 0; level--)
		if (cgroup_id(cgroup_ancestor(cgrp, level)) == job->cgroup_id)
			return level + 1;
	return 0;
}

/* Context: RCU read-side critical section. Return: NULL if the thread group has exited. */
static struct cgroup *job_cgroup(struct pid *owner)
{
	/* The leader, so that a later match has the same result. */
	struct task_struct *task = pid_task(owner, PIDTYPE_TGID);

	return task ? task_dfl_cgroup(task) : NULL;
}

/*
 * Does job @id match the queue pairs of @owner? Another job may be more specific. @owner is
 * NULL for the kernel. Context: process context, holds rocesteer_lock.
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
 * rocesteer_job_match() - find the job of the queue pairs of a process
 * @rn: namespace
 * @owner: thread group, or NULL for the kernel, whose queue pairs belong to no job
 *
 * The most specific job wins: the process, then the deepest cgroup. A process that has
 * exited, whose queue pairs live on in another process, has no cgroup.
 *
 * Context: Process context, holds rocesteer_lock, so that the job stays until its number is
 * stored.
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

/* Return: false also for job 0 and for a job that is being deleted. */
bool rocesteer_job_resequences(struct rocesteer_net *rn, u32 id)
{
	struct rocesteer_job_rule *job;

	lockdep_assert_held(&rocesteer_lock);
	job = xa_load(&rn->jobs, id);
	return job && job->resequence;
}

/* Count the flows of a job. Job 0 and a job that is being deleted are ignored. */
void rocesteer_job_count(struct rocesteer_net *rn, u32 id, int change)
{
	struct rocesteer_job_rule *job;

	lockdep_assert_held(&rocesteer_lock);
	job = xa_load(&rn->jobs, id);
	if (job)
		WRITE_ONCE(job->flows, job->flows + change);
}

void rocesteer_job_free(struct rocesteer_job_rule *job)
{
	call_rcu(&job->rcu, job_free_rcu);
}

/* Nobody else uses @rn. */
void rocesteer_job_free_all(struct rocesteer_net *rn)
{
	struct rocesteer_job_rule *job;
	unsigned long id;

	xa_for_each(&rn->jobs, id, job)
		rocesteer_job_free(job);
	xa_destroy(&rn->jobs);
}
