/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Detours around a path that seems to be dead. The losses of one flow are enough to save that
 * flow at once. rocesteer daemon gets an event, probes the path and plans for all flows.
 */
#ifndef DETOUR_BPF_H
#define DETOUR_BPF_H

#include "deal.bpf.h"

/*
 * Rounds of go-back-N that begin with one PSN before its path is suspected, where the peer asks
 * for missing packets. At random loss of 1 % one round in a hundred is followed by another.
 */
#define DETOUR_ROUNDS	2

/*
 * If acknowledgments to the peer are lost, the peer retransmits after its timeout. Until then it
 * sends nothing. A retransmission that follows a shorter silence is caused by a lost data packet.
 * Half the shortest timeout in use, in units of rocesteer_flow_path's responded.
 */
#define DETOUR_SILENCE	(ROCESTEER_ACK_TIMEOUT_MIN >> 21)

/*
 * A path is avoided for twice the 100 ms of the Ethereal paper, because rocesteer daemon, which
 * then takes over, needs two rounds of probes.
 */
#define DETOUR_NS	200000000ULL

/* The path that a packet leaves by, and its source port, which is 0 where there is none. */
struct route {
	__u32 path;
	__be16 sport;
};

static __always_inline struct route piece_route(const struct rocesteer_flow_path *flow,
						__u32 piece)
{
	return (struct route) { flow->piece[piece].path, flow->piece[piece].sport };
}

static __always_inline void end_detour(struct rocesteer_flow_path *flow)
{
	flow->detour.until = 0;
	set_bth_paths(flow, read_nr_pieces(flow), 0);
}

/**
 * find_route() - the route of a packet, around its piece's path while that is avoided
 * @flow: flow
 * @piece: of the packet, below ROCESTEER_MAX_PATHS
 */
static __always_inline struct route find_route(struct rocesteer_flow_path *flow,
					       __u32 piece)
{
	struct route route = piece_route(flow, piece);
	struct rocesteer_detour *detour = &flow->detour;

	if (!detour->until || route.path != detour->from)
		return route;
	if (bpf_ktime_get_ns() > detour->until) {
		end_detour(flow);
		return route;
	}
	return (struct route) { detour->to, detour->sport };
}

/**
 * has_piece() - whether one of a flow's pieces is on a path
 * @flow: flow
 * @path: path
 */
__noinline bool has_piece(struct rocesteer_flow_path *flow, __u32 path)
{
	__u32 nr, i;

	if (!flow)	/* global functions are verified on their own */
		return false;
	nr = read_nr_pieces(flow);
	bpf_for(i, 0, ROCESTEER_MAX_PATHS) {
		if (i >= nr)
			break;
		if (flow->piece[i & (ROCESTEER_MAX_PATHS - 1)].path == path)
			return true;
	}
	return false;
}

/*
 * Where @to has a piece of the flow as well, the flow is on one path less. The lower number is
 * set first, and taken back where @to has none, or where set_nr_pieces() has been at work: the
 * last write sets the higher number.
 */
static __always_inline void say_detour(struct rocesteer_flow_path *flow, __u32 from, __u32 to)
{
	__u32 nr = read_nr_pieces(flow);

	if (nr < 2)
		return;
	set_bth_paths(flow, nr, 1);
	if (read_nr_pieces(flow) != nr || !has_piece(flow, from) || !has_piece(flow, to))
		set_bth_paths(flow, read_nr_pieces(flow), 0);
}

/*
 * Avoid @from, and the path that was taken the last time. If the flow was on a detour (@tried),
 * suspect the path of the detour, even if the detour has ended.
 */
static __always_inline void begin_detour(const struct rocesteer_flow_key *key,
					 struct rocesteer_flow_path *flow,
					 __u32 from, __u32 last, bool tried)
{
	__u32 suspect = tried ? flow->detour.to : from;
	struct rocesteer_peer *peer = find_peer(key, flow);
	struct rocesteer_ports ports;
	struct rocesteer_group *group;
	__u64 avoid, others;
	__u32 unused = 0;
	int p;

	group = find_group(key, flow->job, flow->leaf);
	if (!peer || !group || copy_ports(key, flow, &ports))
		return;
	avoid = 1ULL << (from & 63) | 1ULL << (last & 63) |
		1ULL << (suspect & 63);
	/* If no other path is up, a path that is held down may be alive. */
	others = ~0ULL >> (-group->nr_paths & 63) & ~(1ULL << (from & 63));
	if (others & ~group->down)
		avoid |= group->down;
	p = least_loaded(group, peer, port_paths(&ports) & ~avoid,
			 ROCESTEER_BY_GROUP, &unused);
	barrier_var(p);
	if (p < 0 || p >= ROCESTEER_MAX_PATHS) {
		end_detour(flow);	/* from the beginning */
		flow->detour.sport = 0;
		return;
	}
	flow->detour.from = from;
	flow->detour.to = p;
	flow->detour.sport = ports.sport[p];
	say_detour(flow, from, p);
	set_varies(flow);
	flow->detour.until = bpf_ktime_get_ns() + DETOUR_NS;
	notify_flow(ROCESTEER_EVENT_DETOUR, key, flow, suspect);
}

/**
 * enough_rounds() - rounds that are enough to suspect a path
 * @flow: flow
 * @seq: enum rocesteer_sequence
 *
 * Return: one, where the peer did not ask for the round, so that for a whole timeout nothing
 * came back, or where the round repeats acknowledged packets; else more.
 */
__noinline __u32 enough_rounds(const struct rocesteer_flow_path *flow, __u32 seq)
{
	if (!flow)	/* global functions are verified on their own */
		return 0;
	if (seq == ROCESTEER_REQUESTS &&
	    (flow->acked == ROCESTEER_PSN_NONE ||	/* NAKs are not known */
	     flow->resent[seq].again & ROCESTEER_PSN_ASKED))
		return DETOUR_ROUNDS;
	return 1;
}

/*
 * Acknowledgments are repeated, so they may not reach the peer. Where that is not sure, the
 * path is suspected every second time.
 */
static __always_inline bool misses_acks(struct rocesteer_flow_path *flow)
{
	__u32 now = coarse_now(), last = flow->repeated;

	flow->repeated = now;
	if (now - flow->responded >= DETOUR_SILENCE)
		return true;
	return now - last >= DETOUR_SILENCE && !(++flow->bursts & 1);
}

/**
 * note_round() - a flow begins a round of go-back-N
 * @key: the flow
 * @flow: what is known of it
 * @piece: of the packet that the round begins with
 * @rounds: that began with it in a row
 * @seq: enum rocesteer_sequence
 *
 * Return: 0, or -1 for arguments that no caller has.
 */
__noinline int note_round(const struct rocesteer_flow_key *key,
			  struct rocesteer_flow_path *flow, __u32 piece,
			  __u32 rounds, __u32 seq)
{
	__u32 enough, path;

	if (!key || !flow || piece >= ROCESTEER_MAX_PATHS)
		return -1;
	if (seq == ROCESTEER_RESPONSES && !misses_acks(flow))
		return 0;
	path = find_route(flow, piece).path;
	if (flow->flags & ROCESTEER_FLOW_OBSERVED && path == ROCESTEER_PATH_UNKNOWN)
		path = 0;
	barrier_var(path);
	if (path < ROCESTEER_MAX_PATHS && flow->rounds[path] != 0xffff)
		flow->rounds[path]++;
	if (flow->flags & ROCESTEER_FLOW_OBSERVED)
		return 0;
	enough = enough_rounds(flow, seq);
	if (rounds >= enough)
		begin_detour(key, flow, flow->piece[piece].path, path,
			     rounds > enough && flow->detour.sport);
	return 0;
}

#endif /* DETOUR_BPF_H */
