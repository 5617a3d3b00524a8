// SPDX-License-Identifier: GPL-2.0
/* The job that a flow belongs to, and the path that its group deals the flow. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "rocesteer/flow.h"
#include "lib/deal.bpf.h"
#include "lib/ended.bpf.h"

__noinline __s64 name_rival(struct __sk_buff *skb, struct rocesteer_flow_key *key)
{
	__s64 claimed = key ? claimed_job(skb, key) : -EEXIST;

	if (claimed > 0)
		key->dqpn = (key->dqpn & ROCESTEER_QPN_MASK) |
			    (__u8)(claimed >> ROCESTEER_FLOW_JOB_RIVAL_SHIFT) <<
			    ROCESTEER_RIVAL_SHIFT;
	return claimed;
}

__noinline bool is_other_sender(struct __sk_buff *skb,
				const struct rocesteer_flow_key *key, __u32 job)
{
	__s64 claimed = key ? claimed_job(skb, key) : -EEXIST;

	if (claimed == -ENOENT)
		return false;
	claimed = owning_job(claimed, key ? key->ifindex : 0);
	return claimed < 0 || (__u32)claimed != job;
}

__noinline int copy_ports(const struct rocesteer_flow_key *key,
			  const struct rocesteer_flow_path *flow, struct rocesteer_ports *to)
{
	const struct rocesteer_peer *peer = key && flow ? find_peer(key, flow) : NULL;
	struct rocesteer_qpn_key qkey;
	const void *from;

	if (!peer || !flow || !to)
		return -1;
	from = peer->sport;
	if (peer->qpn_hash) {
		qkey = qpn_key(key, flow);
		from = bpf_map_lookup_elem(&rs_qpns, &qkey);
	}
	return from ? bpf_probe_read_kernel(to, sizeof(*to), from) : -1;
}

__noinline __u64 port_paths(const struct rocesteer_ports *ports)
{
	__u64 paths = 0;
	__u32 i;

	if (!ports)
		return 0;
	bpf_for(i, 0, ROCESTEER_MAX_PATHS)
		paths |= (__u64)!!ports->sport[i] << i;
	return paths;
}

__noinline int least_loaded(const struct rocesteer_group *group,
			    const struct rocesteer_peer *peer, __u64 up, __u32 by,
			    __u32 *flows)
{
	__u32 shift = ROCESTEER_GROUP_SHIFT * (by & 1) * (by >> 1);	/* by both */
	__u64 most = 1, weight = 0;	/* more than any path has */
	int best = -1, i;
	__u32 nr;

	if (!group || !peer || !flows)
		return -1;
	nr = group->nr_paths;
	bpf_for(i, 0, ROCESTEER_MAX_PATHS) {
		__u64 n;
		__u32 p;

		if ((__u32)i >= nr)
			break;
		p = (group->first + i) % nr % ROCESTEER_MAX_PATHS;
		n = rocesteer_path_load(group, peer, p, by);
		if (!(up >> p & 1) ||
		    (n + 1) * weight >= most * group->weight[p])
			continue;
		best = p;
		*flows = n >> shift;
		most = n + 1;
		weight = group->weight[p];
	}
	return best;
}

/* Count a flow on a path that has @flows still: false where another CPU has changed that. */
__noinline bool count_flow(struct rocesteer_group *group,
			   struct rocesteer_peer *peer, __u32 by, __u32 p,
			   __u32 flows)
{
	__u32 *count;

	if (!group || !peer || p >= ROCESTEER_MAX_PATHS)
		return false;
	count = by & ROCESTEER_BY_PEER ? &peer->flows[p] : &group->flows[p];
	if (__sync_val_compare_and_swap(count, flows, flows + 1) != flows)
		return false;
	count = by & ROCESTEER_BY_PEER ? &group->flows[p] : &peer->flows[p];
	__sync_fetch_and_add(count, 1);
	return true;
}

/*
 * Take a share of the least loaded path. The compare-and-swap makes the count
 * and the choice one step: of two CPUs that chose the same path one looks again.
 */
static __always_inline int deal_path(struct rocesteer_group *group,
				     struct rocesteer_peer *peer, __u64 paths, __u32 by)
{
	int try;

	bpf_for(try, 0, DEAL_TRIES) {
		__u32 flows = 0;
		int p = least_loaded(group, peer, paths & ~group->down, by,
				     &flows);

		if (p < 0)
			break;
		if (count_flow(group, peer, by, p, flows))
			return p;
	}
	return -1;
}

__noinline int notify_flow(__u32 type, const struct rocesteer_flow_key *key,
			   const struct rocesteer_flow_path *flow, __u32 path)
{
	struct rocesteer_event *event;

	if (!key || !flow)
		return -1;
	event = new_event(type, key, flow, path);
	if (!event)
		return -1;
	notify(event);
	return 0;
}

static __always_inline int remove_flow(const struct rocesteer_flow_key *key, bool has_sent)
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
		add_flows(group, find_peer(key, flow), p, -1);
		event = new_event(ROCESTEER_EVENT_GONE, key, flow, p);
	}
	if (has_sent && group)
		count_ended(key, flow);
	bpf_map_delete_elem(&rs_flows, key);
	notify(event);
	return 0;
}

__noinline int forget_flow(const struct rocesteer_flow_key *key)
{
	return remove_flow(key, true);
}

__noinline int undo_flow(const struct rocesteer_flow_key *key)
{
	return remove_flow(key, false);
}

/* Make a path the home of a flow, which thereby is whole. */
static __always_inline void set_home(struct rocesteer_flow_path *flow,
				     const struct rocesteer_ports *ports, __u32 p)
{
	barrier_var(p);
	if (p >= ROCESTEER_MAX_PATHS)
		return;
	flow->piece[0].end = 1;
	flow->piece[0].path = p;
	flow->piece[0].sport = ports->sport[p];
	flow->nr_pieces = 1;
}

/* The first packet of the flow tells the port, and rocesteer daemon the path. */
static __always_inline void observe_flow(struct rocesteer_flow_path *flow)
{
	flow->flags |= ROCESTEER_FLOW_OBSERVED;
	flow->piece[0].end = 1;
	flow->piece[0].path = ROCESTEER_PATH_UNKNOWN;
	flow->first_path = ROCESTEER_PATH_UNKNOWN;
	flow->piece[0].sport = 0;
	flow->nr_pieces = 1;
}

/* Return: whether the job's flow may be split. The verifier would follow a branch twice. */
static __always_inline __u32 order_flags(const struct rocesteer_job *job, __u32 dqpn)
{
	_Static_assert(ROCESTEER_RESEQ_ALL * ROCESTEER_FLOW_PEER_RESEQ ==
		       ROCESTEER_FLOW_PEER_RESEQ &&
		       ROCESTEER_RESEQ_AUTO * ROCESTEER_FLOW_PEER_RESEQ ==
		       ROCESTEER_FLOW_RESEQ_AUTO, "a flag for each mode");
	return job->reseq * ROCESTEER_FLOW_PEER_RESEQ * (dqpn < ROCESTEER_QPN_REDUCE);
}

/* Report once that rs_flows is full; a later packet tries again where the event was lost. */
static __always_inline void notify_full(const struct rocesteer_flow_key *key,
					const struct rocesteer_flow_path *flow)
{
	if (!full_reported && !notify_flow(ROCESTEER_EVENT_FULL, key, flow, 0))
		full_reported = true;
}

static const struct rocesteer_ports no_ports;

/*
 * Enter the flow's queue pair into rs_qpns, and have its ports found. The event is sent once,
 * not with each packet. A reader that has lost events looks for entries without ports.
 */
__noinline int ask_ports(const struct rocesteer_flow_key *key,
			 const struct rocesteer_flow_path *flow)
{
	struct rocesteer_qpn_key qkey;

	if (!key || !flow)
		return -1;
	qkey = qpn_key(key, flow);
	if (bpf_map_update_elem(&rs_qpns, &qkey, &no_ports, BPF_NOEXIST))
		return -1;
	return notify_flow(ROCESTEER_EVENT_QPN, key, flow, 0);
}

static const struct rocesteer_source no_source;

/* Count a packet for which there is no port map. Return: the verdict. */
__noinline int no_port_map(const struct rocesteer_flow_key *key, __u32 job,
			   const struct source *from)
{
	struct rocesteer_source_key skey = { .job = job };
	struct rocesteer_source *source;

	if (!key || !from)
		return ROCESTEER_VERDICT_NO_PEER;
	skey.ifindex = key->ifindex;
	copy_addr(skey.addr, from->addr);
	bpf_map_update_elem(&rs_sources, &skey, &no_source, BPF_NOEXIST);
	source = bpf_map_lookup_elem(&rs_sources, &skey);
	if (source && source->mapped)
		return ROCESTEER_VERDICT_NO_PEER;
	if (source)
		__sync_fetch_and_add(&source->packets, 1);
	return ROCESTEER_VERDICT_OTHER_SOURCE;
}

/* Report a peer without a port map, which rocesteer daemon may find. */
__noinline int ask_peer(const struct rocesteer_flow_key *key, struct rocesteer_flow_path *flow,
			const struct rocesteer_job *job)
{
	struct rocesteer_peer_key pkey;
	struct asked now, *before;

	if (!key || !flow || !job)
		return -1;
	now = (struct asked) { .at = bpf_ktime_get_ns(), .loaded_at = job->loaded_at };
	pkey = peer_key(key, flow->job, flow->source);
	before = bpf_map_lookup_elem(&rs_unknown, &pkey);
	if (before && before->loaded_at == now.loaded_at &&
	    now.at - before->at < ROCESTEER_PEER_AGAIN)
		return 0;
	copy_addr(flow->leaf, flow->source);
	if (!notify_flow(ROCESTEER_EVENT_PEER, key, flow, 0))
		bpf_map_update_elem(&rs_unknown, &pkey, &now, BPF_ANY);
	return 0;
}

/* Choose the home of a new flow. Return: CONTINUE, or the verdict. */
__noinline int choose_home(const struct rocesteer_flow_key *key, struct rocesteer_flow_path *flow)
{
	struct rocesteer_group *group;
	struct rocesteer_peer *peer;
	struct rocesteer_ports ports;
	struct rocesteer_job *job;
	__u32 unused = 0, id, by;
	int p;

	if (!key || !flow)
		return ROCESTEER_VERDICT_NO_PATH;
	id = flow->job;
	peer = find_peer(key, flow);
	job = bpf_map_lookup_elem(&rs_jobs, &id);
	if (!peer || !job) {
		by = no_port_map(key, id, (const struct source *)flow->source);
		if (by == ROCESTEER_VERDICT_NO_PEER && job)
			ask_peer(key, flow, job);
		return by;
	}
	flow->flags |= order_flags(job, key->dqpn & ROCESTEER_QPN_MASK);
	copy_addr(flow->leaf, peer->leaf);
	group = find_group(key, id, peer->leaf);
	if (!group)
		return ROCESTEER_VERDICT_NO_PATH;
	if (group->observe) {
		observe_flow(flow);
		return CONTINUE;
	}
	if (copy_ports(key, flow, &ports)) {
		ask_ports(key, flow);
		return ROCESTEER_VERDICT_NO_PATH;
	}
	by = rocesteer_deal_by(job->deal, flow->flags & ROCESTEER_FLOW_QP);
	p = least_loaded(group, peer, port_paths(&ports) & ~group->down, by, &unused);
	if (p < 0)
		return ROCESTEER_VERDICT_NO_PATH;
	set_home(flow, &ports, p);
	flow->first_path = p;
	return CONTINUE;
}

__noinline int enter_flow(const struct rocesteer_flow_key *key, __u32 job, __u32 flags,
			  __u64 sender, const struct source *source)
{
	__u32 at = flags & ROCESTEER_FLOW_QP ? NEW_QP : NEW_PACKET;
	struct rocesteer_flow_path *flow;
	int err;

	flow = bpf_map_lookup_elem(&rs_new, &at);
	if (!key || !flow || !source)
		return ROCESTEER_VERDICT_NO_PATH;
	/* The other pieces, and what was sent, stay zero here. */
	__builtin_memcpy(flow, &rocesteer_flow_init,
			 offsetof(struct rocesteer_flow_path, piece));
	__builtin_memcpy(&flow->next, &rocesteer_flow_init.next,
			 offsetof(struct rocesteer_flow_path, sent) -
			 offsetof(struct rocesteer_flow_path, next));
	barrier();	/* or clang 14 stores the flags before it copies */
	flow->flags = flags;
	flow->generation = bpf_get_prandom_u32();
	flow->job = job;
	flow->sender = sender;
	copy_addr(flow->source, source->addr);
	err = choose_home(key, flow);
	if (err != CONTINUE)
		return err;
	err = bpf_map_update_elem(&rs_flows, key, flow, BPF_NOEXIST);
	if (!err || err == -EEXIST)	/* another CPU was first */
		return CONTINUE;
	if (err == -ENOMEM)
		return ROCESTEER_VERDICT_UNASSIGNED;
	notify_full(key, flow);
	return ROCESTEER_VERDICT_TABLE_FULL;
}

/* claimed_job(), verified once */
__noinline __s64 ask_module(struct __sk_buff *skb, const struct rocesteer_flow_key *key)
{
	return key ? claimed_job(skb, key) : -ENOENT;
}

__noinline int enter_packet(struct __sk_buff *skb, const struct packet *pkt, bool received)
{
	const struct rocesteer_flow_key *key = pkt ? &pkt->key : NULL;
	__s64 asked = ask_module(skb, key), claimed;
	int verdict = CONTINUE;

	if (!key)
		return JOBLESS;
	claimed = owning_job(asked, key->ifindex);
	if (claimed <= 0)
		return claimed ? ROCESTEER_VERDICT_UNTAGGED : JOBLESS;
	if (steers_qp(claimed, true))
		return ROCESTEER_VERDICT_UNPLANNED;
	if (!received)
		verdict = check_sender(skb);
	if (verdict != CONTINUE)
		return verdict;
	verdict = enter_flow(key, claimed, ROCESTEER_FLOW_FROM_PACKET |
			     (claimed & ROCESTEER_FLOW_JOB_RESEQ ?
			      ROCESTEER_FLOW_LOCAL_RESEQ : 0),
			     received ? 0 : bpf_get_socket_cookie(skb), &pkt->source);
	/* Its end may have been announced before there was anything to forget. */
	if (verdict != CONTINUE)
		return verdict;
	if (ask_module(skb, key) == asked && owning_job(asked, key->ifindex) == claimed)
		return CONTINUE;
	undo_flow(key);
	return ROCESTEER_VERDICT_UNASSIGNED;
}

/**
 * check_known_flow() - may a packet of an unknown sender take the path of a known flow?
 * @skb: the packet, at egress
 * @pkt: parsed
 * @flow: what is known of the flow
 * @sender: from check_sender()
 *
 * A queue pair has one socket for all its life, so most packets are known by the cookie of
 * their socket, and do not get here. Packets of flows that their job lists may be forwarded.
 * Another queue pair may have the same peer, and send from another address: the module knows
 * the job of that queue pair.
 *
 * Return: CONTINUE where the packet is of the flow, or the verdict on the packet.
 */
static __always_inline int check_known_flow(struct __sk_buff *skb, const struct packet *pkt,
					    struct rocesteer_flow_path *flow, int sender)
{
	bool listed = !flow->sender && !(flow->flags & ROCESTEER_FLOW_FROM_PACKET);

	if (sender == CONTINUE && is_sent_by(skb, flow->sender))
		return CONTINUE;	/* a rival, or a flow without a share */
	if (sender != CONTINUE && !(sender == ROCESTEER_VERDICT_FORWARDED && listed))
		return sender;
	if (sender == CONTINUE && is_other_sender(skb, &pkt->key, flow->job))
		return ROCESTEER_VERDICT_UNTAGGED;
	if (!same_addr(pkt->source.addr, flow->source)) {
		no_port_map(&pkt->key, flow->job, &pkt->source);
		return ROCESTEER_VERDICT_OTHER_SOURCE;
	}
	if (sender == CONTINUE)
		flow->sender = bpf_get_socket_cookie(skb);
	return CONTINUE;
}

__noinline int new_packet(struct __sk_buff *skb, struct packet *pkt)
{
	__u64 changes = read_changes();
	struct rocesteer_flow_path *flow;
	int sender = check_sender(skb), verdict;

	if (!pkt)	/* global functions are verified on their own */
		return ROCESTEER_VERDICT_UNASSIGNED;
	if (sender == CONTINUE)
		name_rival(skb, &pkt->key);
	flow = bpf_map_lookup_elem(&rs_flows, &pkt->key);
	if (flow)
		return check_known_flow(skb, pkt, flow, sender);
	verdict = enter_packet(skb, pkt, false);
	if (verdict != JOBLESS)
		return verdict;
	if (sender == CONTINUE)
		note_jobless(skb, &pkt->key, changes);
	return ROCESTEER_VERDICT_UNTAGGED;
}

/* The parts of spread() are verified one by one: together they are a multiple. */

/* The largest weight of the paths @up. */
__noinline __u32 heaviest(const struct rocesteer_group *group, __u64 up)
{
	__u32 most = 0, i;

	if (!group)
		return 0;
	bpf_for(i, 0, ROCESTEER_MAX_PATHS) {
		__u32 weight = group->weight[i] * (up >> i & 1);

		if (weight > most)
			most = weight;
	}
	return most;
}

/* Return: packets in a row on a path of a flow that is on all paths. */
__noinline __u32 run_on(const struct rocesteer_group *group, __u32 p, __u32 most)
{
	return group && most && p < ROCESTEER_MAX_PATHS ?
	       rocesteer_run(group->weight[p], most) : 0;
}

/*
 * Pieces are counted in memory, where nothing else is under way now: of a number there the
 * verifier knows nothing, and looks at one round of the loop, not at each number of pieces
 * that there may be.
 */
__noinline int spread(struct rocesteer_flow_path *flow,
		      const struct rocesteer_group *group,
		      const struct rocesteer_ports *ports)
{
	__u32 nr, home, most, end = 0, here = NEW_PACKET, i;
	struct rocesteer_flow_path *new;
	volatile __u32 *n;
	__u64 up;

	new = bpf_map_lookup_elem(&rs_new, &here);
	if (!flow || !group || !ports || !new)
		return -1;
	if (!(flow->flags & ROCESTEER_FLOW_PEER_RESEQ) ||
	    flow->flags & (ROCESTEER_FLOW_QP | ROCESTEER_FLOW_OBSERVED) || !splits(flow->job))
		return -1;
	up = port_paths(ports) & ~group->down;
	most = heaviest(group, up);
	nr = group->nr_paths;
	home = flow->piece[0].path;
	n = &new->recent;
	*n = 0;
	bpf_for(i, 0, ROCESTEER_MAX_PATHS) {
		__u32 at = *n % ROCESTEER_MAX_PATHS, p;

		if (i >= nr)
			break;
		p = (home + i) % nr % ROCESTEER_MAX_PATHS;
		if (!(up >> p & 1))
			continue;
		end += run_on(group, p, most);
		flow->piece[at].end = end;
		flow->piece[at].path = p;
		flow->piece[at].sport = ports->sport[p];
		*n = at + 1;
	}
	if (!*n)
		return -1;
	set_nr_pieces(flow, *n);
	return 0;
}

__noinline int take_share(const struct rocesteer_flow_key *key)
{
	struct rocesteer_flow_path *flow;
	struct rocesteer_group *group;
	struct rocesteer_ports ports;
	struct rocesteer_peer *peer;
	__u64 state = 0;
	int p;

	flow = key ? find_flow(key, &state) : NULL;
	if (!flow)
		return -1;
	peer = find_peer(key, flow);
	group = find_group(key, flow->job, flow->leaf);
	if (!group || !peer || copy_ports(key, flow, &ports))
		return -1;
	if (state & (ROCESTEER_FLOW_SHARE | ROCESTEER_FLOW_GONE))
		return 0;
	p = deal_path(group, peer, port_paths(&ports),
		      deals_by(flow->job, state & ROCESTEER_FLOW_QP));
	if (p < 0)
		return -1;
	if (__sync_val_compare_and_swap(flow_state(flow), state, state |
					ROCESTEER_FLOW_SHARE |
					p << ROCESTEER_FLOW_HOME_SHIFT) != state) {
		add_flows(group, peer, p, -1);	/* another CPU was first */
		return -1;
	}
	set_home(flow, &ports, p);
	spread(flow, group, &ports);
	notify_flow(ROCESTEER_EVENT_SHARE, key, flow, p);
	return 0;
}
