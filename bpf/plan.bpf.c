// SPDX-License-Identifier: GPL-2.0
/*
 * By these programs user space changes entries that the programs count in: field by field,
 * as bpf_map_update_elem() would put old counts back. Run by bpf_prog_test_run_opts();
 * arguments and errors: rocesteer/set.h.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "rocesteer/set.h"
#include "lib/move.bpf.h"
#include "lib/deal.bpf.h"
#include "lib/tags.bpf.h"

extern void bpf_rcu_read_lock(void)
	__ksym;
extern void bpf_rcu_read_unlock(void)
	__ksym;

/* A program must not sleep between finding an entry and writing to the entry. */
#define undisturbed(call) ({		\
	int ret;			\
					\
	bpf_rcu_read_lock();		\
	ret = call;			\
	bpf_rcu_read_unlock();		\
	ret;				\
})

/*
 * Return: whether the flow's job has these paths, with these ports. Pieces are read one by
 * one, because together they fill the stack.
 */
static __always_inline bool has_paths(struct rocesteer_set_flow *set,
				      const struct rocesteer_ports *ports,
				      __u32 nr_paths)
{
	struct rocesteer_piece piece;
	int i;

	bpf_for(i, 0, ROCESTEER_MAX_PATHS) {
		if ((__u32)i >= set->nr_pieces)
			break;
		bpf_probe_read_kernel(&piece, sizeof(piece), set->piece + i);
		if (piece.path >= nr_paths ||
		    piece.path >= ROCESTEER_MAX_PATHS || !piece.sport ||
		    piece.sport != ports->sport[piece.path])
			return false;
	}
	return true;
}

/*
 * Move a flow's share to another path; user space moves one at a time. The CPU that moves the
 * share or gives it back counts by the old flags, so that no share is counted twice.
 */
static __always_inline bool move_share(struct rocesteer_flow_path *flow,
				       struct rocesteer_group *group,
				       struct rocesteer_peer *peer,
				       __u64 state, __u32 p)
{
	const __u32 home = 0xffffu << ROCESTEER_FLOW_HOME_SHIFT;

	if (!(state & ROCESTEER_FLOW_SHARE))
		return true;
	if (!change_flags(flow, &state, home, p << ROCESTEER_FLOW_HOME_SHIFT))
		return false;
	if (state & ROCESTEER_FLOW_GONE)
		return false;
	add_flows(group, peer, (__u32)state >> ROCESTEER_FLOW_HOME_SHIFT, -1);
	add_flows(group, peer, p, 1);
	return true;
}

/* Count on path @p what an observed flow sent before its path was known. */
static __always_inline void move_sent(struct rocesteer_flow_path *flow, __u32 p)
{
	flow->first_path = p;
	if (!p)
		return;
	barrier_var(p);	/* make clang index with the register that it checked */
	if (p < ROCESTEER_MAX_PATHS) {
		flow->rounds[p] = flow->rounds[0];
		flow->rounds[0] = 0;
	}
}

/* The path of an observed flow is known. Its packets keep their port. */
static __always_inline int set_path(struct rocesteer_set_flow *set,
				    struct rocesteer_flow_path *flow,
				    struct rocesteer_group *group,
				    struct rocesteer_peer *peer, __u64 state)
{
	__u32 p = set->piece[0].path, was = flow->piece[0].path;

	if (set->nr_pieces != 1 || p >= group->nr_paths ||
	    set->piece[0].sport != flow->piece[0].sport)
		return -EINVAL;
	if (!move_share(flow, group, peer, state, p))
		return -ENOENT;
	flow->piece[0].path = p;
	if (was == ROCESTEER_PATH_UNKNOWN)
		move_sent(flow, p);
	return 0;
}

static __always_inline int set_flow(struct rocesteer_set_flow *set)
{
	struct rocesteer_flow_key key = set->key;
	struct rocesteer_flow_path *flow;
	struct rocesteer_group *group;
	struct rocesteer_peer *peer;
	__u32 nr_pieces = set->nr_pieces;
	struct rocesteer_ports ports;
	__u64 state = 0;

	if (!nr_pieces || nr_pieces > ROCESTEER_MAX_PATHS)
		return -EINVAL;
	flow = find_flow(&key, &state);
	if (!flow || flow->job != set->job)
		return -ENOENT;
	if (state & ROCESTEER_FLOW_QP)
		return -EBUSY;
	if (nr_pieces > 1 && !(state & ROCESTEER_FLOW_PEER_RESEQ))
		return -EPERM;
	peer = find_peer(&key, flow);
	group = find_group(&key, flow->job, flow->leaf);
	/* The job may be half unloaded. */
	if (!peer || !group)
		return -ENOENT;
	if (state & ROCESTEER_FLOW_OBSERVED)
		return set_path(set, flow, group, peer, state);
	if (copy_ports(&key, flow, &ports))
		return -ENOENT;
	if (!has_paths(set, &ports, group->nr_paths))
		return -EINVAL;
	if (!move_share(flow, group, peer, state, set->piece[0].path))
		return -ENOENT;
	/* Not memcpy(): the context may only be read at constant offsets. */
	if (!(state & ROCESTEER_FLOW_PEER_RESEQ) && !set->now &&
	    !may_move(flow, bpf_ktime_get_ns() >> 20)) {
		set_varies(flow);
		bpf_probe_read_kernel(&flow->next, sizeof(flow->next),
				      set->piece);
		return 0;
	}
	flow->next.end = 0;
	bpf_probe_read_kernel(flow->piece, sizeof(flow->piece), set->piece);
	set_nr_pieces(flow, nr_pieces);
	flow->recent = 0;
	return 0;
}

SEC("syscall")
int rocesteer_set_flow(struct rocesteer_set_flow *set)
{
	return undisturbed(set_flow(set));
}

static __always_inline int change_group(struct rocesteer_set_group *set)
{
	struct rocesteer_group_key key = set->key;
	struct rocesteer_group *group = bpf_map_lookup_elem(&rs_groups, &key);

	if (!group)
		return -ENOENT;
	group->down = set->down;
	return 0;
}

SEC("syscall")
int rocesteer_set_group(struct rocesteer_set_group *set)
{
	return undisturbed(change_group(set));
}

static __always_inline int change_observe(struct rocesteer_set_observe *set)
{
	struct rocesteer_group_key key = set->key;
	struct rocesteer_group *group = bpf_map_lookup_elem(&rs_groups, &key);

	if (!group)
		return -ENOENT;
	group->observe = set->observe;
	return 0;
}

SEC("syscall")
int rocesteer_set_observe(struct rocesteer_set_observe *set)
{
	return undisturbed(change_observe(set));
}

static __always_inline int change_paths(struct rocesteer_set_paths *set)
{
	struct rocesteer_group_key key = set->key;
	struct rocesteer_group *group = bpf_map_lookup_elem(&rs_groups, &key);

	if (!group)
		return -ENOENT;
	if (!set->nr_paths || set->nr_paths > ROCESTEER_MAX_PATHS)
		return -EINVAL;
	bpf_probe_read_kernel(group->weight, sizeof(group->weight), set->weight);
	bpf_probe_read_kernel(group->router, sizeof(group->router), set->router);
	bpf_probe_read_kernel(group->leaf, sizeof(group->leaf), set->leaf);
	bpf_probe_read_kernel(group->via, sizeof(group->via), set->via);
	group->nr_paths = set->nr_paths;
	group->first = set->first;
	group->down = set->down;
	return 0;
}

SEC("syscall")
int rocesteer_set_paths(struct rocesteer_set_paths *set)
{
	return undisturbed(change_paths(set));
}

static __always_inline int change_peer(struct rocesteer_set_peer *set)
{
	struct rocesteer_peer_key key = set->key;
	struct rocesteer_peer *peer = bpf_map_lookup_elem(&rs_peers, &key);
	const struct rocesteer_peer *to = &set->peer;

	if (!peer)
		return -ENOENT;
	bpf_probe_read_kernel(peer->leaf, sizeof(peer->leaf), to->leaf);
	bpf_probe_read_kernel(peer->sport, sizeof(peer->sport), to->sport);
	peer->nr_paths = to->nr_paths;
	peer->hop = to->hop;
	peer->leaf_hop = to->leaf_hop;
	peer->qpn_hash = to->qpn_hash;
	peer->partial = to->partial;
	return 0;
}

SEC("syscall")
int rocesteer_set_peer(struct rocesteer_set_peer *set)
{
	return undisturbed(change_peer(set));
}

/* The next packet enters the flow anew, if the job has a port map to the peer. */
SEC("syscall")
int rocesteer_forget(struct rocesteer_flow_key *gone)
{
	struct rocesteer_flow_key key = *gone;

	bpf_map_delete_elem(&rs_tags, &key);
	return undisturbed(forget_flow(&key));
}

static __always_inline int set_order(const struct rocesteer_flow_key *key, bool orders)
{
	const __u32 flags = ROCESTEER_FLOW_LOCAL_RESEQ |
			    (orders ? 0 : ROCESTEER_FLOW_PEER_RESEQ);
	struct rocesteer_flow_path *flow;
	__u64 state = 0;

	flow = find_flow(key, &state);
	if (!flow || !change_flags(flow, &state, flags,
				   orders ? ROCESTEER_FLOW_LOCAL_RESEQ : 0))
		return -ENOENT;
	if (!orders)
		set_nr_pieces(flow, 1);
	return 0;
}

SEC("syscall")
int rocesteer_set_order(struct rocesteer_set_order *set)
{
	struct rocesteer_flow_key key = set->key;

	return undisturbed(set_order(&key, set->orders));
}

/* User space entered a flow, or gave a device to a job. */
SEC("syscall")
int rocesteer_changed(void *ctx)
{
	note_change();
	return 0;
}
