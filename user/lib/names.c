// SPDX-License-Identifier: GPL-2.0
#include "names.h"

#include <assert.h>

#include "../../include/rocesteer/types.h"
#include "compiler.h"

static const char * const verdicts[] = {
	[ROCESTEER_STEERED] = "steered",
	[ROCESTEER_FOREIGN] = "foreign",
	[ROCESTEER_FRAGMENT] = "fragment",
	[ROCESTEER_MALFORMED] = "malformed",
	[ROCESTEER_GSO] = "gso",
	[ROCESTEER_NOT_RC] = "not_rc",
	[ROCESTEER_UNTAGGED] = "untagged",
	[ROCESTEER_NO_PEER] = "no_peer",
	[ROCESTEER_NO_PATH] = "no_path",
	[ROCESTEER_UNASSIGNED] = "unassigned",
	[ROCESTEER_TABLE_FULL] = "table_full",
	[ROCESTEER_REWRITE_FAILED] = "rewrite_failed",
};

static const char * const observed[] = {
	[ROCESTEER_SAW_OTHER] = "other",
	[ROCESTEER_SAW_ACK] = "ack",
	[ROCESTEER_SAW_RNR] = "rnr",
	[ROCESTEER_SAW_NAK_SEQUENCE] = "nak_sequence",
	[ROCESTEER_SAW_NAK_OTHER] = "nak_other",
	[ROCESTEER_SAW_CNP] = "cnp",
};

static_assert(ARRAY_SIZE(verdicts) == ROCESTEER_VERDICT_MAX,
	      "each verdict has a name");
static_assert(ARRAY_SIZE(observed) == ROCESTEER_OBSERVED_MAX,
	      "each observation has a name");

const char *verdict_name(unsigned int verdict)
{
	return verdict < ROCESTEER_VERDICT_MAX ? verdicts[verdict] : "unknown";
}

const char *observed_name(unsigned int value)
{
	return value < ROCESTEER_OBSERVED_MAX ? observed[value] : "unknown";
}
