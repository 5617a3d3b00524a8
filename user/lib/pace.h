/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rate of probes. Routers limit the ICMP errors they send (Linux: one a
 * second to each host, after a burst of six), and more probes than that are
 * only lost. While more than a quarter is lost the rate follows the answers:
 * twice as many probes as answers came. It doubles again when less is lost.
 */
#ifndef ROCESTEER_PACE_H
#define ROCESTEER_PACE_H

#include <stdbool.h>
#include <linux/types.h>

/**
 * struct pace - state
 * @max: probes per second, at most
 * @rate: probes per second now
 * @next: when the next may be sent, ns
 * @since: start of the window that is measured, ns
 * @answered: answers in the window
 * @lost: probes lost in the window
 */
struct pace {
	double max;
	double rate;
	__u64 next;
	__u64 since;
	unsigned int answered;
	unsigned int lost;
};

void pace_start(struct pace *pace, unsigned int max, __u64 now);

/* May a probe be sent now? Then it is counted as sent. */
bool pace_take(struct pace *pace, __u64 now);

/**
 * pace_adapt() - look at what became of the probes
 * @pace: state
 * @now: ns
 *
 * Return: true when the rate was reduced.
 */
bool pace_adapt(struct pace *pace, __u64 now);

#endif /* ROCESTEER_PACE_H */
