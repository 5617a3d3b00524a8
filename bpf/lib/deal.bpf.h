/* SPDX-License-Identifier: GPL-2.0 */
/* Which job a flow belongs to and which path its group deals it. */
#ifndef DEAL_BPF_H
#define DEAL_BPF_H

#include <stddef.h>
#include "rocesteer/flow.h"
#include "maps.bpf.h"
#include "parse.bpf.h"
#include "socket.bpf.h"
#include "sport.bpf.h"

/* Rounds of a deal that other CPUs keep winning. */
#define DEAL_TRIES	8

/* kmod/steer_bpf.c */
extern __s64 bpf_rocesteer_flow_job(struct __sk_buff *skb,
				    const struct rocesteer_flow_key *key,
				    __u32 key__sz) __ksym __weak;

/* The job of a device's flows that no other job claims, or 0. */
static __always_inline __u32 device_job(__u32 ifindex)
{
	__u32 *job = bpf_map_lookup_elem(&rs_devices, &ifindex);

	return job ? *job : 0;
}

/* What the module says of a packet's flow; -ENOENT where there is no module. */
static __always_inline __s64 claimed_job(struct __sk_buff *skb,
					 const struct rocesteer_flow_key *key)
{
	if (!rs_use_module || !bpf_ksym_exists(bpf_rocesteer_flow_job))
		return -ENOENT;
	return bpf_rocesteer_flow_job(skb, key, sizeof(*key));
}

/*
 * The job that claims the flow, else the one that has the device, else 0.
 * With ROCESTEER_FLOW_JOB_ORDERS as the module gives it. Without a key only the
 * verifier asks.
 */
__noinline __u64 flow_job(struct __sk_buff *skb,
			  const struct rocesteer_flow_key *key)
{
	__s64 claimed = key ? claimed_job(skb, key) : -EEXIST;

	if (claimed > 0)
		return claimed;
	if (claimed == -EEXIST)	/* the key is known, but not its sender */
		return 0;
	return device_job(key->ifindex);
}

/* Is the packet of a queue pair that the module knows, but not of this job? */
static __always_inline bool is_rival(struct __sk_buff *skb,
				     const struct rocesteer_flow_key *key,
				     __u32 job)
{
	__s64 claimed = claimed_job(skb, key);

	if (claimed == -ENOENT)
		return false;
	if (!claimed)
		claimed = device_job(key->ifindex);
	return claimed < 0 || (__u32)claimed != job;
}

/* Is it by its queue pair that the job steers a flow? */
static __always_inline bool steers_qp(__u32 id, bool software)
{
	struct rocesteer_job *job = bpf_map_lookup_elem(&rs_jobs, &id);

	return job && (job->actuator == ROCESTEER_ACTUATOR_QP ||
		       (job->actuator == ROCESTEER_ACTUATOR_AUTO && !software));
}

/* Does the job want its flows split? */
static __always_inline bool splits(__u32 id)
{
	struct rocesteer_job *job = bpf_map_lookup_elem(&rs_jobs, &id);

	return job && job->split != ROCESTEER_SPLIT_NONE;
}

/* What to tell rocesteer daemon. What does not fit is lost, and it will notice. */
static __always_inline struct rocesteer_event *
new_event(enum rocesteer_event_type type, const struct rocesteer_flow_key *key,
	  const struct rocesteer_flow_path *flow, __u32 path)
{
	struct rocesteer_event *event;

	event = bpf_ringbuf_reserve(&rs_events, sizeof(*event), 0);
	if (!event)
		return NULL;
	event->type = type;
	event->job = flow->job;
	event->key = *key;
	copy_addr(event->leaf, flow->leaf);
	event->path = path;
	event->reserved = 0;
	return event;
}

/* Tell it, once the tables are as the event says: they will be read then. */
static __always_inline void tell(struct rocesteer_event *event)
{
	if (event)
		bpf_ringbuf_submit(event, 0);
}

static __always_inline struct rocesteer_group *
find_group(const struct rocesteer_flow_key *key, __u32 job, const __u8 leaf[16])
{
	struct rocesteer_group_key gkey = {
		.job = job,
		.ifindex = key->ifindex,
	};

	copy_addr(gkey.leaf, leaf);
	return bpf_map_lookup_elem(&rs_groups, &gkey);
}

static __always_inline struct rocesteer_peer *
find_peer(const struct rocesteer_flow_key *key, __u32 job)
{
	struct rocesteer_peer_key pkey = {
		.job = job,
		.ifindex = key->ifindex,
	};

	copy_addr(pkey.addr, key->peer);
	return bpf_map_lookup_elem(&rs_peers, &pkey);
}

/*
 * What is done once for a flow is in functions that are neither inlined nor
 * static: the verifier looks at each by itself, with pointers that may be NULL,
 * and the way of the packets that follow stays short for it.
 */

/**
 * least_loaded() - the path with the fewest flows for its weight
 * @group: group; of equals the first one from @group->first on is taken
 * @peer: port map; a path without a port is not taken
 * @avoid: bit p: nor is path p, as a rule one that is held down
 * @flows: set to the flows of the path
 *
 * Return: the path, or -1.
 */
__noinline int least_loaded(const struct rocesteer_group *group,
			    const struct rocesteer_peer *peer, __u64 avoid,
			    __u32 *flows)
{
	__u64 most = 0, weight = 0;
	__u32 nr, first;
	int best = -1, i;

	if (!group || !peer || !flows)
		return -1;
	nr = group->nr_paths;
	first = group->first;

	bpf_for(i, 0, ROCESTEER_MAX_PATHS) {
		__u32 p = first + i, n;

		if ((__u32)i >= nr)
			break;
		if (p >= nr)
			p -= nr;
		p &= ROCESTEER_MAX_PATHS - 1;
		if (!peer->sport[p] || avoid >> p & 1)
			continue;
		n = group->flows[p];
		if (best < 0 || (n + 1) * weight < most * group->weight[p]) {
			best = p;
			*flows = n;
			most = n + 1;
			weight = group->weight[p];
		}
	}
	return best;
}

/*
 * Take a share of the least loaded path. The compare-and-swap makes the count
 * and the choice one step: of two CPUs that chose the same path one looks again.
 */
static __always_inline int deal_path(struct rocesteer_group *group,
				     const struct rocesteer_peer *peer)
{
	int try;

	bpf_for(try, 0, DEAL_TRIES) {
		__u32 flows = 0;
		int p = least_loaded(group, peer, group->down, &flows);

		barrier_var(p);	/* or clang checks another copy than it uses */
		if (p < 0 || p >= ROCESTEER_MAX_PATHS)
			break;
		if (__sync_val_compare_and_swap(&group->flows[p], flows,
						flows + 1) == flows)
			return p;
	}
	return -1;
}

/* Change the number of flows that are at home on a path. */
static __always_inline void add_flows(struct rocesteer_group *group, __u32 p,
				      __u32 n)
{
	barrier_var(p);	/* or clang checks another copy than it uses */
	if (p < ROCESTEER_MAX_PATHS)
		__sync_fetch_and_add(&group->flows[p], n);
}

/*
 * A flow that is forgotten leaves memory that another one has at once, while programs
 * that found it before still run. So flags, where it is counted that a share is taken
 * or given back, are only changed together with the generation; and what else is
 * written after that, by those who were first, is written within an instant.
 */
static __always_inline __u64 *flow_state(struct rocesteer_flow_path *flow)
{
	return (__u64 *)__builtin_assume_aligned(&flow->flags, 8);
}

/**
 * find_flow() - find a flow whose flags are to be changed
 * @key: flow
 * @state: set to its flags, in bits 31..0, and generation
 *
 * They are read between two looks, so that they are of no other flow's.
 *
 * Return: the flow, or NULL.
 */
static __always_inline struct rocesteer_flow_path *
find_flow(const struct rocesteer_flow_key *key, __u64 *state)
{
	struct rocesteer_flow_path *flow = bpf_map_lookup_elem(&rs_flows, key);

	if (!flow)
		return NULL;
	/* Not a plain load: it has to be in between. */
	*state = __sync_fetch_and_add(flow_state(flow), 0);
	return bpf_map_lookup_elem(&rs_flows, key) == flow ? flow : NULL;
}

/**
 * change_flags() - change a flow's flags, unless it is another flow by now
 * @flow: from find_flow()
 * @state: as well; set to what was changed
 * @clear: flags
 * @set: flags
 *
 * Return: whether they were.
 */
static __always_inline bool change_flags(struct rocesteer_flow_path *flow,
					 __u64 *state, __u32 clear, __u32 set)
{
	int try;

	bpf_for(try, 0, DEAL_TRIES) {
		__u64 was = *state, found;

		found = __sync_val_compare_and_swap(flow_state(flow), was,
						    (was & ~(__u64)clear) | set);
		if (found == was)
			return true;
		if ((found ^ was) >> 32)
			break;
		*state = found;
	}
	return false;
}

/**
 * forget_flow() - forget a flow that is gone and give its share back
 * @key: the flow
 *
 * Return: 0, or -1 where it is not known, or another CPU forgets it.
 */
__noinline int forget_flow(const struct rocesteer_flow_key *key)
{
	struct rocesteer_flow_path *flow;
	struct rocesteer_event *event = NULL;
	struct rocesteer_group *group;
	__u64 state = 0;
	__u32 p;

	flow = key ? find_flow(key, &state) : NULL;
	if (!flow)
		return -1;
	group = find_group(key, flow->job, flow->leaf);
	if (!change_flags(flow, &state, 0, ROCESTEER_FLOW_GONE) ||
	    state & ROCESTEER_FLOW_GONE)
		return -1;
	if (state & ROCESTEER_FLOW_SHARE) {
		p = (__u32)state >> ROCESTEER_FLOW_HOME_SHIFT;
		if (group)
			add_flows(group, p, -1);
		event = new_event(ROCESTEER_EVENT_GONE, key, flow, p);
	}
	bpf_map_delete_elem(&rs_flows, key);
	tell(event);
	return 0;
}

/*
 * The flow has so many pieces now: written behind them, for all CPUs. Of what they
 * share with a detour begin_detour() knew nothing: too many paths rather than too few.
 */
static __always_inline void set_nr_pieces(struct rocesteer_flow_path *flow,
					  __u32 nr)
{
	__sync_lock_test_and_set(&flow->nr_pieces, nr);
	flow->detour.shared = 0;
}

/* Make a path the home of a flow, which thereby is whole. */
static __always_inline void set_home(struct rocesteer_flow_path *flow,
				     const struct rocesteer_peer *peer, __u32 p)
{
	barrier_var(p);
	if (p >= ROCESTEER_MAX_PATHS)
		return;
	flow->piece[0].end = 1;
	flow->piece[0].path = p;
	flow->piece[0].sport = peer->sport[p];
	flow->nr_pieces = 1;
}

/* May the job's flows be split? */
static __always_inline __u32 order_flags(__u32 id)
{
	struct rocesteer_job *job = bpf_map_lookup_elem(&rs_jobs, &id);

	if (job && job->ordered == ROCESTEER_ORDERED_ALL)
		return ROCESTEER_FLOW_ORDERED;
	if (job && job->ordered == ROCESTEER_ORDERED_TOLD)
		return ROCESTEER_FLOW_ASKS;
	return 0;
}

/* rs_flows was full, and user space was told. */
static volatile bool told_full;

/* Tell that there is no room for a flow. */
static __always_inline void tell_full(const struct rocesteer_flow_key *key,
				      const struct rocesteer_flow_path *flow)
{
	if (told_full)
		return;
	told_full = true;
	tell(new_event(ROCESTEER_EVENT_FULL, key, flow, 0));
}

/**
 * enter_flow() - enter a flow that is not known yet
 * @key: the flow
 * @job: its job
 * @flags: ROCESTEER_FLOW_* that it has from the beginning
 * @sender: cookie of the socket that sends its packets, or 0
 *
 * It is entered as a whole: whoever finds it finds it complete. It has no share of its
 * path yet: see take_share().
 *
 * Return: FURTHER, or the verdict on a packet that leaves as it came.
 */
__noinline int enter_flow(const struct rocesteer_flow_key *key, __u32 job,
			  __u32 flags, __u64 sender)
{
	__u32 at = flags & ROCESTEER_FLOW_QP ? NEW_QP : NEW_PACKET, unused = 0;
	struct rocesteer_flow_path *flow;
	struct rocesteer_group *group;
	struct rocesteer_peer *peer;
	int err, p;

	peer = key ? find_peer(key, job) : NULL;
	if (!peer)
		return ROCESTEER_NO_PEER;
	group = find_group(key, job, peer->leaf);
	p = group ? least_loaded(group, peer, group->down, &unused) : -1;
	if (p < 0)
		return ROCESTEER_NO_PATH;
	flow = bpf_map_lookup_elem(&rs_new, &at);
	if (!flow)
		return ROCESTEER_NO_PATH;
	/* Pieces but the first one, and what was sent, stay zero here. */
	__builtin_memcpy(flow, &rocesteer_new_flow,
			 offsetof(struct rocesteer_flow_path, piece));
	flow->flags = flags | order_flags(job);
	flow->generation = bpf_get_prandom_u32();
	flow->job = job;
	flow->sender = sender;
	copy_addr(flow->leaf, peer->leaf);
	set_home(flow, peer, p);
	err = bpf_map_update_elem(&rs_flows, key, flow, BPF_NOEXIST);
	if (!err || err == -EEXIST)	/* another CPU was first */
		return FURTHER;
	tell_full(key, flow);
	return ROCESTEER_TABLE_FULL;
}

/**
 * enter_packet() - enter the flow of a packet
 * @skb: the packet
 * @key: the flow
 * @received: the packet was received, on behalf of the local queue pair
 *
 * Return: as enter_flow().
 */
__noinline int enter_packet(struct __sk_buff *skb,
			    const struct rocesteer_flow_key *key, bool received)
{
	__u64 claimed = key ? flow_job(skb, key) : 0;
	int verdict = FURTHER;

	if (!(__u32)claimed)
		return ROCESTEER_UNTAGGED;
	if (steers_qp(claimed, true))
		return ROCESTEER_UNPLANNED;
	if (!received)
		verdict = check_sender(skb);
	if (verdict != FURTHER)
		return verdict;
	verdict = enter_flow(key, claimed, ROCESTEER_FLOW_MET |
			     (claimed & ROCESTEER_FLOW_JOB_ORDERS ?
			      ROCESTEER_FLOW_ORDERS : 0),
			     received ? 0 : bpf_get_socket_cookie(skb));
	/* Its end may have been announced before there was anything to forget. */
	if (verdict == FURTHER && flow_job(skb, key) != claimed) {
		forget_flow(key);
		return ROCESTEER_UNASSIGNED;
	}
	return verdict;
}

/**
 * meet_sender() - a packet is not of the sender that its flow is known to have
 * @skb: the packet, at egress
 * @key: its flow
 * @flow: what is known of the flow
 *
 * A queue pair has one socket for all its life. So each packet need only be asked
 * for the cookie of its socket, and only those with another one for more. Flows that
 * their job lists may be forwarded: somebody wanted just that. Another queue pair may
 * have the same peer: the module knows whether the job has that one as well. What the
 * module does not know was listed by the job.
 *
 * Return: FURTHER where it is the flow's, or the verdict on it.
 */
__noinline int meet_sender(struct __sk_buff *skb,
			   const struct rocesteer_flow_key *key,
			   struct rocesteer_flow_path *flow)
{
	int verdict = check_sender(skb);

	if (!key || !flow)	/* the verifier's question to what is not static */
		return ROCESTEER_UNASSIGNED;
	if (verdict == FURTHER && is_rival(skb, key, flow->job))
		verdict = ROCESTEER_UNTAGGED;
	if (verdict == FURTHER)
		flow->sender = bpf_get_socket_cookie(skb);
	else if (verdict == ROCESTEER_FORWARDED && !flow->sender &&
		 !(flow->flags & ROCESTEER_FLOW_MET))
		verdict = FURTHER;
	return verdict;
}

/**
 * spread() - put a flow on all paths, a packet on each in turn, if it may be split
 * @flow: the flow; has a home, where it begins
 * @group: its group
 * @peer: its port map
 *
 * Whatever else there is in the group, that is what an ideal network does. A plan
 * does as well with fewer pieces, but comes later, and what is sent before would
 * have to be made up for. Where paths are not alike, or one cannot be used, the
 * flow stays whole until then.
 *
 * Return: 0, or -1 where it stays whole.
 */
__noinline int spread(struct rocesteer_flow_path *flow,
		      const struct rocesteer_group *group,
		      const struct rocesteer_peer *peer)
{
	__u32 nr, home, i;

	if (!flow || !group || !peer)
		return -1;
	if (!(flow->flags & ROCESTEER_FLOW_ORDERED) ||
	    flow->flags & ROCESTEER_FLOW_QP || !splits(flow->job) || group->down)
		return -1;
	nr = group->nr_paths;
	home = flow->piece[0].path;
	bpf_for(i, 0, ROCESTEER_MAX_PATHS) {
		__u32 p = home + i;

		if (i >= nr)
			break;
		if (p >= nr)
			p -= nr;
		p &= ROCESTEER_MAX_PATHS - 1;
		if (!peer->sport[p] || group->weight[p] != group->weight[0])
			return -1;
		flow->piece[i].end = i + 1;
		flow->piece[i].path = p;
		flow->piece[i].sport = peer->sport[p];
	}
	set_nr_pieces(flow, nr);
	return 0;
}

/**
 * take_share() - give a flow its share of a path
 * @key: the flow
 *
 * When it sends a request: one that only acknowledges takes none, its few
 * packets would count as much as another's many. When its queue pair is to have
 * one port for good: at once, not knowing what it will send.
 *
 * Return: 0, or -1 when no path can be used now, or another CPU was first.
 */
__noinline int take_share(const struct rocesteer_flow_key *key)
{
	struct rocesteer_flow_path *flow;
	struct rocesteer_group *group;
	struct rocesteer_peer *peer;
	__u64 state = 0;
	int p;

	flow = key ? find_flow(key, &state) : NULL;
	if (!flow)
		return -1;
	peer = find_peer(key, flow->job);
	group = find_group(key, flow->job, flow->leaf);
	if (!group || !peer)
		return -1;
	if (state & (ROCESTEER_FLOW_SHARE | ROCESTEER_FLOW_GONE))
		return 0;
	p = deal_path(group, peer);
	if (p < 0)
		return -1;
	if (__sync_val_compare_and_swap(flow_state(flow), state, state |
					ROCESTEER_FLOW_SHARE |
					p << ROCESTEER_FLOW_HOME_SHIFT) != state) {
		add_flows(group, p, -1);	/* another CPU was first */
		return -1;
	}
	set_home(flow, peer, p);
	spread(flow, group, peer);
	tell(new_event(ROCESTEER_EVENT_SHARE, key, flow, p));
	return 0;
}

#endif /* DEAL_BPF_H */
