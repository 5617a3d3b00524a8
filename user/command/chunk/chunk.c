// SPDX-License-Identifier: GPL-2.0
#include "chunk.h"

static const struct cli_verb verbs[] = {
	{
		.name = "plan",
		.help = "Plan in which order the chunks of a collective go through the dimensions",
		.options = chunk_plan_options,
		.run = chunk_plan_run,
	},
	{
		.name = "compare",
		.help = "Compare the policies on a network, or on those of the Themis paper",
		.options = chunk_compare_options,
		.run = chunk_compare_run,
	},
	{
		.name = "train",
		.help = "Predict steps of a training job, on a network or on those of the paper",
		.options = chunk_train_options,
		.run = chunk_train_run,
	},
	{
		.name = "load",
		.help = "Tag the packets of a job by their chunks",
		.options = chunk_load_options,
		.changes = true,
		.run = chunk_load_run,
	},
	{
		.name = "unload",
		.help = "Tag the packets of a job no longer",
		.options = chunk_unload_options,
		.changes = true,
		.run = chunk_unload_run,
	},
	{}
};

const struct cli_object cli_chunk = {
	.name = "chunk",
	.help = "order the dimensions of a collective's chunks",
	.verbs = verbs,
};
