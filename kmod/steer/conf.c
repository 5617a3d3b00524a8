// SPDX-License-Identifier: GPL-2.0
/* Changes by user space: jobs with their flows and hooks, and flow-add. */
#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/pid.h>
#include <linux/slab.h>

#include "conf.h"
#include "event.h"
#include "flow.h"
#include "job.h"
#include "net.h"
#include "reseq_hook.h"

/* If two jobs had one owner, chance would decide which one gets a queue pair. */
static int conf_check_job(struct rocesteer_net *rn,
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
 * rocesteer_conf_job_add() - add a job and give it the flows it owns
 * @rn: namespace
 * @rule: the job; it takes its own reference to @rule->pid
 * @extack: says why the job is refused
 *
 * Flows of another job stay there, even if @rule is more specific: a flow keeps its path
 * table while it runs.
 *
 * Context: Process context, may sleep.
 * Return: 0; -EEXIST if the number or the owner is taken; -ENOSPC if there are
 * ROCESTEER_MAX_JOBS; -ENOMEM.
 */
int rocesteer_conf_job_add(struct rocesteer_net *rn,
			   const struct rocesteer_job_rule *rule,
			   struct netlink_ext_ack *extack)
{
	struct rocesteer_job_rule *job;
	int err;

	guard(mutex)(&rn->conf);
	err = conf_check_job(rn, rule, extack);
	if (err)
		return err;

	/* xa_store() cannot sleep under the lock. */
	err = xa_reserve(&rn->jobs, rule->id, GFP_KERNEL_ACCOUNT);
	if (err)
		goto refuse;
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
	rocesteer_event_job(rn, job, ROCESTEER_CMD_JOB_ADD_NTF);
	spin_unlock(&rocesteer_lock);

	if (job->cgroup_id || job->pid)
		rocesteer_flow_claim(rn, job->id);
	return 0;

put_hook:
	if (rule->resequence)
		rocesteer_hook_put(rn);
release:
	xa_release(&rn->jobs, rule->id);
refuse:
	NL_SET_ERR_MSG(extack, "No resources for the job");
	return err;
}

/**
 * rocesteer_conf_job_del() - delete a job
 * @rn: namespace
 * @id: job number
 *
 * Learnt flows then belong to the job that owns their queue pair, if any; other flows are
 * deleted. A queue pair that is connected meanwhile does not find the job any more.
 *
 * Context: Process context, may sleep.
 * Return: 0, or -ENOENT if there is no such job.
 */
int rocesteer_conf_job_del(struct rocesteer_net *rn, u32 id)
{
	struct rocesteer_job_rule *job;

	guard(mutex)(&rn->conf);
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
	rocesteer_event_job(rn, job, ROCESTEER_CMD_JOB_DEL_NTF);
	spin_unlock(&rocesteer_lock);
	rocesteer_job_free(job);
	return 0;
}

/* Return: -ENOENT if there is no such job; or what rocesteer_flow_add() returns. */
int rocesteer_conf_flow_add(struct rocesteer_net *rn,
			    const struct rocesteer_flow_key *key, u32 job)
{
	guard(mutex)(&rn->conf);
	/* No job has number 0. */
	return xa_load(&rn->jobs, job) ? rocesteer_flow_add(rn, key, job) : -ENOENT;
}

int rocesteer_conf_flow_del(struct rocesteer_net *rn,
			    const struct rocesteer_flow_key *key)
{
	guard(mutex)(&rn->conf);
	return rocesteer_flow_del(rn, key);
}
