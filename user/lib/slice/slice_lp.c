// SPDX-License-Identifier: GPL-2.0
/*
 * Placement over leaves as an integer program, for solvers to agree with. It is
 * that of the vClos paper without its variables c_ij, the links used: they are
 * x_i * y_j. What is left of their constraints is that a leaf that is used has
 * as many links to each spine as are used there.
 */
#include <stdbool.h>

#include "slice_priv.h"

/* What the lines below are about. */
struct lp {
	FILE *file;
	const struct slice_fabric *fabric;
	const struct slice_shape *shape;
	unsigned int t;		/* which it is: part of the names */
	unsigned int terms;	/* on this line */
};

static __u32 links(const struct lp *lp, __u32 leaf, __u32 spine)
{
	return lp->fabric->free_links[(size_t)leaf * lp->fabric->spines +
				      spine];
}

/* A leaf without the servers has no variable. */
static bool has_servers(const struct lp *lp, __u32 leaf)
{
	return slice_whole_servers(lp->fabric, leaf) >=
	       lp->shape->gpus / lp->fabric->gpus_per_server;
}

/* Readers bound the length of a line. */
static void wrap(struct lp *lp)
{
	if (!(++lp->terms % 8))
		fputc('\n', lp->file);
}

static void write_objective(struct lp *lp)
{
	__u32 leaf, spine;

	for (leaf = 0; leaf < lp->fabric->leaves; leaf++) {
		__u32 uplinks = 0;

		for (spine = 0; spine < lp->fabric->spines; spine++)
			uplinks += links(lp, leaf, spine);
		if (!uplinks || !has_servers(lp, leaf))
			continue;
		fprintf(lp->file, " + %u x%u_%u", uplinks, lp->t, leaf);
		wrap(lp);
	}
}

static void write_leaf(struct lp *lp, __u32 leaf)
{
	__u32 all = lp->fabric->links_per_pair, spine, n;

	for (spine = 0; spine < lp->fabric->spines; spine++) {
		n = links(lp, leaf, spine);
		if (n < all)
			fprintf(lp->file, " %u x%u_%u + y%u_%u <= %u\n", all - n,
				lp->t, leaf, lp->t, spine, all);
	}
}

static void write_constraints(struct lp *lp)
{
	__u32 leaf, spine;

	for (leaf = 0; leaf < lp->fabric->leaves; leaf++) {
		if (!has_servers(lp, leaf))
			continue;
		fprintf(lp->file, " + x%u_%u", lp->t, leaf);
		wrap(lp);
	}
	fprintf(lp->file, " - %u z%u = 0\n", lp->shape->leaves, lp->t);
	for (spine = 0; spine < lp->fabric->spines; spine++) {
		fprintf(lp->file, " + y%u_%u", lp->t, spine);
		wrap(lp);
	}
	fprintf(lp->file, " - %u z%u = 0\n", lp->shape->gpus, lp->t);
	for (leaf = 0; leaf < lp->fabric->leaves; leaf++)
		if (has_servers(lp, leaf))
			write_leaf(lp, leaf);
}

static void write_bounds(struct lp *lp)
{
	__u32 leaf, spine;

	fprintf(lp->file, " z%u <= 1\n", lp->t);
	for (spine = 0; spine < lp->fabric->spines; spine++)
		fprintf(lp->file, " y%u_%u <= %u\n", lp->t, spine,
			lp->fabric->links_per_pair);
	for (leaf = 0; leaf < lp->fabric->leaves; leaf++)
		if (has_servers(lp, leaf))
			fprintf(lp->file, " x%u_%u <= 1\n", lp->t, leaf);
}

static void write_integers(struct lp *lp)
{
	__u32 leaf, spine;

	fprintf(lp->file, " z%u\n", lp->t);
	for (spine = 0; spine < lp->fabric->spines; spine++)
		fprintf(lp->file, " y%u_%u\n", lp->t, spine);
	for (leaf = 0; leaf < lp->fabric->leaves; leaf++)
		if (has_servers(lp, leaf))
			fprintf(lp->file, " x%u_%u\n", lp->t, leaf);
}

static void each(struct lp *lp, const struct slice_shape *shapes,
		 unsigned int nr, void (*write)(struct lp *lp))
{
	for (lp->t = 0; lp->t < nr; lp->t++) {
		lp->shape = &shapes[lp->t];
		write(lp);
	}
}

void slice_write_lp(FILE *file, const struct slice_fabric *fabric,
		    const struct slice_shape *shapes, unsigned int nr)
{
	struct lp lp = { .file = file, .fabric = fabric };
	unsigned int t;

	for (t = 0; t < nr; t++)
		fprintf(file, "\\ z%u: %u leaves with %u GPUs and links each\n",
			t, shapes[t].leaves, shapes[t].gpus);
	fputs("\\ x: leaf, y: links to spine\nMinimize\n obj: 0 one\n", file);
	each(&lp, shapes, nr, write_objective);
	fputs("\nSubject To\n one", file);
	for (t = 0; t < nr; t++)
		fprintf(file, " - z%u", t);
	fputs(" = 0\n", file);
	each(&lp, shapes, nr, write_constraints);
	fputs("Bounds\n one = 1\n", file);
	each(&lp, shapes, nr, write_bounds);
	fputs("Generals\n", file);
	each(&lp, shapes, nr, write_integers);
	fputs("End\n", file);
}
