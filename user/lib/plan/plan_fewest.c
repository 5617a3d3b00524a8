// SPDX-License-Identifier: GPL-2.0
/*
 * Dealing flows to paths is Euclid's algorithm. Whole flows are dealt to paths until none
 * fits; then the free space of each path is smaller than a flow, and flows are dealt to
 * spaces until none fits; and so on. Each piece finishes a flow or a path, and the last one
 * of a component finishes both, so there are n + s - components pieces. If flows are equal
 * and paths are equal, the remainders on each side stay equal, and there are gcd(n, s)
 * components. The choice of items and bins is free: the prior decides.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "plan_priv.h"

#define ANY	0xffffffffu

static __u64 least(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/* Deal all that is left of an item, if it fits. */
static bool take(struct deal *deal, int from, __u32 item, __u32 bin)
{
	__u64 *left = &deal->side[from].left[item];
	__u64 *room = &deal->side[!from].left[bin];

	if (!*left || *left > *room)
		return false;
	deal->pieces[deal->nr_pieces++] = (struct plan_piece) {
		.flow = from == FLOWS ? item : bin,
		.path = from == FLOWS ? bin : item,
		.to = *left,
	};
	*room -= *left;
	*left = 0;
	return true;
}

/* Items that are whole where they are stay. */
static void keep_whole(struct deal *deal, int from)
{
	size_t i;

	for (i = 0; i < deal->nr_links; i++) {
		struct deal_link *link = &deal->links[i];
		__u32 item = link->end[from];

		if (link->have >= deal->side[from].left[item])
			take(deal, from, item, link->end[!from]);
	}
}

/*
 * Find what each item keeps if it is not dealt now: its part on bins that still have space
 * for it. All items see the same space, unless they @share it.
 */
static void weigh(struct deal *deal, int from, bool share)
{
	struct deal_side *items = &deal->side[from];
	struct deal_side *bins = &deal->side[!from];
	__u64 size = 1;
	size_t i;

	for (i = 0; i < items->nr_open; i++) {
		__u32 item = items->open[i];

		if (items->left[item] > size)
			size = items->left[item];
		items->rest[item] = 0;
	}
	for (i = 0; i < bins->nr_open; i++)
		bins->rest[bins->open[i]] = bins->left[bins->open[i]] % size;
	for (i = 0; i < deal->nr_links; i++) {
		struct deal_link *link = &deal->links[i];
		__u32 item = link->end[from], bin = link->end[!from];
		__u64 keeps = least(least(link->have, bins->rest[bin]),
				    items->left[item] - items->rest[item]);

		items->rest[item] += keeps;
		if (share)
			bins->rest[bin] -= keeps;
	}
}

static int choice_cmp(const void *a, const void *b)
{
	const struct deal_choice *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Go round the bins, beginning with the one that took the last item. */
static void take_any(struct deal *deal, int from, __u32 item, __u32 *next)
{
	const struct deal_side *bins = &deal->side[!from];
	__u32 tries;

	for (tries = bins->nr_open; tries; tries--) {
		if (take(deal, from, item, bins->open[*next]))
			return;
		*next = *next + 1 < bins->nr_open ? *next + 1 : 0;
	}
}

static void add_choice(struct deal *deal, int from, __u32 nr, __s64 value, __u32 item, __u32 bin)
{
	deal->choices[nr] = (struct deal_choice) {
		.value = value,
		.size = deal->side[from].left[item],
		.item = item,
		.bin = bin,
		.number = nr,
	};
}

/*
 * List the choices: links that keep more than waiting does; at @last all links, and each
 * item with any bin.
 */
static __u32 list_choices(struct deal *deal, int from, bool last)
{
	const struct deal_side *items = &deal->side[from];
	__u32 nr = 0, item;
	size_t i;

	for (i = 0; i < deal->nr_links; i++) {
		struct deal_link *link = &deal->links[i];
		__s64 value;

		item = link->end[from];
		value = least(link->have, items->left[item]) -
			items->rest[item];
		if (last || value > 0)
			add_choice(deal, from, nr++, value, item, link->end[!from]);
	}
	for (i = 0; last && i < items->nr_open; i++) {
		item = items->open[i];
		add_choice(deal, from, nr++, -items->rest[item], item, ANY);
	}
	return nr;
}

/* Deal items, first those that keep most by the choice, or lose least. */
static void choose(struct deal *deal, int from, bool last)
{
	struct deal_choice *choices = deal->choices;
	__u32 nr, next = 0, i;

	weigh(deal, from, last);
	nr = list_choices(deal, from, last);
	for (i = 1; i < nr; i++)
		if (choice_cmp(&choices[i - 1], &choices[i]) > 0)
			break;
	if (i < nr)	/* seldom, when all is new or all is whole */
		qsort(choices, nr, sizeof(*choices), choice_cmp);
	for (i = 0; i < nr; i++) {
		if (choices[i].bin != ANY)
			take(deal, from, choices[i].item, choices[i].bin);
		else
			take_any(deal, from, choices[i].item, &next);
	}
}

static void drop_closed(struct deal *deal)
{
	size_t i, nr = 0;
	int s;

	for (i = 0; i < deal->nr_links; i++) {
		struct deal_link *link = &deal->links[i];

		if (deal->side[FLOWS].left[link->end[FLOWS]] &&
		    deal->side[PATHS].left[link->end[PATHS]])
			deal->links[nr++] = *link;
	}
	deal->nr_links = nr;
	for (s = FLOWS; s <= PATHS; s++) {
		struct deal_side *side = &deal->side[s];

		for (i = 0, nr = 0; i < side->nr_open; i++)
			if (side->left[side->open[i]])
				side->open[nr++] = side->open[i];
		side->nr_open = nr;
	}
}

/* Deal all that fit whole, until none of one side that is left fits into any other. */
static void deal_whole(struct deal *deal, int from)
{
	keep_whole(deal, from);
	drop_closed(deal);
	choose(deal, from, false);
	drop_closed(deal);
	choose(deal, from, true);
	drop_closed(deal);
}

void deal_fewest(struct deal *deal)
{
	int from;

	for (from = FLOWS; deal->side[FLOWS].nr_open; from = !from)
		deal_whole(deal, from);
}
