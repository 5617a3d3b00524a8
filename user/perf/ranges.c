// SPDX-License-Identifier: GPL-2.0
/* Addresses in the memory of each peer, by chunk and stage. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "perf.h"

/* Memory that a stage writes at a member; adjacent ranges are joined. */
struct claim {
	__u32 dim;
	__u32 member;
	__u32 chunk;
	__u32 stage;
	struct range range;
};

struct claims {
	struct claim *claim;
	__u32 nr;
	__u32 room;
	bool failed;
};

static void add(void *arg, __u32 chunk, __u32 stage, const struct message *message)
{
	struct claims *claims = arg;
	struct claim *more;

	if (!message->elements || claims->failed)
		return;
	if (claims->nr == claims->room) {
		claims->room = 2 * claims->room + 1024;
		more = realloc(claims->claim, claims->room * sizeof(*more));
		claims->failed = !more;
		if (!more)
			return;
		claims->claim = more;
	}
	claims->claim[claims->nr++] = (struct claim) {
		.dim = message->dim,
		.member = message->member,
		.chunk = chunk,
		.stage = stage,
		.range = { message->to, message->to + message->elements },
	};
}

static int compare(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->dim != y->dim)
		return x->dim < y->dim ? -1 : 1;
	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	return (x->range.from > y->range.from) -
	       (x->range.from < y->range.from);
}

static bool touch(const struct claim *before, const struct claim *claim)
{
	return before->dim == claim->dim && before->member == claim->member &&
	       before->chunk == claim->chunk &&
	       before->stage == claim->stage &&
	       before->range.to == claim->range.from;
}

static void unite(struct claims *claims)
{
	__u32 i, nr = 0;

	qsort(claims->claim, claims->nr, sizeof(*claims->claim), compare);
	for (i = 0; i < claims->nr; i++)
		if (nr && touch(&claims->claim[nr - 1], &claims->claim[i]))
			claims->claim[nr - 1].range.to =
				claims->claim[i].range.to;
		else
			claims->claim[nr++] = claims->claim[i];
	claims->nr = nr;
}

static void add_ranges(struct json_object *root,
		       const struct perf_config *config, const struct nic *nic,
		       const struct claims *claims)
{
	struct json_object *array = out_array(root, "ranges");
	__u32 i;

	for (i = 0; i < claims->nr; i++) {
		const struct claim *claim = &claims->claim[i];
		struct json_object *obj = out_append_object(array);
		char start[24];

		snprintf(start, sizeof(start), "0x%llx", WINDOW_IOVA + claim->range.from * ELEMENT);
		out_addr(obj, "peer", nic_peer(&nic[claim->dim], claim->member));
		out_uint(obj, "rank", layout_rank(&config->layout,
						  config->launch.rank,
						  claim->dim, claim->member));
		out_uint(obj, "dimension", claim->dim);
		out_uint(obj, "chunk", claim->chunk);
		out_uint(obj, "stage", claim->stage);
		out_string(obj, "start", start);
		out_uint(obj, "length", (claim->range.to - claim->range.from) * ELEMENT);
	}
}

/* The network device of a GID, or "" if it is not known. */
static void netdev_name(const struct nic *nic, char *name, size_t size)
{
	char file[256];
	FILE *in;

	snprintf(file, sizeof(file),
		 "/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/%d",
		 nic->device.name, nic->device.gid_index);
	in = fopen(file, "re");
	if (!in || !fgets(name, size, in))
		name[0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	if (in)
		fclose(in);
}

static struct json_object *to_json(const struct perf_config *config,
				   const struct nic *nic,
				   const struct claims *claims)
{
	const struct chunk_collective *of = &config->plan.of;
	struct json_object *root = out_root(), *array;
	char text[32];
	__u32 k;

	snprintf(text, sizeof(text), "%016llx", chunk_plan_hash(&config->plan));
	out_uint(root, "format", 1);
	out_uint(root, "rank", config->launch.rank);
	out_string(root, "hash", text);
	array = out_array(root, "dimensions");
	for (k = 0; k < of->dims; k++) {
		struct json_object *obj;

		if (of->dim[k].endpoints == 1)
			continue;
		obj = out_append_object(array);
		netdev_name(&nic[k], text, sizeof(text));
		out_uint(obj, "dimension", k);
		out_string(obj, "device", nic[k].device.name);
		out_string(obj, "netdev", text);
		out_addr(obj, "source", nic[k].device.gid.raw);
	}
	add_ranges(root, config, nic, claims);
	return root;
}

int perf_ranges_check(const struct perf_config *config, struct err *err)
{
	return file_check(config->ranges, "{\"format\":1,\"rank\":", "file of ranges", err);
}

int perf_ranges_write(const struct perf_config *config, const struct nic *nic, struct err *err)
{
	struct claims claims = {};
	struct json_object *root;
	struct file_new new;
	int ret = perf_ranges_check(config, err);

	if (ret)
		return ret;
	engine_messages(&config->layout, config->launch.rank, add, &claims);
	if (claims.failed) {
		free(claims.claim);
		return -ENOMEM;
	}
	unite(&claims);
	root = to_json(config, nic, &claims);
	free(claims.claim);
	ret = file_begin(&new);
	if (!ret) {
		fputs(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
						     JSON_C_TO_STRING_NOSLASHESCAPE),
		      new.out);
		ret = file_replace(config->ranges, &new);
	}
	json_object_put(root);
	return ret ? err_errno(err, abs(ret), "ranges", "%s", config->ranges) : 0;
}
