// SPDX-License-Identifier: GPL-2.0
/* rocesteer plan --prior: a file is untrusted, every field is checked. */
#include <errno.h>
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>

#include "../lib/jsonfile.h"
#include "plan.h"

#define MAX_BYTES	(256u << 20)	/* the largest plan, twice */
#define MAX_DEPTH	8		/* the format needs 3 */

/* Where in the file we are, for messages. */
struct reader {
	const char *file;
	size_t piece;
	struct err *err;
};

static int get_uint(const struct reader *r, struct json_object *obj,
		    const char *key, __u64 min, __u64 max, __u64 *number)
{
	struct json_object *value;

	if (!json_object_object_get_ex(obj, key, &value))
		return err_set(r->err, EXIT_BAD_INPUT, "bad-file",
			       "%s: pieces[%zu].%s: is missing", r->file,
			       r->piece, key);
	*number = json_object_get_uint64(value);
	if (json_object_get_type(value) != json_type_int ||
	    json_object_get_int64(value) < 0 || *number < min || *number > max)
		return err_set(r->err, EXIT_BAD_INPUT, "bad-file",
			       "%s: pieces[%zu].%s: is not a number from %llu to %llu",
			       r->file, r->piece, key, min, max);
	return 0;
}

/* @before: the piece before, or NULL */
static int read_piece(const struct reader *r, struct json_object *obj,
		      const struct plan_piece *before,
		      struct plan_piece *piece)
{
	__u64 flow, path, from;
	bool next;
	int ret;

	ret = get_uint(r, obj, "flow", before ? before->flow : 0,
		       PLAN_MAX_FLOWS - 1, &flow) ?:
	      get_uint(r, obj, "path", 0, PLAN_MAX_PATHS - 1, &path);
	if (ret)
		return ret;
	next = before && before->flow == flow;
	from = next ? before->to : 0;
	ret = get_uint(r, obj, "from", from, from, &from) ?:
	      get_uint(r, obj, "to", from + 1, INT64_MAX, &piece->to);
	piece->flow = flow;
	piece->path = path;
	piece->from = from;
	return ret;
}

static int read_pieces(struct reader *r, struct json_object *root, __u32 flows,
		       struct plan_piece **pieces, size_t *nr_pieces)
{
	struct json_object *array;
	struct plan_piece *piece;
	size_t nr;
	int ret;

	if (!json_object_object_get_ex(root, "pieces", &array) ||
	    json_object_get_type(array) != json_type_array)
		return err_set(r->err, EXIT_BAD_INPUT, "bad-file",
			       "%s: pieces: is not an array", r->file);
	nr = json_object_array_length(array);
	*pieces = calloc(nr + 1, sizeof(**pieces));
	if (!*pieces)
		return -ENOMEM;
	for (; r->piece < nr; r->piece++) {
		piece = &(*pieces)[r->piece];
		ret = read_piece(r, json_object_array_get_idx(array, r->piece),
				 r->piece ? piece - 1 : NULL, piece);
		if (ret)
			return ret;
		if (piece->flow < flows)
			*nr_pieces = r->piece + 1;
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
