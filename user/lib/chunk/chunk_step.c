// SPDX-License-Identifier: GPL-2.0
#include "chunk_step.h"

#include <errno.h>

const char * const chunk_groups[] = {
	[CHUNK_GROUP_ALL] = "all",
	[CHUNK_GROUP_MODEL] = "model",
	[CHUNK_GROUP_DATA] = "data",
	NULL
};

const struct chunk_known chunk_known[CHUNK_KNOWN] = {
	{
		/* The authors' ResNet-50, with 11.56 in place of 4.12 GFLOP, and 60.2 M weights */
		.step = {
			.name = "resnet-152", .compute = 799047000, .model = 1, .nr = 1,
			.collective = { { CHUNK_ALL_REDUCE, CHUNK_GROUP_ALL, 1, 120385616 } },
		},
		.speedup = 149, .most = 225, .ideal = 154,
	}, {
		.step = {
			.name = "gnmt", .compute = 2054200000, .model = 1, .nr = 1,
			.collective = { { CHUNK_ALL_REDUCE, CHUNK_GROUP_ALL, 1, 267788288 } },
		},
		.speedup = 130, .most = 178, .ideal = 132,
	}, {
		/* Computation hides the All-to-All of the embeddings. */
		.step = {
			.name = "dlrm", .compute = 873399000, .model = 1, .nr = 1,
			.collective = { { CHUNK_ALL_REDUCE, CHUNK_GROUP_ALL, 1, 114823168 } },
		},
		.speedup = 130, .most = 177, .ideal = 133,
	}, {
		/* Two of its layers, which compute the forward pass twice */
		.step = {
			.name = "transformer-1t", .compute = 58931640000, .model = 128, .nr = 3,
			.collective = {
				{ CHUNK_ALL_REDUCE, CHUNK_GROUP_MODEL, 12, 805306368 },
				{ CHUNK_ALL_GATHER, CHUNK_GROUP_MODEL, 2, 6291456 },
				{ CHUNK_ALL_REDUCE, CHUNK_GROUP_DATA, 1, 240316416 },
			},
		},
		.speedup = 125, .most = 153, .ideal = 126,
	},
};

int chunk_step_group(struct chunk_collective *of, enum chunk_group group, __u32 model)
{
	bool any = false;
	__u32 k;

	for (k = 0; k < of->dims && group != CHUNK_GROUP_ALL; k++) {
		struct chunk_dim *dim = &of->dim[k];
		__u32 n = model % dim->endpoints ? model : dim->endpoints;

		if (dim->endpoints % n)
			return -EINVAL;
		model /= n;
		/* The latency is that of the group's own steps. */
		n = group == CHUNK_GROUP_MODEL ? n : dim->endpoints / n;
		dim->latency = chunk_step_latency(dim) * chunk_alg_steps(dim->alg, n);
		dim->endpoints = n;
	}
	if (group != CHUNK_GROUP_ALL && model > 1)
		return -EINVAL;
	for (k = 0; k < of->dims; k++)
		any |= of->dim[k].endpoints > 1;
	return any ? 0 : -EINVAL;
}
