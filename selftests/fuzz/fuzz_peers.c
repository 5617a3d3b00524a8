// SPDX-License-Identifier: GPL-2.0
/* path discover --peer-file: addresses of hosts, each once */
#include "command/objects.h"
#include "discover/discover_run.h"
#include "fuzz.h"

const char * const cli_program = "rocesteer";

/* Nothing is probed. */
int discover_run(const struct discover *discover, struct portmap *map, struct err *err)
{
	__u8 again[16];
	char text[ADDR_STRLEN];
	size_t i, j;

	assert(discover->nr_peers && discover->nr_peers <= ROCESTEER_MAX_PEERS);
	for (i = 0; i < discover->nr_peers; i++) {
		assert(!addr_parse(addr_format(discover->peers[i], text), again));
		assert(!addr_compare(again, discover->peers[i]));
		for (j = 0; j < i; j++)
			assert(addr_compare(discover->peers[i], discover->peers[j]));
	}
	return err_set(err, EXIT_FAILED, "read", "it is read");
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	char *argv[5] = {
		"discover", "--dev", "lo", "--peer-file",
		(char *)fuzz_file(data, size),
	};
	struct cli_args args = {};
	struct err err = {};

	assert(cli_run(&cli_path, cli_path.verbs, &args, ARRAY_SIZE(argv), argv, &err) < 0);
	assert(err.code && err.message[0]);
	return 0;
}
