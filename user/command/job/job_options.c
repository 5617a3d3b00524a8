// SPDX-License-Identifier: GPL-2.0
/* The options of "job load", which are all checked before the first change. */
#include <errno.h>
#include <linux/magic.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/base.h"
#include "discover/discover.h"
#include "steer/steer.h"
#include "../chunk/chunk_load.h"
#include "job_load.h"
#include "../slice/slice.h"

/* Beside enum rocesteer_split: choose the best. */
#define SPLIT_AUTO	ROCESTEER_SPLIT_MAX

enum {
	JOB, NAME, PORT_MAP, DEV, PEER_FILE, CGROUP, PID, FLOW, ALL, SLICE, CLUSTER, SLICE_JOB,
	PATTERN, CHUNK_PLAN, RANGES, DSCP, SPLIT, DEAL, RESEQUENCE, ACTUATOR,
	KEEP_LABELS, OBSERVE, MODULE, NO_VERIFY, DRY_RUN,
};

static const char * const module_words[] = {
	[MODULE_AUTO] = "auto",
	[MODULE_YES] = "yes",
	[MODULE_NO] = "no",
	NULL
};

const struct cli_option job_load_options[] = {
	[JOB] = { "job", "ID", "number of the job", CLI_NEEDED | CLI_NAMES },
	[NAME] = { "name", "NAME", "name for people" },
	[PORT_MAP] = { "port-map", "FILE",
		       "port map, from rocesteer path discover" },
	[DEV] = { "dev", "DEV",
		  "or a device: the daemon finds peers (default: that of the RDMA devices)" },
	[PEER_FILE] = { "peer-file", "FILE",
			"hosts of the job, found before flows begin, - for standard input" },
	[CGROUP] = { "cgroup", "PATH",
		     "the flows of processes in this cgroup v2 directory" },
	[PID] = { "pid", "PID", "the flows of this process" },
	[FLOW] = { "flow", "ADDR/QPN[,..]",
		   "these flows: peer address / destination QPN" },
	[ALL] = { "all", NULL, "all flows of the device that no other job claims" },
	[SLICE] = { "slice", "FILE",
		    "keep to this slice, from rocesteer slice alloc or show --json" },
	[CLUSTER] = { "cluster", "FILE", "or to a slice in this cluster file" },
	[SLICE_JOB] = { "slice-job", "NAME", "of the job of this name" },
	[PATTERN] = { "pattern", "NAME", "how the ranks send", .words = contention_pattern_names },
	[CHUNK_PLAN] = { "chunk-plan", "FILE",
			 "tag packets by this plan, from rocesteer chunk plan --json" },
	[RANGES] = { "ranges", "FILE", "memory of its peers that the host writes" },
	[DSCP] = { "dscp", "D1,..", CHUNK_DSCP_HELP },
	[SPLIT] = { "split", NULL,
		    "which flows are split, auto: all where that works (default: auto)",
		    .words = split_names },
	[DEAL] = { "deal", NULL,
		   "the path of a flow: the least loaded, or by the host's place (default: auto)",
		   .words = deal_names },
	[RESEQUENCE] = { "resequence", NULL,
			 "restore the order of split flows (default: auto where flows are split)",
			 .words = reseq_mode_names },
	[ACTUATOR] = { "actuator", NULL, "steer packets or queue pairs (default: auto, by device)",
		       .words = actuator_names },
	[KEEP_LABELS] = { "keep-labels", NULL,
			  "leave the flow labels of UCX's lanes and of rdma_cm" },
	[OBSERVE] = { "observe", NULL,
		      "watch the flows, steer none until rocesteer job steer on" },
	[MODULE] = { "module", NULL,
		     "use the kernel module (default: auto, if loaded or installed)",
		     .words = module_words },
	[NO_VERIFY] = { "no-verify", NULL, "do not probe ports of the port map first" },
	[DRY_RUN] = { "dry-run", NULL, "check everything, and change nothing" },
	{}
};

static int read_owner(struct load *l)
{
	static const int owners[] = { CGROUP, PID, FLOW, ALL }, from[] = { PORT_MAP, DEV };
	int ret = 0;

	if (l->args->value[PORT_MAP])
		ret = cli_one(l->args, from, ARRAY_SIZE(from), l->err);
	return ret ?: cli_one(l->args, owners, ARRAY_SIZE(owners), l->err);
}

static int read_module(struct load *l)
{
	int use = MODULE_AUTO, ret;

	ret = cli_word(l->args, MODULE, &use, l->err);
	l->use = use;
	return ret;
}

/*
 * Flows are split only with resequencing. A job that is replaced keeps what it was loaded
 * with.
 */
static int read_split(struct load *l)
{
	bool keep = l->over && !l->args->value[SPLIT];
	int split = keep ? l->loaded.split : SPLIT_AUTO, order, ret;
	const char *option = NULL;

	ret = cli_word(l->args, SPLIT, &split, l->err);
	if (ret)
		return ret;
	l->may_split = keep || split == SPLIT_AUTO;
	if (split == SPLIT_AUTO)
		split = l->args->value[ALL] ? ROCESTEER_SPLIT_NONE :
					      ROCESTEER_SPLIT_ALL;
	order = keep ? l->loaded.reseq : split ? ROCESTEER_RESEQ_AUTO : ROCESTEER_RESEQ_NONE;
	ret = cli_word(l->args, RESEQUENCE, &order, l->err);
	if (ret)
		return ret;
	if (split && !order && l->may_split)
		split = ROCESTEER_SPLIT_NONE;
	if (split && !order)
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--split: with --resequence off no flow may be split");
	if (l->args->value[ALL] && (split || order))
		option = split ? "split" : "resequence";
	if (option) {
		err_set(l->err, EXIT_BAD_INPUT, "usage",
			"--%s: with --all the module does not know the job's flows",
			option);
		err_hint(l->err, "Name the flows by --cgroup, --pid or --flow.");
		return -EINVAL;
	}
	l->spec.split = split;
	l->spec.reseq = order;
	l->needs_order = order && (!l->may_split || l->args->value[RESEQUENCE]);
	return 0;
}

void job_load_unsplit(struct load *l)
{
	l->spec.split = ROCESTEER_SPLIT_NONE;
	if (!l->args->value[RESEQUENCE])
		l->spec.reseq = ROCESTEER_RESEQ_NONE;
}

static int read_actuator(struct load *l)
{
	int actuator = ROCESTEER_ACTUATOR_AUTO, ret;

	ret = cli_word(l->args, ACTUATOR, &actuator, l->err);
	if (ret)
		return ret;
	if (actuator == ROCESTEER_ACTUATOR_QP && l->may_split)
		job_load_unsplit(l);
	if (actuator == ROCESTEER_ACTUATOR_QP && l->spec.split)
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--split: --actuator qp splits no flow, as a queue pair has one port");
	l->spec.actuator = actuator;
	l->spec.keep_labels = l->args->value[KEEP_LABELS];
	if (l->spec.keep_labels && actuator == ROCESTEER_ACTUATOR_PACKET)
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--keep-labels: --actuator packet changes no flow label");
	return 0;
}

/* An observed packet leaves as it came. */
static int read_observe(struct load *l)
{
	l->spec.observe = l->args->value[OBSERVE];
	if (!l->spec.observe)
		return 0;
	if (l->args->value[CHUNK_PLAN])
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--observe: changes no packet, but --chunk-plan gives packets a class");
	if (l->spec.actuator == ROCESTEER_ACTUATOR_QP)
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--observe: counts packets, but --actuator qp sees no packets");
	return 0;
}

/* The pattern's name; whether it suits the slice is known later. */
static int read_pattern(struct load *l)
{
	int pattern = -1, ret;

	ret = cli_word(l->args, PATTERN, &pattern, l->err);
	if (l->args->value[SLICE] || l->args->value[CLUSTER])
		l->spec.slice = 2 + pattern;	/* 1: not told */
	return ret;
}

static int read_name(struct load *l)
{
	const char *name = l->args->value[NAME] ?: "";

	if (strlen(name) >= sizeof(((struct rocesteer_job *)0)->name))
		return err_set(l->err, EXIT_BAD_INPUT, "usage", "--name: longer than 31 bytes");
	if (!table_is_text(name))
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--name: is not UTF-8, or contains a control character");
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

static int check_flow(struct load *l, const struct rocesteer_flow_key *key, const char *item)
{
	const struct portmap_peer *peer;
	size_t i;
	int ret;

	ret = portmap_find_peer(&l->map, key->peer, l->map_file, &peer, l->err);
	if (ret)
		return ret;
	if (!peer)
		return err_set(l->err, EXIT_BAD_INPUT, "no-peer",
			       "--flow: %s: the peer is not in %s", item,
			       l->map_file);
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
	if (!slash || addr_parse(addr, key.peer) || cli_number(slash + 1, 2, 0xffffff, &qpn))
		return err_set(l->err, EXIT_BAD_INPUT, "usage",
			       "--flow: '%s' is not ADDR/QPN, with a queue pair number from 2 to 16777215",
			       item);
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
		ret = cli_each("flow", l->args->value[FLOW], flow_add, l, l->err);
	l->spec.flows = l->flows;
	return ret;
}

size_t job_load_steered(const struct load *l)
{
	size_t n = 0, i;

	for (i = 0; i < l->map.nr_peers; i++)
		n += !l->map.peers[i].local;
	return n;
}

/* A slice under one leaf has no peer to steer to. Chunks are tagged anyway. */
static int check_steered(struct load *l)
{
	if (l->by_dev || l->slice.slice.layout.leaves == 1 || l->args->value[CHUNK_PLAN] ||
	    job_load_steered(l))
		return 0;
	err_set(l->err, EXIT_BAD_INPUT, "local-peer",
		"%s: peers: all of them are local, there is nothing to steer",
		l->map_file);
	err_hint(l->err, "If they are under other leaves, discover with a smaller --hop.");
	return -EINVAL;
}

/* Each host deals from another path: FNV-1a of its own address. */
static __u32 host_seed(const __u8 source[16])
{
	__u32 hash = 0x811c9dc5;
	int i;

	for (i = 0; i < 16; i++)
		hash = (hash ^ source[i]) * 0x01000193;
	return hash;
}

/* Errors of the port map need its name. */
static void name_map(struct load *l)
{
	char said[sizeof(l->err->message)];

	if (!l->err->code)
		return;
	memcpy(said, l->err->message, sizeof(said));
	snprintf(l->err->message, sizeof(said), "%s: %.400s", l->map_file, said);
}

/* Packets of another source than ours match nothing. */
static int check_sources(struct load *l)
{
	const struct portmap_peer *peers = l->map.peers;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < l->map.nr_peers; i++)
		if (!i || addr_compare(peers[i].source, peers[i - 1].source))
			ret = probe_source_check(l->map.device, peers[i].source, l->err);
	if (ret)
		name_map(l);
	return ret;
}

static int read_map(struct load *l)
{
	const char *file = l->args->value[PORT_MAP], *device = l->args->value[DEV];
	int ret;

	l->spec.map = &l->map;
	if (!file) {
		ret = job_load_device(l, device);
		l->spec.seed = ret ? 0 : host_seed(l->sources[0]);
		return ret;
	}
	l->map_file = file;
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
	l->spec.seed = host_seed(l->map.peers[0].source);
	return check_sources(l);
}

/* One file does for all hosts: this one is no peer of its own. */
static int read_peer_file(struct load *l)
{
	const char *file = l->args->value[PEER_FILE];
	struct peer_list *peers = &l->peers;
	size_t i, n = 0;
	int ret;

	peers->err = l->err;
	ret = file ? peer_list_read(peers, file) : 0;
	for (i = 0; !ret && i < peers->nr; i++)
		if (!probe_source_is_own(l->map.device, peers->addr[i]))
			memcpy(peers->addr[n++], peers->addr[i], 16);
	peers->nr = n;
	return ret;
}

static int read_dependent(struct load *l)
{
	static const struct cli_with with[] = {
		{ CLUSTER, SLICE_JOB }, { SLICE_JOB, CLUSTER },
		{ RANGES, CHUNK_PLAN }, { DSCP, CHUNK_PLAN },
		{ CHUNK_PLAN, RANGES },
	};
	static const int slice[] = { SLICE, CLUSTER };
	const struct cli_args *args = l->args;
	int ret = 0;

	if (args->value[SLICE] || args->value[CLUSTER] || args->value[PATTERN])
		ret = cli_one(args, slice, ARRAY_SIZE(slice), l->err);
	if (!ret && args->value[PEER_FILE] && (args->value[SLICE] || args->value[CLUSTER]))
		ret = err_set(l->err, EXIT_BAD_INPUT, "usage",
			      "--peer-file: the peers of a slice are those of its hosts");
	return ret ?: cli_only_with(args, with, ARRAY_SIZE(with), l->err);
}

static void ignore(const struct contention_link *link, void *arg)
{
	(void)link;
	(void)arg;
}

/*
 * Flows of a GPU take the spine of its lane, unless flows of the job would meet there; then
 * flows are dealt over all spines of the slice.
 */
static int choose_routing(struct load *l)
{
	const struct contention_layout *layout = &l->slice.slice.layout;
	enum contention_pattern pattern = CONTENTION_RING;
	long shared = 0;
	int ret;

	if (layout->leaves == 1)
		return 0;
	if (l->args->value[PATTERN]) {
		ret = slice_pattern(l->args, PATTERN, layout->ranks, &pattern, l->err);
		if (ret)
			return ret;
		shared = contention_test_pattern(layout, pattern, 0, ignore, NULL);
	}
	if (shared < 0)
		return shared;
	/* Only some permutations are free of contention. */
	if (shared || pattern == CONTENTION_PERMUTATION)
		return 0;
	l->spec.home = true;
	if (l->spec.split && !l->may_split)
		out_note(&l->args->out,
			 "Flows take the spine of their GPU's lane: they are not split.");
	l->spec.split = ROCESTEER_SPLIT_NONE;
	l->spec.reseq = ROCESTEER_RESEQ_NONE;
	l->needs_order = false;
	return 0;
}

static int read_slice(struct load *l)
{
	const char *slice = l->args->value[SLICE];
	const char *cluster = l->args->value[CLUSTER];
	struct json_object *root;
	int ret;

	if (!slice && !cluster)
		return 0;
	ret = slice_get(slice, cluster, l->args->value[SLICE_JOB], &root, l->err);
	if (ret)
		return ret;
	ret = job_slice_read(&l->slice, root, slice ?: cluster, l->err);
	json_object_put(root);
	if (ret)
		return ret;
	ret = job_slice_restrict(&l->slice, &l->map, &l->rank, l->err);
	if (ret) {
		name_map(l);
		return ret;
	}
	if (!l->args->value[NAME])
		l->spec.name = l->slice.job;
	return choose_routing(l);
}

static bool find_place(struct load *l)
{
	const struct contention_layout *layout = &l->slice.slice.layout;

	if (!l->slice.slice.nr_spines)
		return portmap_place(&l->map, &l->spec.place);
	l->spec.place = l->rank - layout->first[layout->leaf[l->rank]];
	return true;
}

static int read_deal(struct load *l)
{
	bool known = find_place(l);
	int deal = DEAL_AUTO, ret;

	ret = cli_word(l->args, DEAL, &deal, l->err);
	if (ret)
		return ret;
	if (deal == ROCESTEER_DEAL_PLACE && !known) {
		err_set(l->err, EXIT_BAD_INPUT, "no-place",
			"--deal place: %s: peers: none is under our own leaf, or in our pod, so this host has no place among them",
			l->map_file);
		err_hint(l->err,
			 "Give all hosts of the job to rocesteer path discover, or use --deal least.");
		return -EINVAL;
	}
	/* Flows that are planned together are dealt together. */
	if (deal == DEAL_AUTO)
		deal = known && !split_kind(l->spec.split)->is_planned ?
		       ROCESTEER_DEAL_PLACE : ROCESTEER_DEAL_LEAST;
	l->spec.deal = deal;
	return 0;
}

static int read_chunks(struct load *l)
{
	const char *plan = l->args->value[CHUNK_PLAN];

	return plan ? chunk_load_read(&l->chunks, plan, l->args->value[RANGES],
				      l->args->value[DSCP], l->err) : 0;
}

/* Find the job that is replaced. A missing job is refused later. */
static void find_loaded(struct load *l)
{
	struct steer *steer;
	struct err err = {};
	bool loaded = false;

	if (l->how == JOB_LOAD)
		return;
	if (!steer_open(&steer, STEER_READ, &err)) {
		loaded = !steer_job_get(steer, l->spec.id, &l->loaded);
		steer_close(steer);
	}
	l->over = loaded || l->how == JOB_REPLACE;
}

static int read_job(struct load *l)
{
	__u64 id = 0;
	int ret;

	ret = cli_uint(l->args, JOB, 1, 0xffffffff, &id, l->err);
	l->spec.id = id;
	if (!ret)
		find_loaded(l);
	return ret;
}

int job_options(struct load *l)
{
	int ret;

	ret = cli_need_all(l->args, l->err) ?: read_job(l) ?:
	      read_owner(l) ?: read_dependent(l) ?: read_pattern(l) ?:
	      read_module(l) ?: read_split(l) ?:
	      read_actuator(l) ?: read_observe(l) ?: read_name(l) ?: read_cgroup(l) ?:
	      read_pid(l) ?: read_map(l) ?: read_peer_file(l) ?: read_slice(l) ?: read_deal(l) ?:
	      check_steered(l) ?: read_chunks(l) ?: read_flows(l);
	l->spec.all = l->args->value[ALL];
	l->spec.dry_run |= !!l->args->value[DRY_RUN];
	l->no_verify = l->args->value[NO_VERIFY];
	return ret;
}

