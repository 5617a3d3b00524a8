// SPDX-License-Identifier: GPL-2.0
/* rocesteer path audit: what port maps say of the fabric, for who runs the switches. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "path.h"

enum { CORES, HOSTS };

const struct cli_option path_audit_options[] = {
	[CORES] = { "cores", "N", "number of cores that the fabric has" },
	[HOSTS] = { "hosts", "FILE[,..]", "port maps of other hosts, best in other pods" },
	{}
};

#define MAX_CORES	65536

static const struct out_column map_columns[] = {
	{ "map", "MAP" },
	{ "device", "DEVICE" },
	{ "tiers", "TIERS" },
	{ "next_hops", "NEXT HOPS" },
	{ "cores", "CORES" },
	{ "cores_per_agg", "PER AGG" },
	{ "peers_local", "OWN LEAF" },
	{ "peers_pod", "IN POD" },
	{ "peers_across", "ACROSS" },
	{}
};

static const struct out_column finding_columns[] = {
	{ "map", "MAP" },
	{ "fault", "FAULT" },
	{ "code", "ABOUT" },
	{ "message", "WHAT THE PORTS SHOW" },
	{}
};

static const struct out_view audit_views[] = {
	{ .rows = "maps", .columns = map_columns },
	{ .rows = "findings", .columns = finding_columns },
	{}
};

/**
 * struct audit - the maps, and what is said of them
 * @sites: what each map says
 * @nr: how many
 * @known: number of cores by the option
 * @rows: array of maps
 * @findings: array
 * @map: name of the one that is spoken of
 * @faults: number of findings that are one
 * @err: of the command
 */
struct audit {
	struct audit_site *sites;
	size_t nr;
	struct audit_known known;
	struct json_object *rows;
	struct json_object *findings;
	const char *map;
	unsigned int faults;
	struct err *err;
};

static void put_row(struct audit *a, const char *file, const struct portmap *map,
		    const struct audit_site *site)
{
	struct json_object *row = out_append_object(a->rows);

	out_string(row, "map", file);
	out_string(row, "device", map->device);
	out_uint(row, "tiers", site->sight.cores.nr ? 3 : 2);
	out_uint(row, "next_hops", site->sight.aggs.nr);
	if (site->sight.cores.nr) {
		out_uint(row, "cores", site->sight.cores.nr);
		out_uint(row, "cores_per_agg", audit_per_agg(&site->sight));
	}
	out_uint(row, "peers_local", site->local);
	out_uint(row, "peers_pod", site->part[AUDIT_POD].peers);
	out_uint(row, "peers_across", site->part[AUDIT_ACROSS].peers);
}

static int add_file(const char *file, void *arg)
{
	struct audit *a = arg;
	struct audit_site *sites = reallocarray(a->sites, a->nr + 1, sizeof(*a->sites));
	struct portmap map;
	int ret;

	if (!sites)
		return -ENOMEM;
	a->sites = sites;
	ret = portmap_read(file, &map, a->err);
	if (ret)
		return ret;
	ret = audit_read(&sites[a->nr], &map);
	put_row(a, file, &map, &sites[a->nr++]);
	portmap_free(&map);
	return ret;
}

static void __printf(4, 5) say(struct audit *a, bool fault, const char *code, const char *fmt, ...)
{
	struct json_object *finding = out_append_object(a->findings);
	char line[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	out_string(finding, "map", a->map);
	out_bool(finding, "fault", fault);
	out_string(finding, "code", code);
	out_string(finding, "message", line);
	a->faults += fault;
}

/* "0-3,8": the bits of a mask. Return: @text. */
static const char *bits(__u32 mask, char text[80])
{
	size_t length = 0;
	unsigned int i, end;

	for (i = 0; i < 32; i = end) {
		for (end = i; end < 32 && mask >> end & 1; end++)
			;
		if (end == i) {
			end++;
			continue;
		}
		length += snprintf(text + length, 80 - length, "%s%u", length ? "," : "", i);
		if (end > i + 1)
			length += snprintf(text + length, 80 - length, "-%u", end - 1);
	}
	return text;
}

const char *path_cores(size_t nr, char text[32])
{
	snprintf(text, 32, "%zu core%s", nr, nr == 1 ? "" : "s");
	return text;
}

static void say_tiers(struct audit *a, const struct audit_site *site)
{
	const struct audit_sight *sight = &site->sight;
	char each[32], all[32];

	if (!sight->aggs.nr && !sight->cores.nr)
		say(a, false, "tiers", "All peers are on-link or under our own leaf.");
	else if (!sight->cores.nr)
		say(a, false, "tiers",
		    "Our leaf has %zu next hops. No peer of the map is in another pod.",
		    sight->aggs.nr);
	else
		say(a, sight->uneven, "tiers",
		    "Our leaf has %zu agg%s as next hops, each leads to %s%s: %s.",
		    sight->aggs.nr, sight->aggs.nr == 1 ? "" : "s",
		    sight->uneven ? "a different number of cores, at least " : "",
		    path_cores(audit_per_agg(sight), each), path_cores(sight->cores.nr, all));
}

static void say_address(struct audit *a, const struct audit_part *part, const char *peers)
{
	static const char * const facts[] = {
		[AUDIT_UNTOLD] = "No peers %s share a port: the address may matter, or not.",
		[AUDIT_NO] = "The address of peers %s matters not: ports have the same paths.",
		[AUDIT_YES] = "The address of peers %s matters: ports have other paths.",
	};
	char line[160];

	snprintf(line, sizeof(line), facts[part->address], peers);
	say(a, false, "address", "%s", line);
}

static void say_fields(struct audit *a, const struct audit_part *part, const char *peers)
{
	char text[80];

	say(a, false, "hash", "Linear: the ports of %u of %u peers %s follow from a model.",
	    part->linear, part->peers, peers);
	if (part->port_bits)
		say(a, false, "port", "Bits %s of the UDP source port choose the path of peers %s.",
		    bits(part->port_bits, text), peers);
	else
		say(a, false, "port",
		    "No model holds for peers %s: what bits of ports matter is not known.",
		    peers);
	say_address(a, part, peers);
	if (part->qpn_bits)
		say(a, false, "queue-pair", "Bits %s of the queue pair number matter to peers %s.",
		    bits(part->qpn_bits, text), peers);
	else
		say(a, false, "queue-pair", "The queue pair number matters to %u of %u peers %s.",
		    part->qpn_hash, part->peers, peers);
}

static void say_part(struct audit *a, const struct audit_part *part, const char *peers)
{
	if (!part->peers)
		return;
	say_fields(a, part, peers);
	if (part->weighted)
		say(a, false, "weights", "Paths to %u of %u peers %s have different weights.",
		    part->weighted, part->peers, peers);
	if (part->silent_routers)
		say(a, true, "silent", "%u routers at hop %u do not answer to expired TTLs.",
		    part->silent_routers, part->hop);
	if (part->silent)
		say(a, true, "silent", "Ports of %u of %u peers %s get no answer at hop %u.",
		    part->silent, part->peers, peers, part->hop);
	if (part->moved)
		say(a, true, "moved", "Ports of %u of %u peers %s moved during the search.",
		    part->moved, part->peers, peers);
}

/* A seed adds a constant to a linear hash: the same bits still choose both. */
static const char *cure(const struct audit_site *site)
{
	return site->part[AUDIT_ACROSS].linear ?
	       "set another hash offset, or function, of the aggs: a seed does not help" :
	       "set another seed or hash function of the aggs";
}

static void say_judgement(struct audit *a, const struct audit_site *site,
			  struct audit_known known, unsigned int apart)
{
	const char *rests = known.at_least ? "the maps together reach" : "by --cores there are";
	unsigned int reached = site->sight.cores.nr, each = audit_per_agg(&site->sight);
	char text[32];

	switch (audit_judge(&site->sight, known)) {
	case AUDIT_NO_CORES:
		break;
	case AUDIT_FEWER:
		say(a, false, "cores",
		    "%s behind each of %zu aggs: either there are no more, or leaves and aggs use the same bits of the hash. Give --cores, or the map of a host in another pod by --hosts.",
		    path_cores(each, text), site->sight.aggs.nr);
		break;
	case AUDIT_UNKNOWN:
		say(a, false, "cores",
		    "Nothing says whether there are more than %s: --cores does.",
		    path_cores(reached, text));
		break;
	case AUDIT_ALL:
		say(a, false, "cores", "All %u cores are reached: %s as many.", reached, rests);
		break;
	case AUDIT_MORE:
		say(a, true, "more", "%s are reached: %s %u.", path_cores(reached, text), rests,
		    known.cores);
		break;
	case AUDIT_POLARISED:
		say(a, true, "polarised",
		    "%u of %s%u cores are reached, %u behind each agg: leaves and aggs use the same bits of the hash: %s. It rests on this: %s %u.",
		    reached, known.at_least ? "at least " : "", known.cores, each, cure(site),
		    rests, known.cores);
		break;
	case AUDIT_MISSING:
		say(a, true, "missing",
		    "%u of %u cores are reached, and not the same part behind each agg, or a router is silent: links may be down. It rests on this: %s %u.",
		    reached, known.cores, rests, known.cores);
	}
	if (apart && !a->known.cores)
		say(a, false, "apart",
		    "%u maps tell nothing here: they share no router with this one, which may answer from addresses of interfaces.",
		    apart);
}

/* More cores than this host reaches are known by the option, or by other hosts. */
static int say_cores(struct audit *a, const struct audit_site *site)
{
	struct audit_known known = a->known;
	unsigned int cores, apart;
	int ret = audit_union(a->sites, a->nr, site, &cores, &apart);

	if (!known.cores && cores > site->sight.cores.nr)
		known = (struct audit_known) { .cores = cores, .at_least = true };
	say_judgement(a, site, known, apart);
	return ret;
}

static int say_site(struct audit *a, size_t i)
{
	const struct audit_site *site = &a->sites[i];
	struct json_object *row = json_object_array_get_idx(a->rows, i);

	a->map = json_object_get_string(json_object_object_get(row, "map"));
	say_tiers(a, site);
	say_part(a, &site->part[AUDIT_POD], "in our pod");
	say_part(a, &site->part[AUDIT_ACROSS], "across");
	return say_cores(a, site);
}

int path_audit(const struct cli_args *args, struct err *err)
{
	struct json_object *root = out_root();
	struct audit a = {
		.rows = out_array(root, "maps"),
		.findings = out_array(root, "findings"), .err = err,
	};
	const char *others = args->value[HOSTS];
	__u64 cores = 0;
	size_t i;
	int ret;

	ret = cli_uint(args, CORES, 1, MAX_CORES, &cores, err) ?: add_file(args->operand, &a);
	if (!ret && others)
		ret = cli_each("hosts", others, add_file, &a, err);
	a.known.cores = cores;
	for (i = 0; !ret && i < a.nr; i++)
		ret = say_site(&a, i);
	out_uint(root, "faults", a.faults);
	for (i = 0; i < a.nr; i++)
		audit_free(&a.sites[i]);
	free(a.sites);
	if (ret) {
		json_object_put(root);
		return ret;
	}
	return out_show(&args->out, root, audit_views) ?: a.faults ? EXIT_FAILED : 0;
}
