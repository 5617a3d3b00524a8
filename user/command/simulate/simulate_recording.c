// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer simulate --recording: what running hosts sent in a period, as if all flows began at
 * once, on the leaves and spines that the recordings show.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "simulate.h"

/* A host, one for each address that sent or received */
struct end {
	__u8 addr[16];
	size_t leaf;
	__u32 host;
};

/**
 * struct live - recordings that become a fabric and flows
 * @s: result
 * @period: recordings
 * @ends: set of struct end
 * @spine: by number in the recordings: number in the fabric
 * @nr_flows: flows that sent more than acknowledgments
 * @nr_ways: paths on which they sent
 * @err: filled on failure
 */
struct live {
	struct simulation *s;
	struct report_period period;
	struct set ends;
	__u32 *spine;
	size_t nr_flows;
	size_t nr_ways;
	struct err *err;
};

static __u64 bytes_of(const struct recording_flow *flow)
{
	__u64 sum = 0;
	__u32 i;

	for (i = 0; i < flow->nr_sent; i++)
		sum += flow->sent[i].sent.bytes;
	return sum;
}

typedef int flow_fn(struct live *l, const struct report_group *at,
		    const struct recording_flow *flow);

/* Acknowledgments are left out: they are few bytes, and follow their data. */
static int walk_flows(struct live *l, flow_fn *fn)
{
	const struct report_group *groups = l->period.join.group;
	size_t r, i;
	int ret = 0;

	for (r = 0; r < l->period.nr; r++) {
		const struct recording *recording = &l->period.recording[r];

		for (i = 0; !ret && i < recording->nr_flows; i++)
			if (recording->flow[i].share && bytes_of(&recording->flow[i]))
				ret = fn(l, &groups[recording->flow[i].group], &recording->flow[i]);
		groups += recording->nr_groups;
	}
	return ret;
}

static int add_end(struct live *l, const __u8 addr[16], size_t leaf)
{
	const struct report_join *join = &l->period.join;
	char text[ADDR_STRLEN], one[ADDR_STRLEN], other[ADDR_STRLEN];
	size_t before = l->ends.nr;
	struct end *end = set_get(&l->ends, addr, sizeof(end->addr), sizeof(*end));

	if (!end)
		return -ENOMEM;
	if (l->ends.nr > before)
		end->leaf = leaf;
	if (end->leaf == leaf)
		return 0;
	return err_set(l->err, EXIT_BAD_INPUT, "recording",
		       "--recording: %s is below leaf %s and leaf %s: hosts with one leaf are simulated",
		       addr_format(addr, text), addr_format(join->leaf_name[end->leaf], one),
		       addr_format(join->leaf_name[leaf], other));
}

static int count_flow(struct live *l, const struct report_group *at,
		      const struct recording_flow *flow)
{
	l->nr_flows++;
	l->nr_ways += flow->nr_sent;
	return add_end(l, at->group->source, at->own) ?: add_end(l, flow->peer, at->leaf);
}

/* The spine of a path, as the recordings number it: paths of two tiers have a link to it first. */
static __u32 spine_of(const struct live *l, const struct report_group *at, __u32 path)
{
	return l->period.join.link[at->link[path][0]].to.number;
}

/* Leaves have one link to each spine. */
static int check_group(const struct live *l, const struct report_group *at)
{
	__u32 p, k;

	if (at->group->cores)
		return err_set(l->err, EXIT_BAD_INPUT, "recording",
			       "--recording: %s has paths by cores: two tiers are simulated",
			       at->recording->host);
	for (p = 0; p < at->group->nr_paths; p++)
		for (k = 0; k < p; k++)
			if (spine_of(l, at, p) == spine_of(l, at, k))
				return err_set(l->err, EXIT_BAD_INPUT, "recording",
					       "--recording: paths %u and %u of %s are by one spine: parallel links are not simulated",
					       k, p, at->recording->host);
	return 0;
}

static int check_groups(const struct live *l)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < l->period.join.nr_groups; i++)
		ret = check_group(l, &l->period.join.group[i]);
	return ret;
}

static __u32 spine_at(const struct report_link *link)
{
	return report_link_is_down(link) ? link->from.number : link->to.number;
}

static int compare_links(const void *a, const void *b)
{
	const struct report_link *const *left = a, *const *right = b;
	__u32 one = spine_at(*left), other = spine_at(*right);

	return one < other ? -1 : one > other;
}

/**
 * struct numbering - spines that get numbers
 * @link: links, spine by spine
 * @nr: number of @link
 * @taken: by leaf, direction and number: another spine has the number
 * @spines: numbers that there are
 */
struct numbering {
	const struct report_link **link;
	size_t nr;
	bool *taken;
	__u32 spines;
};

static bool *taken_at(const struct numbering *n, const struct report_link *link, __u32 number)
{
	bool down = report_link_is_down(link);
	size_t leaf = down ? link->to.number : link->from.number;

	return &n->taken[(2 * leaf + down) * n->spines + number];
}

/* The first number that no other spine has at the leaves of these links, or @spines */
static __u32 first_free(const struct numbering *n, size_t begin, size_t end)
{
	__u32 number;
	size_t i;

	for (number = 0; number < n->spines; number++) {
		for (i = begin; i < end && !*taken_at(n, n->link[i], number);)
			i++;
		if (i == end)
			break;
	}
	return number;
}

/*
 * Two leaves see a spine by two addresses, and not always is known that these are of one spine.
 * Such spines get one number where no leaf has a link to both, or from both: the load of links
 * does not depend on that.
 */
static int assign_spines(struct live *l, const struct numbering *n)
{
	size_t begin, end, i;
	__u32 number;

	for (begin = 0; begin < n->nr; begin = end) {
		for (end = begin + 1; end < n->nr &&
		     spine_at(n->link[end]) == spine_at(n->link[begin]);)
			end++;
		number = first_free(n, begin, end);
		if (number == n->spines)
			return err_set(l->err, EXIT_BAD_INPUT, "recording",
				       "--recording: a leaf has more spines than a host has paths, which are %u: probes tell which addresses are of one spine",
				       n->spines);
		for (i = begin; i < end; i++)
			*taken_at(n, n->link[i], number) = true;
		l->spine[spine_at(n->link[begin])] = number;
	}
	return 0;
}

/* There are as many spines as a host has paths. */
static int number_spines(struct live *l)
{
	const struct report_join *join = &l->period.join;
	struct numbering n = { .nr = join->nr_links, .spines = 1 };
	size_t i;
	int ret = -ENOMEM;

	for (i = 0; i < join->nr_groups; i++)
		if (join->group[i].group->nr_paths > n.spines)
			n.spines = join->group[i].group->nr_paths;
	l->s->shape.aggs = n.spines;
	l->spine = calloc(join->routers[REPORT_SPINE].nr + 1, sizeof(*l->spine));
	n.link = calloc(n.nr + 1, sizeof(*n.link));
	n.taken = calloc(2 * join->routers[REPORT_LEAF].nr * n.spines + 1, sizeof(*n.taken));
	if (l->spine && n.link && n.taken) {
		for (i = 0; i < n.nr; i++)
			n.link[i] = &join->link[i];
		qsort(n.link, n.nr, sizeof(*n.link), compare_links);
		ret = assign_spines(l, &n);
	}
	free(n.link);
	free(n.taken);
	return ret;
}

/* Hosts of a leaf are in the order of their addresses. */
static int number_hosts(struct live *l)
{
	struct sim_shape *shape = &l->s->shape;
	size_t leaves = l->period.join.routers[REPORT_LEAF].nr, i;
	__u32 *nr = calloc(leaves, sizeof(*nr));

	if (!nr)
		return -ENOMEM;
	shape->hosts = 0;
	for (i = 0; i < l->ends.nr; i++) {
		struct end *end = l->ends.item[i];

		end->host = nr[end->leaf]++;
		if (nr[end->leaf] > shape->hosts)
			shape->hosts = nr[end->leaf];
	}
	for (i = 0; i < l->ends.nr; i++) {
		struct end *end = l->ends.item[i];

		end->host += end->leaf * shape->hosts;
	}
	free(nr);
	shape->leaves = leaves;
	return 0;
}

static __u32 host_of(const struct live *l, const __u8 addr[16])
{
	const struct end *end = set_find(&l->ends, addr, sizeof(end->addr));

	return end->host;
}

/* Where a flow took paths that are not known, its other bytes tell its paths. */
static int add_flow(struct live *l, const struct report_group *at,
		    const struct recording_flow *recorded)
{
	struct sim_traffic *traffic = &l->s->traffic;
	struct sim_flow *flow = &traffic->flow[traffic->nr++];
	__u32 i;

	*flow = (struct sim_flow) {
		.from = host_of(l, at->group->source), .to = host_of(l, recorded->peer),
		.first_way = traffic->nr_ways, .bytes = bytes_of(recorded),
	};
	for (i = 0; i < recorded->nr_sent; i++) {
		const struct recording_sent *sent = &recorded->sent[i];

		if (sent->path == ROCESTEER_PATH_UNKNOWN || !sent->sent.bytes)
			continue;
		traffic->way[traffic->nr_ways++] = (struct sim_way) {
			l->spine[spine_of(l, at, sent->path)], sent->sent.bytes
		};
		flow->nr_ways++;
	}
	return 0;
}

static int make_traffic(struct live *l)
{
	struct sim_traffic *traffic = &l->s->traffic;

	traffic->flow = calloc(l->nr_flows, sizeof(*traffic->flow));
	traffic->way = calloc(l->nr_ways, sizeof(*traffic->way));
	if (!traffic->flow || !traffic->way)
		return -ENOMEM;
	walk_flows(l, add_flow);
	sim_traffic_order(traffic);
	return 0;
}

static int check_flows(const struct live *l)
{
	if (!l->nr_flows)
		return err_set(l->err, EXIT_BAD_INPUT, "recording",
			       "--recording: no flow sent more than acknowledgments");
	if (l->nr_flows > SIM_MAX_FLOWS)
		return err_set(l->err, EXIT_BAD_INPUT, "recording",
			       "--recording: more than %u flows sent", SIM_MAX_FLOWS);
	return 0;
}

int simulate_recording(struct simulation *s, const char *files, struct err *err)
{
	struct live l = { .s = s, .period.err = err, .err = err };
	int ret;

	ret = cli_each("recording", files, report_period_add, &l.period, err) ?:
	      report_period_join(&l.period) ?: check_groups(&l) ?: walk_flows(&l, count_flow) ?:
	      check_flows(&l) ?: number_spines(&l) ?: number_hosts(&l) ?: make_traffic(&l);
	set_clear(&l.ends, free);
	free(l.spine);
	report_period_free(&l.period);
	return ret;
}
