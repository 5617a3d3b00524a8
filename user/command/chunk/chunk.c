// SPDX-License-Identifier: GPL-2.0
#include "chunk.h"

static const struct cli_verb verbs[] = {
	{
		.name = "plan",
		.help = "Plan in which order the chunks of a collective go through the dimensions",
		.options = chunk_plan_options,
		.example = "chunk plan --dims 4x4 --bandwidth 2,1 --size 1G",
		.run = chunk_plan_run,
	},
	{
		.name = "compare",
		.help = "Compare the policies on a network, or on those of the Themis paper",
		.options = chunk_compare_options,
		.example = "chunk compare --dims 16x8 --bandwidth 100,50 --size 1G",
		.run = chunk_compare_run,
	},
	{
		.name = "train",
		.help = "Predict steps of a training job, on a network or on those of the paper",
		.options = chunk_train_options,
		.example = "chunk train --step gnmt",
		.run = chunk_train_run,
	},
	{
		.name = "load",
		.help = "Tag the packets of a job by their chunks",
		.options = chunk_load_options,
		.example = "chunk load 1 --chunk-plan plan.json --ranges ranges.json",
		.changes = true,
		.run = chunk_load_run,
	},
	{
		.name = "unload",
		.help = "Tag the packets of a job no longer",
		.options = chunk_unload_options,
		.example = "chunk unload 1",
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
