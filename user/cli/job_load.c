// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer job load: validate everything, then the tables, then the module.
 * Whatever fails is undone in reverse order.
 */
#include <errno.h>
#include <linux/magic.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../lib/feed.h"
#include "../lib/names.h"
#include "../lib/portmap.h"
#include "../lib/steer.h"
#include "job.h"
#include "module.h"

enum {
	JOB, NAME, PATHS, CGROUP, PID, FLOW, ALL, SPLIT, RESEQUENCE, ACTUATOR,
	MODULE,
};

const struct cli_option job_load_options[] = {
	[JOB] = { "job", "ID", "number of the job" },
	[NAME] = { "name", "NAME", "name for people" },
	[PATHS] = { "paths", "FILE", "port map, from rocesteer path discover" },
	[CGROUP] = { "cgroup", "PATH",
		     "the flows of processes in this cgroup v2 directory" },
	[PID] = { "pid", "PID", "the flows of this process" },
	[FLOW] = { "flow", "ADDR/QPN[,..]",
		   "these flows: peer address / destination QPN" },
	[ALL] = { "all", NULL, "all flows of the device no other job claims" },
	[SPLIT] = { "split", "none|wrap|equal",
		    "how rocesteer daemon splits flows (default: none)" },
	[RESEQUENCE] = { "resequence", "auto|on|off",
			 "restore the order of split flows (default: auto with --split)" },
	[ACTUATOR] = { "actuator", "auto|packet|qp",
		       "steer packets or queue pairs (default: auto, by device)" },
	[MODULE] = { "module", "auto|yes|no",
		     "use the kernel module (default: auto, if it is loaded)" },
	{}
};

struct load {
	const struct cli_args *args;
	struct err *err;
	struct portmap map;
	struct steer_job_spec spec;
	struct rocesteer_flow_key *flows;
	enum module_use use;
	struct genl *genl;
	struct steer *steer;
};

static const struct out_column columns[] = {
	{ "job", "job" },
	{ "name", "name" },
	{ "device", "device" },
	{ "peers", "peers" },
	{ "actuator", "actuator" },
	{ "module", "module" },
	{ "pins", "pins" },
	{}
};

static const struct out_view views[] = {
	{ .columns = columns },
	{}
};

static int read_owner(struct load *l)
{
	static const int owners[] = { CGROUP, PID, FLOW, ALL };
	unsigned int i, given = 0;

	for (i = 0; i < ARRAY_SIZE(owners); i++)
		given += !!l->args->value[owners[i]];
	if (given == 1)
		return 0;
	return err_set(l->err, EXIT_BAD_INPUT, "usage",
		       "%s of --cgroup, --pid, --flow and --all must be given",
		       given ? "only one" : "one");
}

/* The index of an option's value in @words, which ends with NULL. */
static int read_word(struct load *l, int option, const char *const *words,
		     int *index)
{
	const char *text = l->args->value[option];
	int i;

	if (!text)
		return 0;
	for (i = 0; words[i]; i++) {
		if (!strcmp(text, words[i])) {
			*index = i;
			return 0;
		}
	}
	return err_set(l->err, EXIT_BAD_INPUT, "usage", "--%s: '%s' is not one of %s",
		       job_load_options[option].name, text,
		       job_load_options[option].arg);
}

static int read_module(struct load *l)
{
	static const char *const words[] = {
		[MODULE_AUTO] = "auto",
		[MODULE_YES] = "yes",
		[MODULE_NO] = "no",
		NULL
	};
	int use = MODULE_AUTO, ret;

	ret = read_word(l, MODULE, words, &use);
	l->use = use;
	return ret;
}

static int read_split(struct load *l)
{
	static const char *const splits[] = {
		[ROCESTEER_SPLIT_NONE] = "none",
		[ROCESTEER_SPLIT_WRAP] = "wrap",
		[ROCESTEER_SPLIT_EQUAL] = "equal",
		NULL
	};
	static const char *const ordered[] = {
		[ROCESTEER_ORDERED_NONE] = "off",
		[ROCESTEER_ORDERED_ALL] = "on",
		[ROCESTEER_ORDERED_TOLD] = "auto",
		NULL
	};
	int split = ROCESTEER_SPLIT_NONE, order, ret;

	ret = read_word(l, SPLIT, splits, &split);
	if (ret)
		return ret;
	order = split && !l->args->value[ALL] ? ROCESTEER_ORDERED_TOLD :
						ROCESTEER_ORDERED_NONE;
	ret = read_word(l, RESEQUENCE, ordered, &order);
	if (ret)
		return ret;
	if (order && l->args->value[ALL])
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--resequence: with --all the module does not know the job's flows");
	l->spec.split = split;
	l->spec.ordered = order;
	return 0;
}

static int read_actuator(struct load *l)
{
	static const char *const actuators[] = {
		[ROCESTEER_ACTUATOR_AUTO] = "auto",
		[ROCESTEER_ACTUATOR_PACKET] = "packet",
		[ROCESTEER_ACTUATOR_QP] = "qp",
		NULL
	};
	int actuator = ROCESTEER_ACTUATOR_AUTO, ret;

	ret = read_word(l, ACTUATOR, actuators, &actuator);
	if (ret)
		return ret;
	if (actuator == ROCESTEER_ACTUATOR_QP && l->spec.split)
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--split: a queue pair has one port, --actuator qp splits nothing");
	l->spec.actuator = actuator;
	return 0;
}

static int read_name(struct load *l)
{
	const char *name = l->args->value[NAME] ?: "", *c;

	if (strlen(name) >= sizeof(((struct rocesteer_job *)0)->name))
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--name: longer than 31 bytes");
	for (c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(l->err, EXIT_BAD_INPUT, "usage",
				       "--name: contains a control character");
	l->spec.name = name;
	return 0;
}

static int read_cgroup(struct load *l)
{
	const char *path = l->args->value[CGROUP];
	struct statfs fs;
	struct stat st;

	if (!path)
		return 0;
	if (statfs(path, &fs) || stat(path, &st))
		return err_set(l->err, EXIT_BAD_INPUT, "no-cgroup",
			       "--cgroup: %s: %s", path, strerror(errno));
	if (fs.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(st.st_mode))
		return err_set(l->err, EXIT_BAD_INPUT, "no-cgroup",
			       "--cgroup: %s is not a cgroup v2 directory",
			       path);
	l->spec.cgroup_id = st.st_ino;
	return 0;
}

static int read_pid(struct load *l)
{
	__u64 pid = 0;
	int ret;

	ret = cli_uint(l->args, PID, 1, 4194304, &pid, l->err);
	if (ret || !pid)
		return ret;
	if (kill(pid, 0) && errno == ESRCH)
		return err_set(l->err, EXIT_BAD_INPUT, "no-process",
			       "--pid: there is no process %llu", pid);
	l->spec.pid = pid;
	return 0;
}

static const struct portmap_peer *find_peer(const struct portmap *map,
					    const __u8 addr[16])
{
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		if (!addr_compare(map->peers[i].addr, addr))
			return &map->peers[i];
	return NULL;
}

static int check_flow(struct load *l, const struct rocesteer_flow_key *key,
		      const char *item)
{
	const struct portmap_peer *peer = find_peer(&l->map, key->peer);
	size_t i;

	if (!peer)
		return err_set(l->err, EXIT_BAD_INPUT, "no-peer",
			       "--flow: %s: the peer is not in %s", item,
			       l->args->value[PATHS]);
	if (peer->local)
		return err_set(l->err, EXIT_BAD_INPUT, "local-peer",
			       "--flow: %s: the peer is under our own leaf, there is nothing to steer",
			       item);
	for (i = 0; i < l->spec.nr_flows; i++)
		if (!memcmp(&l->flows[i], key, sizeof(*key)))
			return err_set(l->err, EXIT_BAD_INPUT, "usage",
				       "--flow: %s is given twice", item);
	return 0;
}

static int flow_add(const char *item, void *arg)
{
	struct rocesteer_flow_key key = {}, *bigger;
	struct load *l = arg;
	char addr[256];
	__u64 qpn = 0;
	char *slash;
	int ret;

	snprintf(addr, sizeof(addr), "%s", item);
	slash = strchr(addr, '/');
	if (slash)
		*slash = '\0';
	if (!slash || addr_parse(addr, key.peer) ||
	    cli_number(slash + 1, 0, 0xffffff, &qpn))
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--flow: '%s' is not ADDR/QPN", item);
	key.ifindex = l->spec.ifindex;
	key.dqpn = qpn;
	ret = check_flow(l, &key, item);
	if (ret)
		return ret;
	bigger = reallocarray(l->flows, l->spec.nr_flows + 1, sizeof(key));
	if (!bigger)
		return -ENOMEM;
	l->flows = bigger;
	l->flows[l->spec.nr_flows++] = key;
	return 0;
}

static int read_flows(struct load *l)
{
	int ret = 0;

	if (l->args->value[FLOW])
		ret = cli_each(l->args->value[FLOW], flow_add, l);
	if (ret == -EINVAL && !l->err->code)
		err_set(l->err, EXIT_BAD_INPUT, "usage",
			"--flow: a flow is empty or too long");
	l->spec.flows = l->flows;
	return ret;
}

/* Each host deals from another path: FNV-1a of its own address. */
static __u32 host_seed(const struct portmap *map)
{
	__u32 hash = 0x811c9dc5;
	int i;

	for (i = 0; i < 16; i++)
		hash = (hash ^ map->peers[0].source[i]) * 0x01000193;
	return hash;
}

static int read_map(struct load *l)
{
	const char *file = l->args->value[PATHS];
	int ret;

	ret = portmap_read(file, &l->map, l->err);
	if (ret)
		return ret;
	l->spec.ifindex = if_nametoindex(l->map.device);
	if (!l->spec.ifindex) {
		err_set(l->err, EXIT_FAILED, "no-device",
			"%s: device: there is no network device %s", file,
			l->map.device);
		err_hint(l->err, "The port map may be of another host or network namespace.");
		return -ENODEV;
	}
	l->spec.map = &l->map;
	l->spec.seed = host_seed(&l->map);
	return 0;
}

static int validate(struct load *l)
{
	__u64 id = 0;
	int ret;

	ret = cli_need(l->args, JOB, l->err) ?:
	      cli_need(l->args, PATHS, l->err) ?:
	      cli_uint(l->args, JOB, 1, 0xffffffff, &id, l->err) ?:
	      read_owner(l) ?: read_module(l) ?: read_split(l) ?:
	      read_actuator(l) ?: read_name(l) ?: read_cgroup(l) ?:
	      read_pid(l) ?: read_map(l) ?: read_flows(l);
	l->spec.id = id;
	l->spec.all = l->args->value[ALL];
	return ret;
}

/* What cannot be done without the module, or NULL. */
static const char *needs_module(const struct load *l)
{
	if (l->spec.cgroup_id || l->spec.pid)
		return "tagging by --cgroup or --pid";
	if (l->spec.ordered)
		return "restoring the order of split flows";
	if (l->spec.actuator == ROCESTEER_ACTUATOR_QP)
		return "--actuator qp";
	return NULL;
}

static int open_module(struct load *l)
{
	const char *what = needs_module(l);

	if (what && l->use == MODULE_NO)
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--module no: %s needs the module", what);
	return module_open(&l->genl, what ? MODULE_YES : l->use, l->err);
}

/* Say what could be done without the module. */
static int explain(struct load *l, int ret)
{
	if (ret == -ENOENT && needs_module(l)) {
		err_set(l->err, EXIT_FAILED, "module-not-loaded",
			"the module rocesteer is not loaded: %s needs it",
			needs_module(l));
		err_hint(l->err,
			 "modprobe rocesteer, or steer packets by --flow or --all: that works without it.");
	}
	return ret;
}

static int check_programs(struct load *l)
{
	if (!l->genl || steer_has_module(l->steer))
		return 0;
	if (!needs_module(l) && l->use != MODULE_YES)
		return 0;
	err_set(l->err, EXIT_FAILED, "module-not-used",
		"the programs were loaded while the module was not, they do not call it");
	err_hint(l->err, "Unload all jobs first: rocesteer job unload --all");
	return -EBUSY;
}

static int register_job(struct load *l)
{
	struct genl_job job = {
		.id = l->spec.id,
		.cgroup_id = l->spec.cgroup_id,
		.pid = l->spec.pid,
		.resequence = l->spec.ordered ? ROCESTEER_RESEQUENCE_ON :
						ROCESTEER_RESEQUENCE_OFF,
	};
	size_t i;
	int ret;

	if (!l->genl)
		return 0;
	snprintf(job.name, sizeof(job.name), "%s", l->spec.name);
	ret = genl_job_add(l->genl, &job, l->err);
	for (i = 0; !ret && i < l->spec.nr_flows; i++) {
		ret = genl_flow_add(l->genl, &l->flows[i], job.id, l->err);
		if (ret)	/* its flows go with it */
			genl_job_del(l->genl, job.id, NULL);
	}
	return ret;
}

static struct json_object *to_json(const struct load *l)
{
	struct json_object *root = out_root();

	out_uint(root, "job", l->spec.id);
	if (l->spec.name[0])
		out_string(root, "name", l->spec.name);
	out_string(root, "device", l->map.device);
	out_uint(root, "peers", l->map.nr_peers);
	out_string(root, "actuator", actuator_name(l->spec.actuator));
	out_bool(root, "module", l->genl);
	out_string(root, "pins", steer_pin_dir(l->steer));
	return root;
}

/* BPF deals flows whole: splitting them is up to the daemon. */
static void note_daemon(const struct load *l)
{
	int fd;

	if (!l->spec.split)
		return;
	fd = feed_connect();
	if (fd >= 0)
		close(fd);
	else
		out_note(&l->args->out,
			 "Flows stay whole until the daemon runs: systemctl start rocesteer, or rocesteer daemon.");
}

static int load(struct load *l)
{
	int ret;

	ret = explain(l, open_module(l));
	if (ret)
		return ret;
	ret = steer_open(&l->steer, STEER_CREATE |
			 (l->use == MODULE_NO ? STEER_NO_MODULE : 0), l->err);
	if (ret)
		goto out_module;
	ret = check_programs(l) ?: steer_job_add(l->steer, &l->spec, l->err);
	if (ret)
		goto out_steer;
	ret = register_job(l);
	if (ret) {
		steer_job_del(l->steer, l->spec.id, NULL);
	} else {
		note_daemon(l);
		ret = out_show(&l->args->out, to_json(l), views);
	}
out_steer:
	steer_close(l->steer);
out_module:
	genl_close(l->genl);
	return ret;
}

int job_load(const struct cli_args *args, struct err *err)
{
	struct load l = { .args = args, .err = err };
	int ret;

	ret = validate(&l) ?: load(&l);
	free(l.flows);
	portmap_free(&l.map);
	return ret;
}
