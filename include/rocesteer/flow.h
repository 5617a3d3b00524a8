/* SPDX-License-Identifier: GPL-2.0 */
/* How a flow begins, for the programs and for user space. */
#ifndef ROCESTEER_FLOW_H
#define ROCESTEER_FLOW_H

#include "types.h"

/* What a flow is before anything is known of it. */
static const struct rocesteer_flow_path rocesteer_new_flow = {
	.acked = ROCESTEER_PSN_NONE,
	.psns[ROCESTEER_REQUESTS].next = ROCESTEER_PSN_NONE,
	.psns[ROCESTEER_REQUESTS].repeats = ROCESTEER_PSN_NONE,
	.psns[ROCESTEER_RESPONSES].next = ROCESTEER_PSN_NONE,
};

#endif /* ROCESTEER_FLOW_H */
