// SPDX-License-Identifier: GPL-2.0
#include "names.h"

#include <assert.h>
#include <stddef.h>
#include <rocesteer/stats.h>
#include <uapi/linux/rocesteer.h>

#include "base/base.h"
#include "promise.h"

static const char * const verdicts[] = {
	[ROCESTEER_VERDICT_STEERED] = "steered",
	[ROCESTEER_VERDICT_FOREIGN] = "foreign",
	[ROCESTEER_VERDICT_FRAGMENT] = "fragment",
	[ROCESTEER_VERDICT_MALFORMED] = "malformed",
	[ROCESTEER_VERDICT_GSO] = "gso",
	[ROCESTEER_VERDICT_NOT_RC] = "not_rc",
	[ROCESTEER_VERDICT_UNTAGGED] = "untagged",
	[ROCESTEER_VERDICT_NO_PEER] = "no_peer",
	[ROCESTEER_VERDICT_NO_PATH] = "no_path",
	[ROCESTEER_VERDICT_UNASSIGNED] = "unassigned",
	[ROCESTEER_VERDICT_TABLE_FULL] = "table_full",
	[ROCESTEER_VERDICT_REWRITE_FAILED] = "rewrite_failed",
	[ROCESTEER_VERDICT_ON_PLAN] = "on_plan",
	[ROCESTEER_VERDICT_OFF_PLAN] = "off_plan",
	[ROCESTEER_VERDICT_UNPLANNED] = "unplanned",
	[ROCESTEER_VERDICT_USER] = "user",
	[ROCESTEER_VERDICT_FORWARDED] = "forwarded",
	[ROCESTEER_VERDICT_OBSERVED] = "observed",
	[ROCESTEER_VERDICT_OTHER_SOURCE] = "other_source",
	[ROCESTEER_VERDICT_SPARED] = "spared",
};

static const char * const observed[] = {
	[ROCESTEER_SAW_OTHER] = "other",
	[ROCESTEER_SAW_ACK] = "ack",
	[ROCESTEER_SAW_RNR] = "rnr",
	[ROCESTEER_SAW_NAK_SEQUENCE] = "nak_sequence",
	[ROCESTEER_SAW_NAK_OTHER] = "nak_other",
	[ROCESTEER_SAW_CNP] = "cnp",
};

const char * const actuator_names[] = {
	[ROCESTEER_ACTUATOR_AUTO] = "auto",
	[ROCESTEER_ACTUATOR_PACKET] = "packet",
	[ROCESTEER_ACTUATOR_QP] = "qp",
	NULL
};

const char * const split_names[] = {
	[ROCESTEER_SPLIT_NONE] = "none",
	[ROCESTEER_SPLIT_FEWEST] = "fewest",
	[ROCESTEER_SPLIT_ALL] = "all",
	[ROCESTEER_SPLIT_MAX] = "auto",
	NULL
};

static const struct split_kind split_kinds[] = {
	[ROCESTEER_SPLIT_FEWEST] = { .is_planned = true },
	[ROCESTEER_SPLIT_ALL] = { .is_always = true },
};

static_assert(ARRAY_SIZE(split_kinds) == ROCESTEER_SPLIT_MAX, "each way to split is described");

const char * const deal_names[] = {
	[ROCESTEER_DEAL_LEAST] = "least",
	[ROCESTEER_DEAL_PLACE] = "place",
	[DEAL_AUTO] = "auto",
	NULL
};

const char * const reseq_mode_names[] = {
	[ROCESTEER_RESEQ_NONE] = "off",
	[ROCESTEER_RESEQ_ALL] = "on",
	[ROCESTEER_RESEQ_AUTO] = "auto",
	NULL
};

static const char * const promises[] = {
	[PROMISE_NONE] = "none",
	[PROMISE_BYTES] = "bytes",
	[PROMISE_PERMUTATIONS] = "permutations",
	[PROMISE_ALWAYS] = "always",
};

static const char * const labels[] = {
	[ROCESTEER_LABEL_NONE] = "none",
	[ROCESTEER_LABEL_OWN] = "own",
	[ROCESTEER_LABEL_POLICY] = "policy",
	[ROCESTEER_LABEL_LANE] = "lane",
	[ROCESTEER_LABEL_CM] = "cm",
};

static_assert(ARRAY_SIZE(verdicts) == ROCESTEER_VERDICT_MAX, "each verdict has a name");
static_assert(ARRAY_SIZE(observed) == ROCESTEER_OBSERVED_MAX, "each observation has a name");

static const char *name_of(const char * const *names, unsigned int n, unsigned int value)
{
	return value < n ? names[value] : "unknown";
}

const char *split_name(unsigned int split)
{
	return name_of(split_names, ROCESTEER_SPLIT_MAX, split);
}

const struct split_kind *split_kind(unsigned int split)
{
	return &split_kinds[split < ROCESTEER_SPLIT_MAX ? split : ROCESTEER_SPLIT_NONE];
}

const char *deal_name(unsigned int deal)
{
	return name_of(deal_names, DEAL_AUTO, deal);
}

const char *promise_name(unsigned int promise)
{
	return name_of(promises, ARRAY_SIZE(promises), promise);
}

const char *reseq_mode_name(unsigned int reseq)
{
	return name_of(reseq_mode_names, ARRAY_SIZE(reseq_mode_names) - 1, reseq);
}

const char *verdict_name(unsigned int verdict)
{
	return name_of(verdicts, ROCESTEER_VERDICT_MAX, verdict);
}

const char *observed_name(unsigned int value)
{
	return name_of(observed, ROCESTEER_OBSERVED_MAX, value);
}

const char *actuator_name(unsigned int actuator)
{
	return name_of(actuator_names, ARRAY_SIZE(actuator_names) - 1, actuator);
}

const char *label_name(unsigned int label)
{
	return name_of(labels, ARRAY_SIZE(labels), label);
}
