// SPDX-License-Identifier: GPL-2.0
/* A flow for people and for programs, from the tables and the module. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <rocesteer/roce.h>

#include "flow.h"

void flow_put_key(struct json_object *obj, const char *device, const struct rocesteer_flow_key *key)
{
	out_string(obj, "device", device);
	out_addr(obj, "peer", key->peer);
	out_uint(obj, "dqpn", key->dqpn & ROCESTEER_QPN_MASK);
}

void flow_put(struct json_object *obj, const struct genl_flow *flow)
{
	bool learnt = flow->origin == ROCESTEER_ORIGIN_LEARNT;

	out_string(obj, "origin", learnt ? "learnt" : "netlink");
	if (!learnt)
		return;
	out_uint(obj, "sqpn", flow->sqpn);
	out_string(obj, "rdma_device", flow->rdma_device);
	if (flow->pid)
		out_uint(obj, "pid", flow->pid);
	out_uint(obj, "mtu", flow->path_mtu);
	out_string(obj, "label", label_name(flow->label));
	out_bool(obj, "software", flow->software);
	if (!flow->resequenced)
		return;
	out_uint(obj, "waiting", flow->reseq_depth);
	out_uint(obj, "age_us", flow->reseq_age);
	out_uint(obj, "waited", flow->reseq_held);
	out_uint(obj, "lost", flow->reseq_lost);
	out_uint(obj, "timeout", flow->reseq_timeout);
}

__u32 flow_row_job(const struct flow_row *row)
{
	return row->path ? row->path->job : row->flow.job;
}

/* Is it not known yet which path the flow's own port takes? */
static bool is_unknown(const struct rocesteer_flow_path *path)
{
	return path->piece[0].path == ROCESTEER_PATH_UNKNOWN;
}

/* Pieces, and for people "path:packets of the period" where there are several. */
static void put_pieces(struct json_object *obj, const struct rocesteer_flow_path *path)
{
	struct json_object *array = out_array(obj, "pieces"), *item;
	char text[ROCESTEER_MAX_PATHS * 20];
	__u32 from = 0, at = 0, i;

	for (i = 0; i < path->nr_pieces && i < ROCESTEER_MAX_PATHS; i++) {
		const struct rocesteer_piece *piece = &path->piece[i];

		item = out_append_object(array);
		if (!is_unknown(path))
			out_uint(item, "path", piece->path);
		out_uint(item, "port", ntohs(piece->sport));
		out_uint(item, "from", from);
		out_uint(item, "to", piece->end);
		at += snprintf(text + at, sizeof(text) - at, "%s%u:%u",
			       i ? "," : "", piece->path, piece->end - from);
		from = piece->end;
	}
	if (path->nr_pieces > 1)
		out_string(obj, "shares", text);
}

/* Bytes of each path; for people "path:bytes" if there are several. */
static void put_sent(struct json_object *obj, const struct rocesteer_flow_path *path)
{
	struct json_object *array = out_array(obj, "sent"), *item;
	char text[ROCESTEER_MAX_PATHS * 24];
	__u64 packets = 0, bytes = 0;
	__u32 at = 0, p;

	for (p = 0; p < ROCESTEER_MAX_PATHS; p++) {
		const struct rocesteer_ended_path sent = rocesteer_sent_on(path, p);

		if (!sent.packets)
			continue;
		item = out_append_object(array);
		if (p || !is_unknown(path))
			out_uint(item, "path", p);
		out_uint(item, "packets", sent.packets);
		out_uint(item, "bytes", sent.bytes);
		out_uint(item, "rounds", sent.rounds);
		at += snprintf(text + at, sizeof(text) - at, "%s%u:%llu",
			       at ? "," : "", p, sent.bytes);
		packets += sent.packets;
		bytes += sent.bytes;
	}
	if (json_object_array_length(array) > 1)
		out_string(obj, "per_path", text);
	out_uint(obj, "packets", packets);
	out_uint(obj, "bytes", bytes);
}

/* The actuator of a flow, or NULL. */
static const char *actuator_of(const struct flow_row *row)
{
	if (!row->path)
		return NULL;
	if (row->path->flags & ROCESTEER_FLOW_OBSERVED)
		return row->device->serves ? "none" : NULL;
	if (!(row->path->flags & ROCESTEER_FLOW_QP))
		return row->device->serves ? "packet" : NULL;
	return row->flow.label == ROCESTEER_LABEL_POLICY ? "qp" : NULL;
}

/* Has the flow's job port maps of the source of the queue pair? */
static bool is_mapped(const struct flow_row *row, struct steer *steer)
{
	struct rocesteer_source_key key = { .job = flow_row_job(row), .ifindex = row->key.ifindex };
	struct rocesteer_source source;

	memcpy(key.addr, row->flow.source, 16);
	return !steer_source_get(steer, &key, &source) && source.mapped;
}

/* Why the job could not steer the flow's queue pair, or NULL. */
static const char *reason_of(const struct flow_row *row, struct steer *steer)
{
	const struct genl_flow *flow = &row->flow;
	struct rocesteer_peer peer;
	struct rocesteer_job job;

	if (flow->origin != ROCESTEER_ORIGIN_LEARNT || !steer ||
	    steer_job_get(steer, flow_row_job(row), &job) ||
	    job.actuator == ROCESTEER_ACTUATOR_PACKET ||
	    (job.actuator == ROCESTEER_ACTUATOR_AUTO && flow->software))
		return NULL;
	if (flow->label == ROCESTEER_LABEL_OWN)
		return "own-label";
	if (job.keep_labels && (flow->label == ROCESTEER_LABEL_LANE ||
				flow->label == ROCESTEER_LABEL_CM))
		return "kept-label";
	if (steer_ports_get(steer, flow_row_job(row), &row->key, flow->source, &peer))
		return is_mapped(row, steer) ? "no-peer" : "other-source";
	return peer.qpn_hash ? "qpn-hash" : "connected-before";
}

/* Packets of a class that @tagged of struct rocesteer_flow_path has. */
static __u32 uncounted(const struct rocesteer_flow_path *path, __u32 class)
{
	return path && path->message.tag.class == class ? path->tagged : 0;
}

/* Packets by class, 0 first, where the job has chunks. */
static void put_classes(struct json_object *obj, const struct flow_row *row)
{
	struct json_object *array;
	__u32 i;

	if (!row->classes || !row->classes->nr)
		return;
	array = out_array(obj, "classes");
	for (i = 0; i <= row->classes->nr && i < ROCESTEER_MAX_CLASSES; i++)
		out_append_uint(array, row->tags->packets[i] + uncounted(row->path, i));
}

void flow_row_put(struct json_object *obj, const struct flow_row *row, struct steer *steer)
{
	const char *actuator = actuator_of(row);
	const char *reason = actuator ? NULL : reason_of(row, steer);

	const __u8 *source = row->path ? row->path->source : row->flow.source;

	out_uint(obj, "job", flow_row_job(row));
	if (!addr_is_none(source))
		out_addr(obj, "source", source);
	flow_put_key(obj, row->device->name, &row->key);
	if (actuator)
		out_string(obj, "actuator", actuator);
	if (reason)
		out_string(obj, "reason", reason);
	if (row->path) {
		if (!is_unknown(row->path))
			out_uint(obj, "path", row->path->piece[0].path);
		out_uint(obj, "port", ntohs(row->path->piece[0].sport));
		out_bool(obj, "share", row->path->flags & ROCESTEER_FLOW_SHARE);
		put_pieces(obj, row->path);
		if (actuator && row->promise)
			out_string(obj, "promise", promise_name(row->promise));
		out_addr(obj, "leaf", row->path->leaf);
		put_sent(obj, row->path);
		if (row->path->cnps)
			out_uint(obj, "cnps", row->path->cnps);
	}
	put_classes(obj, row);
	if (row->registered)
		flow_put(obj, &row->flow);
}
