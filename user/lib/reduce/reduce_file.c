// SPDX-License-Identifier: GPL-2.0
/* Groups as JSON, and what a switch does for them: nothing of netlink. */
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

/* Refuse unknown fields: a field may be misspelt, not left out. */
static int check_fields(struct reader *r, struct json_object *obj, const char * const *fields)
{
	char quoted[64], all[128];
	int ret = reader_object(r, obj);

	if (ret)
		return ret;
	json_object_object_foreach(obj, key, value) {
		(void)value;
		if (words_find(fields, key) < 0)
			return reader_invalid(r, reader_quote(key, quoted, sizeof(quoted)),
					      "is not one of %s",
					      words_list(fields, all, sizeof(all)));
	}
	return 0;
}

/* Read the number of a switch. If the field is absent, and not @needed, @number stays. */
static int read_switch(struct reader *r, struct json_object *obj, const char *field,
		       bool needed, __u32 *number)
{
	__u64 value = *number;
	int ret = 0;

	if (needed || json_object_object_get_ex(obj, field, NULL))
		ret = reader_uint(r, obj, field, 0, MAX_SWITCH, &value);
	*number = value;
	return ret;
}

/* Acknowledgments to a rank go by way of the box, if there is one. */
static int read_sender(struct reader *r, struct json_object *obj, bool box, __u64 *qpn)
{
	*qpn = 0;
	if (box)
		return reader_uint(r, obj, "sender_qpn", 0, MAX_24, qpn);
	if (json_object_object_get_ex(obj, "sender_qpn", NULL))
		return reader_invalid(r, "sender_qpn", "needs a box, the group has none");
	return 0;
}

static int read_queues(struct reader *r, struct json_object *obj, bool box,
		       struct reduce_rank *rank)
{
	__u64 qpn, psn, va, sender_qpn;
	int ret;

	ret = reader_uint(r, obj, "qpn", 0, MAX_24, &qpn) ?:
	      reader_uint(r, obj, "psn", 0, MAX_24, &psn) ?:
	      reader_uint(r, obj, "va", 0, MAX_ADDRESS, &va) ?:
	      read_sender(r, obj, box, &sender_qpn);
	if (ret)
		return ret;
	rank->qpn = qpn;
	rank->psn = psn;
	rank->va = va;
	rank->sender_qpn = sender_qpn;
	return 0;
}

static int read_rank(struct reader *r, struct json_object *obj,
		     const struct reduce_config *config, struct reduce_rank *rank)
{
	bool joined = config->joined;
	int ret;

	ret = (joined ? check_fields(r, obj, rank_fields) : 0) ?:
	      reader_addr(r, obj, "address", rank->address) ?:
	      read_switch(r, obj, "leaf", !joined, &rank->leaf);
	if (!ret && joined)
		return read_queues(r, obj, reduce_config_is_box(config), rank);
	if (!ret && json_object_object_get_ex(obj, "router", NULL))
		return reader_addr(r, obj, "router", rank->router);
	return ret;
}

static int read_ranks(struct reader *r, struct json_object *obj, struct reduce_config *config)
{
	struct json_object *array;
	size_t n, i, mark;
	int ret;

	ret = reader_array(r, obj, "ranks", REDUCE_MIN_RANKS, ROCESTEER_REDUCE_MAX_RANKS, &array,
			   &n);
	if (ret)
		return ret;
	for (i = 0; i < n; i++) {
		struct reduce_rank *rank = &config->rank[i];

		mark = reader_enter(r, "ranks", i);
		ret = read_rank(r, json_object_array_get_idx(array, i), config, rank);
		if (ret)
			return ret;
		if (addr_is_v4(rank->address) != addr_is_v4(config->rank[0].address))
			return reader_invalid(r, "address", "is not of the family of ranks[0]");
		if (i && rank->leaf < rank[-1].leaf)
			return reader_invalid(r, "leaf", "%u is below that of the rank before",
					      rank->leaf);
		reader_leave(r, mark);
	}
	config->nr_ranks = n;
	return 0;
}

/* Leaves meet at the root. In a file for one switch, the switch may be the root itself. */
static int check_root(struct reader *r, const struct reduce_config *config)
{
	if (config->joined || config->root != REDUCE_NO_ROOT || reduce_config_has_one_leaf(config))
		return 0;
	return reader_invalid(r, "root", "is missing: the ranks have more than one leaf");
}

/* Check the address of the box against those of the ranks. */
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

/* The box is beside the switches, so there is neither leaf nor root. */
static int read_box(struct reader *r, struct json_object *obj, struct reduce_config *config)
{
	if (!json_object_object_get_ex(obj, "box", NULL))
		return 0;
	if (config->root != REDUCE_NO_ROOT)
		return reader_invalid(r, "box", "and root exclude each other");
	return reader_addr(r, obj, "box", config->box);
}

/* Read the fields of a group that is joined. */
static int read_joined(struct reader *r, struct json_object *obj, struct reduce_config *config)
{
	int type, op, ret;

	ret = reader_word(r, obj, "type", reduce_types, &type) ?:
	      reader_word(r, obj, "op", reduce_ops, &op);
	if (ret)
		return ret;
	config->type = type;
	config->op = op;
	return read_box(r, obj, config);
}

static int read_sizes(struct reader *r, struct json_object *obj, struct reduce_config *config)
{
	__u64 mtu, packets, window;
	int ret;

	ret = reader_uint(r, obj, "mtu", 256, 4096, &mtu) ?:
	      reader_uint(r, obj, "packets", 1, ROCESTEER_REDUCE_MAX_WINDOW, &packets) ?:
	      reader_uint(r, obj, "window", 1, ROCESTEER_REDUCE_MAX_WINDOW, &window);
	if (ret)
		return ret;
	if (mtu & (mtu - 1))
		return reader_invalid(r, "mtu", "%llu is not one of 256, 512, 1024, 2048, 4096",
				      mtu);
	if (packets * window > ROCESTEER_REDUCE_MAX_WINDOW)
		return reader_invalid(r, "window",
				      "%llu messages of %llu packets are more than %u packets",
				      window, packets, ROCESTEER_REDUCE_MAX_WINDOW);
	config->mtu = mtu;
	config->packets = packets;
	config->window = window;
	return 0;
}

int reduce_config_read(struct reader *r, struct json_object *obj, struct reduce_config *config)
{
	__u64 id;
	int ret;

	ret = (config->joined ? check_fields(r, obj, group_fields) : 0) ?:
	      reader_uint(r, obj, "group", 0, ROCESTEER_REDUCE_MAX_GROUP, &id);
	if (ret)
		return ret;
	config->id = id;
	config->root = REDUCE_NO_ROOT;
	return read_sizes(r, obj, config) ?:
	       read_switch(r, obj, "root", false, &config->root) ?:
	       (config->joined ? read_joined(r, obj, config) : 0) ?:
	       read_ranks(r, obj, config) ?:
	       check_root(r, config) ?:
	       check_box(r, config);
}

static void put_rank(struct json_object *obj, const struct reduce_config *config,
		     const struct reduce_rank *rank)
{
	out_addr(obj, "address", rank->address);
	out_uint(obj, "leaf", rank->leaf);
	if (!config->joined) {
		if (!addr_is_none(rank->router))
			out_addr(obj, "router", rank->router);
		return;
	}
	out_uint(obj, "qpn", rank->qpn);
	out_uint(obj, "psn", rank->psn);
	out_uint(obj, "va", rank->va);
	if (reduce_config_is_box(config))
		out_uint(obj, "sender_qpn", rank->sender_qpn);
}

void reduce_config_put(struct json_object *obj, const struct reduce_config *config)
{
	struct json_object *ranks;
	__u32 i;

	out_uint(obj, "group", config->id);
	if (config->root != REDUCE_NO_ROOT)
		out_uint(obj, "root", config->root);
	if (reduce_config_is_box(config))
		out_addr(obj, "box", config->box);
	if (config->joined) {
		out_string(obj, "type", reduce_name(reduce_types, config->type));
		out_string(obj, "op", reduce_name(reduce_ops, config->op));
	}
	out_uint(obj, "mtu", config->mtu);
	out_uint(obj, "packets", config->packets);
	out_uint(obj, "window", config->window);
	ranks = out_array(obj, "ranks");
	for (i = 0; i < config->nr_ranks; i++)
		put_rank(out_append_object(ranks), config, &config->rank[i]);
}

int reduce_file_read(struct reduce_config *config, const char *file, struct err *err)
{
	bool standard = !strcmp(file, "-");
	struct reader r = { .file = standard ? JSON_STDIN : file, .err = err };
	struct json_object *root;
	int ret;

	*config = (struct reduce_config) { .joined = true };
	if (standard)
		ret = json_stdin_read(MAX_SIZE, MAX_DEPTH, &root, err);
	else
		ret = json_file_read(file, MAX_SIZE, MAX_DEPTH, &root, err);
	if (ret)
		return ret;
	ret = reduce_config_read(&r, root, config);
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
	bool one = reduce_config_has_one_leaf(config);

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
