// SPDX-License-Identifier: GPL-2.0
/*
 * Tags packets with the class of the chunk that they carry. A program of its own,
 * at the egress of devices on which a job has chunks, behind rocesteer_egress, which tags most
 * packets of the flows that it steers by itself.
 *
 * The address of a WRITE tells the chunk, but only the first packet has the address. So the
 * PSNs of the messages in flight are kept for each flow, also for packets that are sent again
 * from the middle of a message. A flow that is steered has its last message in rs_flows as well.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "lib/deal.bpf.h"
#include "lib/psn.bpf.h"
#include "lib/socket.bpf.h"
#include "lib/sport.bpf.h"
#include "lib/tags.bpf.h"

/* Jobs that have chunks. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_JOBS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct rocesteer_chunk_job);
} rs_chunk_jobs SEC(".maps");

/* Chunks of these jobs, for people: the programs find the tag of a chunk with its range. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_CHUNKS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_chunk_key);
	__type(value, struct rocesteer_chunk);
} rs_chunks SEC(".maps");

/* The addresses that chunks are written to: by number of the peer, sorted by address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_RANGES);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_range_key);
	__type(value, struct rocesteer_range);
} rs_ranges SEC(".maps");

/* The peers of the jobs that have chunks, and their numbers. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_PEERS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_peer_key);
	__type(value, struct rocesteer_ranges);
} rs_range_peers SEC(".maps");

/* Where rs_chunk_sums has the counts of a job. The programs know it by the tags. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_COUNTS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_count_key);
	__type(value, __u32);
} rs_chunk_counts SEC(".maps");

static const struct rocesteer_tags no_tags = { .at.index = -1 };

/* Where a write is to a range. ACROSS: across the end of the range; or there is no such range. */
enum look {
	INSIDE,
	BEFORE,
	BEHIND,
	ACROSS,
};

static __always_inline enum look look_at(const struct rocesteer_range *range, __u64 start,
					 __u32 length)
{
	if (start < range->start)
		return BEFORE;
	start -= range->start;
	if (start >= range->length)
		return BEHIND;
	return length > range->length - start ? ACROSS : INSIDE;
}

/* Look at the range whose key is in @tags. The entry keeps a range that has all of the write. */
static __always_inline enum look look_near(struct rocesteer_tags *tags, __u64 start, __u32 length)
{
	const struct rocesteer_range *range = bpf_map_lookup_elem(&rs_ranges, &tags->at);
	enum look look = range ? look_at(range, start, length) : ACROSS;

	if (look == INSIDE)
		tags->near = *range;
	return look;
}

/* Search the ranges of the flow's peer by halves. Return: 0, or -1: none has all of the write. */
__noinline int search_range(struct rocesteer_tags *tags, __u64 start, __u32 length)
{
	__u32 from = 0, to = tags ? tags->ranges.nr : 0, middle;
	enum look look;
	int i;

	bpf_for(i, 0, 32) {
		if (!tags || from >= to)
			break;
		middle = from + (to - from) / 2;
		tags->at.index = middle;
		look = look_near(tags, start, length);
		if (look == BEFORE)
			to = middle;
		else if (look == BEHIND)
			from = middle + 1;
		else
			return look == INSIDE ? 0 : -1;
	}
	return -1;
}

/**
 * find_tag() - find the chunk that is written to an address
 * @tags: the flow's entry
 * @start: address
 * @length: of the message, in bytes; it is in one range or in none
 *
 * Most flows write to rising addresses: the range of the message before is looked at first, and
 * then the next one.
 *
 * Return: the tag of the chunk's stage, or that of no chunk.
 */
static __always_inline struct rocesteer_tag
find_tag(struct rocesteer_tags *tags, __u64 start, __u32 length)
{
	__u32 last = tags->at.index;

	if (!length)
		return tags->none;
	if (look_at(&tags->near, start, length) == INSIDE)
		return tags->near.tag;
	tags->at.index = last + 1;
	if (look_near(tags, start, length) == INSIDE || !search_range(tags, start, length))
		return tags->near.tag;
	tags->at.index = last;
	return tags->none;
}

/*
 * Return: the index of the message that has a PSN, of the later one where PSNs have gone
 * round; or ROCESTEER_MAX_MESSAGES.
 */
__noinline __u32 search_message(const struct rocesteer_tags *tags, __u32 psn)
{
	int i;

	if (!tags)
		return ROCESTEER_MAX_MESSAGES;
	bpf_for(i, 1, ROCESTEER_MAX_MESSAGES + 1) {
		__u32 at = (tags->next - i) & (ROCESTEER_MAX_MESSAGES - 1);

		if (has_psn(&tags->message[at], psn))
			return at;
	}
	return ROCESTEER_MAX_MESSAGES;
}

/* Return: the index for a message: behind the last one, unless it is sent again. */
static __always_inline __u32 place_message(struct rocesteer_tags *tags, __u32 psn)
{
	const struct rocesteer_message *last;
	__u32 at = ROCESTEER_MAX_MESSAGES;

	last = &tags->message[(tags->next - 1) & (ROCESTEER_MAX_MESSAGES - 1)];
	if (psn_before(psn, last->psn + last->packets))
		at = search_message(tags, psn);
	if (at == ROCESTEER_MAX_MESSAGES)
		at = tags->next++;
	barrier_var(at);	/* or clang drops what the verifier asks for */
	return at & (ROCESTEER_MAX_MESSAGES - 1);
}

/**
 * begin_message() - note the message that a packet begins
 * @tags: the flow's entry
 * @opcode: of the packet
 * @psn: likewise
 * @payload: likewise, in bytes: of several packets the first is full
 * @reth: likewise
 *
 * Return: the message.
 */
static __always_inline struct rocesteer_message
begin_message(struct rocesteer_tags *tags, __u8 opcode, __u32 psn, __u32 payload,
	      const struct rocesteer_reth *reth)
{
	__u64 start = (__u64)bpf_ntohl(reth->va[0]) << 32 | bpf_ntohl(reth->va[1]);
	__u32 length = bpf_ntohl(reth->length), at;
	struct rocesteer_message message = { .psn = psn, .packets = 1 };

	message.tag = find_tag(tags, start, length);
	if (opcode != ROCESTEER_OP_RC_WRITE_FIRST || (__s32)payload <= 0)
		return message;
	message.packets = (length + payload - 1) / payload;
	at = place_message(tags, psn);
	tags->message[at] = message;
	tags->recent = at;
	return message;
}

/*
 * Make a message the flow's own, of which @tagged packets have left; count those of the message
 * before.
 */
static __always_inline void set_message(struct rocesteer_flow_path *flow,
					struct rocesteer_tags *tags,
					const struct rocesteer_message *message, __u32 tagged)
{
	tags->packets[flow->message.tag.class & (ROCESTEER_MAX_CLASSES - 1)] += flow->tagged;
	flow->tagged = tagged;
	flow->message = *message;
}

/* The first packet of a WRITE, behind Ethernet, as plain frames have it. */
struct plain_write {
	struct iphdr ip;
	struct udphdr udp;
	struct rocesteer_bth bth;
	struct rocesteer_reth reth;
};

__noinline int begin_tag(struct __sk_buff *skb, const struct rocesteer_flow_key *key,
			 struct rocesteer_flow_path *flow)
{
	const struct plain_write *write = (void *)(long)skb->data + ETH_HLEN;
	struct rocesteer_message message;
	struct rocesteer_tags *tags;

	if ((void *)(write + 1) > (void *)(long)skb->data_end || !key || !flow)
		return -1;
	tags = bpf_map_lookup_elem(&rs_tags, key);
	if (!tags || tags->sender != flow->sender || tags->job != flow->job)
		return -1;
	message = begin_message(tags, write->bth.opcode,
				bpf_ntohl(write->bth.apsn) & ROCESTEER_PSN_MASK,
				bpf_ntohs(write->udp.len) - sizeof(write->udp) -
				sizeof(write->bth) - sizeof(write->reth) - ROCESTEER_ICRC_SIZE,
				&write->reth);
	set_message(flow, tags, &message, 1);
	count_tag(message.tag.count, skb->len, true);
	return 0;
}

/*
 * Let rocesteer_egress go on with the message, where it steers the flow, and the job still has
 * chunks. Return: 0, or not.
 */
__noinline int share_message(const struct rocesteer_flow_key *key, struct rocesteer_tags *tags,
			     const struct rocesteer_message *message)
{
	struct rocesteer_flow_path *flow;
	__u64 state = 0;
	__u32 job;

	flow = key && tags && message ? find_flow(key, &state) : NULL;
	if (!flow || flow->job != tags->job)
		return -1;
	set_message(flow, tags, message, 0);
	if (state & ROCESTEER_FLOW_TAGGED)
		return 0;
	job = tags->job;
	if (!bpf_map_lookup_elem(&rs_chunk_jobs, &job))
		return -1;
	return !change_flags(flow, &state, 0, ROCESTEER_FLOW_TAGGED);
}

/* A packet that begins a message */
static __always_inline struct rocesteer_tag
begin_packet(struct __sk_buff *skb, const struct packet *pkt, struct rocesteer_tags *tags)
{
	__u32 off = sizeof(struct udphdr) + sizeof(struct rocesteer_bth), payload;
	struct rocesteer_message message;
	struct rocesteer_reth reth;

	payload = pkt->udp_len - off - sizeof(reth) - ROCESTEER_ICRC_SIZE;
	if ((__s32)payload < 0 ||
	    bpf_skb_load_bytes(skb, pkt->l4_off + off, &reth, sizeof(reth)))
		return tags->none;
	message = begin_message(tags, pkt->opcode, pkt->psn, payload, &reth);
	share_message(&pkt->key, tags, &message);
	return message.tag;
}

/* Find the message of the flow that a packet continues. */
static __always_inline struct rocesteer_tag
continue_message(const struct packet *pkt, struct rocesteer_tags *tags)
{
	__u32 at = tags->recent;

	at &= ROCESTEER_MAX_MESSAGES - 1;
	if (!has_psn(&tags->message[at], pkt->psn)) {
		at = search_message(tags, pkt->psn);
		barrier_var(at);
		if (at >= ROCESTEER_MAX_MESSAGES)
			return tags->none;
		tags->recent = at;
	}
	return tags->message[at].tag;
}

static __always_inline struct rocesteer_tag
tag_packet(struct __sk_buff *skb, const struct packet *pkt, struct rocesteer_tags *tags)
{
	if (begins_write(pkt->opcode))
		return begin_packet(skb, pkt, tags);
	if (continues_write(pkt->opcode))
		return continue_message(pkt, tags);
	return tags->none;
}

/* Fill in what does not change of a flow's entry. */
static __always_inline void begin_tags(struct rocesteer_tags *tags,
				       const struct rocesteer_flow_key *key, __u32 job,
				       const struct rocesteer_chunk_job *owner)
{
	struct rocesteer_peer_key peer = { .job = job, .ifindex = key->ifindex };
	const struct rocesteer_ranges *ranges;

	copy_addr(peer.addr, key->peer);
	ranges = bpf_map_lookup_elem(&rs_range_peers, &peer);
	if (ranges)
		tags->ranges = *ranges;
	tags->at.job = job;
	tags->at.peer = tags->ranges.peer;
	tags->none = owner->none;
	tags->job = job;
}

/**
 * new_tags() - enter a flow into rs_tags, or its sender
 * @skb: a packet, which is of no known flow, or not of the flow's known sender
 * @key: the flow, of which the packet does not tell the rival number: that is filled in
 *
 * See check_known_flow().
 *
 * Return: 0, or -1 where the sender may not make a flow, its job has no chunks, or the
 * table is full.
 */
__noinline int new_tags(struct __sk_buff *skb, struct rocesteer_flow_key *key)
{
	const struct rocesteer_chunk_job *owner;
	struct rocesteer_flow_path *flow;
	struct rocesteer_tags *tags;
	__s64 claimed;
	__u32 job;

	if (!key || check_sender(skb) != CONTINUE)
		return -1;
	claimed = name_rival(skb, key);
	flow = bpf_map_lookup_elem(&rs_flows, key);
	tags = bpf_map_lookup_elem(&rs_tags, key);
	claimed = tags ? tags->job : flow ? flow->job : owning_job(claimed, key->ifindex);
	job = claimed;
	if (claimed < 0 || is_other_sender(skb, key, job))
		return -1;
	if (!tags) {
		owner = bpf_map_lookup_elem(&rs_chunk_jobs, &job);
		if (!owner)
			return -1;
		bpf_map_update_elem(&rs_tags, key, &no_tags, BPF_NOEXIST);
		tags = bpf_map_lookup_elem(&rs_tags, key);
		if (!tags)
			return -1;
		begin_tags(tags, key, job, owner);
	}
	tags->sender = bpf_get_socket_cookie(skb);
	return 0;
}

/* The change of one packet, handed to rocesteer_mark in skb->cb. */
enum {
	CB_L3_OFF,
	CB_DSCP,
};

int rocesteer_mark(struct __sk_buff *skb);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__uint(key_size, sizeof(__u32));
	__array(values, int (struct __sk_buff *));
} rs_mark SEC(".maps") = {
	.values = { (void *)&rocesteer_mark },
};

/* A program of its own for the same reason as rocesteer_write. */
SEC("tcx/egress")
int rocesteer_mark(struct __sk_buff *skb)
{
	__u32 off = skb->cb[CB_L3_OFF], dscp = skb->cb[CB_DSCP];
	struct iphdr *ip;
	void *data;

	if (off > HEADERS_MAX)
		return TCX_NEXT;
	data = writable(skb, off + sizeof(*ip));
	if (!data)
		return TCX_NEXT;
	ip = data + off;
	if ((void *)(ip + 1) > (void *)(long)skb->data_end)
		return TCX_NEXT;
	if (ip->version == 4)
		set_dscp(ip, dscp);
	else	/* version, traffic class, flow label */
		*(__be16 *)ip = (*(__be16 *)ip & bpf_htons(0xf03f)) | bpf_htons(dscp << 6);
	return TCX_NEXT;
}

/* A packet that belongs to no chunk leaves as it came. */
SEC("tcx/egress")
int rocesteer_chunk(struct __sk_buff *skb)
{
	struct rocesteer_tags *tags;
	struct rocesteer_tag tag;
	struct packet pkt;

	if (is_marked(skb->cb[CB_MARKED])) {
		skb->cb[CB_MARKED] = 0;	/* for the programs of a device below */
		return TCX_NEXT;
	}
	if (parse_roce(skb, &pkt, false) != CONTINUE || !is_rc(&pkt) ||
	    is_response(&pkt))
		return TCX_NEXT;
	tags = bpf_map_lookup_elem(&rs_tags, &pkt.key);
	if (!tags || !is_sent_by(skb, tags->sender)) {
		if (new_tags(skb, &pkt.key))
			return TCX_NEXT;
		tags = bpf_map_lookup_elem(&rs_tags, &pkt.key);
		if (!tags)
			return TCX_NEXT;
	}
	tag = tag_packet(skb, &pkt, tags);
	tags->packets[tag.class & (ROCESTEER_MAX_CLASSES - 1)]++;
	count_tag(tag.count, skb->len, begins_write(pkt.opcode));
	if (tag.class) {
		skb->priority = tag.class;
		skb->cb[CB_L3_OFF] = pkt.l3_off;
		skb->cb[CB_DSCP] = tag.dscp;
		bpf_tail_call_static(skb, &rs_mark, 0);
	}
	return TCX_NEXT;
}

/* User space takes the chunks of a job away: its flows are no longer tagged. */
SEC("syscall")
int rocesteer_untag(struct rocesteer_flow_key *of)
{
	struct rocesteer_flow_key key = *of;
	struct rocesteer_flow_path *flow;
	__u64 state = 0;

	bpf_map_delete_elem(&rs_tags, &key);
	flow = find_flow(&key, &state);
	if (flow && change_flags(flow, &state, ROCESTEER_FLOW_TAGGED, 0))
		flow->tagged = 0;
	return 0;
}
