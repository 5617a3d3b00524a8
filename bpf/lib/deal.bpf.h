/* SPDX-License-Identifier: GPL-2.0 */
/* The job that a flow belongs to, and the path that its group deals the flow. */
#ifndef DEAL_BPF_H
#define DEAL_BPF_H

#include <asm/errno.h>
#include <stddef.h>
#include "rocesteer/flow.h"
#include "jobless.bpf.h"
#include "maps.bpf.h"
#include "parse.bpf.h"
#include "socket.bpf.h"

/* Tries to deal, or to change flags, while other CPUs come first. */
#define DEAL_TRIES	8

/* False where the module is not to be used although it is there. */
const volatile bool rs_use_module = true;

/* rs_flows was full, and user space was told. */
volatile bool full_reported;

/* The job of a device's flows that no other job claims, or 0. */
static __always_inline __u32 device_job(__u32 ifindex)
{
	__u32 *job = bpf_map_lookup_elem(&rs_devices, &ifindex);

	return job ? *job : 0;
}

/* kmod/steer/kfunc.c */
extern __s64 bpf_rocesteer_flow_job(struct __sk_buff *skb,
				    const struct rocesteer_flow_key *key,
				    __u32 key__sz) __ksym __weak;

/* Return: the module's answer about a packet's flow; -ENOENT where there is no module. */
static __always_inline __s64 claimed_job(struct __sk_buff *skb,
					 const struct rocesteer_flow_key *key)
{
	if (!rs_use_module || !bpf_ksym_exists(bpf_rocesteer_flow_job))
		return -ENOENT;
	return bpf_rocesteer_flow_job(skb, key, sizeof(*key));
}

/*
 * The job that claims a flow, by what claimed_job() says, else the one that has the device,
 * else 0; -EEXIST where the queue pair that sends the packet is not of the flow. With
 * ROCESTEER_FLOW_JOB_RESEQ as the module gives it.
 */
static __always_inline __s64 owning_job(__s64 claimed, __u32 ifindex)
{
	if (claimed == -EEXIST || (claimed > 0 && (__u32)claimed))
		return claimed;
	return device_job(ifindex);
}

/**
 * name_rival() - set the rival number in the key of a packet's flow
 * @skb: the packet, at egress, sent by the kernel: see check_sender()
 * @key: from the packet
 *
 * Return: as claimed_job().
 */
__s64 name_rival(struct __sk_buff *skb, struct rocesteer_flow_key *key);

/* Return: whether the job steers this flow by its flow label, not by its packets. */
static __always_inline bool steers_qp(__u32 id, bool software)
{
	struct rocesteer_job *job = bpf_map_lookup_elem(&rs_jobs, &id);

	return job && (job->actuator == ROCESTEER_ACTUATOR_QP ||
		       (job->actuator == ROCESTEER_ACTUATOR_AUTO && !software));
}

/* Return: whether queue pairs of the job keep flow labels that no application chose. */
static __always_inline bool keeps_labels(__u32 id)
{
	struct rocesteer_job *job = bpf_map_lookup_elem(&rs_jobs, &id);

	return job && job->keep_labels;
}

/* Return: whether the job wants its flows split. */
static __always_inline bool splits(__u32 id)
{
	struct rocesteer_job *job = bpf_map_lookup_elem(&rs_jobs, &id);

	return job && job->split != ROCESTEER_SPLIT_NONE;
}

/* The flows that share the load of a path with a new flow: enum rocesteer_deal_by. */
static __always_inline __u32 deals_by(__u32 id, bool queue_pair)
{
	struct rocesteer_job *job = bpf_map_lookup_elem(&rs_jobs, &id);

	return rocesteer_deal_by(job ? job->deal : ROCESTEER_DEAL_LEAST, queue_pair);
}

/* An event for rocesteer daemon, or NULL where the buffer is full, as the daemon will see. */
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

/* Submit an event, once the tables are as it says: the reader reads the tables then. */
static __always_inline void notify(struct rocesteer_event *event)
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

static __always_inline struct rocesteer_peer_key
peer_key(const struct rocesteer_flow_key *key, __u32 job, const __u8 source[16])
{
	struct rocesteer_peer_key pkey = {
		.job = job,
		.ifindex = key->ifindex,
	};

	copy_addr(pkey.addr, key->peer);
	copy_addr(pkey.source, source);
	return pkey;
}

static __always_inline struct rocesteer_peer *
find_peer(const struct rocesteer_flow_key *key, const struct rocesteer_flow_path *flow)
{
	struct rocesteer_peer_key pkey = peer_key(key, flow->job, flow->source);

	return bpf_map_lookup_elem(&rs_peers, &pkey);
}

/* Return: whether the flow is observed, not steered. */
static __always_inline bool is_observed(const struct rocesteer_flow_key *key, __u32 job,
					const __u8 source[16])
{
	struct rocesteer_peer_key pkey = peer_key(key, job, source);
	const struct rocesteer_peer *peer = bpf_map_lookup_elem(&rs_peers, &pkey);
	const struct rocesteer_group *group = peer ? find_group(key, job, peer->leaf) : NULL;

	return group && group->observe;
}

/* Return: the key of a flow's ports in rs_qpns. */
static __always_inline struct rocesteer_qpn_key
qpn_key(const struct rocesteer_flow_key *key, const struct rocesteer_flow_path *flow)
{
	return (struct rocesteer_qpn_key) {
		.peer = peer_key(key, flow->job, flow->source),
		.dqpn = key->dqpn & ROCESTEER_QPN_MASK,
	};
}

/*
 * Change the number of flows of a group, and to a peer, that are at home on a path; NULL
 * where that is gone.
 */
static __always_inline void add_flows(struct rocesteer_group *group,
				      struct rocesteer_peer *peer, __u32 p, __u32 n)
{
	barrier_var(p);	/* make clang index with the register that it checked */
	if (p >= ROCESTEER_MAX_PATHS)
		return;
	if (group)
		__sync_fetch_and_add(&group->flows[p], n);
	if (peer)
		__sync_fetch_and_add(&peer->flows[p], n);
}

/*
 * A new flow may get the memory of a forgotten one while programs that found the forgotten
 * flow still run. So a program checks the generation as it changes the flags, which say
 * whether a share is counted. Other writes to a wrong flow do not last: the next packets
 * correct sender and PSNs, see psn_note(), and the daemon plans the new flow. On CPUs that
 * reorder stores a flow is complete before it is in the table.
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
 * The state is read between two look-ups, so that it is not another flow's.
 *
 * Return: the flow, or NULL.
 */
static __always_inline struct rocesteer_flow_path *
find_flow(const struct rocesteer_flow_key *key, __u64 *state)
{
	struct rocesteer_flow_path *flow = bpf_map_lookup_elem(&rs_flows, key);

	if (!flow)
		return NULL;
	/* An atomic access, as a plain load could be moved before or behind the lookups. */
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

/*
 * Before a flow gets more than one piece, a piece to move to, or a detour. Nobody clears
 * the flag, so that no writer has to know of another.
 */
static __always_inline void set_varies(struct rocesteer_flow_path *flow)
{
	__sync_fetch_and_or(&flow->flags, ROCESTEER_FLOW_VARIES);
}

/*
 * Packets of the flow say that it is on @less paths fewer than it has pieces. Another
 * CPU may change the number of pieces at the same time, and then say the new number: of
 * two orders the one that leaves too high a number is safe.
 */
static __always_inline void set_bth_paths(struct rocesteer_flow_path *flow, __u32 nr,
					  __u32 less)
{
	flow->bth_paths = bpf_htonl(rocesteer_bth_paths(rs_bth_paths, nr - 1 - less));
}

/* For all CPUs, behind what was written before. */
static __always_inline __u32 read_nr_pieces(struct rocesteer_flow_path *flow)
{
	return __sync_fetch_and_add(&flow->nr_pieces, 0);
}

/* Make the pieces that were written before the flow's, for all CPUs. */
static __always_inline void set_nr_pieces(struct rocesteer_flow_path *flow,
					  __u32 nr)
{
	if (nr > 1)
		set_varies(flow);
	flow->planned = flow->psns[ROCESTEER_REQUESTS].next;
	__sync_lock_test_and_set(&flow->nr_pieces, nr);
	set_bth_paths(flow, nr, 0);
}

/*
 * The functions below run once for a flow, and are in bpf/deal.bpf.c. Each is global, so
 * that it is verified once, with pointers that may be NULL.
 */

/* Return: whether a queue pair sends the packet that the module knows, of another job. */
bool is_other_sender(struct __sk_buff *skb, const struct rocesteer_flow_key *key,
		     __u32 job);

/**
 * least_loaded() - the path with the fewest flows for its weight
 * @group: group; of equals the first one from @group->first on is taken
 * @peer: the peer
 * @up: bit p: path p can be taken
 * @by: enum rocesteer_deal_by
 * @flows: set to the flows of the path, to the peer if @by goes by it, else of the group
 *
 * Return: the path, or -1.
 */
int least_loaded(const struct rocesteer_group *group,
		 const struct rocesteer_peer *peer, __u64 up, __u32 by,
		 __u32 *flows);

/**
 * copy_ports() - the ports by which a flow takes paths
 * @key: the flow
 * @flow: its entry
 * @to: filled with those of its peer, or of its queue pair where switches hash that. A
 *	copy, or the verifier would follow what comes then for each of two maps
 *
 * Return: 0; another value where the peer is gone, or the queue pair was not asked for yet.
 */
int copy_ports(const struct rocesteer_flow_key *key, const struct rocesteer_flow_path *flow,
	       struct rocesteer_ports *to);

/* Return: bit p: there is a port that takes path p. */
__u64 port_paths(const struct rocesteer_ports *ports);

/**
 * notify_flow() - send rocesteer daemon an event of a flow
 * @type: enum rocesteer_event_type
 * @key: the flow
 * @flow: its entry
 * @path: which it is about
 *
 * Return: 0, or -1 where there is no room for the event.
 */
int notify_flow(__u32 type, const struct rocesteer_flow_key *key,
		const struct rocesteer_flow_path *flow, __u32 path);

/**
 * forget_flow() - forget a flow that is gone and give its share back
 * @key: the flow; what it sent is added to rs_ended
 *
 * Return: 0, or -1 where it is not known, or another CPU forgets it.
 */
int forget_flow(const struct rocesteer_flow_key *key);

/* The same for a flow that has sent nothing: the verifier has less to look at. */
int undo_flow(const struct rocesteer_flow_key *key);

/**
 * enter_flow() - enter a flow that is not known yet
 * @key: the flow
 * @job: its job
 * @flags: ROCESTEER_FLOW_* that it has from the beginning
 * @sender: cookie of the socket that sends its packets, or 0
 * @source: our address that its packets have, 16 bytes
 *
 * Whoever finds the flow finds it complete. The flow has no share of its path yet: see
 * take_share().
 *
 * Return: CONTINUE, or the verdict on a packet that leaves as it came.
 */
int enter_flow(const struct rocesteer_flow_key *key, __u32 job, __u32 flags,
	       __u64 sender, const struct source *source);

/**
 * enter_packet() - enter the flow of a packet
 * @skb: the packet
 * @pkt: parsed
 * @received: the packet was received, on behalf of the local queue pair
 *
 * Return: as enter_flow(), or JOBLESS.
 */
int enter_packet(struct __sk_buff *skb, const struct packet *pkt, bool received);

/**
 * new_packet() - find or enter the flow of a packet whose flow, or sender, is not known
 * @skb: the packet, at egress
 * @pkt: parsed; the rival number, which the packet does not tell, is filled in
 *
 * Return: CONTINUE where the flow is known now and of this sender, or the verdict.
 */
int new_packet(struct __sk_buff *skb, struct packet *pkt);

/**
 * spread() - put a flow on all paths, a run of packets on each in turn, if it may be split
 * @flow: the flow; has a home, where it begins
 * @group: its group
 * @ports: from copy_ports()
 *
 * Whatever else there is in the group, that is what an ideal network does. Paths that are
 * held down, or have no port, are left out. Where the job wants the fewest pieces,
 * rocesteer daemon plans them later.
 *
 * Return: 0, or -1 where it stays whole.
 */
int spread(struct rocesteer_flow_path *flow,
	   const struct rocesteer_group *group,
	   const struct rocesteer_ports *ports);

/**
 * take_share() - give a flow its share of a path
 * @key: the flow
 *
 * A flow takes its share when it sends a request. A flow that only acknowledges takes none:
 * its few packets would count as much as another's many. A queue pair that is to have one
 * port for good takes its share at once.
 *
 * Return: 0, or -1 when no path can be used now, or another CPU was first.
 */
int take_share(const struct rocesteer_flow_key *key);

#endif /* DEAL_BPF_H */
