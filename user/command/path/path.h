/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs of the object path, one file each, and what they share. */
#ifndef ROCESTEER_CLI_PATH_H
#define ROCESTEER_CLI_PATH_H

#include "audit/audit.h"
#include "discover/discover.h"
#include "portmap/portmap.h"
#include "../objects.h"

/* Options of a command that probes, at the numbers that it gives them. */
#define PATH_PROBE_OPTIONS(RATE, RETRIES, TIMEOUT, SHORT_QUOTES)			\
	[RATE] = { "rate", "PPS", "maximum of probes per second (default: "		\
		   __stringify(PROBE_BATCH_RATE) ")" },					\
	[RETRIES] = { "retries", "N", "repetitions of a lost probe (default: "		\
		      __stringify(PROBE_BATCH_RETRIES) ")" },				\
	[TIMEOUT] = { "probe-timeout", "MS", "time to wait for the first answer (default: " \
		      __stringify(PROBE_BATCH_TIMEOUT) ")" },				\
	[SHORT_QUOTES] = { "short-quotes", NULL,					\
			   "believe answers that quote 8 bytes of a probe only" }

extern const struct cli_option path_discover_options[];
extern const struct cli_option path_verify_options[];
extern const struct cli_option path_audit_options[];
extern const struct cli_option path_export_options[];
extern const struct cli_option path_prove_options[];

int path_discover(const struct cli_args *args, struct err *err);
int path_verify(const struct cli_args *args, struct err *err);
int path_audit(const struct cli_args *args, struct err *err);
int path_export(const struct cli_args *args, struct err *err);
int path_prove(const struct cli_args *args, struct err *err);

/* Print a line for the user; @arg: struct out. */
void path_note(void *arg, const char *line);

/* Read the options of PATH_PROBE_OPTIONS() that are numbers. Return: 0 or -EINVAL. */
int path_read_rate(const struct cli_args *args, int rate, int retries,
		   int timeout, struct probe_batch_config *config,
		   struct err *err);

/* The tree of a map, with what peers rest on, and how many rest on what */
struct json_object *path_to_json(const struct portmap *map);

/*
 * How to show a port map: with leaves where these tell paths apart, and with the hops of each peer
 * where they differ. To be called once.
 */
const struct out_view *path_views(const struct portmap *map);

/*
 * Mark incomplete peers in the tree of a map, and say why they are; @bond: what the device is.
 * Return: their number, or a negative errno.
 */
int path_doubt_peers(const struct out *out, const struct portmap *map, const struct bond *bond,
		     struct json_object *root);

/* Add what a device is to a tree, if it is a bond, and say where ports choose no member of it. */
void path_doubt_bond(const struct out *out, const struct bond *bond, struct json_object *root);

/* Say where ports choose no path, or paths have unequal shares of them. */
void path_doubt_qpn_hash(const struct out *out, const struct portmap *map);
void path_doubt_weights(const struct out *out, const struct portmap *map);

/* "1 core", "2 cores". Return: @text. */
const char *path_cores(size_t nr, char text[32]);

/* Say where there may be more cores than ports reach. Return: 0 or -ENOMEM. */
int path_doubt_cores(const struct out *out, const struct portmap *map);

#endif /* ROCESTEER_CLI_PATH_H */
