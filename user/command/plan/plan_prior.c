// SPDX-License-Identifier: GPL-2.0
/* rocesteer plan --prior: a file is untrusted, every field is checked. */
#include <errno.h>
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/base.h"
#include "plan.h"

#define MAX_BYTES	(256u << 20)	/* the largest plan, twice */
#define MAX_DEPTH	8		/* the format needs 3 */

/* @before: the piece before, or NULL */
static int read_piece(struct reader *r, struct json_object *obj,
		      const struct plan_piece *before,
		      struct plan_piece *piece)
{
	__u64 flow, path, from;
	bool next;
	int ret;

	ret = reader_uint(r, obj, "flow", before ? before->flow : 0, PLAN_MAX_FLOWS - 1, &flow) ?:
	      reader_uint(r, obj, "path", 0, PLAN_MAX_PATHS - 1, &path);
	if (ret)
		return ret;
	next = before && before->flow == flow;
	from = next ? before->to : 0;
	ret = reader_uint(r, obj, "from", from, from, &from) ?:
	      reader_uint(r, obj, "to", from + 1, INT64_MAX, &piece->to);
	piece->flow = flow;
	piece->path = path;
	piece->from = from;
	return ret;
}

static int read_pieces(struct reader *r, struct json_object *root, __u32 flows,
		       struct plan_piece **pieces, size_t *nr_pieces)
{
	struct json_object *array;
	size_t nr, i;
	int ret;

	ret = reader_get(r, root, "pieces", json_type_array, &array);
	if (ret)
		return ret;
	nr = json_object_array_length(array);
	*pieces = calloc(nr + 1, sizeof(**pieces));
	if (!*pieces)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		struct plan_piece *piece = &(*pieces)[i];
		size_t mark = reader_enter(r, "pieces", i);

		ret = read_piece(r, json_object_array_get_idx(array, i),
				 i ? piece - 1 : NULL, piece);
		if (ret)
			return ret;
		reader_leave(r, mark);
		if (piece->flow < flows)
			*nr_pieces = i + 1;
	}
	return 0;
}

int plan_prior_read(const char *file, __u32 flows, struct plan_piece **pieces,
		    size_t *nr_pieces, struct err *err)
{
	struct reader r = { .file = file, .err = err };
	struct json_object *root;
	int ret;

	*pieces = NULL;
	*nr_pieces = 0;
	ret = json_file_read(file, MAX_BYTES, MAX_DEPTH, &root, err);
	if (ret)
		return ret;
	ret = read_pieces(&r, root, flows, pieces, nr_pieces);
	json_object_put(root);
	return ret;
}
