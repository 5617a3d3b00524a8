// SPDX-License-Identifier: GPL-2.0
#include "exposition.h"
#include "metrics.h"

static void print_histograms(FILE *out, const struct genl_stats *values)
{
	const struct histogram depth = {
		.bucket = values->depth,
		.nr = ARRAY_SIZE(values->depth),
		.unit = 1,
		.sum = values->value[ROCESTEER_A_STATS_RESEQ_DEPTH_SUM],
	};
	const struct histogram wait = {
		.bucket = values->wait,
		.nr = ARRAY_SIZE(values->wait),
		.open = true,
		.unit = GENL_WAIT_UNIT,
		.sum = values->value[ROCESTEER_A_STATS_RESEQ_WAIT_SUM],
		.decimals = 9,
	};

	exposition_histogram(out, "rocesteer_module_reseq_depth_packets",
			     "Packets of a queue pair that wait, whenever one begins to.", &depth);
	exposition_histogram(out, "rocesteer_module_reseq_wait_seconds",
			     "Time that packets waited for each missing one.", &wait);
}

/* The names of counters end in _total. */
void metrics_print_module(FILE *out, const struct genl_stats *values)
{
	char name[64];
	unsigned int i;

	for (i = 0; i <= ROCESTEER_A_STATS_MAX; i++) {
		const struct genl_stat *stat = genl_stat(i);

		if (!stat || !stat->help)
			continue;
		snprintf(name, sizeof(name), "rocesteer_module_%s%s", stat->name,
			 stat->is_gauge ? "" : "_total");
		exposition_begin(out, name, stat->is_gauge ? "gauge" : "counter", stat->help);
		exposition_uint(out, name, NULL, values->value[i]);
	}
	print_histograms(out, values);
}
