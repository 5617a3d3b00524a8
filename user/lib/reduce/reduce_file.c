// SPDX-License-Identifier: GPL-2.0
/* The reader of group files: a file is untrusted, every field is checked. */
#include <json-c/json.h>
#include <string.h>

#include "base/base.h"
#include "reduce.h"

#define MAX_SIZE	1048576		/* 64 ranks need 10 KiB */
#define MAX_DEPTH	8		/* the format needs 4 */
#define MAX_24		0xffffff
#define MAX_SWITCH	65535

/* json-c saturates at the greatest number, so this number is refused. */
#define MAX_ADDRESS	(~0ULL - 1)

static const char * const group_fields[] = {
	"group", "type", "op", "mtu", "packets", "window", "root", "box", "ranks", NULL
};

static const char * const rank_fields[] = {
	"address", "leaf", "qpn", "psn", "va", "sender_qpn", NULL
};

/* A field that is misspelt is not one that is left out. */
static int check_fields(struct reader *r, struct json_object *obj,
			const char * const *fields)
{
	char quoted[64], all[128];

	if (json_object_get_type(obj) != json_type_object)
		return reader_invalid(r, r->where[0] ? "" : "(root)", "is not an object");
	json_object_object_foreach(obj, key, value) {
		(void)value;
		if (words_find(fields, key) < 0)
			return reader_invalid(r, reader_quote(key, quoted, sizeof(quoted)),
					      "is not one of %s",
					      words_list(fields, all, sizeof(all)));
	}
	return 0;
}

/* A number of a switch that may be absent. */
static int read_switch(struct reader *r, struct json_object *obj, const char *field,
		       __u32 absent, __u32 *number)
{
	__u64 value = absent;
	int ret = 0;

	if (json_object_object_get_ex(obj, field, NULL))
		ret = reader_uint(r, obj, field, 0, MAX_SWITCH, &value);
	*number = value;
	return ret;
}

/* Acknowledgments to a rank go by way of the box, if there is one. */
static int read_sender(struct reader *r, struct json_object *obj, bool box, __u32 *qpn)
{
	__u64 value = 0;
	int ret = 0;

	if (box)
		ret = reader_uint(r, obj, "sender_qpn", 0, MAX_24, &value);
	else if (json_object_object_get_ex(obj, "sender_qpn", NULL))
		ret = reader_invalid(r, "sender_qpn", "is there, but the group has no box");
	*qpn = value;
	return ret;
}

static int read_rank(struct reader *r, struct json_object *obj, bool box,
		     struct reduce_rank *rank)
{
	__u64 qpn, psn, va;
	int ret;

	ret = check_fields(r, obj, rank_fields) ?:
	      reader_addr(r, obj, "address", rank->address) ?:
	      read_switch(r, obj, "leaf", 0, &rank->leaf) ?:
	      reader_uint(r, obj, "qpn", 0, MAX_24, &qpn) ?:
	      reader_uint(r, obj, "psn", 0, MAX_24, &psn) ?:
	      reader_uint(r, obj, "va", 0, MAX_ADDRESS, &va) ?:
	      read_sender(r, obj, box, &rank->sender_qpn);
	if (ret)
		return ret;
	rank->qpn = qpn;
	rank->psn = psn;
	rank->va = va;
	return 0;
}

static int read_ranks(struct reader *r, struct json_object *root,
		      struct reduce_config *config)
{
	struct json_object *array;
	size_t n, i, mark;
	int ret;

	ret = reader_get(r, root, "ranks", json_type_array, &array);
	if (ret)
		return ret;
	n = json_object_array_length(array);
	if (n < REDUCE_MIN_RANKS || n > REDUCE_MAX_RANKS)
		return reader_invalid(r, "ranks", "has %zu entries, not %u to %u", n,
				      REDUCE_MIN_RANKS, REDUCE_MAX_RANKS);
	for (i = 0; i < n; i++) {
		mark = reader_enter(r, "ranks", i);
		ret = read_rank(r, json_object_array_get_idx(array, i),
				reduce_config_is_box(config), &config->rank[i]);
		if (ret)
			return ret;
		if (addr_is_v4(config->rank[i].address) !=
		    addr_is_v4(config->rank[0].address))
			return reader_invalid(r, "address", "is not of the family of ranks[0]");
		if (i && config->rank[i].leaf < config->rank[i - 1].leaf)
			return reader_invalid(r, "leaf", "%u is below that of the rank before",
					      config->rank[i].leaf);
		reader_leave(r, mark);
	}
	config->nr_ranks = n;
	return 0;
}

/* The box is beside the switches, so there is neither leaf nor root. */
static int read_box(struct reader *r, struct json_object *root, struct reduce_config *config)
{
	if (!json_object_object_get_ex(root, "box", NULL))
		return 0;
	if (config->root != REDUCE_NO_ROOT)
		return reader_invalid(r, "box", "and root exclude each other");
	return reader_addr(r, root, "box", config->box);
}

/* What is said of the box and of the ranks' addresses fits together. */
static int check_box(struct reader *r, const struct reduce_config *config)
{
	__u32 i;

	if (!reduce_config_is_box(config))
		return 0;
	if (addr_is_v4(config->box) != addr_is_v4(config->rank[0].address))
		return reader_invalid(r, "box", "is not of the family of ranks[0]");
	for (i = 0; i < config->nr_ranks; i++)
		if (!addr_compare(config->box, config->rank[i].address))
			return reader_invalid(r, "box", "is the address of ranks[%u]", i);
	return 0;
}

static int read_group(struct reader *r, struct json_object *root,
		      struct reduce_config *config)
{
	__u64 id, mtu, packets, window;
	int type, op, ret;

	ret = check_fields(r, root, group_fields) ?:
	      reader_uint(r, root, "group", 0, REDUCE_MAX_GROUP, &id) ?:
	      reader_word(r, root, "type", reduce_types, &type) ?:
	      reader_word(r, root, "op", reduce_ops, &op) ?:
	      reader_uint(r, root, "mtu", 256, 4096, &mtu) ?:
	      reader_uint(r, root, "packets", 1, ROCESTEER_REDUCE_MAX_WINDOW, &packets) ?:
	      reader_uint(r, root, "window", 1, ROCESTEER_REDUCE_MAX_WINDOW, &window) ?:
	      read_switch(r, root, "root", REDUCE_NO_ROOT, &config->root) ?:
	      read_box(r, root, config);
	if (ret)
		return ret;
	if (mtu & (mtu - 1))
		return reader_invalid(r, "mtu", "%llu is not one of 256, 512, 1024, 2048, 4096",
				      mtu);
	if (packets * window > ROCESTEER_REDUCE_MAX_WINDOW)
		return reader_invalid(r, "window",
				      "%llu messages of %llu packets are more than %u packets",
				      window, packets, ROCESTEER_REDUCE_MAX_WINDOW);
	config->id = id;
	config->type = type;
	config->op = op;
	config->mtu = mtu;
	config->packets = packets;
	config->window = window;
	config->joined = true;
	return read_ranks(r, root, config) ?: check_box(r, config);
}

int reduce_file_read(struct reduce_config *config, const char *file, struct err *err)
{
	bool standard = !strcmp(file, "-");
	struct reader r = { .file = standard ? JSON_STDIN : file, .err = err };
	struct json_object *root;
	int ret;

	*config = (struct reduce_config) {};
	if (standard)
		ret = json_stdin_read(MAX_SIZE, MAX_DEPTH, &root, err);
	else
		ret = json_file_read(file, MAX_SIZE, MAX_DEPTH, &root, err);
	if (ret)
		return ret;
	ret = read_group(&r, root, config);
	json_object_put(root);
	return ret;
}

static bool has_leaf(const struct reduce_config *config, __u32 leaf)
{
	__u32 i;

	for (i = 0; i < config->nr_ranks; i++)
		if (config->rank[i].leaf == leaf)
			return true;
	return false;
}

int reduce_config_role(struct reduce_config *config, const struct reduce_switch *self,
		       struct err *err)
{
	bool one = config->rank[0].leaf == config->rank[config->nr_ranks - 1].leaf;

	config->role = ROCESTEER_REDUCE_ROLE_ALONE;
	if (reduce_config_is_box(config) && (self->is_leaf || self->is_spine))
		return err_set(err, EXIT_BAD_INPUT, "box",
			       "--leaf and --spine: a box sums for group %u", config->id);
	if (self->is_leaf) {
		if (!has_leaf(config, self->number))
			return err_set(err, EXIT_BAD_INPUT, "leaf",
				       "--leaf: no rank of group %u is below leaf %llu",
				       config->id, self->number);
		config->leaf = self->number;
		config->role = one ? ROCESTEER_REDUCE_ROLE_ALONE : ROCESTEER_REDUCE_ROLE_LEAF;
	}
	if (self->is_spine) {
		if (one || config->root != self->number)
			return err_set(err, EXIT_BAD_INPUT, "spine",
				       "--spine: spine %llu is not the root of group %u",
				       self->number, config->id);
		config->role = ROCESTEER_REDUCE_ROLE_ROOT;
	}
	return 0;
}
