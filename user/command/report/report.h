/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs of the object report. */
#ifndef ROCESTEER_REPORT_CMD_H
#define ROCESTEER_REPORT_CMD_H

#include "report/report.h"
#include "../objects.h"

extern const struct cli_option report_record_options[];
extern const struct cli_option report_show_options[];

int report_record(const struct cli_args *args, struct err *err);
int report_show(const struct cli_args *args, struct err *err);

/**
 * struct report_target - a path to be measured
 * @ifindex: network device
 * @hop: distance of the router of the path
 * @leaf_hop: distance of the leaf
 * @source: address that packets have
 * @peer: address that packets go to
 * @port: UDP source port that takes the path, host order
 * @via: filled: first hop before the spine, or our leaf before a core, if that was asked for; else
 *	all zero
 * @behind: filled: agg behind a core, or all zero
 * @entry: filled: address by which the path enters the leaf, or all zero
 * @sent: filled: probes to @entry; counts on
 * @lost: filled: of these, without an answer; counts on
 * @delay_ns: filled: the smallest delay of an answer, or 0
 */
struct report_target {
	__u32 ifindex;
	unsigned int hop;
	unsigned int leaf_hop;
	__u8 source[16];
	__u8 peer[16];
	__u16 port;
	__u8 via[16];
	__u8 behind[16];
	__u8 entry[16];
	__u32 sent;
	__u32 lost;
	__u64 delay_ns;
};

/**
 * report_probe() - measure each path once
 * @targets: the paths
 * @nr: how many
 * @via: find the router before the spine as well
 * @err: filled on failure
 *
 * Takes a fraction of a second, more where many answers fail to come.
 *
 * Return: 0 or a negative errno.
 */
int report_probe(struct report_target *targets, size_t nr, bool via, struct err *err);

#endif /* ROCESTEER_REPORT_CMD_H */
