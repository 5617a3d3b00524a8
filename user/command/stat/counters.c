// SPDX-License-Identifier: GPL-2.0
#include "counters.h"

#include <string.h>

static int add_class(const struct rocesteer_count_key *key,
		     const struct rocesteer_count *count, void *arg)
{
	struct counters *counters = arg;
	struct rocesteer_count *sum;

	if (key->class >= ROCESTEER_MAX_CLASSES)
		return 0;
	sum = &counters->classes[key->class];
	sum->messages += count->messages;
	sum->packets += count->packets;
	sum->bytes += count->bytes;
	counters->has_classes = true;
	return 0;
}

int counters_read(struct counters *counters, struct steer *steer, struct genl *genl,
		  struct err *err)
{
	int ret = 0;

	memset(counters, 0, sizeof(*counters));
	counters->has_tables = steer;
	counters->has_module = genl;
	if (steer)
		ret = steer_counters(steer, counters->verdicts, counters->observed) ?:
		      steer_count_each(steer, 0, add_class, counters);
	if (!ret && genl)
		ret = genl_stats(genl, &counters->module, err);
	return ret;
}
