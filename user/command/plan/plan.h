/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of "rocesteer plan". */
#ifndef ROCESTEER_CLI_PLAN_H
#define ROCESTEER_CLI_PLAN_H

#include "plan/plan.h"
#include "../objects.h"

/**
 * plan_prior_read() - read the pieces of an earlier plan
 * @file: as "rocesteer plan --json" wrote it
 * @flows: pieces of flows from this one on are left out
 * @pieces: set, to be freed, on failure too
 * @nr_pieces: set
 * @err: names the file and the field
 *
 * Return: 0 or a negative errno.
 */
int plan_prior_read(const char *file, __u32 flows, struct plan_piece **pieces,
		    size_t *nr_pieces, struct err *err);

/**
 * plan_qps_show() - recommend a number of queue pairs per connection
 * @out: where to print
 * @spec: flows are connections
 *
 * Return: 0 or a negative errno, as plan_qps() and out_show().
 */
int plan_qps_show(const struct out *out, const struct plan_spec *spec);

#endif /* ROCESTEER_CLI_PLAN_H */
