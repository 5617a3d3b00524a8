// SPDX-License-Identifier: GPL-2.0
#include "step.h"

#include <errno.h>

#include "base/base.h"
#include "collective.h"

static struct sim_groups groups_of(enum chunk_group group, __u32 hosts, __u32 model)
{
	switch (group) {
	case CHUNK_GROUP_MODEL:
		return (struct sim_groups) { model, hosts / model, 1, model };
	case CHUNK_GROUP_DATA:
		return (struct sim_groups) { hosts / model, model, model, 1 };
	default:
		return (struct sim_groups) { hosts, 1, 1, 0 };
	}
}

/* Do groups divide the hosts, and does the algorithm take them? */
static int check(const struct chunk_step *step, __u32 i, enum chunk_alg alg, __u32 hosts,
		 const struct sim_groups *groups, struct err *err)
{
	const struct chunk_step_collective *of = &step->collective[i];

	if (of->group != CHUNK_GROUP_ALL && (hosts % step->model || groups->n < 2))
		return err_set(err, EXIT_BAD_INPUT, "step",
			       "%s: collective %u: model-parallel groups of %u ranks do not divide %u hosts, or leave a %s group of one",
			       step->name, i, step->model, hosts, chunk_groups[of->group]);
	if (of->kind != CHUNK_ALL_TO_ALL && !chunk_alg_takes(alg, groups->n))
		return err_set(err, EXIT_BAD_INPUT, "step",
			       "%s: collective %u: %s is for a power of two, a group has %u ranks",
			       step->name, i, chunk_algs[alg], groups->n);
	return 0;
}

static int add(struct sim_traffic *traffic, const struct chunk_step *step, __u32 i,
	       enum chunk_alg alg, __u32 hosts, struct err *err)
{
	const struct chunk_step_collective *of = &step->collective[i];
	struct sim_groups groups = groups_of(of->group, hosts, step->model);
	double bytes = (double)of->size * of->count;
	int ret = check(step, i, alg, hosts, &groups, err);

	if (ret)
		return ret;
	ret = sim_add_collective(traffic, &groups, of->kind, alg, bytes);
	if (ret == -E2BIG)
		return err_set(err, EXIT_BAD_INPUT, "step",
			       "%s: collective %u: the collectives of %u hosts have more than %u flows",
			       step->name, i, hosts, SIM_MAX_FLOWS);
	traffic->sum += bytes;
	return ret;
}

int sim_traffic_step(struct sim_traffic *traffic, const struct chunk_step *step, enum chunk_alg alg,
		     __u32 hosts, struct err *err)
{
	int ret = 0;
	__u32 i;

	*traffic = (struct sim_traffic) {};
	for (i = 0; !ret && i < step->nr; i++)
		ret = add(traffic, step, i, alg, hosts, err);
	for (i = 0; i < step->nr; i++)
		if (step->collective[i].kind != CHUNK_ALL_REDUCE ||
		    step->collective[i].group != CHUNK_GROUP_ALL)
			traffic->sum = 0;
	traffic->all_steps = traffic->steps;
	return ret;
}
