// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer prog: the programs at TC, and the module that they call, are replaced while jobs
 * and their flows go on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "prog.h"
#include "../interrupt.h"
#include "../objects.h"

enum { MODULE };
enum { AUTO, YES, NO, REPLACE };

static const char * const module_words[] = {
	[AUTO] = "auto", [YES] = "yes", [NO] = "no", [REPLACE] = "replace", NULL
};

static const struct cli_option load_options[] = {
	[MODULE] = { "module", NULL,
		     "call the module (default: auto, if loaded), replace: by the installed one",
		     .words = module_words },
	{}
};

static const struct cli_option no_options[] = { {} };

static const struct out_column columns[] = {
	{ "version", "version" },
	{ "programs", "programs of version" },
	{ "tables", "layout of tables" },
	{ "module", "module called" },
	{ "module_version", "module loaded" },
	{ "module_replaced", "module replaced" },
	{ "adopted", "queue pairs adopted" },
	{ "kept", "kept without jobs" },
	{ "pins", "pins" },
	{}
};

static const struct out_view views[] = {
	{ .columns = columns },
	{}
};

#define NONE	"no programs are in place"

static const struct out_view no_views[] = {
	{ .columns = columns },
	{ .rows = "programs", .columns = columns, .empty = NONE },
	{}
};

/* A job that the programs know, and the module does not. */
static int register_job(__u32 id, const struct rocesteer_job *from, void *arg)
{
	struct genl_job job = {
		.id = id,
		.cgroup_id = from->cgroup_id,
		.pid = from->pid,
		.resequence = ROCESTEER_RESEQUENCE_OFF,
	};
	struct steer_steering steering;
	struct prog *p = arg;
	int ret;

	ret = steer_job_steering(p->steer, id, &steering);
	if (ret)
		return ret;
	if (from->reseq && steering.steered)
		job.resequence = ROCESTEER_RESEQUENCE_ON;
	snprintf(job.name, sizeof(job.name), "%s", from->name);
	ret = genl_job_add(p->genl, &job, p->err);
	switch (ret) {
	case -EEXIST:
	case -ENOENT:	/* its cgroup is gone */
	case -ESRCH:	/* its process is gone */
		p->err->code = NULL;
		return 0;
	}
	return ret;
}

static int register_flow(const struct rocesteer_flow_key *key,
			 const struct rocesteer_flow_path *path, void *arg)
{
	struct prog *p = arg;

	/* Flows that are steered by queue pair are the module's, by adoption. */
	if (!(path->flags & (ROCESTEER_FLOW_FROM_PACKET | ROCESTEER_FLOW_QP)) &&
	    genl_flow_add(p->genl, key, path->job, p->err))
		p->err->code = NULL;	/* known, or its job is none of the module's */
	return 0;
}

static int promise_order(const struct genl_flow *flow, void *arg)
{
	struct rocesteer_set_order set = { .key = flow->key, .orders = 1 };
	struct prog *p = arg;

	if (flow->resequenced)
		steer_set_order(p->steer, &set);
	return 0;
}

/* Register the jobs and flows of the tables in the module. */
static int join_module(struct prog *p)
{
	size_t i;
	int ret;

	ret = genl_open(&p->genl, p->err);
	if (ret)
		return ret;
	ret = steer_job_each(p->steer, register_job, p);
	if (!ret) {
		p->adopted = qps_adopt(p->genl, p->err);
		ret = p->adopted < 0 ? p->adopted : 0;
	}
	if (!ret)
		ret = steer_flow_each(p->steer, register_flow, p);
	for (i = 0; !ret && i < p->nr_listed; i++)
		if (genl_flow_add(p->genl, &p->listed[i].key, p->listed[i].job, p->err))
			p->err->code = NULL;
	if (!ret)
		ret = genl_flow_each(p->genl, promise_order, p, p->err);
	genl_close(p->genl);
	return ret;
}

static struct json_object *to_json(struct prog *p)
{
	struct json_object *root = out_root();
	struct rocesteer_version version;
	char text[64];

	out_string(root, "version", ROCESTEER_VERSION);
	if (p->steer && !steer_version(p->steer, &version)) {
		version.version[sizeof(version.version) - 1] = '\0';
		out_string(root, "programs", version.version);
		out_uint(root, "tables", version.abi);
	}
	if (p->steer)
		out_bool(root, "module", steer_has_module(p->steer));
	genl_module_says("version", text, sizeof(text));
	if (genl_module_is_loaded())
		out_string(root, "module_version", text);
	if (p->steer) {
		out_bool(root, "kept", steer_is_kept(p->steer));
		out_string(root, "pins", steer_pin_dir(p->steer));
	}
	return root;
}

static int load(struct prog *p, int module, struct json_object **root)
{
	struct err replacing = {};
	int ret = 0, failed = 0;

	if (module == REPLACE && genl_module_is_loaded() && prog_module_is_other()) {
		failed = prog_module_replace(p);
		if (failed && !genl_module_is_loaded())
			return failed;
		/* The old one is still there: back to it, and then say so. */
		replacing = *p->err;
		p->err->code = NULL;
	}
	if (module == YES && !genl_module_is_loaded()) {
		ret = genl_open(&p->genl, p->err);
		if (ret)
			return ret;
		genl_close(p->genl);
	}
	if (module == NO)
		ret = prog_module_leave(p) ?: steer_open(&p->steer, STEER_READ, p->err);
	else
		ret = steer_open(&p->steer, STEER_RENEW, p->err);
	if (ret)
		return ret;
	if (steer_has_module(p->steer))
		ret = join_module(p);
	if (!ret && failed) {
		*p->err = replacing;
		ret = failed;
	}
	if (ret)
		goto out;
	*root = to_json(p);
	if (module == REPLACE)
		out_bool(*root, "module_replaced", p->replaced);
	if (steer_has_module(p->steer))
		out_uint(*root, "adopted", p->adopted);
out:
	steer_close(p->steer);
	return ret;
}

static int run_load(const struct cli_args *args, struct err *err)
{
	struct prog p = { .err = err };
	struct json_object *root;
	int module = AUTO, ret;

	ret = cli_word(args, MODULE, &module, err) ?: permission_load(err);
	if (ret)
		return ret;
	interrupt_hold();
	ret = load(&p, module, &root);
	interrupt_release();
	free(p.listed);
	return ret ?: out_show(&args->out, root, views);
}

static int run_unload(const struct cli_args *args, struct err *err)
{
	struct steer *steer;
	int ret = steer_open(&steer, 0, err);

	if (ret == -ENOENT) {
		err->code = NULL;
		out_note(&args->out, NONE);
		return 0;
	}
	if (ret)
		return ret;
	steer_let_go(steer);
	steer_close(steer);
	return 0;
}

static int run_show(const struct cli_args *args, struct err *err)
{
	struct prog p = { .err = err };
	struct json_object *root;
	int ret = steer_open(&p.steer, STEER_READ, err);

	if (ret && ret != -ENOENT)
		return ret;
	err->code = NULL;
	root = to_json(&p);
	steer_close(p.steer);
	return out_show(&args->out, root, ret ? no_views : views);
}

static const struct cli_verb verbs[] = {
	{
		.name = "load",
		.help = "Put the programs of this version in place; jobs and flows go on",
		.options = load_options,
		.example = "prog load",
		.changes = true,
		.run = run_load,
	},
	{
		.name = "unload",
		.help = "Let programs go with the last job, or now if there is none",
		.options = no_options,
		.example = "prog unload",
		.changes = true,
		.run = run_unload,
	},
	{
		.name = "show",
		.help = "Show which programs and module are in place",
		.options = no_options,
		.example = "prog show",
		.shows = true,
		.run = run_show,
	},
	{}
};

const struct cli_object cli_prog = {
	.name = "prog",
	.help = "replace the programs and the module while jobs go on",
	.verbs = verbs,
};
