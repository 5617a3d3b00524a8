// SPDX-License-Identifier: GPL-2.0
/*
 * Plan one group. A flow that may not be split takes the least loaded path of its group, or
 * by place of its peer. Other flows take all paths, or are split into the fewest pieces
 * that fill each path to its share. Flows keep their paths where possible, and unchanged
 * flows are not written: the programs deal by the same rule (bpf/deal.bpf.c).
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "group.h"

/* Longer periods are rounded: a PSN has 24 bits. */
#define PERIOD_MAX	1048576

/* Homes that are no path. */
#define SPLIT		(-1)	/* the flow is to be split */
#define NONE		(-2)	/* the flow needs a path */
#define STAYS		(-3)	/* the flow cannot leave its path */

/**
 * struct deal - whole flows that share paths evenly: of a peer by place, else of the group
 * @peer: address of the peer
 * @nr: flows without a path
 * @load: flows on each path
 * @stay: flows that cannot leave each path
 */
struct deal {
	__u8 peer[16];
	__u64 nr;
	__u64 load[ROCESTEER_MAX_PATHS];
	__u64 stay[ROCESTEER_MAX_PATHS];
};

/**
 * struct work - a plan in the making
 * @groups: all groups
 * @group: group to plan
 * @plan: result
 * @weight: weight of each path; 0: the path cannot be used
 * @total: sum of the weights
 * @share: weights by which flows are split, also on paths that some peers have no port to
 * @home: by number of the flow: its path, SPLIT, NONE or STAYS
 * @deals: set of struct deal
 * @load: whole flows on each path
 */
struct work {
	struct groups *groups;
	struct group *group;
	struct group_plan *plan;
	__u32 weight[ROCESTEER_MAX_PATHS];
	__u64 total;
	__u32 share[ROCESTEER_MAX_PATHS];
	int *home;
	struct set deals;
	__u64 load[ROCESTEER_MAX_PATHS];
};

static struct flow *nth_flow(const struct work *w, size_t i)
{
	return w->group->flows.item[i];
}

static int get_peer(const struct work *w, const struct flow *flow, struct rocesteer_peer *peer)
{
	return steer_ports_get(w->groups->steer, w->group->key.job, &flow->key, flow->source, peer);
}

/*
 * A path can be used while it is up and all peers have a port to it. Whole flows to a peer with
 * ports of some paths stay where the programs have dealt them.
 */
static int find_paths(struct work *w)
{
	const struct group *group = w->group;
	struct rocesteer_peer peer;
	__u32 p;
	size_t i;

	w->home = calloc(group->flows.nr, sizeof(*w->home));
	if (!w->home)
		return -ENOMEM;
	for (p = 0; p < group->nr_paths; p++)
		w->weight[p] = group->down >> p & 1 ? 0 : group->weight[p];
	for (i = 0; i < group->flows.nr; i++) {
		if (get_peer(w, nth_flow(w, i), &peer))
			continue;	/* its job is being unloaded */
		if (peer.partial) {
			w->home[i] = STAYS;
			continue;
		}
		for (p = 0; p < group->nr_paths; p++)
			if (!peer.sport[p])
				w->weight[p] = 0;
	}
	for (p = 0; p < group->nr_paths; p++) {
		w->total += w->weight[p];
		w->share[p] = group->weight[p];
	}
	return 0;
}

/* Whole flows are on their paths: what is split fills up what others leave. */
static void find_shares(struct work *w)
{
	__u32 p;

	w->group->leveled = w->total && group_level(w->groups, w->group, w->weight);
	if (!w->group->leveled)
		return;
	for (p = 0, w->total = 0; p < w->group->nr_paths; p++) {
		w->share[p] = w->weight[p];
		w->total += w->weight[p];
	}
}

static bool is_by_place(const struct work *w)
{
	return w->group->deal == ROCESTEER_DEAL_PLACE;
}

static __u32 least_loaded(const struct work *w, const struct deal *deal)
{
	return plan_least_loaded(deal->load, w->weight, w->group->nr_paths, w->group->first);
}

/* The fullest path that a flow can leave. */
static __u32 most_loaded(const struct work *w, const struct deal *deal)
{
	__u32 nr = w->group->nr_paths, p, best = nr;

	for (p = 0; p < nr; p++)
		if (w->weight[p] && deal->load[p] > deal->stay[p] &&
		    (best == nr || deal->load[p] * w->weight[best] >
				   deal->load[best] * w->weight[p]))
			best = p;
	return best;
}

/* Move flows from the fullest path to the least loaded one while that helps. */
static void level(const struct work *w, struct deal *deal)
{
	for (;;) {
		__u32 from = most_loaded(w, deal), to = least_loaded(w, deal);

		if (from == w->group->nr_paths ||
		    (deal->load[to] + 1) * w->weight[from] >=
		    deal->load[from] * w->weight[to])
			return;
		deal->load[from]--;
		deal->load[to]++;
	}
}

static struct deal *deal_of(struct work *w, size_t i)
{
	const struct flow *flow = nth_flow(w, i);

	return set_get(&w->deals, flow->key.peer,
		       is_by_place(w) ? sizeof(flow->key.peer) : 0,
		       sizeof(struct deal));
}

/*
 * A deal by place ignores the present paths of flows, so that flows return to a path that was
 * down.
 */
static int count_whole(struct work *w)
{
	struct deal *deal;
	size_t i;
	__u32 p;

	for (i = 0; i < w->group->flows.nr; i++) {
		if (w->home[i] == SPLIT)
			continue;
		deal = deal_of(w, i);
		if (!deal)
			return -ENOMEM;
		p = nth_flow(w, i)->piece[0].path;
		if (w->home[i] != STAYS && (w->home[i] == NONE || is_by_place(w)))
			deal->nr++;
		else if (p < w->group->nr_paths)	/* else of another job */
			deal->load[p]++;
		if (w->home[i] == STAYS && p < w->group->nr_paths)
			deal->stay[p]++;
	}
	return 0;
}

/* Find how many flows each path gets. @load then counts those that may leave it. */
static void share_out(struct work *w, struct deal *deal)
{
	__u32 p;

	for (; deal->nr; deal->nr--)
		deal->load[least_loaded(w, deal)]++;
	level(w, deal);
	for (p = 0; p < w->group->nr_paths; p++) {
		w->load[p] += deal->load[p];
		deal->load[p] -= deal->stay[p];
	}
}

/* Keep flows on their paths up to the number each path gets; move the others. */
static void choose(struct work *w)
{
	size_t n = w->group->flows.nr, i;
	__u64 *room;
	__u32 p;

	for (i = 0; i < n; i++) {
		if (w->home[i] < 0)
			continue;
		room = deal_of(w, i)->load;
		if (room[w->home[i]])
			room[w->home[i]]--;
		else
			w->home[i] = NONE;
	}
	for (i = 0; i < n; i++) {
		if (w->home[i] != NONE)
			continue;
		room = deal_of(w, i)->load;
		for (p = 0; !room[p];)
			p++;
		room[p]--;
		w->home[i] = p;
	}
}

static int deal_whole(struct work *w)
{
	int ret = count_whole(w);
	size_t i;

	if (ret)
		return ret;
	for (i = 0; i < w->deals.nr; i++)
		share_out(w, w->deals.item[i]);
	choose(w);
	return 0;
}

static bool has_path(const struct flow *flow, __u32 path)
{
	__u32 i;

	for (i = 0; i < flow->nr_pieces; i++)
		if (flow->piece[i].path == path)
			return true;
	return false;
}

static bool is_same(const struct flow *flow, const struct rocesteer_set_flow *set)
{
	return flow->nr_pieces == set->nr_pieces &&
	       !memcmp(flow->piece, set->piece, set->nr_pieces * sizeof(*set->piece));
}

/*
 * A flow on a path that is down never becomes idle: it sends packets again. Move it at once.
 */
static bool is_stuck(const struct work *w, struct flow *flow)
{
	__u32 p = flow->piece[0].path;
	struct rocesteer_flow_path path;

	if (!w->group->down)
		return false;
	if (flow->moving && !steer_flow_get(w->groups->steer, &flow->key, &path)) {
		flow->moving = path.next.end;
		p = path.piece[0].path;
	}
	return p < ROCESTEER_MAX_PATHS && w->group->down >> p & 1;
}

static int write_flow(struct work *w, struct flow *flow, struct rocesteer_set_flow *set)
{
	struct rocesteer_piece *piece;
	int ret;

	set->key = flow->key;
	set->job = w->group->key.job;
	ret = steer_set_flow(w->groups->steer, set);
	if (ret)
		return ret;
	piece = reallocarray(flow->piece, set->nr_pieces, sizeof(*piece));
	if (!piece)
		return -ENOMEM;
	memcpy(piece, set->piece, set->nr_pieces * sizeof(*piece));
	flow->piece = piece;
	flow->nr_pieces = set->nr_pieces;
	flow->moving = !flow->peer_reseq && !set->now;
	w->plan->written++;
	return 0;
}

/* Write a flow's pieces if they have changed. */
static int put_flow(struct work *w, struct flow *flow, struct rocesteer_set_flow *set)
{
	struct rocesteer_peer peer;
	__u32 i, moved = 0;
	int ret;

	ret = get_peer(w, flow, &peer);
	for (i = 0; !ret && i < set->nr_pieces; i++) {
		set->piece[i].sport = peer.sport[set->piece[i].path];
		moved += !has_path(flow, set->piece[i].path);
	}
	w->plan->pieces += set->nr_pieces;
	set->now = is_stuck(w, flow);
	if (!ret && !set->now && is_same(flow, set))
		return 0;
	ret = ret ?: write_flow(w, flow, set);
	switch (ret) {
	case -EINVAL:	/* the peer's ports or the job's paths have changed */
		w->groups->stale = true;
		return 0;
	case -ENOENT:	/* the flow is gone */
		flow->nr_pieces = 0;
		break;
	case -EBUSY:	/* the queue pair has got a port */
		flow->stays = true;
		break;
	case -EPERM:	/* another flow has the same queue pair numbers */
		flow->peer_reseq = false;
		break;
	default:
		w->plan->moved += moved;
		return ret;
	}
	/* Plan again. This ends: each flow gets here once. */
	w->group->changed = true;
	return 0;
}

static int put_whole(struct work *w)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < w->group->flows.nr; i++) {
		struct rocesteer_set_flow set = {
			.nr_pieces = 1,
			.piece[0] = { .end = 1, .path = w->home[i] },
		};

		if (w->home[i] >= 0)
			ret = put_flow(w, nth_flow(w, i), &set);
		else if (w->home[i] == STAYS)
			w->plan->pieces++;
	}
	return ret;
}

/* The end of a range in packets, from the planner's units. */
static __u32 end_of(const struct plan *plan, __u64 to)
{
	return plan->unit <= PERIOD_MAX ? to :
	       (__uint128_t)to * PERIOD_MAX / plan->unit;
}

static int put_split(struct work *w, const struct plan *plan, struct flow **flows)
{
	size_t i = 0;
	int ret = 0;

	while (!ret && i < plan->nr_pieces) {
		__u32 flow = plan->pieces[i].flow, at = 0, end;
		struct rocesteer_set_flow set = {};

		for (; i < plan->nr_pieces && plan->pieces[i].flow == flow; i++) {
			end = end_of(plan, plan->pieces[i].to);
			if (end == at)	/* too little to be seen */
				continue;
			if (set.nr_pieces == ROCESTEER_MAX_PATHS)
				return -E2BIG;
			set.piece[set.nr_pieces++] = (struct rocesteer_piece) {
				.end = end,
				.path = plan->pieces[i].path,
			};
			at = end;
		}
		if (set.nr_pieces == 1)
			set.piece[0].end = 1;
		ret = put_flow(w, flows[flow], &set);
	}
	return ret;
}

/* The part of each path's share that whole flows leave, in relative units. */
static void find_room(const struct work *w, __u32 *room)
{
	__u64 left[ROCESTEER_MAX_PATHS], most = 0;
	__u64 n = w->group->flows.nr;
	unsigned int shift = 0;
	__u32 p;

	for (p = 0; p < w->group->nr_paths; p++) {
		__u64 share = n * w->weight[p], whole = w->total * w->load[p];

		left[p] = share > whole ? share - whole : 0;
		if (left[p] > most)
			most = left[p];
	}
	while (most >> shift > UINT32_MAX)
		shift++;
	for (p = 0; p < w->group->nr_paths; p++)
		room[p] = left[p] >> shift;
}

static struct plan_piece *make_prior(struct flow **flows, __u32 nr, size_t *nr_prior)
{
	struct plan_piece *prior;
	size_t n = 0;
	__u32 i, j;

	for (i = 0; i < nr; i++)
		n += flows[i]->nr_pieces;
	prior = calloc(n, sizeof(*prior));
	*nr_prior = n;
	for (i = 0, n = 0; prior && i < nr; i++) {
		for (j = 0; j < flows[i]->nr_pieces; j++) {
			const struct rocesteer_piece *piece = flows[i]->piece;

			prior[n++] = (struct plan_piece) {
				.flow = i,
				.path = piece[j].path,
				.from = j ? piece[j - 1].end : 0,
				.to = piece[j].end,
			};
		}
	}
	return prior;
}

static int plan_fewest(struct work *w, struct flow **flows, __u32 nr)
{
	__u32 room[ROCESTEER_MAX_PATHS];
	struct plan_spec spec = {
		.flows = nr,
		.paths = w->group->nr_paths,
		.weights = room,
		.seed = w->group->first + 1,	/* 0 is no seed */
	};
	struct plan plan;
	int ret;

	find_room(w, room);
	spec.prior = make_prior(flows, nr, &spec.nr_prior);
	if (!spec.prior)
		return -ENOMEM;
	ret = plan_make(&plan, &spec);
	free((void *)spec.prior);
	if (ret)
		return ret;
	ret = put_split(w, &plan, flows);
	plan_free(&plan);
	return ret;
}

static int split_fewest(struct work *w)
{
	size_t n = w->group->flows.nr, i;
	struct flow **flows = calloc(n, sizeof(*flows));
	__u32 nr = 0;
	int ret = 0;

	if (!flows)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (w->home[i] == SPLIT)
			flows[nr++] = nth_flow(w, i);
	if (nr)
		ret = plan_fewest(w, flows, nr);
	free(flows);
	return ret;
}

/* Runs of packets on all paths in turn, from the flow's home on, as spread() in bpf/. */
static int split_all(struct work *w)
{
	const struct group *group = w->group;
	__u32 nr = group->nr_paths, p, end, most, n;
	struct rocesteer_peer peer;
	__u64 up;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < group->flows.nr; i++) {
		struct flow *flow = nth_flow(w, i);
		struct rocesteer_set_flow set = {};

		if (w->home[i] != SPLIT || get_peer(w, flow, &peer))
			continue;
		up = steer_peer_paths(&peer) & ~group->down;
		for (p = 0, most = 0; p < nr; p++)
			if (up >> p & 1 && w->share[p] > most)
				most = w->share[p];
		for (n = 0, end = 0; n < nr; n++) {
			p = (flow->piece[0].path + n) % nr;
			if (!(up >> p & 1) || !w->share[p])
				continue;
			end += rocesteer_run(w->share[p], most);
			set.piece[set.nr_pieces++] = (struct rocesteer_piece) {
				.end = end,
				.path = p,
			};
		}
		if (set.nr_pieces)
			ret = put_flow(w, flow, &set);
	}
	return ret;
}

static void find_homes(struct work *w)
{
	const struct group *group = w->group;
	bool all = group->split == ROCESTEER_SPLIT_ALL;
	size_t i;

	for (i = 0; i < group->flows.nr; i++) {
		const struct flow *flow = nth_flow(w, i);
		__u32 p = flow->piece[0].path;

		if (flow->stays)
			w->home[i] = STAYS;
		else if (group->split && flow->peer_reseq && (all || w->home[i] != STAYS))
			w->home[i] = SPLIT;
		else if (w->home[i] == STAYS)
			continue;
		else if (p < group->nr_paths && w->weight[p])
			w->home[i] = p;
		else
			w->home[i] = NONE;
	}
}

/* Flows that are split, if any */
static int split(struct work *w)
{
	find_shares(w);
	switch (w->group->split) {
	case ROCESTEER_SPLIT_ALL:
		return split_all(w);
	case ROCESTEER_SPLIT_FEWEST:
		return w->total ? split_fewest(w) : 0;
	case ROCESTEER_SPLIT_NONE:
	case ROCESTEER_SPLIT_MAX:
		break;
	}
	return 0;
}

int group_plan(struct groups *groups, struct group *group, struct group_plan *plan)
{
	struct work w = { .groups = groups, .group = group, .plan = plan };
	int ret;

	*plan = (struct group_plan) { .flows = group->flows.nr };
	group->changed = false;
	if (!group->flows.nr)
		return 0;
	ret = find_paths(&w);
	if (!ret)
		find_homes(&w);
	if (!ret && w.total)
		ret = deal_whole(&w) ?: put_whole(&w);
	ret = ret ?: split(&w);
	free(w.home);
	set_clear(&w.deals, free);
	group_sweep(group);
	return ret;
}
