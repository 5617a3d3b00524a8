// SPDX-License-Identifier: GPL-2.0
/* Fields of a cluster file that this version does not know. */
#include <errno.h>
#include <stdio.h>

#include "base/base.h"
#include "cluster_priv.h"

static const char * const fields[] = {
	"leaves", "spines", "gpus_per_leaf", "gpus_per_server", "links_per_pair",
	"parallel_links", "oxcs", "spine_ports", "circuits", "generation",
	"free_gpus", "free_links", "routers", "leaf_addrs", "spine_addrs", "nics",
	"nodes", "reduce_memory", "jobs", "queue", "drained", "failed", NULL
};

static void warn(const char *file, struct json_object *root, const char *in,
		 const char * const *known)
{
	struct json_object *obj = root;
	char quoted[64];

	if (in)
		json_object_object_get_ex(root, in, &obj);
	if (json_object_get_type(obj) != json_type_object)
		return;
	json_object_object_foreach(obj, key, value) {
		(void)value;
		if (words_find(known, key) >= 0)
			continue;
		fprintf(stderr, "%s: %s: %s%s%s: is not a known field: it has no effect\n",
			program_invocation_short_name, file, in ?: "",
			in ? "." : "",
			reader_quote(key, quoted, sizeof(quoted)));
	}
}

void cluster_warn_unknown(const struct cluster *c)
{
	static bool told;	/* a command may read the file several times */

	if (told)
		return;
	told = true;
	warn(c->file, c->root, NULL, fields);
	warn(c->file, c->root, cluster_mark_names[CLUSTER_DRAINED], cluster_part_names);
	warn(c->file, c->root, cluster_mark_names[CLUSTER_FAILED], cluster_part_names);
}
