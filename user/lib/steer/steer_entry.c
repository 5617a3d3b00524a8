// SPDX-License-Identifier: GPL-2.0
/* Single entries of the tables: read, and changed by programs in one step; and the counters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <rocesteer/roce.h>

#include "steer_priv.h"

/*
 * Replacing an inner map waits for an RCU grace period, after which no program uses the old
 * map (maybe_wait_bpf_programs() in the kernel). membarrier() does not wait on one CPU, and
 * fails with nohz_full.
 */
static int replace_inner_map(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int inner, outer = -1, ret = -1;
	__u32 zero = 0;

	inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "rs_wait", 4, 4, 1, NULL);
	opts.inner_map_fd = inner;
	if (inner >= 0)
		outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rs_waits", 4, 4, 1, &opts);
	if (outer >= 0)
		ret = bpf_map_update_elem(outer, &zero, &inner, BPF_ANY);
	if (outer >= 0)
		close(outer);
	if (inner >= 0)
		close(inner);
	return ret;
}

/* If there is no memory for the maps, a second is enough: programs run for microseconds. */
void steer_wait_programs(void)
{
	if (replace_inner_map())
		sleep(1);
}

int steer_run_program(int prog, const void *ctx, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = ctx, .ctx_size_in = size);

	return bpf_prog_test_run_opts(prog, &opts) ?: (int)opts.retval;
}

int steer_set_flow(struct steer *s, const struct rocesteer_set_flow *set)
{
	return steer_run_program(s->progs[PROG_SET_FLOW], set, sizeof(*set));
}

int steer_set_group(struct steer *s, const struct rocesteer_set_group *set)
{
	return steer_run_program(s->progs[PROG_SET_GROUP], set, sizeof(*set));
}

int steer_set_paths(struct steer *s, const struct rocesteer_set_paths *set)
{
	return steer_run_program(s->progs[PROG_SET_PATHS], set, sizeof(*set));
}

int steer_set_order(struct steer *s, const struct rocesteer_set_order *set)
{
	return steer_run_program(s->progs[PROG_SET_ORDER], set, sizeof(*set));
}

int steer_forget(struct steer *s, const struct rocesteer_flow_key *flow)
{
	return steer_run_program(s->progs[PROG_FORGET], flow, sizeof(*flow));
}

int steer_set_peer(struct steer *s, const struct rocesteer_set_peer *set)
{
	return steer_run_program(s->progs[PROG_SET_PEER], set, sizeof(*set));
}

__u64 steer_peer_paths(const struct rocesteer_peer *peer)
{
	__u64 paths = 0;
	__u32 p;

	for (p = 0; p < peer->nr_paths && p < ROCESTEER_MAX_PATHS; p++)
		if (peer->sport[p])
			paths |= 1ull << p;
	return paths;
}

int steer_flow_get(struct steer *s, const struct rocesteer_flow_key *key,
		   struct rocesteer_flow_path *path)
{
	return bpf_map_lookup_elem(s->maps[MAP_FLOWS], key, path) ? -errno : 0;
}

int steer_peer_get(struct steer *s, const struct rocesteer_peer_key *key,
		   struct rocesteer_peer *peer)
{
	return bpf_map_lookup_elem(s->maps[MAP_PEERS], key, peer) ? -errno : 0;
}

int steer_source_get(struct steer *s, const struct rocesteer_source_key *key,
		     struct rocesteer_source *source)
{
	return bpf_map_lookup_elem(s->maps[MAP_SOURCES], key, source) ? -errno : 0;
}

int steer_ports_get(struct steer *s, __u32 job, const struct rocesteer_flow_key *flow,
		    const __u8 source[16], struct rocesteer_peer *peer)
{
	struct rocesteer_qpn_key qkey = { .peer = steer_peer_key(job, flow, source),
					  .dqpn = flow->dqpn & ROCESTEER_QPN_MASK };
	struct rocesteer_ports ports = {};
	int ret;

	ret = steer_peer_get(s, &qkey.peer, peer);
	if (ret || !peer->qpn_hash)
		return ret;
	bpf_map_lookup_elem(s->maps[MAP_QPNS], &qkey, &ports);
	memcpy(peer->sport, ports.sport, sizeof(peer->sport));
	return 0;
}

int steer_qpn_put(struct steer *s, const struct rocesteer_qpn_key *key,
		  const struct rocesteer_ports *ports)
{
	return bpf_map_update_elem(s->maps[MAP_QPNS], key, ports, BPF_EXIST) ? -errno : 0;
}

struct forget {
	struct steer *s;
	const struct rocesteer_peer_key *peer;
};

static int forget_ports(const struct rocesteer_qpn_key *key,
			const struct rocesteer_ports *ports, void *arg)
{
	static const struct rocesteer_ports none;
	const struct forget *forget = arg;
	int ret = 0;

	(void)ports;
	if (!forget->peer || !memcmp(forget->peer, &key->peer, sizeof(key->peer)))
		ret = steer_qpn_put(forget->s, key, &none);
	return ret == -ENOENT ? 0 : ret;
}

int steer_qpns_forget(struct steer *s, __u32 job, const struct rocesteer_peer_key *peer)
{
	struct forget forget = { s, peer };

	return steer_qpn_each(s, job, forget_ports, &forget);
}

int steer_group_get(struct steer *s, const struct rocesteer_group_key *key,
		    struct rocesteer_group *group)
{
	return bpf_map_lookup_elem(s->maps[MAP_GROUPS], key, group) ? -errno : 0;
}

int steer_sum_cpus(int fd, __u32 at, __u32 nr, __u64 *sums)
{
	int cpus = libbpf_num_possible_cpus(), ret, i;
	__u64 *values;

	if (cpus < 0)
		return cpus;
	values = calloc((size_t)cpus * nr, sizeof(*values));
	if (!values)
		return -ENOMEM;
	ret = bpf_map_lookup_elem(fd, &at, values) ? -errno : 0;
	memset(sums, 0, nr * sizeof(*sums));
	for (i = 0; !ret && i < cpus * (int)nr; i++)
		sums[i % nr] += values[i];
	free(values);
	return ret;
}

int steer_counters(struct steer *s, __u64 verdicts[ROCESTEER_VERDICT_MAX],
		   __u64 observed[ROCESTEER_OBSERVED_MAX])
{
	return steer_sum_cpus(s->maps[MAP_VERDICTS], 0, ROCESTEER_VERDICT_MAX, verdicts) ?:
	       steer_sum_cpus(s->maps[MAP_OBSERVED], 0, ROCESTEER_OBSERVED_MAX, observed);
}
