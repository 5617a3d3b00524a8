// SPDX-License-Identifier: GPL-2.0
#include "prove_verdict.h"

#include <string.h>
#include <rocesteer/label.h>

/* The same as rdma_calc_flow_label() of the kernel */
static __u32 label_of_qpns(__u32 sqpn, __u32 dqpn)
{
	__u64 v = (__u64)sqpn * dqpn;

	v ^= v >> 20;
	v ^= v >> 40;
	return v & ROCESTEER_LABEL_MAX;
}

enum prove_port prove_port_of(const struct prove_row *rows, size_t n)
{
	bool label = true, constant = true, qpn = true;
	const struct prove_row *first = NULL;
	size_t i, answered = 0;

	for (i = 0; i < n; i++) {
		const struct prove_row *row = &rows[i];
		__u16 sport = row->answer.sport;

		if (!row->answered)
			continue;
		first = first ?: row;
		answered++;
		label &= sport == rocesteer_label_sport(row->label);
		constant &= sport == first->answer.sport;
		qpn &= sport == rocesteer_label_sport(label_of_qpns(row->sqpn, row->dqpn));
	}
	if (!answered)
		return PROVE_PORT_SILENT;
	if (label)
		return PROVE_PORT_LABEL;
	if (qpn)
		return PROVE_PORT_QPN;
	return constant && answered > 1 ? PROVE_PORT_CONSTANT : PROVE_PORT_OTHER;
}

const struct prove_row *prove_stray(const struct prove_row *rows, size_t n)
{
	static const __u8 none[16];
	size_t i;

	for (i = 0; i < n; i++)
		if (rows[i].answered && memcmp(rows[i].expected, none, 16) &&
		    memcmp(rows[i].expected, rows[i].answer.router, 16))
			return &rows[i];
	return NULL;
}

static bool differ(const struct prove_answer *answers, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (memcmp(answers[i].router, answers[0].router, 16))
			return true;
	return false;
}

enum prove_way prove_way_of(const struct prove_answer *one, size_t nr_one,
			    const struct prove_answer *same, size_t nr_same,
			    const struct prove_answer *dqpn, size_t nr_dqpn)
{
	if (differ(one, nr_one))
		return PROVE_WAY_SPRAYED;
	if (differ(same, nr_same))
		return PROVE_WAY_SQPN;
	return differ(dqpn, nr_dqpn) ? PROVE_WAY_DQPN : PROVE_WAY_OTHER;
}
