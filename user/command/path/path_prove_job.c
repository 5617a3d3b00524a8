// SPDX-License-Identifier: GPL-2.0
/* rocesteer path prove --job: does the job steer a queue pair of its cgroup? */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../flow/flow.h"
#include "path_prove.h"

/* FILEID_KERNFS of include/linux/exportfs.h: a cgroup by its number */
#define CGROUP_HANDLE	0xfe

static int open_cgroup(__u64 id)
{
	static const char * const mounts[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };
	struct {
		struct file_handle head;
		__u64 id;
	} handle = {
		.head = { .handle_bytes = sizeof(id), .handle_type = CGROUP_HANDLE },
		.id = id,
	};
	int mount, fd = -1;
	size_t i;

	for (i = 0; fd < 0 && i < ARRAY_SIZE(mounts); i++) {
		mount = open(mounts[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (mount < 0)
			continue;
		fd = open_by_handle_at(mount, &handle.head, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(mount);
	}
	return fd;
}

/* This process stays there: it ends soon. */
static int enter_cgroup(__u64 id, struct err *err)
{
	int dir = open_cgroup(id), procs = -1, error = 0;

	if (dir >= 0)
		procs = openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (procs < 0 || write(procs, "0", 1) != 1)
		error = errno;
	if (procs >= 0)
		close(procs);
	if (dir >= 0)
		close(dir);
	return error ? err_errno(err, error, "no-cgroup",
				 "cannot enter the job's cgroup, number %llu", id) : 0;
}

/* A job of the device as a whole has the queue pairs of all processes. */
static int enter(__u32 id, struct err *err)
{
	struct genl_job job;
	struct steer *steer;
	struct genl *genl;
	int ret;

	ret = steer_open(&steer, STEER_READ, err);
	if (!ret) {
		struct rocesteer_job loaded;

		if (steer_job_get(steer, id, &loaded))
			ret = steer_job_missing(id, err);
		steer_close(steer);
	}
	ret = ret ?: genl_open(&genl, err);
	if (ret)
		return ret;
	ret = genl_job_get(genl, id, &job, NULL);
	genl_close(genl);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	if (job.cgroup_id)
		return enter_cgroup(job.cgroup_id, err);
	return !job.pid ? 0 : err_set(err, EXIT_BAD_INPUT, "job-of-process",
			"--job: job %u is of process %u, and no other can have its queue pairs",
			id, job.pid);
}

struct look {
	struct proof *p;
	const struct portmap_peer *peer;
	const struct prove_question *question;
	struct json_object *flow;
	bool steered;
};

static int heard(const struct prove_answer *answers, int nr, void *arg)
{
	struct look *look = arg;
	struct rocesteer_flow_key key = {
		.ifindex = prove_ifindex(look->p->prove),
		.dqpn = look->question->dqpn,
	};
	const struct portmap_path *path;
	struct json_object *actuator;
	int ret;

	memcpy(key.peer, look->question->peer, 16);
	ret = flow_put_one(look->flow, &key, look->p->err);
	if (ret)
		return ret == -ENOENT ? err_set(look->p->err, EXIT_FAILED, "no-flow",
						"nobody knows the flow of the queue pair") : ret;
	if (!nr)
		return 0;
	out_uint(look->flow, "made", answers[0].sport);
	out_addr(look->flow, "router", answers[0].router);
	path = portmap_peer_port_path(look->peer, answers[0].sport);
	look->steered = json_object_object_get_ex(look->flow, "actuator", &actuator) && path &&
			!memcmp(path->router, answers[0].router, 16);
	return 0;
}

int path_prove_job(struct proof *p, __u32 job, const struct portmap_peer *peer, bool *steered)
{
	struct prove_question question = { .dqpn = PROVE_DQPN + 255, .packets = 1, .heard = heard,
					    .hop = path_prove_hop(p, peer) };
	struct look look = { .p = p, .peer = peer, .question = &question };
	struct prove_answer answer;
	__u32 sqpn;
	int ret;

	memcpy(question.peer, peer->addr, 16);
	question.arg = &look;
	ret = enter(job, p->err);
	if (ret)
		return ret;
	look.flow = out_object(p->root, "flow");
	ret = prove_ask(p->prove, &question, &answer, &sqpn, p->err);
	*steered = look.steered;
	return ret < 0 ? ret : 0;
}
