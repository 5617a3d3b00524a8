/* SPDX-License-Identifier: GPL-2.0 */
/* A picture of plans: what each dimension does over time, by the model. */
#ifndef ROCESTEER_LIB_CHUNK_SVG_H
#define ROCESTEER_LIB_CHUNK_SVG_H

#include "base/base.h"
#include "chunk_plan.h"

/* A plan and what to call it. */
struct chunk_svg_panel {
	const struct chunk_plan *plan;
	const char *name;
};

/**
 * chunk_svg_write() - draw plans of one collective one above the other
 * @file: replaced
 * @panels: the plans, to one scale of time
 * @nr: how many
 * @err: names the file
 *
 * Return: 0 or a negative errno.
 */
int chunk_svg_write(const char *file, const struct chunk_svg_panel *panels,
		    __u32 nr, struct err *err);

#endif /* ROCESTEER_LIB_CHUNK_SVG_H */
