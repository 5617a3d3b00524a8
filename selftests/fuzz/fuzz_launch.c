// SPDX-License-Identifier: GPL-2.0
/* Launchers' environment variables, and options that are numbers */
#include "cli/cli.h"
#include "perf/meet/launch.h"
#include "fuzz.h"

#define ROOM	600

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	static const char * const names[] = {
		"SLURM_STEP_NODELIST", "MASTER_ADDR", "MASTER_PORT",
		"OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS",
	};
	struct launch launch;
	struct err err = {};
	const char *name;
	char *text;
	__u64 a, b;

	if (!size || size > ROOM)
		return 0;
	/* The string ends with its memory, so ASan notices a read beyond. */
	text = strndup((const char *)data + 1, size - 1);
	name = names[data[0] % ARRAY_SIZE(names)];
	setenv("SLURM_PROCID", "0", 1);
	setenv(name, text, 1);
	launch_read(&launch, NULL, NULL, 4, &err);
	launch_read(&launch, NULL, text, 4, &err);
	launch_read(&launch, text, text, 4, &err);
	cli_number(text, 0, ~0ull, &a);
	cli_pair(text, 100, 100, &a, &b);
	unsetenv(name);
	free(text);
	return 0;
}
