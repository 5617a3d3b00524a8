// SPDX-License-Identifier: GPL-2.0
#include "launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* Launchers, and the variables that they set. */
static const struct {
	const char *rank;
	const char *ranks;
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "PMI_RANK", "PMI_SIZE" },
	{ "SLURM_PROCID", "SLURM_NTASKS" },
	{ "RANK", "WORLD_SIZE" },
	{ "PMIX_RANK", NULL },
};

static int read_number(const char *name, const char *text, __u32 ranks,
		       __u64 *value, struct err *err)
{
	if (!cli_number(text, 0, ~0u, value) && *value < ranks)
		return 0;
	return err_set(err, EXIT_BAD_INPUT, "usage",
		       "%s: '%s' is not a rank: --dims makes 0 to %u", name,
		       text, ranks - 1);
}

static int check_ranks(const char *name, __u32 ranks, struct err *err)
{
	const char *text = name ? getenv(name) : NULL;
	__u64 value;

	if (!text || (!cli_number(text, 0, ~0u, &value) && value == ranks))
		return 0;
	return err_set(err, EXIT_BAD_INPUT, "usage",
		       "%s is %s, but --dims makes %u ranks", name, text,
		       ranks);
}

static int read_rank(struct launch *launch, const char *rank, __u32 ranks, struct err *err)
{
	const char *text = rank;
	__u64 value;
	size_t i;
	int ret;

	if (rank) {
		ret = read_number("--rank", rank, ranks, &value, err);
		launch->rank = value;
		return ret;
	}
	for (i = 0; i < ARRAY_SIZE(launchers); i++) {
		text = getenv(launchers[i].rank);
		if (!text)
			continue;
		ret = check_ranks(launchers[i].ranks, ranks, err) ?:
		      read_number(launchers[i].rank, text, ranks, &value, err);
		launch->rank = value;
		return ret;
	}
	return err_set(err, EXIT_BAD_INPUT, "usage",
		       "--rank is missing, and neither mpirun nor srun says it");
}

static int read_port(struct launch *launch, const char *name, const char *text, struct err *err)
{
	__u64 port;

	if (cli_number(text, 1, 65535, &port))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "%s: '%s' is not a port from 1 to 65535", name,
			       text);
	snprintf(launch->port, sizeof(launch->port), "%llu", port);
	return 0;
}

static int read_rendezvous(struct launch *launch, const char *text, struct err *err)
{
	const char *end = text[0] == '[' ? strchr(text, ']') : NULL;
	const char *host = text + !!end, *colon = strchr(end ?: text, ':');
	size_t len;

	/* An IPv6 address without brackets has more than one. */
	if (colon && !end && strchr(colon + 1, ':'))
		colon = NULL;
	len = end ? (size_t)(end - host) : colon ? (size_t)(colon - host) :
						   strlen(host);
	if (!len || len >= sizeof(launch->host) ||
	    (end ? end[1] && end[1] != ':' : !!strpbrk(text, "[]")))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--rendezvous: '%s' is not HOST or HOST:PORT",
			       text);
	memcpy(launch->host, host, len);
	launch->host[len] = '\0';
	return colon ? read_port(launch, "--rendezvous", colon + 1, err) : 0;
}

/*
 * The first of "a,b" or "rack[01-12,20]-ib[1-2]". Return: false where there is
 * none that @host has room for.
 */
static bool first_node(char *host, size_t size, const char *list)
{
	size_t used = 0, len;

	while (*list && *list != ',') {
		const char *end = list;

		len = 1;
		if (*list == '[') {
			end = strchr(list++, ']');
			len = strcspn(list, "-,]");
		}
		if (!end || used + len >= size)
			return false;
		memcpy(host + used, list, len);
		used += len;
		list = end + 1;
	}
	host[used] = '\0';
	return used;
}

static bool is_local(void)
{
	const char *local = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
	const char *all = getenv("OMPI_COMM_WORLD_SIZE");

	return local && all && !strcmp(local, all);
}

/* mpirun does not say where rank 0 is, unless all ranks are here. */
static int find_rendezvous(struct launch *launch, struct err *err)
{
	const char *nodes = getenv("SLURM_STEP_NODELIST");
	const char *host = getenv("MASTER_ADDR");
	const char *port = getenv("MASTER_PORT");
	int ret = port ? read_port(launch, "MASTER_PORT", port, err) : 0;

	if (ret)
		return ret;
	if (host && host[0] && strlen(host) < sizeof(launch->host))
		snprintf(launch->host, sizeof(launch->host), "%s", host);
	else if (nodes && first_node(launch->host, sizeof(launch->host), nodes))
		return 0;
	else if (is_local())
		snprintf(launch->host, sizeof(launch->host), "localhost");
	else
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--rendezvous HOST[:PORT] of rank 0 is missing");
	return 0;
}

int launch_read(struct launch *launch, const char *rank,
		const char *rendezvous, __u32 ranks, struct err *err)
{
	int ret;

	snprintf(launch->port, sizeof(launch->port), LAUNCH_PORT);
	ret = read_rank(launch, rank, ranks, err);
	if (ret)
		return ret;
	return rendezvous ? read_rendezvous(launch, rendezvous, err) :
			    find_rendezvous(launch, err);
}
