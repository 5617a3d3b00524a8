// SPDX-License-Identifier: GPL-2.0
#include "path_exam.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "discover/discover.h"
#include "path_health.h"

/**
 * struct path_exams - state
 * @config: settings of the caller
 * @probe_queue_config: settings of the queues
 * @queues: set of struct entry
 * @said: set of struct said
 */
struct path_exams {
	struct path_exam_config config;
	struct probe_queue_config probe_queue_config;
	struct set queues;
	struct set said;
};

/* The probe queue of a device in a set; @failed: its last packet could not be sent. */
struct entry {
	__u32 ifindex;
	struct probe_queue *queue;
	bool failed;
};

/* The last note about a device. */
struct said {
	__u32 ifindex;
	char line[256];
};

/* A peer of a group. */
struct search {
	const struct group *group;
	struct rocesteer_peer_key key;
	struct rocesteer_peer peer;
	bool found;
};

static struct probe_queue *get_queue(struct path_exams *exams, __u32 ifindex)
{
	struct entry *entry = set_get(&exams->queues, &ifindex, sizeof(ifindex), sizeof(*entry));

	if (entry && !entry->queue)
		entry->queue = probe_queue_new(ifindex, &exams->probe_queue_config);
	return entry ? entry->queue : NULL;
}

static int add_probe(struct probe_queue *queue, struct group *group, __u32 p,
		     const struct search *s, enum probe_kind kind)
{
	struct queued_probe probe = {
		.owner = group,
		.path = p,
		.kind = kind,
		.ttl = probe_ttl(kind, s->peer.hop, s->peer.leaf_hop),
		.port = ntohs(s->peer.sport[p]),
	};

	memcpy(probe.source, s->key.source, 16);
	memcpy(probe.peer, s->key.addr, 16);
	if (probe_queue_add(queue, &probe))
		return -ENOMEM;
	group->health->out++;
	return 0;
}

/* Does the port still choose our leaf of the path? Only behind a bond it does. */
static int add_before(struct probe_queue *queue, struct group *group, __u32 p,
		      const struct search *s)
{
	if (addr_is_none(group->via[p]) || s->peer.leaf_hop > s->peer.hop + 1)
		return 0;
	return add_probe(queue, group, p, s, PROBE_BEFORE);
}

/*
 * Routers limit how often they answer: send no needless probe. A path in doubt needs one to the
 * leaf only if the leaf tells it from others.
 */
static int add_probes(struct probe_queue *queue, struct group *group, __u32 p,
		      const struct search *s)
{
	const struct path_health *health = group->health;
	__u64 whole = (health->examined & ~health->watched) | health->controls;
	enum probe_kind kind = health->path[p].router ? PROBE_LEAF : PROBE_PATH;
	enum probe_kind last = whole >> p & 1 || !addr_is_none(group->leaf[p]) ? PROBE_LEAF :
										 PROBE_PATH;
	int ret = add_before(queue, group, p, s);

	for (; !ret && kind <= last; kind++)
		ret = add_probe(queue, group, p, s, kind);
	return ret;
}

static int take_peer(const struct rocesteer_peer_key *key,
		     const struct rocesteer_peer *peer, void *arg)
{
	struct search *s = arg;

	s->found = key->ifindex == s->group->key.ifindex &&
		   !memcmp(peer->leaf, s->group->key.leaf, 16);
	s->key = *key;
	s->peer = *peer;
	return s->found;
}

/* The peer of the flow that was last in trouble, or any peer. */
static bool find_peer(struct path_exams *exams, struct search *s)
{
	const struct group *group = s->group;
	struct steer *steer = exams->config.groups->steer;

	s->key = (struct rocesteer_peer_key) { .job = group->key.job,
					       .ifindex = group->key.ifindex };
	memcpy(s->key.addr, group->health->peer, 16);
	memcpy(s->key.source, group->health->source, 16);
	if (!steer_peer_get(steer, &s->key, &s->peer))
		return true;
	steer_peer_each(steer, group->key.job, take_peer, s);
	return s->found;
}

__u64 path_exam_usable(const struct group *group, const struct rocesteer_peer *peer)
{
	__u64 usable = 0;
	__u32 p;

	for (p = 0; p < group->nr_paths; p++)
		if (peer->sport[p])
			usable |= 1ull << p;
	return usable;
}

/* None while the job is being unloaded. */
static __u64 usable_paths(struct path_exams *exams, struct search *s)
{
	return find_peer(exams, s) ? path_exam_usable(s->group, &s->peer) : 0;
}

/* Probe some paths, and then others. */
static int probe_paths(struct path_exams *exams, struct group *group,
		       const struct search *s, __u64 first, __u64 then)
{
	struct probe_queue *queue = get_queue(exams, group->key.ifindex);
	__u32 p;
	int ret = 0;

	if (!queue)
		return -ENOMEM;
	for (p = 0; !ret && p < group->nr_paths; p++)
		if (first >> p & 1)
			ret = add_probes(queue, group, p, s);
	for (p = 0; !ret && p < group->nr_paths; p++)
		if (then >> p & 1)
			ret = add_probes(queue, group, p, s);
	return ret;
}

static void examine(struct path_exams *exams, struct group *group, __u64 due, __u64 watched,
		    __u64 usable)
{
	struct traffic traffic = {};

	if (path_health_is_fresh(group->health))
		group_traffic(exams->config.groups, group, &traffic);
	path_health_examine(group->health, due, watched, usable, &traffic);
}

int path_exam_watch(struct path_exams *exams, struct group *group,
		    const struct rocesteer_peer *peer, __u32 p)
{
	const struct search s = { .group = group, .key = group->health->turn_peer,
				  .peer = *peer };
	struct probe_queue *queue = get_queue(exams, group->key.ifindex);

	if (!queue)
		return -ENOMEM;
	examine(exams, group, 0, 1ull << p, 1ull << p);
	return add_before(queue, group, p, &s) ?:
	       add_probe(queue, group, p, &s,
			 addr_is_none(group->leaf[p]) ? PROBE_PATH : PROBE_LEAF);
}

int path_exam_start(struct path_exams *exams, struct group *group, __u64 due, __u64 watched)
{
	struct search s = { .group = group };
	__u64 usable = usable_paths(exams, &s);

	examine(exams, group, due, watched, usable);
	if (group->health->examined)
		return probe_paths(exams, group, &s, group->health->examined, 0);
	path_health_postpone(group->health, clock_ns());
	return 0;
}

static void end_round(struct path_exams *exams, struct group *group)
{
	struct search s = { .group = group };
	__u64 usable = usable_paths(exams, &s);
	__u64 again = path_health_examine_again(group->health, usable);

	if (!again || probe_paths(exams, group, &s, again,
				  group->health->controls |
				  group->health->witnesses))
		exams->config.done(group, exams->config.arg);
}

/* Is this the router or a leaf of the path? If the leaf does not tell paths apart, any leaf is. */
static bool is_own(const struct group *group, const struct queued_probe *probe, const __u8 *from)
{
	const __u8 *leaf = group->leaf[probe->path];

	if (!from || probe->kind == PROBE_PATH)
		return from && !memcmp(from, group->router[probe->path], 16);
	if (probe->kind == PROBE_BEFORE)
		return !memcmp(from, group->via[probe->path], 16);
	return addr_is_none(leaf) || !memcmp(from, leaf, 16);
}

static void probe_done(const struct queued_probe *probe, const __u8 *from,
		       unsigned int sent, bool unreachable, void *arg)
{
	struct group *group = probe->owner;
	struct path_health *health = group->health;
	struct path *path = &health->path[probe->path];
	bool control = health->controls >> probe->path & 1;
	bool leaf = probe->kind == PROBE_LEAF;
	bool own = is_own(group, probe, from);

	path->sent += sent;
	path->answered += !!from;
	if (from && leaf) {
		*(control ? &health->leaf : &path->leaf) = true;
	} else if (own && probe->kind == PROBE_PATH) {
		health->router |= control;
		path->router = true;
		path->heard = clock_ns();
	}
	if (from && !own)
		path->moved = true;
	path->unreachable |= unreachable;
	if (!--health->out)
		end_round(arg, group);
}

/* A probe queue repeats its notes: report each once for a device. */
static void probe_note(__u32 ifindex, const char *line, void *arg)
{
	struct path_exams *exams = arg;
	struct said *said = set_get(&exams->said, &ifindex, sizeof(ifindex), sizeof(*said));

	if (!said || !strcmp(said->line, line))
		return;
	snprintf(said->line, sizeof(said->line), "%s", line);
	exams->config.note(ifindex, line, exams->config.arg);
}

void path_exam_cancel(struct path_exams *exams, struct group *group)
{
	size_t i;

	if (!group->health)
		return;
	for (i = 0; i < exams->queues.nr; i++) {
		const struct entry *entry = exams->queues.item[i];

		probe_queue_forget(entry->queue, group);
	}
	path_health_postpone(group->health, clock_ns());
}

static void free_entry(void *item)
{
	struct entry *entry = item;

	probe_queue_free(entry->queue);
	free(entry);
}

void path_exams_forget(struct path_exams *exams, __u32 ifindex)
{
	struct said *said = set_find(&exams->said, &ifindex, sizeof(ifindex));
	size_t i;

	for (i = exams->queues.nr; i--;) {
		struct entry *entry = exams->queues.item[i];

		if (entry->ifindex != ifindex)
			continue;
		set_remove(&exams->queues, &entry->ifindex, sizeof(entry->ifindex));
		free_entry(entry);
	}
	if (!said)
		return;
	set_remove(&exams->said, &ifindex, sizeof(ifindex));
	free(said);
}

__u64 path_exams_due(const struct path_exams *exams)
{
	__u64 due = LOOP_NEVER, at;
	size_t i;

	for (i = 0; i < exams->queues.nr; i++) {
		const struct entry *entry = exams->queues.item[i];

		at = probe_queue_due(entry->queue);
		if (at < due)
			due = at;
	}
	return due;
}

/* Probes cannot be sent: act as if there had been no examination. */
static void forget(struct path_exams *exams, __u32 ifindex)
{
	const struct set *groups = &exams->config.groups->group;
	size_t i;

	for (i = 0; i < groups->nr; i++) {
		struct group *group = groups->item[i];

		if (group->key.ifindex == ifindex)
			path_exam_cancel(exams, group);
	}
}

void path_exams_step(struct path_exams *exams)
{
	__u64 now = clock_ns();
	size_t i;

	for (i = 0; i < exams->queues.nr; i++) {
		struct entry *entry = exams->queues.item[i];
		__u32 ifindex = entry->ifindex;
		struct err err = {};
		bool failed;

		if (probe_queue_due(entry->queue) > now)
			continue;
		failed = probe_queue_step(entry->queue, &err);
		if (failed)
			forget(exams, ifindex);
		if (failed && !entry->failed)
			exams->config.note(ifindex, err.message, exams->config.arg);
		entry->failed = failed;
	}
}

struct path_exams *path_exams_new(const struct path_exam_config *config)
{
	struct path_exams *exams = calloc(1, sizeof(*exams));

	if (!exams)
		return NULL;
	exams->config = *config;
	exams->probe_queue_config = (struct probe_queue_config) {
		.loop = config->loop,
		.timeout_ms = config->timeout_ms,
		.short_quotes = config->short_quotes,
		.done = probe_done,
		.note = probe_note,
		.arg = exams,
	};
	return exams;
}

void path_exams_free(struct path_exams *exams)
{
	if (!exams)
		return;
	set_clear(&exams->queues, free_entry);
	set_clear(&exams->said, free);
	free(exams);
}
