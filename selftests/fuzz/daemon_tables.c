// SPDX-License-Identifier: GPL-2.0
/* Tables that change as programs and commands change them, while the daemon reads them. */
#include <arpa/inet.h>
#include <errno.h>

#include "steer/steer_priv.h"
#include "daemon_tables.h"

#define JOBS	2
#define PEERS	4

struct table_group groups[GROUPS];
struct table_flow flows[FLOWS];

static struct {
	bool there;
	struct rocesteer_job value;
} jobs[JOBS];

static struct table_peer {
	bool there;
	struct rocesteer_peer_key key;
	struct rocesteer_peer value;
} peers[PEERS];

/* The row of @table with key @wanted, or NULL */
#define FIND(table, wanted) ({						\
	__auto_type row = &(table)[0];					\
	__auto_type end = row + sizeof(table) / sizeof(*row);		\
									\
	while (row < end && (!row->there || memcmp(&row->key, wanted, sizeof(row->key)))) \
		row++;							\
	row < end ? row : NULL;						\
})

/* Call fn(key, value, arg) for each row that is there and @matches, until it is not 0. */
#define EACH(table, matches) ({						\
	__auto_type row = &(table)[0];					\
	__auto_type end = row + sizeof(table) / sizeof(*row);		\
	int ret = 0;							\
									\
	for (; !ret && row < end; row++)				\
		if (row->there && (matches))				\
			ret = fn(&row->key, &row->value, arg);		\
	ret;								\
})

static void addr(__u8 *a, __u8 last)
{
	memcpy(a, (__u8[16]) { [10] = 0xff, 0xff, 10, [15] = last }, 16);
}

/* Peer @i is of job 2 and under the last leaf, or of job 1 and under one of two. */
static __u32 job_of(__u32 peer)
{
	return peer == PEERS - 1 ? 2 : 1;
}

static __u8 leaf_of(__u32 peer)
{
	return 100 + (peer == PEERS - 1 ? GROUPS - 1 : peer % (GROUPS - 1));
}

static void change_group(__u32 i, __u8 how)
{
	struct rocesteer_group *group = &groups[i].value;
	__u32 p, n = how & 128 ? ROCESTEER_MAX_PATHS : 1 + (how >> 2) % 5;

	groups[i].there = how & 3;
	memset(&groups[i].key, 0, sizeof(groups[i].key));
	memset(group, 0, sizeof(*group));
	groups[i].key.job = i == GROUPS - 1 ? 2 : 1;
	groups[i].key.ifindex = 1;
	addr(groups[i].key.leaf, 100 + i);
	group->nr_paths = n;
	group->first = i % n;
	for (p = 0; p < n; p++) {
		addr(group->router[p], 1 + p);
		group->weight[p] = how & 64 ? 1 + (fuzz_u8(&in) << (p & 7)) : 1;
	}
	if (how & 32)
		group->down = fuzz_u8(&in) & (n < 8 ? (1u << n) - 1 : 0xff);
	/* Flows go with their group. */
	for (p = 0; p < FLOWS; p++)
		if (!memcmp(flows[p].value.leaf, groups[i].key.leaf, 16))
			flows[p].there = false;
	changed = true;
}

static void change_peer(__u32 i, __u8 how)
{
	struct rocesteer_peer *peer = &peers[i].value;
	__u32 p;

	peers[i].there = how & 3;
	memset(&peers[i].key, 0, sizeof(peers[i].key));
	memset(peer, 0, sizeof(*peer));
	peers[i].key.job = job_of(i);
	peers[i].key.ifindex = 1;
	addr(peers[i].key.addr, 200 + i);
	addr(peer->leaf, leaf_of(i));
	addr(peers[i].key.source, 250);
	peer->nr_paths = ROCESTEER_MAX_PATHS;
	peer->hop = 2;
	peer->leaf_hop = 3;
	for (p = 0; p < ROCESTEER_MAX_PATHS; p++)
		peer->sport[p] = htons(50000 + p + (how >> 4) * 64);
	if (how & 8)
		peer->sport[fuzz_u8(&in) % 6] = 0;
}

static void change_flow(__u32 i, __u8 where, __u8 how)
{
	struct rocesteer_flow_path *flow = &flows[i].value;
	__u32 peer = where % PEERS, p;

	flows[i].there = how & 7;
	memset(&flows[i].key, 0, sizeof(flows[i].key));
	memset(flow, 0, sizeof(*flow));
	flows[i].key.ifindex = 1;
	flows[i].key.dqpn = i;
	addr(flows[i].key.peer, 200 + peer);
	flow->job = job_of(peer);
	addr(flow->leaf, leaf_of(peer));
	addr(flow->source, 250);
	flow->nr_pieces = 1;
	flow->piece[0].end = 1;
	flow->piece[0].sport = htons(50000);
	for (p = 0; p < GROUPS; p++)
		if (groups[p].there && !memcmp(groups[p].key.leaf, flow->leaf, 16))
			flow->piece[0].path = (how >> 3) % groups[p].value.nr_paths;
	if (how & 64)
		flow->flags |= ROCESTEER_FLOW_PEER_RESEQ;
	if (how & 32)
		flow->flags |= ROCESTEER_FLOW_SHARE;
	if ((how & 31) == 31)
		flow->flags |= ROCESTEER_FLOW_QP | ROCESTEER_FLOW_SHARE;
	if (how & 128) {
		flow->detour.until = now + 1;
		flow->detour.to = fuzz_u8(&in) % ROCESTEER_MAX_PATHS;
		flow->next = flow->piece[0];
	}
	for (p = 0; p < 5; p++) {
		flow->sent[p].packets = fuzz_u8(&in);
		flow->rounds[p] = fuzz_u8(&in) & 15;
	}
}

static void change(__u8 what, __u8 x, __u8 how)
{
	switch (what % 8) {
	case 0:
		change_group(x % GROUPS, how);
		break;
	case 1:
		change_peer(x % PEERS, how);
		break;
	case 2:
		jobs[x % JOBS].there = how & 3;
		jobs[x % JOBS].value.split = (how >> 2) % 3;
		jobs[x % JOBS].value.deal = how >> 4 & 1;
		break;
	default:
		change_flow(x % FLOWS, x >> 4, how);
		break;
	}
}

void tables_change(void)
{
	change(fuzz_u8(&in), fuzz_u8(&in), fuzz_u8(&in));
}

/* A job with two groups, two peers and two flows */
void tables_begin(void)
{
	memset(jobs, 0, sizeof(jobs));
	memset(groups, 0, sizeof(groups));
	memset(peers, 0, sizeof(peers));
	memset(flows, 0, sizeof(flows));
	change(2, 0, 7);
	change(0, 0, 9);
	change(0, 1, 13);
	change(1, 0, 1);
	change(1, 1, 1);
	change(3, 0, 127);
	change(3, 17, 127);
}

static void race(void)
{
	if (races && in.left > 3 && (fuzz_u8(&in) & 31) == 7)
		tables_change();
}

/* Stand-ins for steer/steer_tables.h */
int steer_open(struct steer **s, int flags, struct err *err)
{
	static struct steer steer;

	if (!jobs[0].there && !jobs[1].there) {
		err_set(err, EXIT_FAILED, "no-job", "no job is loaded");
		return -ENOENT;
	}
	*s = &steer;
	return 0;
}

void steer_close(struct steer *s)
{
}

void steer_unlock(struct steer *s)
{
}

int steer_job_each(struct steer *s,
		   int (*fn)(__u32 id, const struct rocesteer_job *job, void *arg),
		   void *arg)
{
	int i, ret = 0;

	for (i = 0; !ret && i < JOBS; i++)
		if (jobs[i].there)
			ret = fn(i + 1, &jobs[i].value, arg);
	return ret;
}

int steer_job_get(struct steer *s, __u32 id, struct rocesteer_job *job)
{
	if (id - 1 >= JOBS || !jobs[id - 1].there)
		return -ENOENT;
	*job = jobs[id - 1].value;
	return 0;
}

int steer_devices_check(struct steer *s,
			void (*fn)(__u32 id, const char *device, enum steer_device is, void *arg),
			void *arg, struct err *err)
{
	int i;

	for (i = 0; i < JOBS; i++)
		if (jobs[i].there)
			fn(i + 1, "eth0", races ? fuzz_u8(&in) % 3 : 0, arg);
	return 0;
}

int steer_group_each(struct steer *s, __u32 job,
		     int (*fn)(const struct rocesteer_group_key *key,
			       const struct rocesteer_group *group, void *arg),
		     void *arg)
{
	return EACH(groups, !job || row->key.job == job);
}

int steer_peer_each(struct steer *s, __u32 job,
		    int (*fn)(const struct rocesteer_peer_key *key,
			      const struct rocesteer_peer *peer, void *arg),
		    void *arg)
{
	return EACH(peers, !job || row->key.job == job);
}

int steer_flow_each(struct steer *s,
		    int (*fn)(const struct rocesteer_flow_key *key,
			      const struct rocesteer_flow_path *path, void *arg),
		    void *arg)
{
	return EACH(flows, true);
}

int steer_flow_get(struct steer *s, const struct rocesteer_flow_key *key,
		   struct rocesteer_flow_path *path)
{
	const struct table_flow *flow;

	race();
	flow = FIND(flows, key);
	if (!flow)
		return -ENOENT;
	*path = flow->value;
	return 0;
}

int steer_group_get(struct steer *s, const struct rocesteer_group_key *key,
		    struct rocesteer_group *group)
{
	const struct table_group *found = FIND(groups, key);

	if (found)
		*group = found->value;
	race();
	return found ? 0 : -ENOENT;
}

int steer_peer_get(struct steer *s, const struct rocesteer_peer_key *key,
		   struct rocesteer_peer *peer)
{
	const struct table_peer *found = FIND(peers, key);

	if (found)
		*peer = found->value;
	race();
	return found ? 0 : -ENOENT;
}

int steer_ports_get(struct steer *s, __u32 job, const struct rocesteer_flow_key *flow,
		    const __u8 source[16], struct rocesteer_peer *peer)
{
	struct rocesteer_peer_key pkey = steer_peer_key(job, flow, source);

	return steer_peer_get(s, &pkey, peer);
}

bool steer_serves_job(const struct steer *s, const struct rocesteer_job *job)
{
	return steer_serves(s, job->ifindex);
}

int steer_set_group(struct steer *s, const struct rocesteer_set_group *set)
{
	struct table_group *group = FIND(groups, &set->key);

	if (!group)
		return -ENOENT;
	group->value.down = set->down;
	return 0;
}

/* The refusals that struct rocesteer_set_flow names */
int steer_set_flow(struct steer *s, const struct rocesteer_set_flow *set)
{
	struct rocesteer_peer_key peer_key;
	struct rocesteer_group_key group_key = {
		.job = set->job, .ifindex = set->key.ifindex,
	};
	struct table_flow *found = FIND(flows, &set->key);
	const struct table_group *group;
	const struct table_peer *peer;
	struct rocesteer_flow_path *flow;
	__u32 i;

	assert(set->nr_pieces && set->nr_pieces <= ROCESTEER_MAX_PATHS);
	if (!found || found->value.job != set->job)
		return -ENOENT;
	flow = &found->value;
	if (flow->flags & ROCESTEER_FLOW_QP)
		return -EBUSY;
	if (set->nr_pieces > 1 && !(flow->flags & ROCESTEER_FLOW_PEER_RESEQ))
		return -EPERM;
	peer_key = steer_peer_key(set->job, &set->key, flow->source);
	memcpy(group_key.leaf, flow->leaf, 16);
	peer = FIND(peers, &peer_key);
	group = FIND(groups, &group_key);
	if (!peer || !group)
		return -ENOENT;
	for (i = 0; i < set->nr_pieces; i++) {
		const struct rocesteer_piece *piece = &set->piece[i];

		if (piece->path >= group->value.nr_paths || !piece->sport ||
		    piece->sport != peer->value.sport[piece->path])
			return -EINVAL;
		assert(!i || piece->end > piece[-1].end);
	}
	memcpy(flow->piece, set->piece, sizeof(flow->piece));
	flow->nr_pieces = set->nr_pieces;
	flow->next.end = 0;
	return 0;
}
