// SPDX-License-Identifier: GPL-2.0
/*
 * Devices that go away and come back, as where a driver is loaded again: with
 * another number, and without programs. The tables have numbers; a job has the name
 * of its device as well, and goes by that.
 */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <rocesteer/chunk.h>

#include "base/base.h"
#include "steer_priv.h"

/**
 * struct check - of the devices of all jobs
 * @s: the tables
 * @fn: the caller's
 * @arg: likewise
 * @err: likewise
 * @ret: the last failure
 * @back: numbers of devices that are back, for all jobs that have them
 */
struct check {
	struct steer *s;
	void (*fn)(__u32 id, const char *device, enum steer_device is, void *arg);
	void *arg;
	struct err *err;
	int ret;
	struct set back;
};

/**
 * struct move - entries of a job from one device to another
 * @s: the tables
 * @map: where they are
 * @job: the job
 * @from: the old device
 * @to: the new one
 * @moved: whether there were any
 */
struct move {
	struct steer *s;
	enum steer_map map;
	__u32 job;
	__u32 from;
	__u32 to;
	bool moved;
};

/* All keys begin as a peer's does, which is the longest. */
static int move_one(int fd, const void *from, const void *value, void *arg)
{
	struct rocesteer_peer_key key;
	struct move *move = arg;

	memcpy(&key, from, steer_key_size(move->map));
	if (key.job != move->job || key.ifindex != move->from)
		return 0;
	move->moved = true;
	if (move->to == move->from)
		return 0;
	key.ifindex = move->to;
	if (bpf_map_update_elem(fd, &key, value, BPF_ANY))
		return -errno;
	bpf_map_delete_elem(fd, from);
	return 0;
}

static int empty_group(int fd, const void *key, const void *value, void *arg)
{
	struct rocesteer_group group = *(const struct rocesteer_group *)value;
	const struct rocesteer_group_key *gkey = key;
	const struct move *move = arg;

	if (gkey->ifindex != move->from)
		return 0;
	memset(group.flows, 0, sizeof(group.flows));
	bpf_map_update_elem(fd, key, &group, BPF_EXIST);
	return 0;
}

static int empty_peer(int fd, const void *key, const void *value, void *arg)
{
	struct rocesteer_peer peer = *(const struct rocesteer_peer *)value;
	const struct rocesteer_peer_key *pkey = key;
	const struct move *move = arg;

	if (pkey->ifindex != move->from)
		return 0;
	memset(peer.flows, 0, sizeof(peer.flows));
	bpf_map_update_elem(fd, key, &peer, BPF_EXIST);
	return 0;
}

static int drop_flow(int fd, const void *key, const void *value, void *arg)
{
	const struct rocesteer_flow_key *flow = key;
	const struct move *move = arg;

	(void)value;
	if (flow->ifindex != move->from)
		return 0;
	if (move->map == MAP_FLOWS)	/* its traffic stays counted */
		steer_forget(move->s, flow);
	bpf_map_delete_elem(fd, key);
	return 0;
}

static int move_entries(struct steer *s, struct move *move, enum steer_map map,
			int (*fn)(int fd, const void *key, const void *value, void *arg))
{
	move->map = map;
	return steer_map_each(s->maps[map], fn, move);
}

/*
 * Flows of all jobs went with the device: queue pairs that come have other numbers. No
 * program counts meanwhile in the groups and peers that are written.
 */
static void drop_flows(struct steer *s, __u32 ifindex)
{
	struct move move = { .s = s, .from = ifindex };

	move_entries(s, &move, MAP_FLOWS, drop_flow);
	move_entries(s, &move, MAP_TAGS, drop_flow);
	move_entries(s, &move, MAP_GROUPS, empty_group);
	move_entries(s, &move, MAP_PEERS, empty_peer);
	steer_detach(s, ifindex);
	steer_detach_chunk(s, ifindex);
}

/* All flows of the device are the job's, unless another one has them by now. */
static int move_device(struct steer *s, __u32 id, __u32 from, __u32 to)
{
	__u32 other;

	if (!bpf_map_lookup_elem(s->maps[MAP_DEVICES], &to, &other) && other != id)
		return -EEXIST;
	bpf_map_delete_elem(s->maps[MAP_DEVICES], &from);
	if (bpf_map_update_elem(s->maps[MAP_DEVICES], &to, &id, BPF_ANY))
		return -errno;
	return steer_run_program(s->progs[PROG_CHANGED], NULL, 0);
}

/* Move a job's entries. If this is killed, it can be done again: the job itself is the last. */
static int move_job(struct steer *s, __u32 id, struct rocesteer_job *job, __u32 to, bool *chunks)
{
	struct move move = { .job = id, .from = job->ifindex, .to = to };
	int ret;

	ret = move_entries(s, &move, MAP_GROUPS, move_one) ?:
	      move_entries(s, &move, MAP_PEERS, move_one) ?:
	      move_entries(s, &move, MAP_SOURCES, move_one);
	move.moved = false;
	ret = ret ?: move_entries(s, &move, MAP_RANGE_PEERS, move_one);
	*chunks = move.moved;
	if (!ret && job->all)
		ret = move_device(s, id, job->ifindex, to);
	job->ifindex = to;
	if (!ret && bpf_map_update_elem(s->maps[MAP_JOBS], &id, job, BPF_EXIST))
		ret = -errno;
	return ret;
}

static int come_back(struct check *check, __u32 id, struct rocesteer_job *job, __u32 to)
{
	struct steer *s = check->s;
	bool chunks = false;
	int ret;

	/*
	 * Without a link the work is done, or nothing was attached: the job needs no
	 * program, or job load was killed.
	 */
	if ((job->ifindex != to || !steer_serves(s, to)) &&
	    (steer_has_link(s, job->ifindex) || job->actuator == ROCESTEER_ACTUATOR_QP))
		drop_flows(s, job->ifindex);
	set_get(&check->back, &to, sizeof(to), sizeof(to));
	ret = move_job(s, id, job, to, &chunks);
	if (ret)
		return err_errno(check->err, -ret, "tables",
				 "cannot move job %u to the new %s", id,
				 job->device);
	ret = steer_attach(s, to, job->actuator, check->err);
	if (!ret && chunks)
		ret = steer_attach_chunk(s, to, check->err);
	if (!ret)
		check->fn(id, job->device, STEER_DEVICE_BACK, check->arg);
	return ret;
}

static int check_job(int fd, const void *key, const void *value, void *arg)
{
	struct rocesteer_job job = *(const struct rocesteer_job *)value;
	struct check *check = arg;
	char name[IF_NAMESIZE];
	__u32 id, to;

	memcpy(&id, key, sizeof(id));
	if (if_indextoname(job.ifindex, name) &&
	    steer_serves_job(check->s, &job) &&
	    !set_find(&check->back, &job.ifindex, sizeof(job.ifindex))) {
		if (strcmp(name, job.device)) {
			memcpy(job.device, name, sizeof(job.device));
			bpf_map_update_elem(fd, key, &job, BPF_EXIST);
		}
		check->fn(id, job.device, STEER_DEVICE_THERE, check->arg);
		return 0;
	}
	to = if_nametoindex(job.device);
	if (to) {
		check->ret = come_back(check, id, &job, to) ?: check->ret;
		return 0;
	}
	/*
	 * A device that moved to another namespace keeps its programs, which are useless
	 * there.
	 */
	drop_flows(check->s, job.ifindex);
	check->fn(id, job.device, STEER_DEVICE_GONE, check->arg);
	return 0;
}

int steer_devices_check(struct steer *s,
			void (*fn)(__u32 id, const char *device, enum steer_device is, void *arg),
			void *arg, struct err *err)
{
	struct check check = { .s = s, .fn = fn, .arg = arg, .err = err };

	steer_map_each(s->maps[MAP_JOBS], check_job, &check);
	set_clear(&check.back, free);
	return check.ret;
}
