// SPDX-License-Identifier: GPL-2.0
/* rocesteer job load: the port map against the fabric, and where the map came from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "discover/discover.h"
#include "job_load.h"

static int refuse(struct load *l, const struct verify_result *moved)
{
	const struct portmap_peer *peer = &l->map.peers[moved->peer];
	char name[ADDR_STRLEN], expected[ADDR_STRLEN], actual[ADDR_STRLEN];

	err_set(l->err, EXIT_FAILED, "stale-map",
		"%s: port %u to %s goes by %s, not by %s: the map is not of this fabric any more",
		l->map_file, moved->port, addr_format(peer->addr, name),
		addr_format(moved->actual, actual),
		addr_format(moved->expected, expected));
	err_hint(l->err,
		 "See: rocesteer path verify %.100s. Find the ports again by rocesteer path discover, or load the job with --no-verify.",
		 l->map_file);
	return -ESTALE;
}

/* A path that leads nowhere is held down, unless there is no other. */
static int hold_down(struct load *l, const struct verify_result *moved)
{
	struct portmap_peer *peer = &l->map.peers[moved->peer];
	char name[ADDR_STRLEN], router[ADDR_STRLEN];
	unsigned int p = 0;

	addr_format(peer->addr, name);
	addr_format(moved->actual, router);
	peer->paths[moved->path].unreachable = true;
	while (p < peer->nr_paths && peer->paths[p].unreachable)
		p++;
	if (p == peer->nr_paths) {
		err_set(l->err, EXIT_FAILED, "unreachable",
			"%s: %s is unreachable by all of its paths; %s says so of the last one",
			l->map_file, name, router);
		err_hint(l->err, "Repair the routes. See: rocesteer path verify %.100s",
			 l->map_file);
		return -EHOSTUNREACH;
	}
	out_note(&l->args->out,
		 "%s: %s says that %s is unreachable: path %u is held down, until rocesteer daemon finds that it leads there again",
		 l->map_file, router, name, moved->path);
	return 0;
}

static int judge(struct load *l, const struct verify *verify)
{
	size_t i, silent = 0;
	int ret = 0;

	for (i = 0; !ret && i < verify->nr_moved; i++) {
		const struct verify_result *moved = &verify->moved[i];

		if (moved->unreachable)
			ret = hold_down(l, moved);
		else if (addr_is_none(moved->actual))
			silent++;
		else
			ret = refuse(l, moved);
	}
	if (ret)
		return ret;
	if (silent)
		out_note(&l->args->out,
			 "%s: %zu of %zu probes got no answer: whether ports take their paths is not known. See: rocesteer path verify",
			 l->map_file, silent, verify->checked + verify->far);
	else if (verify->checked && !verify->nr_moved)
		l->verified = time(NULL);
	return 0;
}

int job_load_verify(struct load *l)
{
	struct verify verify;
	struct err err = {};
	int ret;

	if (l->no_verify || !l->map.nr_peers)
		return 0;
	if (verify_sample(&l->map, &verify, &err)) {
		out_note(&l->args->out, "%s: the ports are not verified: %s",
			 l->map_file, err.message);
		return 0;
	}
	ret = judge(l, &verify);
	free(verify.moved);
	if (!ret || !l->by_dev)
		return ret;
	job_load_forget(l);
	out_note(&l->args->out, "%s Its peers are found again when flows begin.", l->err->message);
	*l->err = (struct err) {};
	return 0;
}

static void put_options(struct json_object *record, const struct cli_args *args)
{
	struct json_object *options = out_object(record, "options");
	char *path;
	int i;

	for (i = 0; args->options[i].name; i++) {
		const struct cli_option *option = &args->options[i];

		if (!args->value[i])
			continue;
		path = cli_is_path(option) ? realpath(args->value[i], NULL) : NULL;
		if (option->arg)
			out_string(options, option->name, path ?: args->value[i]);
		else
			out_bool(options, option->name, true);
		free(path);
	}
}

static void put_map(struct json_object *record, const struct load *l)
{
	char *path = realpath(l->map_file, NULL);
	struct stat st;

	out_string(record, "port_map", path ?: l->map_file);
	free(path);
	if (!l->by_dev && !stat(l->map_file, &st) && S_ISREG(st.st_mode))
		out_uint(record, "modified_at", st.st_mtime);
	if (l->map.created[0]) {
		out_uint(record, "generation", l->map.generation);
		out_string(record, "created", l->map.created);
	}
	if (l->verified)
		out_uint(record, "verified_at", l->verified);
	if (job_load_hosts(l))
		out_uint(record, "hosts", job_load_hosts(l));
}

/* The daemon searches for these. */
static void put_peers(struct json_object *record, const struct load *l)
{
	struct json_object *array = l->peers.nr ? out_array(record, "peers") : NULL;
	size_t i;

	for (i = 0; i < l->peers.nr; i++)
		out_append_addr(array, l->peers.addr[i]);
}

void job_load_remember(struct load *l)
{
	struct json_object *record = out_root();
	struct err err = {};

	out_string(record, "version", ROCESTEER_VERSION);
	put_options(record, l->args);
	put_map(record, l);
	put_peers(record, l);
	if (job_record_write(l->steer, l->spec.id, record, &err))
		out_note(&l->args->out,
			 "Where the job came from is not kept for rocesteer status: %s",
			 err.message);
	json_object_put(record);
}
