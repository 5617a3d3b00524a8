// SPDX-License-Identifier: GPL-2.0
/*
 * Tags packets with the class of the chunk that they carry. A program of its own,
 * at the egress of devices on which a job has chunks.
 *
 * The address of a WRITE tells the chunk, but only the first packet has the address. So the
 * PSNs of the messages in flight are kept for each flow, also for packets that are sent again
 * from the middle of a message.
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

/* Chunks of these jobs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_CHUNKS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_chunk_key);
	__type(value, struct rocesteer_chunk);
} rs_chunks SEC(".maps");

/* The addresses that chunks are written to: by peer, sorted by address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_RANGES);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_range_key);
	__type(value, struct rocesteer_range);
} rs_ranges SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_PEERS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_peer_key);
	__type(value, struct rocesteer_ranges);
} rs_range_peers SEC(".maps");

/* Counts of packets. Entries are made with the job, and rocesteer_chunk counts in them. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_CHUNKS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_count_key);
	__type(value, struct rocesteer_count);
} rs_chunk_counts SEC(".maps");

static const struct rocesteer_tags no_tags;
static const struct rocesteer_tag no_tag = {
	.dimension = ROCESTEER_NO_DIMENSION,
};

/* No range has the address, or it lies before or behind the range that was looked at. */
#define NO_RANGE	(~0ull)
#define RANGE_BEFORE	(~1ull)
#define RANGE_BEHIND	(~2ull)

/* Look for a write in one range. Return: as find_range(), or RANGE_*. */
__noinline __u64 look_at_range(const struct rocesteer_range_key *key, __u64 start,
			       __u32 length)
{
	const struct rocesteer_range *range;

	range = key ? bpf_map_lookup_elem(&rs_ranges, key) : NULL;
	if (!range)
		return NO_RANGE;
	if (start < range->start)
		return RANGE_BEFORE;
	start -= range->start;
	if (start >= range->length)
		return RANGE_BEHIND;
	return length > range->length - start ? NO_RANGE :
						(__u64)range->chunk << 32 | range->stage;
}

/**
 * find_range() - find the chunk that is written to an address
 * @key: flow
 * @tags: the flow's entry
 * @start: address
 * @length: of the message; it is in one range or in none
 *
 * A binary search, which looks first at the range of the message before and at the next
 * range: most flows write to rising addresses.
 *
 * Return: number of the chunk in bits 63..32, its stage in the others; NO_RANGE.
 */
__noinline __u64 find_range(const struct rocesteer_flow_key *key,
			    struct rocesteer_tags *tags, __u64 start, __u32 length)
{
	struct rocesteer_range_key rkey = {};
	struct rocesteer_ranges *ranges;
	__u32 from = 0, to;
	__u64 found;
	int i;

	if (!key || !tags || !length)
		return NO_RANGE;
	rkey.peer.job = tags->job;
	rkey.peer.ifindex = key->ifindex;
	copy_addr(rkey.peer.addr, key->peer);
	ranges = bpf_map_lookup_elem(&rs_range_peers, &rkey.peer);
	to = ranges ? ranges->nr : 0;
	bpf_for(i, 0, 32) {
		if (from >= to)
			break;
		rkey.index = tags->range + i;
		if (i > 1 || rkey.index >= to)
			rkey.index = from + (to - from) / 2;
		found = look_at_range(&rkey, start, length);
		if (found == RANGE_BEFORE) {
			to = rkey.index;
		} else if (found == RANGE_BEHIND) {
			from = rkey.index + 1;
		} else {
			tags->range = rkey.index;
			return found;
		}
	}
	return NO_RANGE;
}

/* Return: the tag of a WRITE with this RETH. */
static __always_inline struct rocesteer_tag
make_tag(const struct rocesteer_flow_key *key, struct rocesteer_tags *tags,
	 const struct rocesteer_reth *reth)
{
	__u64 start = (__u64)bpf_ntohl(reth->va[0]) << 32 |
		      bpf_ntohl(reth->va[1]);
	__u64 found = find_range(key, tags, start, bpf_ntohl(reth->length));
	struct rocesteer_chunk_key ckey = { .job = tags->job, .chunk = found >> 32 };
	const struct rocesteer_chunk_job *owner;
	struct rocesteer_tag tag = no_tag;
	const struct rocesteer_chunk *chunk;
	__u32 stage = found, class;

	if (found == NO_RANGE)
		return tag;
	owner = bpf_map_lookup_elem(&rs_chunk_jobs, &ckey.job);
	chunk = bpf_map_lookup_elem(&rs_chunks, &ckey);
	if (!owner || !chunk)
		return tag;
	stage &= ROCESTEER_MAX_STAGES - 1;
	class = chunk->class[stage] & (ROCESTEER_MAX_CLASSES - 1);
	tag.class = class;
	tag.dimension = chunk->dimension[stage];
	tag.dscp = owner->dscp[class];
	return tag;
}

static __always_inline bool has_psn(const struct rocesteer_message *message,
				    __u32 psn)
{
	return ((psn - message->psn) & ROCESTEER_PSN_MASK) < message->packets;
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

/* Note a packet that begins a message, of which only the first of several is full. */
static __always_inline struct rocesteer_tag
begin_message(struct __sk_buff *skb, const struct packet *pkt,
	      struct rocesteer_tags *tags)
{
	__u32 off = sizeof(struct udphdr) + sizeof(struct rocesteer_bth), full, at;
	struct rocesteer_reth reth;
	struct rocesteer_tag tag = no_tag;

	full = pkt->udp_len - off - sizeof(reth) - ROCESTEER_ICRC_SIZE;
	if ((__s32)full < 0 ||
	    bpf_skb_load_bytes(skb, pkt->l4_off + off, &reth, sizeof(reth)))
		return tag;
	tag = make_tag(&pkt->key, tags, &reth);
	if (pkt->opcode != ROCESTEER_OP_RC_WRITE_FIRST || !full)
		return tag;
	at = place_message(tags, pkt->psn);
	tags->message[at] = (struct rocesteer_message) {
		.psn = pkt->psn,
		.packets = (bpf_ntohl(reth.length) + full - 1) / full,
		.tag = tag,
	};
	tags->recent = at;
	return tag;
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
			return no_tag;
		tags->recent = at;
	}
	return tags->message[at].tag;
}

static __always_inline bool begins_write(const struct packet *pkt)
{
	return pkt->opcode == ROCESTEER_OP_RC_WRITE_FIRST ||
	       pkt->opcode == ROCESTEER_OP_RC_WRITE_ONLY ||
	       pkt->opcode == ROCESTEER_OP_RC_WRITE_ONLY_IMM;
}

static __always_inline struct rocesteer_tag
find_tag(struct __sk_buff *skb, const struct packet *pkt,
	 struct rocesteer_tags *tags)
{
	if (begins_write(pkt))
		return begin_message(skb, pkt, tags);
	if (pkt->opcode > ROCESTEER_OP_RC_WRITE_FIRST &&
	    pkt->opcode <= ROCESTEER_OP_RC_WRITE_LAST_IMM)
		return continue_message(pkt, tags);
	return no_tag;
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
		if (!bpf_map_lookup_elem(&rs_chunk_jobs, &job))
			return -1;
		bpf_map_update_elem(&rs_tags, key, &no_tags, BPF_NOEXIST);
		tags = bpf_map_lookup_elem(&rs_tags, key);
		if (!tags)
			return -1;
		tags->job = job;
	}
	tags->sender = bpf_get_socket_cookie(skb);
	return 0;
}

static __always_inline void count_tag(const struct __sk_buff *skb,
				      const struct packet *pkt,
				      struct rocesteer_tags *tags,
				      struct rocesteer_tag tag)
{
	struct rocesteer_count_key key = {
		.job = tags->job,
		.class = tag.class,
		.dimension = tag.dimension,
	};
	struct rocesteer_count *count;

	tags->packets[tag.class & (ROCESTEER_MAX_CLASSES - 1)]++;
	count = bpf_map_lookup_elem(&rs_chunk_counts, &key);
	if (!count)
		return;
	count->messages += begins_write(pkt);
	count->packets++;
	count->bytes += skb->len;
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

/* RFC 1624. All are in network order. */
static __always_inline __sum16 csum_replace(__sum16 check, __be16 old, __be16 new)
{
	__u32 sum = (__u16)~check + (__u16)~old + new;

	sum = (sum >> 16) + (sum & 0xffff);
	return ~(sum + (sum >> 16));
}

/*
 * Set the DSCP. Neither the ICRC nor the UDP checksum covers it; ECN stays. A
 * program of its own for the same reason as rocesteer_write.
 */
SEC("tcx/egress")
int rocesteer_mark(struct __sk_buff *skb)
{
	__u32 off = skb->cb[CB_L3_OFF], dscp = skb->cb[CB_DSCP];
	struct iphdr *ip;
	__be16 *first, new;
	__u16 word;
	void *data;

	if (off > HEADERS_MAX)
		return TCX_NEXT;
	data = writable(skb, off + sizeof(*ip));
	if (!data)
		return TCX_NEXT;
	ip = data + off;
	if ((void *)(ip + 1) > (void *)(long)skb->data_end)
		return TCX_NEXT;
	/* IPv4: version, IHL, TOS; IPv6: version, traffic class, flow label. */
	first = (void *)ip;
	word = bpf_ntohs(*first);
	if (word >> 12 == 4) {
		new = bpf_htons((word & ~0xfc) | dscp << 2);
		ip->check = csum_replace(ip->check, *first, new);
	} else {
		new = bpf_htons((word & ~0x0fc0) | dscp << 6);
	}
	*first = new;
	return TCX_NEXT;
}

/* A packet that belongs to no chunk leaves as it came. */
SEC("tcx/egress")
int rocesteer_chunk(struct __sk_buff *skb)
{
	struct rocesteer_tags *tags;
	struct rocesteer_tag tag;
	struct packet pkt;

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
	tag = find_tag(skb, &pkt, tags);
	count_tag(skb, &pkt, tags, tag);
	if (tag.class) {
		skb->priority = tag.class;
		skb->cb[CB_L3_OFF] = pkt.l3_off;
		skb->cb[CB_DSCP] = tag.dscp;
		bpf_tail_call_static(skb, &rs_mark, 0);
	}
	return TCX_NEXT;
}
