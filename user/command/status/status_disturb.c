// SPDX-License-Identifier: GPL-2.0
/* rocesteer status: other parts of this host that could change or keep RoCE packets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "status.h"

#define MAX_FEATURES	512
#define MAX_TRACKED	100000	/* lines: who tracks so much does not wait for us */
#define ROCE_PORT	ROCESTEER_ROCE_PORT

static int ethtool(int fd, const char *device, void *command)
{
	struct ifreq ifr = { .ifr_data = command };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", device);
	return ioctl(fd, SIOCETHTOOL, &ifr);
}

/* The kernel fills a list of names only where it has that many. */
static __u32 count_features(int fd, const char *device)
{
	struct ethtool_sset_info *info = calloc(1, sizeof(*info) + sizeof(info->data[0]));
	__u32 count = 0;

	if (!info)
		return 0;
	info->cmd = ETHTOOL_GSSET_INFO;
	info->sset_mask = 1ull << ETH_SS_FEATURES;
	if (!ethtool(fd, device, info) && info->data[0] <= MAX_FEATURES)
		count = info->data[0];
	free(info);
	return count;
}

/* Number of the feature in the kernel's list, or -1. */
static int find_feature(int fd, const char *device, const char *name)
{
	struct ethtool_gstrings *strings = calloc(1, sizeof(*strings) +
						  MAX_FEATURES * ETH_GSTRING_LEN);
	int found = -1;
	__u32 i;

	if (!strings)
		return -1;
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_FEATURES;
	strings->len = count_features(fd, device);
	if (ethtool(fd, device, strings))
		strings->len = 0;
	for (i = 0; i < strings->len; i++)
		if (!strncmp((char *)strings->data + i * ETH_GSTRING_LEN, name, ETH_GSTRING_LEN))
			found = i;
	free(strings);
	return found;
}

static bool has_feature(int fd, const char *device, const char *name)
{
	struct ethtool_gfeatures *features = calloc(1, sizeof(*features) +
						    MAX_FEATURES / 32 *
						    sizeof(features->features[0]));
	int i = find_feature(fd, device, name);
	bool has;

	if (!features)
		return false;
	features->cmd = ETHTOOL_GFEATURES;
	features->size = MAX_FEATURES / 32;
	has = i >= 0 && !ethtool(fd, device, features) &&
	      features->features[i / 32].active >> (i % 32) & 1;
	free(features);
	return has;
}

/* Aggregates are not put into order, and acknowledgments in them are not seen. */
static void look_at_gro(struct status *st, const struct status_job *item)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool on = has_feature(fd, item->device, "rx-gro-list") ||
		  has_feature(fd, item->device, "rx-udp-gro-forwarding");

	close(fd);
	if (!on)
		return;
	status_advise(status_find(st, item->job.reseq ? STATUS_ERROR : STATUS_NOTE,
				  "gro", item->id,
				  "%s aggregates UDP packets that it receives: %s",
				  item->device, item->job.reseq ?
				  "their order is not restored" :
				  "acknowledgments among them are not seen"),
		      "ethtool -K %s rx-gro-list off rx-udp-gro-forwarding off",
		      item->device);
}

static bool is_tracked(FILE *file)
{
	size_t size = 0, n = 0;
	char *line = NULL;
	bool found = false;

	while (!found && n++ < MAX_TRACKED && getline(&line, &size, file) >= 0)
		found = strstr(line, " udp ") && strstr(line, " dport=4791 ");
	free(line);
	return found;
}

/* Without such a file no connection is tracked, or the kernel does not list them. */
static void look_at_conntrack(struct status *st)
{
	FILE *file = fopen("/proc/net/nf_conntrack", "re");

	if (!file)
		return;
	if (is_tracked(file))
		status_advise(status_find(st, STATUS_NOTE, "conntrack", 0,
					  "connections of UDP port 4791 are tracked"),
			      "Say \"udp dport 4791 notrack\" in chains of hooks prerouting and output, priority raw.");
	fclose(file);
}

/* Is the port, or a range or a set that has it, anywhere in an expression? */
static bool has_port(struct json_object *expr)
{
	struct json_object *range;
	size_t i, n;

	if (json_object_is_type(expr, json_type_int))
		return json_object_get_int(expr) == ROCE_PORT;
	if (json_object_is_type(expr, json_type_object)) {
		if (json_object_object_get_ex(expr, "range", &range))
			return json_object_get_int(json_object_array_get_idx(range, 0)) <=
				       ROCE_PORT &&
			       json_object_get_int(json_object_array_get_idx(range, 1)) >=
				       ROCE_PORT;
		return json_object_object_get_ex(expr, "set", &range) && has_port(range);
	}
	n = json_object_is_type(expr, json_type_array) ? json_object_array_length(expr) : 0;
	for (i = 0; i < n; i++)
		if (has_port(json_object_array_get_idx(expr, i)))
			return true;
	return false;
}

static struct json_object *get(struct json_object *obj, const char *key)
{
	return json_object_is_type(obj, json_type_object) ?
	       json_object_object_get(obj, key) : NULL;
}

static bool is(struct json_object *value, const char *text)
{
	return value && !strcmp(json_object_get_string(value), text);
}

/* "udp dport 4791", or of "th", which is TCP as well */
static bool matches_port(struct json_object *match)
{
	struct json_object *payload = get(get(match, "left"), "payload");

	return is(get(payload, "field"), "dport") && !is(get(payload, "protocol"), "tcp") &&
	       is(get(match, "op"), "==") && has_port(get(match, "right"));
}

static bool changes_packets(struct json_object *statement)
{
	static const char * const does[] = {
		"drop", "reject", "queue", "dnat", "snat", "redirect", "masquerade",
		"mangle", "tproxy", "synproxy",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(does); i++)
		if (json_object_object_get_ex(statement, does[i], NULL))
			return true;
	return false;
}

static bool is_against_us(struct json_object *rule)
{
	struct json_object *expr = get(rule, "expr"), *statement;
	bool ours = false, changes = false;
	size_t i, n = expr ? json_object_array_length(expr) : 0;

	for (i = 0; i < n; i++) {
		statement = json_object_array_get_idx(expr, i);
		ours |= matches_port(get(statement, "match"));
		changes |= changes_packets(statement);
	}
	return ours && changes;
}

static void judge_ruleset(struct status *st, struct json_object *ruleset)
{
	struct json_object *array = get(ruleset, "nftables"), *rule;
	size_t i, n = array ? json_object_array_length(array) : 0;

	for (i = 0; i < n; i++) {
		rule = get(json_object_array_get_idx(array, i), "rule");
		if (!rule || !is_against_us(rule))
			continue;
		status_advise(status_find(st, STATUS_ERROR, "firewall", 0,
					  "a rule of chain %s in table %s %s drops or changes packets to UDP port 4791",
					  json_object_get_string(get(rule, "chain")),
					  json_object_get_string(get(rule, "table")),
					  json_object_get_string(get(rule, "family"))),
			      "See: nft -a list chain %s %s %s; the rule has handle %s",
			      json_object_get_string(get(rule, "family")),
			      json_object_get_string(get(rule, "table")),
			      json_object_get_string(get(rule, "chain")),
			      json_object_get_string(get(rule, "handle")));
	}
}

static char *read_all(FILE *file)
{
	char *text = NULL;
	size_t size = 0;

	if (getdelim(&text, &size, '\0', file) >= 0)
		return text;
	free(text);
	return NULL;
}

/* Rules that an iptables of before nftables made are not in its list. */
static void look_at_firewall(struct status *st)
{
	FILE *nft = popen("exec nft -j list ruleset 2>/dev/null", "re");
	char *text = nft ? read_all(nft) : NULL;
	struct json_object *ruleset = text ? json_tokener_parse(text) : NULL;

	if (nft && pclose(nft) == 127 << 8)
		status_unseen(st, "the firewall: nft is not installed");
	else if (!ruleset)
		status_unseen(st, "the firewall: nft does not list its rules");
	else
		judge_ruleset(st, ruleset);
	json_object_put(ruleset);
	free(text);
}

/* Is this the first job of its device? Findings are the same for all. */
static bool is_first_on(const struct status *st, size_t i)
{
	const struct status_job *item = st->jobs.item[i], *other;
	size_t j;

	for (j = 0; j < i; j++) {
		other = st->jobs.item[j];
		if (other->job.ifindex == item->job.ifindex &&
		    !!other->job.reseq == !!item->job.reseq)
			return false;
	}
	return item->device[0];
}

void status_disturb(struct status *st)
{
	size_t i;

	for (i = 0; i < st->jobs.nr; i++)
		if (is_first_on(st, i))
			look_at_gro(st, st->jobs.item[i]);
	look_at_conntrack(st);
	look_at_firewall(st);
}
