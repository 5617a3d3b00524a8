// SPDX-License-Identifier: GPL-2.0
/*
 * Progressive filling: the rates of all ways grow alike until a link is full. The ways on this link
 * have their rate then, the others grow on. Links are taken in the order in which they fill up, by
 * a heap; what a link's key says may be out of date, but never too late.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "fluid.h"

/* Rates that differ less are the same. */
#define SAME	0.000000001
/* Parts of flows that have ended are removed when there are more of these than of others. */
#define COMPACT	65536
/* Rounds count by two: a way has the number of its round, and one more when its rate is found. */
#define ROUND	2

static bool grow(struct fluid *fluid, void *array, size_t *room, size_t nr, size_t size)
{
	void **items = array, *more;
	size_t want = *room ? *room * 2 : 1024;

	if (nr < *room)
		return true;
	more = reallocarray(*items, want, size);
	if (!more) {
		fluid->err = -ENOMEM;
		return false;
	}
	*items = more;
	*room = want;
	return true;
}

static void sift_down(struct fluid_heap *heap, size_t at)
{
	struct fluid_key item = heap->item[at];
	size_t child;

	while ((child = 2 * at + 1) < heap->nr) {
		if (child + 1 < heap->nr && heap->item[child + 1].key < heap->item[child].key)
			child++;
		if (item.key <= heap->item[child].key)
			break;
		heap->item[at] = heap->item[child];
		at = child;
	}
	heap->item[at] = item;
}

static void heap_push(struct fluid *fluid, struct fluid_heap *heap, double key, __u32 number)
{
	size_t at = heap->nr;

	if (!grow(fluid, &heap->item, &heap->room, heap->nr, sizeof(*heap->item)))
		return;
	for (heap->nr++; at && heap->item[(at - 1) / 2].key > key; at = (at - 1) / 2)
		heap->item[at] = heap->item[(at - 1) / 2];
	heap->item[at] = (struct fluid_key) { key, number };
}

/* The first item has got a later key, or with @key NAN it is gone. */
static void heap_change(struct fluid_heap *heap, double key)
{
	if (isnan(key))
		heap->item[0] = heap->item[--heap->nr];
	else
		heap->item[0].key = key;
	if (heap->nr)
		sift_down(heap, 0);
}

static void heap_build(struct fluid_heap *heap)
{
	size_t at = heap->nr / 2;

	while (at--)
		sift_down(heap, at);
}

int fluid_init(struct fluid *fluid, const double *rates, __u32 nr)
{
	__u32 l;

	*fluid = (struct fluid) {
		.link = calloc(nr, sizeof(*fluid->link)),
		.rate = rates,
		.sent = calloc(nr, sizeof(*fluid->sent)),
		.dirty = calloc(nr, sizeof(*fluid->dirty)),
		.nr_links = nr,
	};
	if (!fluid->link || !fluid->sent || !fluid->dirty)
		return -ENOMEM;
	for (l = 0; l < nr; l++)
		fluid->link[l].first = FLUID_NONE;
	return 0;
}

void fluid_free(struct fluid *fluid)
{
	free(fluid->link);
	free(fluid->sent);
	free(fluid->flow);
	free(fluid->way);
	free(fluid->part);
	free(fluid->ends.item);
	free(fluid->levels.item);
	free(fluid->dirty);
	free(fluid->met);
}

/* Links in @dirty have been seen in the round that comes. */
static void mark(struct fluid *fluid, __u32 link)
{
	if (fluid->link[link].seen == fluid->round + ROUND)
		return;
	fluid->link[link].seen = fluid->round + ROUND;
	fluid->dirty[fluid->nr_dirty++] = link;
}

static void link_part(struct fluid *fluid, __u32 at)
{
	struct fluid_part *part = &fluid->part[at];
	struct fluid_link *link = &fluid->link[part->link];

	part->next = link->first;
	link->first = at;
}

/* Copy a flow, its ways and parts to the end of what is kept. */
static void keep(struct fluid *fluid, struct fluid_flow flow, size_t *flows, size_t *ways,
		 size_t *parts)
{
	__u32 first = flow.first, w, p;

	flow.first = *ways;
	for (w = first; w < first + flow.nr; w++) {
		struct fluid_way way = fluid->way[w];

		for (p = way.first; p < way.first + way.nr; p++) {
			fluid->part[*parts + p - way.first] = fluid->part[p];
			fluid->part[*parts + p - way.first].way = *ways;
		}
		way.first = *parts;
		way.flow = *flows;
		*parts += way.nr;
		fluid->way[(*ways)++] = way;
	}
	fluid->flow[(*flows)++] = flow;
}

/* Remove what flows that have ended leave behind. */
static void compact(struct fluid *fluid)
{
	size_t flows = 0, ways = 0, parts = 0, i;
	__u32 l;

	for (i = 0; i < fluid->nr_flows; i++)
		if (fluid->flow[i].nr)
			keep(fluid, fluid->flow[i], &flows, &ways, &parts);
	fluid->nr_flows = flows;
	fluid->nr_ways = ways;
	fluid->nr_parts = parts;
	for (l = 0; l < fluid->nr_links; l++)
		fluid->link[l].first = FLUID_NONE;
	for (i = 0; i < parts; i++)
		link_part(fluid, i);
	fluid->ends.nr = 0;
	for (i = 0; i < flows; i++)
		heap_push(fluid, &fluid->ends, fluid->flow[i].end, i);
}

void fluid_begin(struct fluid *fluid, double bytes, __u32 tag)
{
	if (!grow(fluid, &fluid->flow, &fluid->flow_room, fluid->nr_flows, sizeof(*fluid->flow)))
		return;
	fluid->flow[fluid->nr_flows++] = (struct fluid_flow) {
		.left = bytes,
		.since = fluid->now,
		.began = fluid->now,
		.end = INFINITY,
		.first = fluid->nr_ways,
		.tag = tag,
	};
	fluid->active++;
	fluid->changes++;
	fluid->begun = true;
	fluid_way(fluid);
}

void fluid_way(struct fluid *fluid)
{
	if (fluid->err ||
	    !grow(fluid, &fluid->way, &fluid->way_room, fluid->nr_ways, sizeof(*fluid->way)))
		return;
	fluid->way[fluid->nr_ways++] = (struct fluid_way) {
		.flow = fluid->nr_flows - 1,
		.first = fluid->nr_parts,
	};
	fluid->flow[fluid->nr_flows - 1].nr++;
}

void fluid_part(struct fluid *fluid, __u32 link, double part)
{
	if (fluid->err ||
	    !grow(fluid, &fluid->part, &fluid->part_room, fluid->nr_parts, sizeof(*fluid->part)))
		return;
	fluid->part[fluid->nr_parts] = (struct fluid_part) {
		.part = part,
		.link = link,
		.way = fluid->nr_ways - 1,
	};
	link_part(fluid, fluid->nr_parts++);
	fluid->way[fluid->nr_ways - 1].nr++;
	fluid->live++;
	mark(fluid, link);
}

static void count_sent(struct fluid *fluid, const struct fluid_way *way, double bytes)
{
	__u32 p;

	for (p = way->first; p < way->first + way->nr; p++)
		fluid->sent[fluid->part[p].link] += bytes * fluid->part[p].part;
}

void fluid_done(struct fluid *fluid)
{
	const struct fluid_flow *flow;

	if (fluid->err)
		return;
	flow = &fluid->flow[fluid->nr_flows - 1];
	if (flow->nr == 1)
		count_sent(fluid, &fluid->way[flow->first], flow->left);
}

/* Take a link into the round. */
static void meet_link(struct fluid *fluid, __u32 number)
{
	struct fluid_link *link = &fluid->link[number];

	link->seen = fluid->round;
	link->left = fluid->rate[number];
	link->use = 0;
	link->open = 0;
}

/* Take a way into the round, and its links. */
static void meet_way(struct fluid *fluid, __u32 number, size_t *nr)
{
	struct fluid_way *way = &fluid->way[number];
	__u32 p;

	if (way->seen == fluid->round ||
	    !grow(fluid, &fluid->met, &fluid->met_room, *nr, sizeof(*fluid->met)))
		return;
	way->seen = fluid->round;
	fluid->met[(*nr)++] = number;
	for (p = way->first; p < way->first + way->nr; p++) {
		struct fluid_link *link = &fluid->link[fluid->part[p].link];

		if (link->seen != fluid->round) {
			fluid->dirty[fluid->nr_dirty++] = fluid->part[p].link;
			meet_link(fluid, fluid->part[p].link);
		}
		link->use += fluid->part[p].part;
		link->open++;
	}
}

/* Meet the ways on a link, and take parts of flows that have ended off. */
static void meet_ways(struct fluid *fluid, __u32 link, size_t *nr)
{
	__u32 *at = &fluid->link[link].first;

	while (*at != FLUID_NONE) {
		struct fluid_part *part = &fluid->part[*at];

		if (fluid->way[part->way].seen == FLUID_NONE) {
			*at = part->next;
			continue;
		}
		meet_way(fluid, part->way, nr);
		at = &part->next;
	}
}

/*
 * Find all ways that are connected with the dirty links, which become all links of the round.
 * Where much has changed take all ways: in their order they are found faster.
 */
static size_t find_connected(struct fluid *fluid)
{
	bool much = fluid->changes > fluid->active / 64;
	size_t nr = 0, i;
	__u32 w;

	fluid->round += ROUND;
	for (i = 0; i < fluid->nr_dirty; i++)
		meet_link(fluid, fluid->dirty[i]);
	for (i = 0; much && i < fluid->nr_flows; i++)
		for (w = 0; w < fluid->flow[i].nr; w++)
			meet_way(fluid, fluid->flow[i].first + w, &nr);
	for (i = 0; !much && i < fluid->nr_dirty; i++)
		meet_ways(fluid, fluid->dirty[i], &nr);
	return nr;
}

/* Bring a flow up to date. */
static void settle(struct fluid *fluid, struct fluid_flow *flow)
{
	double time = fluid->now - flow->since;
	__u32 w;

	for (w = flow->first; flow->nr > 1 && w < flow->first + flow->nr; w++)
		count_sent(fluid, &fluid->way[w], fluid->way[w].rate * time);
	flow->left -= flow->rate * time;
	flow->since = fluid->now;
}

/* The rate of a way is found. */
static void fix(struct fluid *fluid, struct fluid_way *way, double rate)
{
	__u32 p;

	way->rate = rate;
	way->seen = fluid->round + 1;	/* the rate is fixed */
	for (p = way->first; p < way->first + way->nr; p++) {
		struct fluid_link *link = &fluid->link[fluid->part[p].link];

		link->left -= rate * fluid->part[p].part;
		link->use -= fluid->part[p].part;
		link->open--;
	}
}

static double level(const struct fluid_link *link)
{
	return link->left > 0 ? link->left / link->use : 0;
}

static void fill(struct fluid *fluid)
{
	struct fluid_heap *heap = &fluid->levels;
	size_t i;
	__u32 p;

	heap->nr = 0;
	for (i = 0; i < fluid->nr_dirty; i++) {
		if (!fluid->link[fluid->dirty[i]].open)
			continue;
		if (!grow(fluid, &heap->item, &heap->room, heap->nr, sizeof(*heap->item)))
			return;
		heap->item[heap->nr++] = (struct fluid_key) {
			level(&fluid->link[fluid->dirty[i]]), fluid->dirty[i]
		};
	}
	heap_build(heap);
	while (heap->nr) {
		struct fluid_link *link = &fluid->link[heap->item[0].number];
		double at = heap->item[0].key, now;

		if (!link->open) {
			heap_change(heap, NAN);
			continue;
		}
		now = level(link);
		if (now > at * (1 + SAME)) {
			heap_change(heap, now);
			continue;
		}
		heap_change(heap, NAN);
		for (p = link->first; p != FLUID_NONE; p = fluid->part[p].next)
			if (fluid->way[fluid->part[p].way].seen == fluid->round)
				fix(fluid, &fluid->way[fluid->part[p].way], at);
	}
}

/* Set the rate of a flow to that of its ways. */
static void set_rate(struct fluid *fluid, __u32 number)
{
	struct fluid_flow *flow = &fluid->flow[number];
	double rate = 0;
	__u32 w;

	for (w = flow->first; w < flow->first + flow->nr; w++)
		rate += fluid->way[w].rate;
	if (fabs(rate - flow->rate) <= SAME * rate && flow->end < INFINITY)
		return;
	flow->rate = rate;
	flow->end = fluid->now + (flow->left > 0 ? flow->left / rate : 0);
	heap_push(fluid, &fluid->ends, flow->end, number);
}

/* Solve again what is connected with links whose flows have changed. */
static void solve(struct fluid *fluid)
{
	size_t nr = find_connected(fluid), i;

	for (i = 0; i < nr; i++) {
		struct fluid_flow *flow = &fluid->flow[fluid->way[fluid->met[i]].flow];

		if (flow->since < fluid->now)
			settle(fluid, flow);
	}
	fill(fluid);
	for (i = 0; i < nr; i++)
		/* Once for each flow */
		if (i + 1 == nr || fluid->way[fluid->met[i]].flow !=
				   fluid->way[fluid->met[i + 1]].flow)
			set_rate(fluid, fluid->way[fluid->met[i]].flow);
	fluid->nr_dirty = 0;
	fluid->changes = 0;
	fluid->begun = false;
}

/* Rates follow at once, or where there are many flows when some have ended. */
static bool is_due(const struct fluid *fluid)
{
	double many = fmin(fluid->live, FLUID_MANY);

	return fluid->begun ||
	       fluid->changes >= FLUID_LAG * fluid->active * many / FLUID_MANY;
}

static void end_flow(struct fluid *fluid, struct fluid_flow *flow)
{
	__u32 w, p;

	settle(fluid, flow);
	for (w = flow->first; w < flow->first + flow->nr; w++) {
		struct fluid_way *way = &fluid->way[w];

		for (p = way->first; p < way->first + way->nr; p++)
			mark(fluid, fluid->part[p].link);
		way->seen = FLUID_NONE;
		fluid->live -= way->nr;
	}
	flow->nr = 0;
	fluid->active--;
	fluid->changes++;
}

/* The flow that ends first, or NULL */
static struct fluid_flow *first_end(struct fluid *fluid)
{
	struct fluid_heap *heap = &fluid->ends;

	for (; heap->nr; heap_change(heap, NAN)) {
		struct fluid_flow *flow = &fluid->flow[heap->item[0].number];

		if (flow->nr && flow->end == heap->item[0].key)
			return flow;
	}
	return NULL;
}

long fluid_advance(struct fluid *fluid, double until, void (*ended)(__u32 tag, void *arg),
		   void *arg)
{
	struct fluid_flow *flow;
	long nr = 0;

	if (fluid->nr_dirty && is_due(fluid) && !fluid->err)
		solve(fluid);
	if (fluid->err)
		return fluid->err;
	flow = first_end(fluid);
	if (!flow || flow->end > until || isinf(flow->end)) {
		fluid->now = until;
		return 0;
	}
	fluid->now = flow->end;
	for (; flow; flow = first_end(fluid)) {
		if (flow->end - fluid->now > FLUID_TOGETHER * (fluid->now - flow->began))
			break;
		end_flow(fluid, flow);
		if (ended)
			ended(flow->tag, arg);
		nr++;
	}
	if (fluid->nr_parts - fluid->live > fluid->live + COMPACT || !fluid->active ||
	    fluid->ends.nr > 2 * fluid->active + COMPACT)
		compact(fluid);
	return fluid->err ?: nr;
}
