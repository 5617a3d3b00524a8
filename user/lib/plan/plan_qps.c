// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that the application splits over queue pairs: each of these stays
 * whole, so that their number has to suit the number of paths.
 */
#include <errno.h>
#include <stdlib.h>

#include "plan_priv.h"

static __u32 weight_of(const struct plan_spec *spec, __u32 path)
{
	return spec->weights ? spec->weights[path] : 1;
}

/*
 * The least imbalance of @flows that stay whole: each is dealt to the path that
 * is then the least full, where the first ones go is known.
 */
static double imbalance(const struct plan_spec *spec, __u64 flows, __u64 *carried)
{
	__u64 sum = 0, left = flows;
	double most = 0;
	__u32 p;

	for (p = 0; p < spec->paths; p++)
		sum += weight_of(spec, p);
	for (p = 0; p < spec->paths; p++) {
		carried[p] = (__uint128_t)flows * weight_of(spec, p) / sum;
		left -= carried[p];
	}
	if (!left)
		return 1;
	while (left--) {
		__u32 to = 0;

		for (p = 1; p < spec->paths; p++)
			if ((carried[p] + 1) * weight_of(spec, to) <
			    (carried[to] + 1) * weight_of(spec, p))
				to = p;
		carried[to]++;
		most = (double)carried[to] * sum / ((double)flows * weight_of(spec, to));
	}
	return most;
}

int plan_qps(const struct plan_spec *spec, struct plan_qps qps[PLAN_QPS_MAX + 2], size_t *nr)
{
	const struct plan_spec one = {
		.flows = 1,
		.paths = spec->paths,
		.weights = spec->weights,
	};
	__u64 exact, always, k, *carried;
	int err;

	*nr = 0;
	if (!spec->flows || spec->flows > PLAN_MAX_FLOWS ||
	    !spec->paths || spec->paths > PLAN_MAX_PATHS)
		return -EINVAL;
	err = plan_scale(spec, &exact, NULL) ?: plan_scale(&one, &always, NULL);
	if (err)
		return err;
	carried = calloc(spec->paths, sizeof(*carried));
	if (!carried)
		return -ENOMEM;
	for (k = 1; k < exact && k <= PLAN_QPS_MAX; k++) {
		double ratio = imbalance(spec, k * spec->flows, carried);

		if (!*nr || ratio < qps[*nr - 1].imbalance)
			qps[(*nr)++] = (struct plan_qps) { k, ratio, false };
	}
	if (exact < always)
		qps[(*nr)++] = (struct plan_qps) { exact, 1, false };
	qps[(*nr)++] = (struct plan_qps) { always, 1, true };
	free(carried);
	return 0;
}
