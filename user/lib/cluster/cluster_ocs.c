// SPDX-License-Identifier: GPL-2.0
/* Circuits of a cluster file. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "cluster_priv.h"

/* A spine, or null: a port without a circuit. */
static struct json_object *spine_json(__u16 spine)
{
	return spine == OCS_DARK ? NULL : json_object_new_int(spine);
}

void cluster_move_circuits(struct cluster *c, const __u16 *circuit)
{
	struct json_object *rows = member(c->root, "circuits"), *row;
	__u32 leaf, oxc;

	for (leaf = 0; leaf < c->ocs.leaves; leaf++) {
		row = json_object_array_get_idx(rows, leaf);
		for (oxc = 0; oxc < c->ocs.oxcs; oxc++)
			json_object_array_put_idx(row, oxc, spine_json(*circuit++));
	}
}

struct json_object *cluster_changes_json(const struct ocs *ocs, const __u16 *from, const __u16 *to)
{
	struct json_object *array = json_object_new_array();
	__u32 leaf, oxc;

	for (leaf = 0; leaf < ocs->leaves; leaf++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, leaf, oxc);
			struct json_object *change;

			if (from && from[port] == to[port])
				continue;
			change = out_append_object(array);
			out_uint(change, "leaf", leaf);
			out_uint(change, "oxc", oxc);
			json_object_object_add(change, "from", from ?
					       spine_json(from[port]) : NULL);
			json_object_object_add(change, "to", spine_json(to[port]));
		}
	}
	return array;
}

static int invalid_circuit(struct reader *r, __u32 leaf, __u32 oxc, const char *fmt, __u32 number)
{
	char key[64];

	snprintf(key, sizeof(key), "circuits[%u][%u]", leaf, oxc);
	return reader_invalid(r, key, fmt, number);
}

/* @used: by spine, then OXC: ports in use */
static int read_row(struct ocs *ocs, struct reader *r, __u32 leaf,
		    struct json_object *row, __u32 *used)
{
	__u32 oxc;
	__u64 spine;

	if (json_object_get_type(row) != json_type_array ||
	    json_object_array_length(row) != ocs->oxcs) {
		char key[64];

		snprintf(key, sizeof(key), "circuits[%u]", leaf);
		return reader_invalid(r, key, "is not a list of %u spines", ocs->oxcs);
	}
	for (oxc = 0; oxc < ocs->oxcs; oxc++) {
		struct json_object *value = json_object_array_get_idx(row, oxc);

		if (!value)
			continue;
		if (!reader_in_range(value, 0, ocs->spines - 1, &spine))
			return invalid_circuit(r, leaf, oxc,
					       "is neither null nor a number from 0 to %u",
					       ocs->spines - 1);
		if (++used[spine * ocs->oxcs + oxc] > ocs->spine_ports)
			return invalid_circuit(r, leaf, oxc,
					       "the spine has no more than %u ports there",
					       ocs->spine_ports);
		ocs->circuit[ocs_port(ocs, leaf, oxc)] = spine;
	}
	return 0;
}

static int read_circuits(struct ocs *ocs, struct reader *r, struct json_object *root)
{
	struct json_object *rows;
	__u32 *used, leaf;
	int ret;

	ret = reader_get(r, root, "circuits", json_type_array, &rows);
	if (ret)
		return ret;
	if (json_object_array_length(rows) != ocs->leaves)
		return reader_invalid(r, "circuits", "needs an entry for each leaf: %u, not %zu",
				      ocs->leaves,
				      json_object_array_length(rows));
	used = calloc((size_t)ocs->spines * ocs->oxcs, sizeof(*used));
	if (!used)
		return -ENOMEM;
	for (leaf = 0; !ret && leaf < ocs->leaves; leaf++)
		ret = read_row(ocs, r, leaf, json_object_array_get_idx(rows, leaf), used);
	free(used);
	return ret;
}

/* All to all where the file does not say. */
static void make_circuits(struct cluster *c)
{
	struct json_object *rows = out_array(c->root, "circuits");
	__u32 leaf;

	ocs_wire_default(&c->ocs);
	for (leaf = 0; leaf < c->ocs.leaves; leaf++)
		out_append_array(rows);
	cluster_move_circuits(c, c->ocs.circuit);
}

int cluster_read_ocs(struct cluster *c, struct reader *r)
{
	static const char * const others[] = { "free_links", "links_per_pair" };
	const struct slice_fabric *fabric = &c->fabric;
	__u64 oxcs, ports;
	unsigned int i;
	int ret;

	ports = (fabric->leaves + fabric->spines - 1) / fabric->spines;
	ret = reader_uint(r, c->root, "oxcs", 1, SLICE_MAX_UPLINKS, &oxcs);
	if (!ret && json_object_object_get_ex(c->root, "spine_ports", NULL))
		ret = reader_uint(r, c->root, "spine_ports", 1, SLICE_MAX_LEAVES, &ports);
	if (ret)
		return ret;
	for (i = 0; i < 2; i++)
		if (json_object_object_get_ex(c->root, others[i], NULL))
			return reader_invalid(r, others[i],
					      "is not for a cluster with OXCs: see circuits");
	c->ocs.leaves = fabric->leaves;
	c->ocs.spines = fabric->spines;
	c->ocs.oxcs = oxcs;
	c->ocs.spine_ports = ports;
	if (ocs_init(&c->ocs))
		return -ENOMEM;
	if (json_object_object_get_ex(c->root, "circuits", NULL))
		return read_circuits(&c->ocs, r, c->root);
	make_circuits(c);
	return 0;
}

int cluster_own_circuit(struct cluster *c, struct reader *r,
			struct json_object *job, size_t i, __u32 leaf,
			__u32 spine)
{
	struct json_object *oxcs;
	size_t port;
	__u64 oxc;
	int ret;

	ret = reader_get(r, job, "oxcs", json_type_array, &oxcs);
	if (ret)
		return ret;
	if (i >= json_object_array_length(oxcs))
		return reader_invalid(r, "oxcs", "are fewer than the links");
	if (!reader_in_range(json_object_array_get_idx(oxcs, i), 0, c->ocs.oxcs - 1, &oxc)) {
		reader_enter(r, "oxcs", i);
		return reader_invalid(r, "", "is not a number from 0 to %u", c->ocs.oxcs - 1);
	}
	port = ocs_port(&c->ocs, leaf, oxc);
	if (!c->ocs.fixed[port] && c->ocs.circuit[port] == spine) {
		c->ocs.fixed[port] = true;
		c->ocs.shut[ocs_pair(&c->ocs, leaf, spine)] = true;
		return 0;
	}
	reader_enter(r, "oxcs", i);
	return reader_invalid(r, "", c->ocs.fixed[port] ?
			      "the port is owned more than once" :
			      "the circuit is not that of the link");
}

void cluster_count_circuits(const struct cluster *c, struct cluster_grid *links)
{
	const struct ocs *ocs = &c->ocs;
	__u32 leaf, oxc;

	for (leaf = 0; leaf < ocs->leaves; leaf++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, leaf, oxc);

			if (!ocs->fixed[port] && ocs->circuit[port] != OCS_DARK)
				++*cluster_cell(links, links->free, leaf, ocs->circuit[port]);
		}
	}
}

void cluster_mark_circuits(struct cluster *c, const struct cluster_grid *links)
{
	struct ocs *ocs = &c->ocs;
	__u32 leaf, oxc;

	for (leaf = 0; leaf < ocs->leaves; leaf++) {
		for (oxc = 0; oxc < ocs->oxcs; oxc++) {
			size_t port = ocs_port(ocs, leaf, oxc);
			__u16 *marked;

			if (ocs->fixed[port] || ocs->circuit[port] == OCS_DARK)
				continue;
			marked = cluster_cell(links, links->marked, leaf, ocs->circuit[port]);
			ocs->fixed[port] = *marked;
			*marked -= !!*marked;
		}
	}
	ocs_links(ocs, &c->fabric);
}
