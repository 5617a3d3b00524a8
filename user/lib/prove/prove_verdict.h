/* SPDX-License-Identifier: GPL-2.0 */
/* Verdicts on a NIC and a fabric, by answers of routers. Pure. */
#ifndef ROCESTEER_LIB_PROVE_VERDICT_H
#define ROCESTEER_LIB_PROVE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/**
 * struct prove_answer - the packet that a router quotes, as its hop limit has ended there
 * @sport: UDP source port, host order
 * @router: address of the router
 * @ns: time from the packet to the answer
 */
struct prove_answer {
	__u16 sport;
	__u8 router[16];
	__u64 ns;
};

/**
 * struct prove_row - a label, and what became of it
 * @peer: address that packets were sent to
 * @hop: their hop limit
 * @label: flow label that was asked for
 * @sqpn: local queue pair
 * @dqpn: destination queue pair
 * @answered: @answer is set
 * @answer: of the router
 * @expected: router by the port map for the port that was made; all zero: not known
 */
struct prove_row {
	__u8 peer[16];
	__u8 hop;
	__u32 label;
	__u32 sqpn;
	__u32 dqpn;
	bool answered;
	struct prove_answer answer;
	__u8 expected[16];
};

/**
 * enum prove_port - which port a NIC makes of a label
 * @PROVE_PORT_SILENT: no router answered
 * @PROVE_PORT_LABEL: that of the label, as rdma_flow_label_to_udp_sport() has it
 * @PROVE_PORT_CONSTANT: the same for all labels
 * @PROVE_PORT_QPN: that of the queue pair numbers, as rdma_calc_flow_label() has it
 * @PROVE_PORT_OTHER: by no rule that is known
 */
enum prove_port {
	PROVE_PORT_SILENT,
	PROVE_PORT_LABEL,
	PROVE_PORT_CONSTANT,
	PROVE_PORT_QPN,
	PROVE_PORT_OTHER,
};

/**
 * enum prove_way - do packets of the NIC go where probes went?
 * @PROVE_WAY_UNKNOWN: nothing to compare
 * @PROVE_WAY_SAME: yes
 * @PROVE_WAY_SPRAYED: packets of one queue pair take several ways
 * @PROVE_WAY_DQPN: the destination queue pair matters
 * @PROVE_WAY_SQPN: the local queue pair matters, which no packet names: a bond chooses by it
 * @PROVE_WAY_OTHER: all packets of a label go one way, which is another
 */
enum prove_way {
	PROVE_WAY_UNKNOWN,
	PROVE_WAY_SAME,
	PROVE_WAY_SPRAYED,
	PROVE_WAY_DQPN,
	PROVE_WAY_SQPN,
	PROVE_WAY_OTHER,
};

/* Which port is made? Answers that are missing do not count, unless all are. */
enum prove_port prove_port_of(const struct prove_row *rows, size_t n);

/* The first row whose router is not the one that is expected; NULL: there is none. */
const struct prove_row *prove_stray(const struct prove_row *rows, size_t n);

/**
 * prove_way_of() - the reason why packets go another way than is expected
 * @one: routers that packets of one queue pair met
 * @nr_one: their number
 * @same: routers that queue pairs met which differ in their own number
 * @nr_same: their number
 * @dqpn: routers that queue pairs met which differ in their destination as well
 * @nr_dqpn: their number
 */
enum prove_way prove_way_of(const struct prove_answer *one, size_t nr_one,
			    const struct prove_answer *same, size_t nr_same,
			    const struct prove_answer *dqpn, size_t nr_dqpn);

#endif /* ROCESTEER_LIB_PROVE_VERDICT_H */
