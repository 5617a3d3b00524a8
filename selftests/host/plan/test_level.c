// SPDX-License-Identifier: GPL-2.0
/*
 * Groups of one host in three tiers, of which agg 0 loses two of its four links to cores: how
 * group_plan() loads the links to the aggs. The tables are here.
 */
#include <stdlib.h>
#include <string.h>

#include "../../ktap.h"
#include "groups/group.h"

#define AGGS	4
#define CORES	4

int steer_ports_get(struct steer *s, __u32 job, const struct rocesteer_flow_key *flow,
		    const __u8 source[16], struct rocesteer_peer *peer)
{
	__u32 p;

	(void)s;
	(void)job;
	(void)flow;
	(void)source;
	*peer = (struct rocesteer_peer) { .nr_paths = ROCESTEER_MAX_PATHS };
	for (p = 0; p < ROCESTEER_MAX_PATHS; p++)
		peer->sport[p] = p + 1;
	return 0;
}

__u64 steer_peer_paths(const struct rocesteer_peer *peer)
{
	(void)peer;
	return ~0ull;
}

int steer_set_flow(struct steer *s, const struct rocesteer_set_flow *set)
{
	(void)s;
	(void)set;
	return 0;
}

int steer_flow_get(struct steer *s, const struct rocesteer_flow_key *key,
		   struct rocesteer_flow_path *path)
{
	(void)s;
	(void)key;
	(void)path;
	return -1;
}

void group_sweep(struct group *group)
{
	(void)group;
}

/* A group of split flows, on path 0 as yet */
static struct group *add_group(struct groups *groups, enum rocesteer_split split, __u8 leaf,
			       __u32 paths, unsigned int flows)
{
	struct rocesteer_group_key key = { .job = 1, .leaf[0] = leaf };
	struct group *group = set_get(&groups->group, &key, sizeof(key), sizeof(*group));
	unsigned int i;
	__u32 p;

	group->split = split;
	group->nr_paths = paths;
	group->across = paths > AGGS;
	group->changed = true;
	for (p = 0; p < paths; p++) {
		group->weight[p] = 1;
		group->router[p][0] = paths > AGGS ? 3 : 2;
		group->router[p][1] = paths > AGGS ? p : p + 1;
		if (paths <= AGGS)
			continue;
		group->via[p][0] = 2;
		group->via[p][1] = p % AGGS + 1;
	}
	for (i = 0; i < flows; i++) {
		struct rocesteer_flow_key flow_key = { .dqpn = i + 2, .peer[0] = leaf };
		struct flow *flow = set_get(&group->flows, &flow_key, sizeof(flow_key),
					    sizeof(*flow));

		flow->peer_reseq = true;
		flow->nr_pieces = 1;
		flow->piece = calloc(1, sizeof(*flow->piece));
		flow->piece->end = 1;
	}
	return group;
}

static void free_flow(void *item)
{
	struct flow *flow = item;

	free(flow->piece);
	free(flow);
}

static void free_group(void *item)
{
	struct group *group = item;

	set_clear(&group->flows, free_flow);
	free(group);
}

static void plan(struct groups *groups)
{
	struct group_plan result;
	size_t i;

	groups_level(groups);
	for (i = 0; i < groups->group.nr; i++) {
		struct group *group = groups->group.item[i];

		while (group->changed)
			group_plan(groups, group, &result);
	}
}

/* Load of the link to each agg, in flows. Return: the largest. */
static double load_of(const struct groups *groups, double load[AGGS])
{
	double most = 0;
	size_t i, j;
	__u32 n;

	memset(load, 0, AGGS * sizeof(*load));
	for (i = 0; i < groups->group.nr; i++) {
		const struct group *group = groups->group.item[i];

		for (j = 0; j < group->flows.nr; j++) {
			const struct flow *flow = group->flows.item[j];

			for (n = 0; n < flow->nr_pieces; n++)
				load[flow->piece[n].path % AGGS] +=
					(double)(flow->piece[n].end -
						 (n ? flow->piece[n - 1].end : 0)) /
					flow->piece[flow->nr_pieces - 1].end;
		}
	}
	for (n = 0; n < AGGS; n++)
		most = load[n] > most ? load[n] : most;
	return most;
}

/* No agg has more than this. */
static bool is_most(const struct groups *groups, double want)
{
	double load[AGGS], most = load_of(groups, load);

	printf("# aggs have %.3f %.3f %.3f %.3f\n", load[0], load[1], load[2], load[3]);
	return most > want - 0.0001 && most < want + 0.0001;
}

/* Cores 2 and 3 of agg 0 */
static void set_down(struct group *group, bool down)
{
	group->down = down ? 1 << (2 * AGGS) | 1 << (3 * AGGS) : 0;
	group->changed = true;
}

static void test_split(enum rocesteer_split split, const char *name)
{
	struct groups groups = {};
	struct group *across, *inside;

	inside = add_group(&groups, split, 1, AGGS, 1);
	across = add_group(&groups, split, 2, AGGS * CORES, 1);
	plan(&groups);
	ktap_result(is_most(&groups, 0.5) && !inside->leveled, "%s: links carry the same", name);
	set_down(across, true);
	plan(&groups);
	ktap_result(is_most(&groups, 0.5) && inside->leveled,
		    "%s: so they do where an agg has lost links to cores", name);
	set_down(across, false);
	plan(&groups);
	ktap_result(is_most(&groups, 0.5) && !inside->leveled, "%s: and has them again", name);
	set_clear(&groups.group, free_group);
}

/* Groups in the pod level together; what is above the level gets nothing more. */
static void test_more(void)
{
	struct groups groups = {};
	struct group *across;

	add_group(&groups, ROCESTEER_SPLIT_FEWEST, 1, AGGS, 2);
	add_group(&groups, ROCESTEER_SPLIT_FEWEST, 2, AGGS, 1);
	across = add_group(&groups, ROCESTEER_SPLIT_FEWEST, 3, AGGS * CORES, 7);
	set_down(across, true);
	plan(&groups);
	ktap_result(is_most(&groups, 2.5), "several groups in the pod level together");
	set_clear(&groups.group, free_group);

	add_group(&groups, ROCESTEER_SPLIT_FEWEST, 1, AGGS, 1);
	across = add_group(&groups, ROCESTEER_SPLIT_FEWEST, 3, AGGS * CORES, 14);
	set_down(across, true);
	plan(&groups);
	ktap_result(is_most(&groups, 4), "aggs that have enough get nothing more");
	set_clear(&groups.group, free_group);
}

/* Another job is not looked at, nor one without flows across pods. */
static void test_other_job(void)
{
	struct groups groups = {};
	struct group *inside = add_group(&groups, ROCESTEER_SPLIT_ALL, 1, AGGS, 1);

	inside->down = 1;
	plan(&groups);
	ktap_result(is_most(&groups, 1.0 / 3) && !inside->leveled,
		    "a job in one pod is planned as without this");
	set_clear(&groups.group, free_group);
}

int main(void)
{
	ktap_begin();
	test_split(ROCESTEER_SPLIT_FEWEST, "fewest");
	test_split(ROCESTEER_SPLIT_ALL, "all");
	test_more();
	test_other_job();
	return ktap_end();
}
