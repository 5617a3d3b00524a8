/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's generic netlink family, Documentation/netlink/specs/rocesteer.yaml: jobs and
 * flows of this network namespace.
 */
#ifndef ROCESTEER_LIB_GENL_H
#define ROCESTEER_LIB_GENL_H

#include <stdbool.h>
#include <linux/types.h>
#include <rocesteer/types.h>
#include <uapi/linux/rocesteer.h>

#include "base/base.h"

struct genl;

/* Is the module loaded, even if it cannot be reached? */
bool genl_module_is_loaded(void);

/**
 * genl_module_says() - read an attribute of the loaded module
 * @what: its file below /sys/module/rocesteer
 * @text: set to the first line; empty if there is no such file
 * @size: of @text
 */
void genl_module_says(const char *what, char *text, size_t size);

/**
 * struct genl_job - a job as the module has it
 * @id: number
 * @name: for people
 * @cgroup_id: owner, or 0
 * @pid: owner, or 0
 * @flows: flows it has now, in replies
 * @resequence: enum rocesteer_resequence
 */
struct genl_job {
	__u32 id;
	char name[ROCESTEER_NAME_SIZE];
	__u64 cgroup_id;
	__u32 pid;
	__u32 flows;
	__u32 resequence;
};

/**
 * struct genl_flow - a flow as the module has it
 * @key: which
 * @job: job it belongs to, 0: none
 * @origin: enum rocesteer_origin
 * @sqpn: local queue pair number, learnt flows
 * @pid: owner of the queue pair, learnt flows, 0: not in our pid namespace
 * @path_mtu: of the queue pair in bytes, learnt flows
 * @source: local address of the queue pair, learnt flows
 * @label: enum rocesteer_label, learnt flows
 * @software: the kernel makes its packets, learnt flows
 * @rdma_device: name, learnt flows
 * @resequenced: the module restores the order of what the queue pair receives,
 *	and the following are known
 * @reseq_depth: packets that wait now
 * @reseq_age: microseconds since the oldest of them waits
 * @reseq_held: packets that had to wait
 * @reseq_lost: missing ones given up, all paths had delivered later ones
 * @reseq_timeout: missing ones given up by the timer
 */
struct genl_flow {
	struct rocesteer_flow_key key;
	__u32 job;
	__u32 origin;
	__u32 sqpn;
	__u32 pid;
	__u32 path_mtu;
	__u8 source[16];
	__u32 label;
	bool software;
	char rdma_device[ROCESTEER_NAME_SIZE];
	bool resequenced;
	__u32 reseq_depth;
	__u64 reseq_age;
	__u64 reseq_held;
	__u64 reseq_lost;
	__u64 reseq_timeout;
};

/**
 * struct genl_stats - the module's counters
 * @value: by ROCESTEER_A_STATS_*
 * @depth: times that a packet began to wait while 2^i at most, more than 2^(i - 1), waited
 * @wait: times that packets waited 2^i * GENL_WAIT_UNIT ns at most for a missing one; the last
 *	counts all longer waits
 */
struct genl_stats {
	__u64 value[ROCESTEER_A_STATS_MAX + 1];
	__u64 depth[ROCESTEER_DEPTH_BUCKETS];
	__u64 wait[ROCESTEER_WAIT_BUCKETS];
};

#define GENL_WAIT_UNIT	1024ull

/**
 * struct genl_stat - a counter of genl_stats
 * @name: as in the netlink family's specification, with _ for -
 * @help: a sentence for its metric, or NULL: it is part of a histogram
 * @is_gauge: it may fall
 */
struct genl_stat {
	const char *name;
	const char *help;
	bool is_gauge;
};

/* The counter of an attribute, or NULL. */
const struct genl_stat *genl_stat(unsigned int attr);

/**
 * struct genl_event - a change in the module's registry
 * @name: "job-add", "job-del", "flow-add", "flow-del", or "lost": events came
 *	faster than they were read
 * @is_job: @job is filled
 * @is_flow: @flow is filled
 */
struct genl_event {
	const char *name;
	bool is_job;
	bool is_flow;
	struct genl_job job;
	struct genl_flow flow;
};

/**
 * genl_open() - connect to the module
 * @genl: set; to be closed by genl_close()
 * @err: filled on failure: "module-not-loaded", "module-no-btf", "version"
 *
 * Return: 0; -ENOENT when the module is not loaded; -ENOEXEC when it is
 * without BTF; -EPROTO for another version; another negative errno.
 */
int genl_open(struct genl **genl, struct err *err);

void genl_close(struct genl *genl);

/* Change the registry. Errors have the kernel's message. */
int genl_job_add(struct genl *genl, const struct genl_job *job, struct err *err);
int genl_job_del(struct genl *genl, __u32 id, struct err *err);
int genl_flow_add(struct genl *genl, const struct rocesteer_flow_key *key,
		  __u32 job, struct err *err);

/**
 * genl_flow_adopt() - make the module learn a connected queue pair
 * @genl: connection
 * @ifindex: net device of a port of its RDMA device
 * @sqpn: its number
 * @err: filled on failure
 *
 * Return: 0; -ENOENT, -ENOTCONN or -EOPNOTSUPP if no such queue pair has a flow; another
 * negative errno.
 */
int genl_flow_adopt(struct genl *genl, __u32 ifindex, __u32 sqpn, struct err *err);

/**
 * genl_hop_limit() - limit the hops of what this process connects to RDMA devices from now on
 * @genl: connection; the limit ends with it
 * @limit: 1 to 255
 * @err: filled on failure
 *
 * Return: 0 or a negative errno; -EOPNOTSUPP: the module is of an older version.
 */
int genl_hop_limit(struct genl *genl, __u8 limit, struct err *err);

/**
 * genl_job_get() - one job
 * @genl: connection
 * @id: which
 * @job: filled
 * @err: filled on failure
 *
 * Return: 0; -ENOENT when there is none; another negative errno.
 */
int genl_job_get(struct genl *genl, __u32 id, struct genl_job *job, struct err *err);

/* Dumps; a callback that returns nonzero ends the walk with that value. */
int genl_job_each(struct genl *genl,
		  int (*fn)(const struct genl_job *job, void *arg), void *arg,
		  struct err *err);
int genl_flow_each(struct genl *genl,
		   int (*fn)(const struct genl_flow *flow, void *arg),
		   void *arg, struct err *err);

int genl_stats(struct genl *genl, struct genl_stats *stats, struct err *err);

/**
 * genl_listen() - listen to events
 * @genl: connection, used for nothing else from here on
 * @err: filled on failure
 *
 * Return: a file descriptor to wait for, or a negative errno.
 */
int genl_listen(struct genl *genl, struct err *err);

/**
 * genl_receive() - read the events that have arrived
 * @genl: connection after genl_listen()
 * @fn: called for each event; nonzero ends the reading
 * @arg: passed to @fn
 *
 * Return: 0, what @fn returned, or a negative errno.
 */
int genl_receive(struct genl *genl,
		 int (*fn)(const struct genl_event *event, void *arg),
		 void *arg);

#endif /* ROCESTEER_LIB_GENL_H */
