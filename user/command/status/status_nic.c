// SPDX-License-Identifier: GPL-2.0
/* rocesteer status: do packets of NICs take the paths of their queue pairs? */
#include <stdlib.h>

#include "status.h"

void status_nic_sample(struct status *st, struct status_job *item,
		       const struct rocesteer_flow_key *key,
		       const struct rocesteer_flow_path *path)
{
	struct prove_flow flow;
	size_t at;

	if (!prove_flow_get(st->steer, key, path, &flow))
		return;
	at = item->steered++;
	if (at >= STATUS_NIC_FLOWS)
		at = random() % item->steered;
	if (at < STATUS_NIC_FLOWS)
		item->nic[at] = flow;
}

/* A finding by what was found */
static const struct {
	enum status_severity severity;
	const char *code;
	const char *hint;
} says[] = {
	[PROVE_FOUND_SILENT] = { STATUS_NOTE, "nic-no-answer",
		"See whether routers answer, and are reached: rocesteer path verify",
	},
	[PROVE_FOUND_PORT] = { STATUS_ERROR, "nic-port",
		"The driver ignores flow labels: rocesteer path prove says by which rule it makes ports.",
	},
	[PROVE_FOUND_ROUTER] = { STATUS_ERROR, "nic-way",
		"rocesteer path prove says why. If the queue pairs were connected before the fabric changed, connect them again.",
	},
};

static void find(struct status *st, const struct status_job *item, const struct prove_flow *flow)
{
	char text[PROVE_FLOW_TEXT];

	status_advise(status_find(st, says[flow->found].severity, says[flow->found].code, item->id,
				  "%s", prove_flow_say(flow, text)),
		      "%s", says[flow->found].hint);
}

/* One finding of each kind is enough; the counters say how many there are. */
void status_nic(struct status *st, struct status_job *item, struct json_object *job)
{
	size_t nr = item->steered < STATUS_NIC_FLOWS ? item->steered : STATUS_NIC_FLOWS, i;
	size_t count[PROVE_FOUND_ROUTER + 1] = {};
	struct err err = {};

	if (!nr)
		return;
	if (prove_flows(item->nic, nr, &err)) {
		status_unseen(st, "queue pairs of job %u: %s", item->id, err.message);
		return;
	}
	for (i = 0; i < nr; i++)
		if (!count[item->nic[i].found]++ && item->nic[i].found != PROVE_FOUND_PATH)
			find(st, item, &item->nic[i]);
	out_uint(job, "nic_asked", nr);
	out_uint(job, "nic_proved", count[PROVE_FOUND_PATH]);
}
