// SPDX-License-Identifier: GPL-2.0
#include "whole.h"

#include <stdio.h>
#include <string.h>
#include <rocesteer/flow.h>

#include "plan/plan.h"

#define WHOLE_UCX	"UCX_IB_NUM_PATHS=%llu UCX_MAX_RNDV_RAILS=%llu"

void whole_add(struct whole *w, const __u32 *weight, __u32 paths, __u64 seen)
{
	const struct plan_spec connection = { .flows = 1, .paths = paths, .weights = weight };
	__u64 needed;

	if (paths < 2 || plan_scale(&connection, &needed, NULL))
		return;
	if (seen && seen % needed == 0)
		w->even = true;
	/* Queue pairs that are there say more than paths to a peer without any. */
	if (!seen == !w->seen ? paths <= w->paths : !seen)
		return;
	w->seen = seen;
	w->needed = needed;
	w->paths = paths;
	memcpy(w->weight, weight, paths * sizeof(*weight));
}

/* Load of the fullest path over its share, where each host sends one whole flow; 0: not known. */
static double imbalance(const struct whole *w)
{
	const struct plan_spec spec = {
		.flows = w->hosts, .paths = w->paths, .weights = w->weight,
	};
	struct plan_qps qps[PLAN_QPS_MAX + 2];
	size_t nr;

	return w->hosts && w->seen < 2 && !plan_qps(&spec, qps, &nr) ? qps[0].imbalance : 0;
}

static void say_message(const struct whole *w, double full, char *text, size_t size)
{
	if (w->seen > 1)
		snprintf(text, size,
			 "flows stay whole: %llu queue pairs to a peer cannot load %u paths alike",
			 w->seen, w->paths);
	else if (full > 1)
		snprintf(text, size,
			 "flows stay whole: where each of the %u hosts under the leaf sends one flow, the fullest of %u paths has at least %.2f times its share",
			 w->hosts, w->paths, full);
	else
		snprintf(text, size,
			 "flows stay whole: one queue pair to a peer takes one of %u paths at a time",
			 w->paths);
}

/* The settings of libraries, or a longer way to them. */
static void say_hint(const struct whole *w, bool by_peer, char *text, size_t size)
{
	const char *end = by_peer ? "" : " in the end, with --deal place at each moment";

	if (w->needed > PLAN_QPS_MAX)
		snprintf(text, size,
			 "%llu queue pairs for each connection load all paths alike%s; that is more than is recommended: rocesteer plan --recommend-qps",
			 w->needed, end);
	else
		snprintf(text, size,
			 "%llu queue pairs for each connection load all paths alike%s: " WHOLE_NCCL
			 ", or " WHOLE_UCX,
			 w->needed, end, w->needed, w->needed, w->needed);
}

static struct json_object *to_json(const struct whole *w, double full)
{
	struct json_object *root = out_root();
	char text[128];

	out_uint(root, "paths", w->paths);
	out_uint(root, "seen", w->seen);
	if (w->hosts)
		out_uint(root, "hosts", w->hosts);
	if (full)
		out_decimal(root, "imbalance", full * 100 + 0.5, 2);
	out_uint(root, "queue_pairs", w->needed);
	if (w->needed > PLAN_QPS_MAX)
		return root;
	snprintf(text, sizeof(text), WHOLE_NCCL, w->needed);
	out_string(root, "nccl", text);
	snprintf(text, sizeof(text), WHOLE_UCX, w->needed, w->needed);
	out_string(root, "ucx", text);
	return root;
}

struct json_object *whole_say(const struct whole *w, __u32 deal, __u32 actuator,
			      struct whole_words *words)
{
	__u32 by = rocesteer_deal_by(deal, actuator == ROCESTEER_ACTUATOR_QP);
	double full;

	if (w->even || !w->needed)
		return NULL;
	full = imbalance(w);
	say_message(w, full, words->message, sizeof(words->message));
	say_hint(w, by & ROCESTEER_BY_PEER, words->hint, sizeof(words->hint));
	return to_json(w, full);
}
