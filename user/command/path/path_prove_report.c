// SPDX-License-Identifier: GPL-2.0
/* rocesteer path prove --report: what was found, to be sent to us. */
#include <json-c/json.h>
#include <sys/utsname.h>

#include "path_prove.h"

static void put_rows(const struct proof *p, struct json_object *root)
{
	struct json_object *array = out_array(root, "labels"), *obj;
	size_t i;

	for (i = 0; i < p->nr_rows; i++) {
		const struct prove_row *row = &p->rows[i];

		obj = out_append_object(array);
		out_uint(obj, "label", row->label);
		if (!row->answered)
			continue;
		out_uint(obj, "made", row->answer.sport);
		out_uint(obj, "us", row->answer.ns / 1000);
		if (!addr_is_none(row->expected))
			out_bool(obj, "as_expected",
				 !addr_compare(row->expected, row->answer.router));
	}
	path_prove_put_hops(p, root, array);
}

/* Copy a text of the result. */
static void put_text(struct json_object *to, struct json_object *from, const char *key)
{
	struct json_object *value;

	if (json_object_object_get_ex(from, key, &value))
		out_string(to, key, json_object_get_string(value));
}

static void put_verdicts(const struct proof *p, struct json_object *root)
{
	struct json_object *array, *flow;
	size_t i;

	if (json_object_object_get_ex(p->root, "flow", &flow)) {
		struct json_object *obj = out_object(root, "flow");

		put_text(obj, flow, "actuator");
		put_text(obj, flow, "reason");
		put_text(obj, flow, "label");
	}
	json_object_object_get_ex(p->root, "verdicts", &array);
	root = out_array(root, "verdicts");
	for (i = 0; i < json_object_array_length(array); i++)
		put_text(out_append_object(root), json_object_array_get_idx(array, i), "verdict");
}

int path_prove_report(const struct proof *p, const char *file)
{
	struct json_object *root = out_root();
	struct utsname host;

	uname(&host);
	out_string(root, "report", "path prove");
	out_string(root, "version", ROCESTEER_VERSION);
	out_string(root, "kernel", host.release);
	prove_describe(p->prove, root);
	put_rows(p, root);
	put_verdicts(p, root);
	return json_file_write(file, root, JSON_C_TO_STRING_PRETTY, p->err);
}
