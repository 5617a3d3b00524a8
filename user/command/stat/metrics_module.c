// SPDX-License-Identifier: GPL-2.0
#include <assert.h>

#include "exposition.h"
#include "metrics.h"

#define COUNTER	"counter"
#define GAUGE	"gauge"

/* By attribute; those of counters end in _total. */
static const struct {
	const char *name;
	const char *type;
	const char *help;
} stats[] = {
#define STAT(attr, name, type, help) \
	[ROCESTEER_A_STATS_ ## attr] = { "rocesteer_module_" name, type, help }
	STAT(JOBS, "jobs", GAUGE, "Jobs that the module knows."),
	STAT(FLOWS, "flows", GAUGE, "Flows that the module knows."),
	STAT(LEARNT, "learnt_total", COUNTER, "Queue pairs that were seen and registered."),
	STAT(UNTAGGED, "untagged_total", COUNTER, "Registered queue pairs of no job."),
	STAT(REMOVED, "removed_total", COUNTER,
	     "Flows that went with their queue pair or device."),
	STAT(DUPLICATE, "duplicate_total", COUNTER,
	     "Queue pairs whose peer is connected to another process as well."),
	STAT(FULL, "full_total", COUNTER,
	     "Queue pairs that were not registered, as there were too many flows."),
	STAT(NO_MEMORY, "no_memory_total", COUNTER,
	     "Queue pairs that were not registered, as memory was short."),
	STAT(RESEQ_HELD, "reseq_held_total", COUNTER,
	     "Packets that waited for an earlier packet."),
	STAT(RESEQ_FILLED, "reseq_filled_total", COUNTER,
	     "Missing packets that came while others waited."),
	STAT(RESEQ_LOST, "reseq_lost_total", COUNTER,
	     "Missing packets given up, as all paths had delivered later ones."),
	STAT(RESEQ_TIMEOUT, "reseq_timeout_total", COUNTER,
	     "Missing packets given up by the timer."),
	STAT(RESEQ_NAK, "reseq_nak_total", COUNTER,
	     "NAKs and repeated READ requests of resequenced queue pairs."),
	STAT(RESEQ_BEHIND, "reseq_behind_total", COUNTER,
	     "Packets from before the expected packet."),
	STAT(RESEQ_RESYNC, "reseq_resync_total", COUNTER,
	     "Packets so far behind that the order starts again there."),
	STAT(RESEQ_OUT_OF_WINDOW, "reseq_out_of_window_total", COUNTER,
	     "Packets delivered at once, as they were too far ahead."),
	STAT(RESEQ_NO_MEMORY, "reseq_no_memory_total", COUNTER,
	     "Packets delivered at once, as there was no memory to let them wait."),
	STAT(RESEQ_DROPPED, "reseq_dropped_total", COUNTER, "Waiting packets that were freed."),
	STAT(RESEQ_FOREIGN, "reseq_foreign_total", COUNTER,
	     "Packets to resequenced queue pairs from other hosts than their peer."),
	STAT(RESEQ_BYTES, "reseq_bytes", GAUGE,
	     "Memory that waiting packets take, in all network namespaces."),
	STAT(QP_STEERED, "qp_steered_total", COUNTER,
	     "Queue pairs connected with the source port of a path."),
	STAT(QP_OWN_LABEL, "qp_own_label_total", COUNTER,
	     "Queue pairs that kept a flow label of their application."),
	STAT(RESEQ_GSO, "reseq_gso_total", COUNTER,
	     "Aggregates of packets, which were not sorted."),
	STAT(UNKNOWN_SENDER, "unknown_sender_total", COUNTER,
	     "Packets to registered flows from queue pairs that are not registered."),
	STAT(QP_LANE_LABEL, "qp_lane_label_total", COUNTER,
	     "Queue pairs that came with the flow label of a lane of UCX."),
	STAT(QP_CM_LABEL, "qp_cm_label_total", COUNTER,
	     "Queue pairs that came with the flow label of rdma_cm."),
	STAT(KPROBES, "kprobes", GAUGE, "0 if kprobes are off: no queue pair is seen."),
#undef STAT
};

/* Those behind are of the histograms. */
static_assert(ARRAY_SIZE(stats) == ROCESTEER_A_STATS_RESEQ_DEPTH, "each counter is a metric");

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

void metrics_print_module(FILE *out, const struct genl_stats *values)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stats); i++) {
		if (!stats[i].name)
			continue;
		exposition_begin(out, stats[i].name, stats[i].type, stats[i].help);
		exposition_uint(out, stats[i].name, NULL, values->value[i]);
	}
	print_histograms(out, values);
}
