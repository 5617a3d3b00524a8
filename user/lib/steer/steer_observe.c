// SPDX-License-Identifier: GPL-2.0
#include "steer_observe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <rocesteer/flow.h>

#include "steer_priv.h"

/**
 * struct change - change of a job's groups
 * @s: tables
 * @job: its number
 * @observe: observe its flows, or steer them
 * @group: its groups in that state, now or before
 * @nr: how many
 * @flows: flows that were forgotten
 */
struct change {
	struct steer *s;
	__u32 job;
	bool observe;
	const struct rocesteer_group_key *group;
	size_t nr;
	size_t flows;
};

static int set_observe(struct steer *s, const struct rocesteer_group_key *key, bool observe)
{
	struct rocesteer_set_observe set = { .key = *key, .observe = observe };

	return steer_run_program(s->progs[PROG_SET_OBSERVE], &set, sizeof(set));
}

static bool is_changed(const struct change *change, const struct rocesteer_flow_key *flow,
		       const struct rocesteer_flow_path *path)
{
	struct rocesteer_group_key key = { .job = path->job, .ifindex = flow->ifindex };
	size_t i;

	if (path->job != change->job || !(path->flags & ROCESTEER_FLOW_OBSERVED) != change->observe)
		return false;
	memcpy(key.leaf, path->leaf, sizeof(key.leaf));
	for (i = 0; i < change->nr; i++)
		if (!memcmp(&change->group[i], &key, sizeof(key)))
			return true;
	return false;
}

int steer_flow_enter(struct steer *s, __u32 job, const struct rocesteer_flow_key *flow,
		     const __u8 source[16], bool observe)
{
	struct rocesteer_flow_path path = rocesteer_flow_init;
	struct rocesteer_peer peer;
	__u32 p = 0;

	if (steer_ports_get(s, job, flow, source, &peer))
		return -ENOENT;
	while (p + 1 < peer.nr_paths && !peer.sport[p])
		p++;
	path.job = job;
	path.nr_pieces = 1;
	path.first_path = observe ? ROCESTEER_PATH_UNKNOWN : p;
	path.piece[0] = (struct rocesteer_piece) {
		.end = 1, .path = p, .sport = peer.sport[p],
	};
	memcpy(path.leaf, peer.leaf, sizeof(path.leaf));
	memcpy(path.source, source, sizeof(path.source));
	if (observe) {
		path.flags = ROCESTEER_FLOW_OBSERVED;
		path.piece[0].path = ROCESTEER_PATH_UNKNOWN;
		path.piece[0].sport = 0;
	} else if (!peer.sport[p]) {
		return 0;	/* the program enters the flow when a port is known */
	}
	return bpf_map_update_elem(s->maps[MAP_FLOWS], flow, &path, BPF_NOEXIST) ? -errno : 0;
}

/* The next packet of the flow enters it anew, but for a flow that its job lists. */
static int change_flow(const struct rocesteer_flow_key *flow,
		       const struct rocesteer_flow_path *path, void *arg)
{
	struct change *change = arg;

	if (!is_changed(change, flow, path) || steer_forget(change->s, flow))
		return 0;
	change->flows++;
	if (path->flags & (ROCESTEER_FLOW_FROM_PACKET | ROCESTEER_FLOW_QP))
		return 0;
	return steer_flow_enter(change->s, change->job, flow, path->source, change->observe);
}

int steer_job_observe(struct steer *s, __u32 job, bool observe,
		      const struct rocesteer_group_key *groups, size_t nr, size_t *flows)
{
	struct change change = { .s = s, .job = job, .observe = observe,
				 .group = groups, .nr = nr };
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++)
		ret = set_observe(s, &groups[i], observe);
	if (ret)
		return ret;
	steer_wait_programs();	/* none that saw the group before enters a flow */
	ret = steer_flow_each(s, change_flow, &change);
	*flows = change.flows;
	steer_tell_watchers(s);
	return ret;
}

static int count_group(const struct rocesteer_group_key *key,
		       const struct rocesteer_group *group, void *arg)
{
	struct steer_steering *steering = arg;

	(void)key;
	if (group->observe)
		steering->observed++;
	else
		steering->steered++;
	return 0;
}

int steer_job_steering(struct steer *s, __u32 job, struct steer_steering *steering)
{
	*steering = (struct steer_steering) {};
	return steer_group_each(s, job, count_group, steering);
}

int steer_job_put_observe(struct steer *s, __u32 id, bool observe)
{
	struct rocesteer_job job;
	int ret = steer_job_get(s, id, &job);

	job.observe = observe;
	if (!ret && bpf_map_update_elem(s->maps[MAP_JOBS], &id, &job, BPF_EXIST))
		ret = -errno;
	return ret;
}
