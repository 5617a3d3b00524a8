// SPDX-License-Identifier: GPL-2.0
/* rocesteer job steer: steer a loaded job, or only observe its flows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "steer/steer.h"
#include "../interrupt.h"
#include "../module.h"
#include "job.h"

enum { JOB, SHARE, LEAF };

const struct cli_option job_steer_options[] = {
	[JOB] = { "job", "ID", "number of the job", CLI_NEEDED | CLI_NAMES },
	[SHARE] = { "share", "PERCENT",
		    "do so with this share of its groups, and the opposite with the others" },
	[LEAF] = { "to", "ADDR[,..]", "do so with the groups to these leaves only" },
	{}
};

static const struct out_column columns[] = {
	{ "job", "job" },
	{ "steering", "steering" },
	{ "steered", "groups steered" },
	{ "observed", "groups observed" },
	{ "changed", "flows changed" },
	{}
};

static const struct out_view views[] = {
	{ .columns = columns },
	{}
};

/**
 * struct request - the request
 * @args: arguments
 * @err: filled on failure
 * @id: number of the job
 * @job: the job
 * @on: steer, not observe
 * @key: groups of the job, by leaf
 * @observe: whether each group is observed now, then whether it is to be
 * @nr: number of groups
 * @changed: number of flows that change
 */
struct request {
	const struct cli_args *args;
	struct err *err;
	__u32 id;
	struct rocesteer_job job;
	bool on;
	struct rocesteer_group_key *key;
	bool *observe;
	size_t nr;
	size_t changed;
};

static int add_group(const struct rocesteer_group_key *key,
		     const struct rocesteer_group *group, void *arg)
{
	struct request *r = arg;
	struct rocesteer_group_key *bigger;
	size_t i;

	(void)group;
	bigger = reallocarray(r->key, r->nr + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	r->key = bigger;
	for (i = r->nr++; i && memcmp(r->key[i - 1].leaf, key->leaf, 16) > 0; i--)
		r->key[i] = r->key[i - 1];
	r->key[i] = *key;
	return 0;
}

static int read_groups(struct request *r, struct steer *steer)
{
	struct rocesteer_group group;
	int ret = steer_group_each(steer, r->id, add_group, r);
	size_t i;

	r->observe = calloc(r->nr ?: 1, sizeof(*r->observe));
	if (!r->observe)
		return -ENOMEM;
	for (i = 0; !ret && i < r->nr; i++) {
		ret = steer_group_get(steer, &r->key[i], &group);
		r->observe[i] = !ret && group.observe;
	}
	return ret;
}

static int choose_leaf(const char *item, void *arg)
{
	struct request *r = arg;
	bool found = false;
	__u8 leaf[16];
	size_t i;

	if (addr_parse(item, leaf))
		return err_set(r->err, EXIT_BAD_INPUT, "usage",
			       "--to: '%s' is not an address", item);
	for (i = 0; i < r->nr; i++) {
		if (addr_compare(r->key[i].leaf, leaf))
			continue;
		r->observe[i] = !r->on;
		found = true;
	}
	if (found)
		return 0;
	err_set(r->err, EXIT_BAD_INPUT, "no-leaf", "--to: job %u has no group to %s", r->id, item);
	err_hint(r->err, "See: rocesteer job show --job %u", r->id);
	return -ENOENT;
}

/* Choose the groups to be observed. */
static int choose(struct request *r)
{
	__u64 share = 100;
	size_t i, chosen;
	int ret;

	if (r->args->value[LEAF])
		return cli_each("to", r->args->value[LEAF], choose_leaf, r, r->err);
	ret = cli_uint(r->args, SHARE, 0, 100, &share, r->err);
	chosen = (r->nr * share + 99) / 100;
	for (i = 0; i < r->nr; i++)
		r->observe[i] = i < chosen ? !r->on : r->on;
	return ret;
}

static size_t count_observed(const struct request *r)
{
	size_t n = 0, i;

	for (i = 0; i < r->nr; i++)
		n += r->observe[i];
	return n;
}

/* Flows that the module was told to give to the job. */
struct listed {
	__u32 job;
	struct rocesteer_flow_key *key;
	size_t nr;
};

static int add_listed(const struct genl_flow *flow, void *arg)
{
	struct listed *listed = arg;
	struct rocesteer_flow_key *bigger;

	if (flow->job != listed->job)
		return 0;
	bigger = reallocarray(listed->key, listed->nr + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	listed->key = bigger;
	listed->key[listed->nr++] = flow->key;
	return 0;
}

static int add_again(struct genl *genl, const struct genl_job *job,
		     const struct listed *listed, struct err *err)
{
	int ret = genl_job_add(genl, job, err);
	size_t i;

	for (i = 0; !ret && i < listed->nr; i++) {
		ret = genl_flow_add(genl, &listed->key[i], job->id, NULL);
		if (ret == -EEXIST)
			ret = 0;
	}
	if (ret)
		err_hint(err, "The module has lost job %u: unload it, and load it again.", job->id);
	return ret;
}

/*
 * The module restores the order of a job that is steered, if the job splits flows. That is part
 * of its job, so the job is given to it again; packets take their own ports in between.
 */
static int set_module(struct request *r, struct genl *genl)
{
	bool restore = r->job.reseq && count_observed(r) < r->nr;
	__u32 wanted = restore ? ROCESTEER_RESEQUENCE_ON : ROCESTEER_RESEQUENCE_OFF;
	struct listed listed = { .job = r->id };
	struct genl_job job;
	int ret = 0;

	if (!genl || genl_job_get(genl, r->id, &job, NULL) || job.resequence == wanted)
		return 0;
	job.resequence = wanted;
	if (!job.cgroup_id && !job.pid)
		ret = genl_flow_each(genl, add_listed, &listed, r->err);
	r->changed += job.flows;
	ret = ret ?: genl_job_del(genl, r->id, r->err) ?:
	      add_again(genl, &job, &listed, r->err);
	free(listed.key);
	return ret;
}

/* Groups that are to be observed, or those that are to be steered. */
static int change(struct request *r, struct steer *steer, bool observe)
{
	struct rocesteer_group_key *some = calloc(r->nr ?: 1, sizeof(*some));
	size_t nr = 0, flows = 0, i;
	int ret;

	if (!some)
		return -ENOMEM;
	for (i = 0; i < r->nr; i++)
		if (r->observe[i] == observe)
			some[nr++] = r->key[i];
	ret = nr ? steer_job_observe(steer, r->id, observe, some, nr, &flows) : 0;
	r->changed += flows;
	free(some);
	return ret;
}

static struct json_object *to_json(const struct request *r, struct steer *steer)
{
	struct json_object *root = out_root();
	size_t observed = count_observed(r);

	out_uint(root, "job", r->id);
	out_string(root, "steering", job_steering(steer, r->id));
	out_uint(root, "steered", r->nr - observed);
	out_uint(root, "observed", observed);
	out_uint(root, "changed", r->changed);
	return root;
}

static int apply(struct request *r, struct steer *steer, struct genl *genl)
{
	int ret;

	if (steer_job_get(steer, r->id, &r->job))
		return steer_job_missing(r->id, r->err);
	ret = read_groups(r, steer) ?: choose(r);
	if (ret)
		return ret;
	interrupt_hold();
	ret = change(r, steer, true) ?: set_module(r, genl) ?: change(r, steer, false);
	if (!ret && !r->args->value[SHARE] && !r->args->value[LEAF])
		ret = steer_job_put_observe(steer, r->id, !r->on);
	interrupt_release();
	return ret;
}

int job_steer(const struct cli_args *args, struct err *err)
{
	struct request r = { .args = args, .err = err };
	struct json_object *root = NULL;
	struct genl *genl = NULL;
	struct steer *steer;
	__u64 id;
	int ret;

	r.on = !strcmp(args->operand, "on");
	if (!r.on && strcmp(args->operand, "off"))
		return err_set(err, EXIT_BAD_INPUT, "usage", "'%s' is neither on nor off",
			       args->operand);
	if (args->value[SHARE] && args->value[LEAF])
		return err_set(err, EXIT_BAD_INPUT, "usage", "--share: not together with --to");
	ret = cli_uint(args, JOB, 1, 0xffffffff, &id, err) ?:
	      steer_open(&steer, 0, err);
	if (ret)
		return ret;
	r.id = id;
	ret = module_open(&genl, MODULE_AUTO, err) ?: apply(&r, steer, genl);
	if (!ret)
		root = to_json(&r, steer);
	genl_close(genl);
	steer_close(steer);
	free(r.key);
	free(r.observe);
	return ret ?: out_show(&args->out, root, views);
}
