// SPDX-License-Identifier: GPL-2.0
/* rocesteer path prove: which ports the NIC makes, and which way its own packets go. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rocesteer/label.h>

#include "base/base.h"
#include "path_prove.h"

#define TIMEOUT	1000	/* ms */

enum { RDMA_DEV, GID_INDEX, PORT_MAP, PEER, LABELS, SPORTS, HOP, JOB, REPORT };

const struct cli_option path_prove_options[] = {
	[RDMA_DEV] = { "rdma-dev", "DEV", "RDMA device", CLI_NEEDED },
	[GID_INDEX] = { "gid-index", "N", "source GID (default: that of the port map's source)" },
	[PORT_MAP] = { "port-map", "FILE", "port map: prove a port of each path" },
	[PEER] = { "peer", "ADDR", "to this address (default: a peer of each leaf)" },
	[LABELS] = { "labels", "L[,L..]", "prove these flow labels" },
	[SPORTS] = { "sports", "P[,P..]", "prove the labels of these ports" },
	[HOP] = { "hop", "N", "hop where packets end (default: that of the port map, or 2)" },
	[JOB] = { "job", "ID", "prove that this job steers a queue pair of its cgroup, too" },
	[REPORT] = { "report", "FILE", "write what was found, without addresses and names" },
	{}
};

static const struct out_column head_columns[] = {
	{ "rdma_dev", "device" },
	{ "source", "source" },
	{ "hop", "hop" },
	{}
};

static const struct out_column label_columns[] = {
	{ "peer", "PEER" },
	{ "path", "PATH" },
	{ "hop", "HOP" },
	{ "label", "LABEL" },
	{ "port", "PORT" },
	{ "made", "MADE" },
	{ "expected", "EXPECTED" },
	{ "router", "ROUTER" },
	{ "us", "US" },
	{}
};

static const struct out_column flow_columns[] = {
	{ "peer", "peer" },
	{ "actuator", "actuator" },
	{ "reason", "reason" },
	{ "label", "label" },
	{ "path", "path" },
	{ "port", "port" },
	{ "made", "made" },
	{ "router", "router" },
	{}
};

static const struct out_column verdict_columns[] = {
	{ "verdict", "VERDICT" },
	{ "text", "" },
	{}
};

static const struct out_view views[] = {
	{ .columns = head_columns },
	{ .rows = "labels", .columns = label_columns },
	{ .in = "flow", .title = "A queue pair of the job:", .columns = flow_columns },
	{ .rows = "verdicts", .columns = verdict_columns },
	{}
};

static int add_label(struct proof *p, __u32 label)
{
	__u32 *labels = reallocarray(p->labels, p->nr_labels + 1, sizeof(*labels));

	if (!labels)
		return -ENOMEM;
	p->labels = labels;
	labels[p->nr_labels++] = label;
	return 0;
}

static int take_label(const char *item, void *arg)
{
	struct proof *p = arg;
	__u64 label;

	if (cli_number(item, 1, ROCESTEER_LABEL_MAX, &label))
		return err_set(p->err, EXIT_BAD_INPUT, "usage",
			       "--labels: '%s' is not a number from 1 to %u", item,
			       ROCESTEER_LABEL_MAX);
	return add_label(p, label);
}

static int take_port(const char *item, void *arg)
{
	struct proof *p = arg;
	__u64 port;

	if (cli_number(item, ROCESTEER_SPORT_MIN, ROCESTEER_SPORT_MAX, &port))
		return err_set(p->err, EXIT_BAD_INPUT, "usage",
			       "--sports: '%s' is not a port from %u to %u", item,
			       ROCESTEER_SPORT_MIN, ROCESTEER_SPORT_MAX);
	return add_label(p, rocesteer_label_of(port));
}

static const struct portmap_path *path_of(const struct portmap_peer *peer, unsigned int port,
					  unsigned int *number)
{
	*number = portmap_peer_find_port(peer, port);
	return portmap_peer_port_path(peer, port);
}

static void put_row(struct proof *p, const struct portmap_peer *peer, const struct prove_row *row)
{
	struct json_object *obj = out_append_object(p->array);
	unsigned int port = rocesteer_label_sport(row->label), number;

	out_addr(obj, "peer", row->peer);
	if (peer && path_of(peer, port, &number))
		out_uint(obj, "path", number);
	out_uint(obj, "label", row->label);
	out_uint(obj, "port", port);
	if (!row->answered)
		return;
	out_uint(obj, "made", row->answer.sport);
	if (!addr_is_none(row->expected))
		out_addr(obj, "expected", row->expected);
	out_addr(obj, "router", row->answer.router);
	out_uint(obj, "us", row->answer.ns / 1000);
}

unsigned int path_prove_hop(const struct proof *p, const struct portmap_peer *peer)
{
	return peer && !p->args->value[HOP] ? peer->hop : p->hop;
}

void path_prove_put_hops(const struct proof *p, struct json_object *root,
			 struct json_object *labels)
{
	size_t i, same = 0;

	while (same < p->nr_rows && p->rows[same].hop == p->rows[0].hop)
		same++;
	if (same && same == p->nr_rows)
		out_uint(root, "hop", p->rows[0].hop);
	for (i = 0; same < p->nr_rows && i < p->nr_rows; i++)
		out_uint(json_object_array_get_idx(labels, i), "hop", p->rows[i].hop);
}

static int prove_label(struct proof *p, const struct portmap_peer *peer, const __u8 addr[16],
		       __u32 label)
{
	struct prove_row *rows = reallocarray(p->rows, p->nr_rows + 1, sizeof(*rows)), *row;
	struct prove_question question = {
		.hop = path_prove_hop(p, peer), .label = label, .packets = 1,
	};
	const struct portmap_path *path;
	unsigned int number;
	int ret;

	if (!rows)
		return -ENOMEM;
	p->rows = rows;
	row = &rows[p->nr_rows];
	*row = (struct prove_row) { .hop = question.hop, .label = label,
				    .dqpn = PROVE_DQPN + p->nr_rows % 255 };
	question.dqpn = row->dqpn;
	memcpy(question.peer, addr, 16);
	memcpy(row->peer, addr, 16);
	ret = prove_ask(p->prove, &question, &row->answer, &row->sqpn, p->err);
	if (ret < 0)
		return ret;
	row->answered = ret;
	progress_update(&p->progress, "proving: %zu labels", p->nr_rows + 1);
	path = peer && ret ? path_of(peer, row->answer.sport, &number) : NULL;
	if (path)
		memcpy(row->expected, path->router, 16);
	put_row(p, peer, row);
	p->nr_rows++;
	return 0;
}

/* A port of each path, or the labels that were given */
static int prove_peer(struct proof *p, const struct portmap_peer *peer, const __u8 addr[16])
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < p->nr_labels; i++)
		ret = prove_label(p, peer, addr, p->labels[i]);
	for (i = 0; !ret && !p->nr_labels && peer && i < peer->nr_paths; i++)
		ret = prove_label(p, peer, addr, rocesteer_label_of(peer->paths[i].ports[0]));
	return ret;
}

/* The first peer of each leaf */
static int prove_leaves(struct proof *p)
{
	const struct portmap_peer *peers = p->map.peers;
	size_t i, j;
	int ret = 0;

	for (i = 0; !ret && i < p->map.nr_peers; i++) {
		if (peers[i].local || memcmp(peers[i].source, prove_source(p->prove), 16))
			continue;
		for (j = 0; j < i; j++)
			if (!peers[j].local && !memcmp(peers[j].leaf, peers[i].leaf, 16) &&
			    !memcmp(peers[j].source, peers[i].source, 16))
				break;
		if (j == i)
			ret = prove_peer(p, &peers[i], peers[i].addr);
	}
	return ret;
}

static int first_peer(struct proof *p)
{
	size_t i;

	for (i = 0; i < p->map.nr_peers; i++)
		if (!p->map.peers[i].local) {
			memcpy(p->config.peer, p->map.peers[i].addr, 16);
			memcpy(p->config.source, p->map.peers[i].source, 16);
			return 0;
		}
	return err_set(p->err, EXIT_BAD_INPUT, "no-peer",
		       "%s: all peers are under our own leaf: there is nothing to prove", p->file);
}

static int read_peer(struct proof *p, const struct portmap_peer **peer)
{
	const char *text = p->args->value[PEER];
	int ret;

	*peer = NULL;
	if (!text)
		return first_peer(p);
	if (addr_parse(text, p->config.peer))
		return err_set(p->err, EXIT_BAD_INPUT, "usage",
			       "--peer: '%s' is not an address of a host", text);
	if (!p->file)
		return 0;
	ret = portmap_find_peer(&p->map, p->config.peer, p->file, peer, p->err);
	if (ret)
		return ret;
	if (!*peer)
		return err_set(p->err, EXIT_BAD_INPUT, "no-peer", "--peer: %s is not in %s", text,
			       p->file);
	if ((*peer)->local)
		return err_set(p->err, EXIT_BAD_INPUT, "local-peer",
			       "--peer: %s: the peer is under our own leaf, there is one path only",
			       text);
	memcpy(p->config.source, (*peer)->source, 16);
	return 0;
}

static int read_options(struct proof *p, const struct portmap_peer **peer)
{
	static const struct cli_with with[] = { { JOB, PORT_MAP } };
	const struct cli_args *args = p->args;
	__u64 hop = PROBE_BATCH_HOP, gid = 0;
	int ret;

	p->file = args->value[PORT_MAP];
	ret = cli_only_with(args, with, ARRAY_SIZE(with), p->err) ?:
	      p->file ? 0 : cli_need(args, PEER, p->err);
	if (!ret && p->file)
		ret = portmap_read(p->file, &p->map, p->err);
	if (ret)
		return ret;
	ret = cli_uint(args, HOP, 1, PORTMAP_MAX_HOP, &hop, p->err) ?:
	      cli_uint(args, GID_INDEX, 0, 65535, &gid, p->err) ?: read_peer(p, peer);
	if (!ret && args->value[LABELS])
		ret = cli_each("labels", args->value[LABELS], take_label, p, p->err);
	if (!ret && args->value[SPORTS])
		ret = cli_each("sports", args->value[SPORTS], take_port, p, p->err);
	if (!ret && !p->nr_labels && !p->file)
		ret = err_set(p->err, EXIT_BAD_INPUT, "usage",
			      "--peer: --labels, --sports or --port-map must say what to prove");
	p->config.device = args->value[RDMA_DEV];
	p->config.gid_index = args->value[GID_INDEX] ? (int)gid : NIC_ANY_GID;
	p->hop = hop;
	p->config.timeout = TIMEOUT * 1000000ull;
	return ret;
}

/* A file that is no report may be an input. */
static int check_report(const struct proof *p)
{
	const char *file = p->args->value[REPORT];

	return file ? file_check(file, "{\"report\":", "report", p->err) : 0;
}

/* A verdict by its name, and what to do */
struct verdict {
	const char *name;
	const char *text;
};

static const struct verdict ports[] = {
	[PROVE_PORT_SILENT] = { "no-answer",
		"No router answers: see whether routers send ICMP \"time exceeded\", and whether a firewall here drops it.",
	},
	[PROVE_PORT_LABEL] = { "label", "The NIC makes the port of the label." },
	[PROVE_PORT_CONSTANT] = { "constant",
		"The NIC makes one port of all labels: its driver ignores flow labels, and only packets that pass TC can be steered.",
	},
	[PROVE_PORT_QPN] = { "queue-pair",
		"The NIC makes the port of queue pair numbers: its driver ignores flow labels, and only packets that pass TC can be steered.",
	},
	[PROVE_PORT_OTHER] = { "other-port",
		"The NIC makes another port than the kernel's formula, by a rule that is not known: see drivers.rst.",
	},
};

static const struct verdict ways[] = {
	[PROVE_WAY_UNKNOWN] = { "nothing-to-compare",
		"Without a port map that has these ports, the way of packets is not proved.",
	},
	[PROVE_WAY_SAME] = { "same-way", "RoCE packets go where probes go." },
	[PROVE_WAY_SPRAYED] = { "sprayed",
		"Packets of one queue pair take several ways: a switch sprays or adapts, and ports choose no path.",
	},
	[PROVE_WAY_DQPN] = { "queue-pair-hash",
		"The way depends on the destination queue pair: a switch hashes it. Run path discover again.",
	},
	[PROVE_WAY_SQPN] = { "bond",
		"The way depends on the local queue pair, which packets do not name: a bond chooses its member by it.",
	},
	[PROVE_WAY_OTHER] = { "other-way",
		"RoCE packets go another way than probes went: run path discover again.",
	},
};

static void add_verdict(struct proof *p, const struct verdict *verdict)
{
	struct json_object *obj = out_append_object(p->array);

	out_string(obj, "verdict", verdict->name);
	out_string(obj, "text", verdict->text);
}

static const struct verdict some_silent = { "some-silent",
	"Some labels got no answer: their routers send no ICMP \"time exceeded\", or lose packets.",
};

static const struct verdict jobs[] = {
	{ "not-steered",
		"The job does not steer a queue pair of its cgroup: see the flow above.",
	},
	{ "steered",
		"The job steers a queue pair of its cgroup, whose packet takes the path of its port.",
	},
};

/* Ask again with the label of the row that went another way. */
static int look_closer(struct proof *p, const struct prove_row *row, enum prove_way *way)
{
	struct prove_question question = { .hop = row->hop, .label = row->label,
					   .dqpn = row->dqpn, .packets = 4 };
	struct prove_answer one[PROVE_PACKETS], same[5], dqpn[9];
	int n = 1, m = 1, got, ret;
	unsigned int i;
	__u32 sqpn;

	memcpy(question.peer, row->peer, 16);
	got = prove_ask(p->prove, &question, one, &sqpn, p->err);
	question.packets = 1;
	ret = got;
	same[0] = row->answer;
	dqpn[0] = row->answer;
	for (i = 0; ret >= 0 && i < 4; i++) {
		ret = prove_ask(p->prove, &question, &same[n], &sqpn, p->err);
		n += ret > 0;
	}
	for (i = 0; ret >= 0 && i < 8; i++) {
		question.dqpn = row->dqpn ^ 1u << i;
		ret = prove_ask(p->prove, &question, &dqpn[m], &sqpn, p->err);
		m += ret > 0;
	}
	if (ret >= 0)
		*way = prove_way_of(one, got, same, n, dqpn, m);
	return ret < 0 ? ret : 0;
}

static int judge(struct proof *p, bool *good)
{
	enum prove_port port = prove_port_of(p->rows, p->nr_rows);
	const struct prove_row *stray = prove_stray(p->rows, p->nr_rows);
	enum prove_way way = PROVE_WAY_UNKNOWN;
	size_t i, answered = 0;
	int ret = 0;

	for (i = 0; i < p->nr_rows; i++) {
		answered += p->rows[i].answered;
		if (!addr_is_none(p->rows[i].expected))
			way = PROVE_WAY_SAME;
	}
	if (stray)
		ret = look_closer(p, stray, &way);
	p->array = out_array(p->root, "verdicts");
	add_verdict(p, &ports[port]);
	if (port != PROVE_PORT_SILENT)
		add_verdict(p, &ways[way]);
	if (answered && answered < p->nr_rows)
		add_verdict(p, &some_silent);
	*good = port == PROVE_PORT_LABEL && (way == PROVE_WAY_SAME || !p->file) &&
		answered == p->nr_rows;
	return ret;
}

static int judge_job(struct proof *p, const struct portmap_peer *peer, bool *good)
{
	bool steered = false;
	__u64 job = 0;
	size_t i;
	int ret;

	if (!p->args->value[JOB])
		return 0;
	for (i = 0; !peer && i < p->map.nr_peers; i++)
		if (!p->map.peers[i].local)
			peer = &p->map.peers[i];
	ret = cli_uint(p->args, JOB, 1, 0xffffffff, &job, p->err) ?:
	      path_prove_job(p, job, peer, &steered);
	if (!ret)
		add_verdict(p, &jobs[steered]);
	*good &= steered;
	return ret;
}

static int run(struct proof *p, const struct portmap_peer *peer)
{
	bool good = false;
	int ret;

	p->root = out_root();
	out_string(p->root, "rdma_dev", p->config.device);
	out_addr(p->root, "source", prove_source(p->prove));
	p->array = out_array(p->root, "labels");
	progress_start(&p->progress);
	ret = p->args->value[PEER] ? prove_peer(p, peer, p->config.peer) : prove_leaves(p);
	progress_end(&p->progress);
	path_prove_put_hops(p, p->root, p->array);
	ret = ret ?: judge(p, &good) ?: judge_job(p, peer, &good);
	if (!ret && p->args->value[REPORT])
		ret = path_prove_report(p, p->args->value[REPORT]);
	if (ret) {
		json_object_put(p->root);
		return ret;
	}
	return out_show(&p->args->out, p->root, views) ?: good ? 0 : EXIT_FAILED;
}

int path_prove(const struct cli_args *args, struct err *err)
{
	struct proof p = { .args = args, .err = err };
	const struct portmap_peer *peer = NULL;
	int ret;

	ret = read_options(&p, &peer) ?: check_report(&p) ?: permission_probe(err) ?:
	      prove_open(&p.prove, &p.config, err);
	if (!ret) {
		ret = run(&p, peer);
		prove_close(p.prove);
	}
	portmap_free(&p.map);
	free(p.labels);
	free(p.rows);
	return ret;
}
