/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rate of probes. Routers limit the ICMP errors that they send (Linux: one a second to
 * each host, after a burst of six), and further probes are lost. While more than a quarter
 * is lost, the rate is twice that of the answers. It doubles when less is lost. It stays as long
 * as nothing was ever answered, which is no limit.
 */
#ifndef ROCESTEER_LIB_PROBE_RATE_H
#define ROCESTEER_LIB_PROBE_RATE_H

#include <stdbool.h>
#include <linux/types.h>

/**
 * struct probe_rate - state
 * @max: probes per second, at most
 * @per_second: likewise, now
 * @next: when the next may be sent, ns
 * @since: start of the window that is measured, ns
 * @answered: answers in the window
 * @lost: probes lost in the window
 * @heard: there was an answer
 */
struct probe_rate {
	double max;
	double per_second;
	__u64 next;
	__u64 since;
	unsigned int answered;
	unsigned int lost;
	bool heard;
};

void probe_rate_start(struct probe_rate *rate, unsigned int max, __u64 now);

/* May a probe be sent now? Then it is counted as sent. */
bool probe_rate_take(struct probe_rate *rate, __u64 now);

/**
 * probe_rate_adapt() - adapt the rate to the answers
 * @rate: state
 * @now: ns
 *
 * Return: true when the rate was reduced.
 */
bool probe_rate_adapt(struct probe_rate *rate, __u64 now);

#endif /* ROCESTEER_LIB_PROBE_RATE_H */
