// SPDX-License-Identifier: GPL-2.0
#include "chunk_networks.h"

/*
 * Table 2 of the paper, 1,024 endpoints each: switches, rings and full meshes, which table 1 gives
 * an algorithm each, with the latencies of links in a package, in a server, and of NICs.
 */
static const struct chunk_network paper[CHUNK_NETWORKS] = {
	{ "16x64", "150,100", "halving,halving", "0.7,1.7" },
	{ "16x8x8", "100,100,100", "halving,halving,halving", "0.7,0.7,1.7" },
	{ "16x8x8", "200,100,50", "halving,halving,halving", "0.7,0.7,1.7" },
	{ "8x16x8", "175,100,50", "direct,ring,halving", "0.7,0.7,1.7" },
	{ "4x4x8x8", "250,200,100,50", "ring,halving,halving,halving", "0.02,0.7,0.7,1.7" },
	{ "4x8x4x8", "375,175,150,100", "ring,direct,ring,halving", "0.02,0.7,0.7,1.7" },
};

static int read_paper(const struct cli_args *args, struct chunk_networks *networks, struct err *err)
{
	struct cli_args one = *args;
	int kind = CHUNK_ALL_REDUCE, ret;
	__u32 n;

	if (args->value[CHUNK_OPTION_ALGORITHM] || args->value[CHUNK_OPTION_LATENCY])
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--algorithm and --latency need --dims: the networks of the paper have their own");
	ret = cli_word(args, CHUNK_OPTION_COLLECTIVE, &kind, err);
	one.value[CHUNK_OPTION_COLLECTIVE] = NULL;	/* the networks' algorithms suit any */
	networks->nr = CHUNK_NETWORKS;
	for (n = 0; !ret && n < networks->nr; n++) {
		networks->name[n] = paper[n];
		one.value[CHUNK_OPTION_DIMS] = paper[n].dims;
		one.value[CHUNK_OPTION_BANDWIDTH] = paper[n].bandwidth;
		one.value[CHUNK_OPTION_ALGORITHM] = paper[n].algorithm;
		one.value[CHUNK_OPTION_LATENCY] = paper[n].latency;
		ret = chunk_args_read(&one, &networks->of[n], err);
		networks->of[n].kind = kind;
		chunk_plan_fit(&networks->of[n]);
	}
	return ret;
}

int chunk_networks_read(const struct cli_args *args, struct chunk_networks *networks,
			struct err *err)
{
	struct cli_args one = *args;

	if (!one.value[CHUNK_OPTION_SIZE])
		one.value[CHUNK_OPTION_SIZE] = "1G";
	if (!args->value[CHUNK_OPTION_DIMS] && !args->value[CHUNK_OPTION_BANDWIDTH])
		return read_paper(&one, networks, err);
	networks->nr = 1;
	networks->name[0] = (struct chunk_network) {
		.dims = args->value[CHUNK_OPTION_DIMS],
		.bandwidth = args->value[CHUNK_OPTION_BANDWIDTH],
	};
	return chunk_args_check(args, err) ?: chunk_args_read(&one, &networks->of[0], err);
}

void chunk_networks_free(struct chunk_networks *networks)
{
	__u32 n;

	for (n = 0; n < networks->nr; n++)
		chunk_args_free(&networks->of[n]);
}
