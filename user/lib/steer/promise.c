// SPDX-License-Identifier: GPL-2.0
#include "promise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "steer_tables.h"

struct job {
	__u32 id;
	__u8 split;
	__u8 deal;
};

struct group {
	struct rocesteer_group_key key;
	__u64 down;
};

struct peer {
	struct rocesteer_peer_key key;
	bool partial;
	__u64 up;
};

static int read_job(__u32 id, const struct rocesteer_job *from, void *arg)
{
	struct promises *promises = arg;
	struct job *job = set_get(&promises->jobs, &id, sizeof(id), sizeof(*job));

	if (!job)
		return -ENOMEM;
	job->split = from->split;
	job->deal = from->deal;
	return 0;
}

static int read_group(const struct rocesteer_group_key *key,
		      const struct rocesteer_group *from, void *arg)
{
	struct promises *promises = arg;
	struct group *group = set_get(&promises->groups, key, sizeof(*key), sizeof(*group));

	if (!group)
		return -ENOMEM;
	group->down = from->down;
	return 0;
}

static int read_peer(const struct rocesteer_peer_key *key,
		     const struct rocesteer_peer *from, void *arg)
{
	struct rocesteer_group_key gkey = { .job = key->job,
					    .ifindex = key->ifindex };
	struct promises *promises = arg;
	const struct group *group;
	struct peer *peer;

	peer = set_get(&promises->peers, key, sizeof(*key), sizeof(*peer));
	if (!peer)
		return -ENOMEM;
	memcpy(gkey.leaf, from->leaf, sizeof(gkey.leaf));
	group = set_find(&promises->groups, &gkey, sizeof(gkey));
	peer->partial = from->partial;
	peer->up = steer_peer_paths(from) & ~(group ? group->down : 0);
	return 0;
}

int promises_read(struct promises *promises, struct steer *s, __u32 job)
{
	return steer_job_each(s, read_job, promises) ?:
	       steer_group_each(s, job, read_group, promises) ?:
	       steer_peer_each(s, job, read_peer, promises);
}

/* Is the flow on each path to its peer that is up? */
static bool is_on_all(const struct promises *promises,
		      const struct rocesteer_flow_key *key,
		      const struct rocesteer_flow_path *path)
{
	struct rocesteer_peer_key pkey = steer_peer_key(path->job, key, path->source);
	const struct peer *peer;
	__u64 on = 0;
	__u32 i;

	peer = set_find(&promises->peers, &pkey, sizeof(pkey));
	for (i = 0; i < path->nr_pieces && i < ROCESTEER_MAX_PATHS; i++)
		on |= 1ULL << (path->piece[i].path % ROCESTEER_MAX_PATHS);
	return peer && !peer->partial && on == peer->up && !path->detour.until;
}

enum promise promise_of(const struct promises *promises,
			const struct rocesteer_flow_key *key,
			const struct rocesteer_flow_path *path)
{
	const struct job *job = set_find(&promises->jobs, &path->job, sizeof(path->job));

	if (!job || !(path->flags & ROCESTEER_FLOW_SHARE) || path->flags & ROCESTEER_FLOW_OBSERVED)
		return PROMISE_NONE;
	if (split_kind(job->split)->is_always &&
	    path->flags & ROCESTEER_FLOW_PEER_RESEQ && is_on_all(promises, key, path))
		return PROMISE_ALWAYS;
	return path->nr_pieces == 1 && job->deal == ROCESTEER_DEAL_PLACE ?
	       PROMISE_PERMUTATIONS : PROMISE_BYTES;
}

void promises_free(struct promises *promises)
{
	set_clear(&promises->jobs, free);
	set_clear(&promises->groups, free);
	set_clear(&promises->peers, free);
}
