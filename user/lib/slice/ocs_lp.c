// SPDX-License-Identifier: GPL-2.0
/* A place and its circuits as an integer program, for solvers to agree with. */
#include "ocs_priv.h"

/* What the lines below are about. */
struct lp {
	FILE *file;
	const struct slice_fabric *fabric;
	const struct ocs *ocs;
	const struct slice_shape *shape;
	unsigned int terms;	/* written */
};

/* Readers bound the length of a line. */
static void wrap(struct lp *lp)
{
	if (!(++lp->terms % 8))
		fputc('\n', lp->file);
}

static bool is_candidate(const struct lp *lp, __u32 leaf)
{
	return slice_whole_servers(lp->fabric, leaf) >=
	       lp->shape->gpus / lp->fabric->gpus_per_server;
}

static bool is_shut(const struct lp *lp, __u32 leaf, __u32 spine)
{
	return lp->ocs->shut[ocs_pair(lp->ocs, leaf, spine)];
}

static bool is_there(const struct lp *lp, __u32 leaf, __u32 spine, __u32 oxc)
{
	return lp->ocs->circuit[ocs_port(lp->ocs, leaf, oxc)] == spine;
}

/* Whether a circuit is, or could be, at an idle port. */
static bool has_circuit(const struct lp *lp, __u32 leaf, __u32 spine, __u32 oxc)
{
	if (lp->ocs->fixed[ocs_port(lp->ocs, leaf, oxc)])
		return false;
	return is_there(lp, leaf, spine, oxc) ||
	       (!is_shut(lp, leaf, spine) && is_candidate(lp, leaf));
}

static void each_circuit(struct lp *lp, void (*write)(struct lp *lp, __u32 leaf,
						      __u32 spine, __u32 oxc))
{
	__u32 leaf, spine, oxc;

	for (leaf = 0; leaf < lp->ocs->leaves; leaf++)
		for (spine = 0; spine < lp->ocs->spines; spine++)
			for (oxc = 0; oxc < lp->ocs->oxcs; oxc++)
				if (has_circuit(lp, leaf, spine, oxc))
					write(lp, leaf, spine, oxc);
}

/* All that are there cost one, less those that stay. */
static void write_cost(struct lp *lp, __u32 leaf, __u32 spine, __u32 oxc)
{
	if (!is_there(lp, leaf, spine, oxc))
		return;
	fprintf(lp->file, " + k%u_%u - z_%u_%u_%u", leaf, oxc, leaf, spine,
		oxc);
	wrap(lp);
}

static void write_one(struct lp *lp, __u32 leaf, __u32 spine, __u32 oxc)
{
	if (is_there(lp, leaf, spine, oxc))
		fprintf(lp->file, " k%u_%u = 1\n", leaf, oxc);
}

static void write_bound(struct lp *lp, __u32 leaf, __u32 spine, __u32 oxc)
{
	fprintf(lp->file, " z_%u_%u_%u <= 1\n", leaf, spine, oxc);
}

static void write_integer(struct lp *lp, __u32 leaf, __u32 spine, __u32 oxc)
{
	fprintf(lp->file, " z_%u_%u_%u\n", leaf, spine, oxc);
}

static void add_circuit(struct lp *lp, __u32 leaf, __u32 spine, __u32 oxc)
{
	if (!has_circuit(lp, leaf, spine, oxc))
		return;
	fprintf(lp->file, " + z_%u_%u_%u", leaf, spine, oxc);
	wrap(lp);
}

/*
 * A leaf that is used has as many circuits to each spine as are wanted; those to a
 * spine that is shut to it are not for the job.
 */
static void write_demand(struct lp *lp, __u32 leaf)
{
	__u32 all = lp->shape->gpus, spine, oxc;

	for (spine = 0; spine < lp->ocs->spines; spine++) {
		for (oxc = 0; oxc < lp->ocs->oxcs; oxc++)
			if (!is_shut(lp, leaf, spine))
				add_circuit(lp, leaf, spine, oxc);
		fprintf(lp->file, " - t_%u - %u x_%u >= -%u\n", spine, all,
			leaf, all);
	}
}

/* A port has one circuit; a spine as many as it has ports at an OXC. */
static void write_ports(struct lp *lp, __u32 oxc)
{
	const struct ocs *ocs = lp->ocs;
	__u32 leaf, spine, room;

	for (leaf = 0; leaf < ocs->leaves; leaf++) {
		for (spine = 0; spine < ocs->spines; spine++)
			add_circuit(lp, leaf, spine, oxc);
		fputs(" + zero <= 1\n", lp->file);
	}
	for (spine = 0; spine < ocs->spines; spine++) {
		room = ocs->spine_ports;
		for (leaf = 0; leaf < ocs->leaves; leaf++) {
			room -= is_there(lp, leaf, spine, oxc) &&
				ocs->fixed[ocs_port(ocs, leaf, oxc)];
			add_circuit(lp, leaf, spine, oxc);
		}
		fprintf(lp->file, " + zero <= %u\n", room);
	}
}

static void write_sums(struct lp *lp)
{
	__u32 leaf, spine;

	for (leaf = 0; leaf < lp->ocs->leaves; leaf++) {
		if (!is_candidate(lp, leaf))
			continue;
		fprintf(lp->file, " + x_%u", leaf);
		wrap(lp);
	}
	fprintf(lp->file, " + zero = %u\n", lp->shape->leaves);
	for (spine = 0; spine < lp->ocs->spines; spine++) {
		fprintf(lp->file, " + t_%u", spine);
		wrap(lp);
	}
	fprintf(lp->file, " + zero = %u\n", lp->shape->gpus);
}

/* Leaves and spines, each followed by its bound where these are wanted. */
static void write_names(struct lp *lp, bool bounds)
{
	__u32 leaf, spine;

	for (leaf = 0; leaf < lp->ocs->leaves; leaf++)
		if (is_candidate(lp, leaf))
			fprintf(lp->file, " x_%u%s\n", leaf,
				bounds ? " <= 1" : "");
	for (spine = 0; spine < lp->ocs->spines; spine++)
		fprintf(lp->file, bounds ? " t_%u <= %u\n" : " t_%u\n", spine,
			lp->shape->gpus);
}

void ocs_write_lp(FILE *file, const struct slice_fabric *fabric,
		  const struct ocs *ocs, const struct slice_shape *shape)
{
	struct lp lp = {
		.file = file, .fabric = fabric, .ocs = ocs, .shape = shape,
	};
	__u32 leaf, oxc;

	fprintf(file, "\\ %u leaves with %u GPUs and circuits each\n",
		shape->leaves, shape->gpus);
	fputs("\\ x: leaf, t: circuits to spine, z: circuit, k: 1\nMinimize\n obj: 0 zero\n",
	      file);
	each_circuit(&lp, write_cost);
	fputs("\nSubject To\n", file);
	write_sums(&lp);
	for (leaf = 0; leaf < ocs->leaves; leaf++)
		if (is_candidate(&lp, leaf))
			write_demand(&lp, leaf);
	for (oxc = 0; oxc < ocs->oxcs; oxc++)
		write_ports(&lp, oxc);
	fputs("Bounds\n zero = 0\n", file);
	each_circuit(&lp, write_one);
	each_circuit(&lp, write_bound);
	write_names(&lp, true);
	fputs("Generals\n", file);
	each_circuit(&lp, write_integer);
	write_names(&lp, false);
	fputs("End\n", file);
}
