/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The BPF programs and tables of this network namespace: load, attach, pin,
 * fill, read. They live in /sys/fs/bpf/rocesteer/netns-COOKIE and outlive the
 * command; the last job to go takes them with it.
 */
#ifndef ROCESTEER_LIB_STEER_TABLES_H
#define ROCESTEER_LIB_STEER_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <rocesteer/types.h>

#include "base/base.h"
#include "portmap/portmap.h"

struct steer;

/* Flags of steer_open(). */
#define STEER_CREATE	1	/* load and pin the programs if they are absent */
#define STEER_NO_MODULE	2	/* steer in BPF even where the module is loaded */
#define STEER_NO_WAIT	4	/* -EAGAIN while another process has them open */
#define STEER_READ	8	/* others may read as well: nothing is changed */
#define STEER_RENEW	16	/* load programs over those that are there, and keep them */

/**
 * steer_open() - get at the programs and tables of this namespace
 * @s: set; to be given back by steer_close()
 * @flags: of the above
 * @err: filled on failure
 *
 * Waits as lock_take() does while another process has them open, unless both only
 * read: a command sees no half-made job, and prints behind steer_close(), as a reader
 * can take any time.
 * Without STEER_CREATE -ENOENT with code "no-job" where nothing is loaded, and
 * -ENOENT for no other reason.
 *
 * Return: 0 or a negative errno.
 */
int steer_open(struct steer **s, int flags, struct err *err);

/*
 * Give @s back. Programs and tables go as well if there is no job in them, unless it
 * was opened with STEER_READ.
 */
void steer_close(struct steer *s);

/**
 * steer_unlock() - keep the tables open, but let other commands at them
 * @s: open
 *
 * What is read from here on may be half of a job that is being loaded, and
 * steer_close() removes nothing.
 */
void steer_unlock(struct steer *s);

/* Programs go with the last job from here on; steer_close() takes them if there is none. */
void steer_let_go(struct steer *s);

/* Do programs stay when the last job goes? */
bool steer_is_kept(const struct steer *s);

/* Whose programs these are. Return: 0 or a negative errno. */
int steer_version(const struct steer *s, struct rocesteer_version *version);

/* Do the programs call the module? */
bool steer_has_module(const struct steer *s);

/* Directory of the pins. */
const char *steer_pin_dir(const struct steer *s);

/**
 * struct steer_job_spec - what a job wants
 * @id: number, not 0
 * @name: for people, at most 31 bytes
 * @cgroup_id: noted only, the module does the tagging
 * @pid: likewise
 * @all: all flows of the device that no other job claims
 * @split: how flows are split
 * @deal: on which path a flow is at home
 * @reseq: which flows may be split
 * @actuator: by packet or by queue pair
 * @keep_labels: as in struct rocesteer_job
 * @slice: as in struct rocesteer_job
 * @ifindex: device of @map
 * @map: paths; peers that are local are left out
 * @home: flows take the home paths of @map while these are up, else they are dealt over
 *	all
 * @flows: explicit flows, their peers are in @map
 * @nr_flows: 0 where the job has none
 * @seed: of this host: on which path the deal starts
 * @place: of this host under its leaf, where @deal goes by it
 * @replace: set by steer_job_replace()
 */
struct steer_job_spec {
	__u32 id;
	const char *name;
	__u64 cgroup_id;
	__u32 pid;
	bool all;
	enum rocesteer_split split;
	enum rocesteer_deal deal;
	enum rocesteer_reseq_mode reseq;
	enum rocesteer_actuator actuator;
	bool keep_labels;
	__u8 slice;
	unsigned int ifindex;
	const struct portmap *map;
	bool home;
	const struct rocesteer_flow_key *flows;
	size_t nr_flows;
	__u32 seed;
	__u32 place;
	bool replace;
};

/**
 * steer_job_add() - fill a job's tables and attach to its device, if it steers packets
 * @s: opened with STEER_CREATE
 * @spec: the job
 * @err: filled on failure
 *
 * All or nothing.
 *
 * Return: 0 or a negative errno; -EEXIST, code "exists", for a job that is
 * loaded.
 */
int steer_job_add(struct steer *s, const struct steer_job_spec *spec,
		  struct err *err);

/**
 * steer_job_replace() - give a job that is loaded another port map, slice, name, split or
 * deal
 * @s: open
 * @spec: the job; its device, owner, flows, actuator and @reseq are those that it has
 * @err: filled on failure
 *
 * Flows go on by the ports that they have, until they are planned anew. Only flows whose
 * peer is not in the map any more, or is under another leaf, are forgotten.
 *
 * Return: 0 or a negative errno; -ENOENT, code "no-job", for a job that is not loaded;
 * -EINVAL, code "other-job", where it differs in what cannot be replaced. When the tables
 * are full, some of the peers are new already.
 */
int steer_job_replace(struct steer *s, const struct steer_job_spec *spec,
		      struct err *err);

/**
 * steer_job_del() - empty a job's tables and detach from a device it was the
 * last to use
 * @s: open
 * @id: the job
 * @err: filled on failure
 *
 * Flows go back to their ECMP paths at once. Return: 0, or -ENOENT where there is
 * no such job: what a killed command left of one is gone then, too.
 */
int steer_job_del(struct steer *s, __u32 id, struct err *err);

/**
 * enum steer_device - what is with the device of a job
 * @STEER_DEVICE_THERE: programs are attached to it, or the job needs none
 * @STEER_DEVICE_GONE: no device of this network namespace has its name
 * @STEER_DEVICE_BACK: one has, but no programs were attached: now they are, and the
 *	job's entries are that device's; the job's flows are forgotten
 */
enum steer_device {
	STEER_DEVICE_THERE,
	STEER_DEVICE_GONE,
	STEER_DEVICE_BACK,
};

/**
 * steer_devices_check() - see to jobs whose device went away, came back, or has
 * another name
 * @s: open, and not unlocked
 * @fn: called for each job, with the name of its device
 * @arg: passed to @fn
 * @err: filled on failure
 *
 * Return: 0 or a negative errno; what failed for one job was done for the others.
 */
int steer_devices_check(struct steer *s,
			void (*fn)(__u32 id, const char *device,
				   enum steer_device is, void *arg),
			void *arg, struct err *err);

/* Are the programs attached to a device? */
bool steer_serves(const struct steer *s, __u32 ifindex);

/* Has the job what it needs: its device, and the programs there if it steers packets? */
bool steer_serves_job(const struct steer *s, const struct rocesteer_job *job);

/*
 * Do they run before the programs of others, which may keep packets from them? To ask
 * takes CAP_NET_ADMIN. Return: 1, 0, or a negative errno.
 */
int steer_first(const struct steer *s, __u32 ifindex);

/* A loaded job. Return: 0 or -ENOENT. */
int steer_job_get(struct steer *s, __u32 id, struct rocesteer_job *job);

/* Bit p: the peer has a port of path p. */
__u64 steer_peer_paths(const struct rocesteer_peer *peer);

/*
 * Walks; a callback that returns nonzero ends the walk with that value. @job 0:
 * those of all jobs. Flows come and go without the lock, but none is met twice.
 */
int steer_job_each(struct steer *s,
		   int (*fn)(__u32 id, const struct rocesteer_job *job,
			     void *arg), void *arg);
int steer_peer_each(struct steer *s, __u32 job,
		    int (*fn)(const struct rocesteer_peer_key *key,
			      const struct rocesteer_peer *peer, void *arg),
		    void *arg);
int steer_qpn_each(struct steer *s, __u32 job,
		   int (*fn)(const struct rocesteer_qpn_key *key,
			     const struct rocesteer_ports *ports, void *arg),
		   void *arg);
int steer_group_each(struct steer *s, __u32 job,
		     int (*fn)(const struct rocesteer_group_key *key,
			       const struct rocesteer_group *group, void *arg),
		     void *arg);
int steer_flow_each(struct steer *s,
		    int (*fn)(const struct rocesteer_flow_key *key,
			      const struct rocesteer_flow_path *path,
			      void *arg), void *arg);

/* One entry. Return: 0, or -ENOENT where there is none. */
int steer_flow_get(struct steer *s, const struct rocesteer_flow_key *key,
		   struct rocesteer_flow_path *path);
int steer_peer_get(struct steer *s, const struct rocesteer_peer_key *key,
		   struct rocesteer_peer *peer);

/*
 * The peer of a job's flow, with the ports that the flow has: where switches hash the
 * destination QPN those of rs_qpns, 0 where these are not known. Return: 0 or -ENOENT.
 */
int steer_ports_get(struct steer *s, const struct rocesteer_flow_key *key, __u32 job,
		    struct rocesteer_peer *peer);

/* Put ports that were found. Return: 0; -ENOENT where nobody asks for them any more. */
int steer_qpn_put(struct steer *s, const struct rocesteer_qpn_key *key,
		  const struct rocesteer_ports *ports);

/*
 * Forget the ports of a job's queue pairs at a peer, or with NULL at all, so that they are
 * found again. Return: 0 or a negative errno.
 */
int steer_qpns_forget(struct steer *s, __u32 job, const struct rocesteer_peer_key *peer);

int steer_group_get(struct steer *s, const struct rocesteer_group_key *key,
		    struct rocesteer_group *group);

/* Run a program of that name: see its argument. Return: 0 or a negative errno. */
int steer_set_flow(struct steer *s, const struct rocesteer_set_flow *set);
int steer_set_group(struct steer *s, const struct rocesteer_set_group *set);
int steer_set_paths(struct steer *s, const struct rocesteer_set_paths *set);
int steer_set_peer(struct steer *s, const struct rocesteer_set_peer *set);

int steer_set_order(struct steer *s, const struct rocesteer_set_order *set);

/* Forget a flow. Return: 0, or -1 where there is none. */
int steer_forget(struct steer *s, const struct rocesteer_flow_key *flow);

/* Sums over the CPUs. Return: 0 or a negative errno. */
int steer_counters(struct steer *s, __u64 verdicts[ROCESTEER_VERDICT_MAX],
		   __u64 observed[ROCESTEER_OBSERVED_MAX]);

/**
 * steer_watch_open() - be told of jobs that come and go in this namespace
 * @err: filled on failure
 *
 * Return: a file descriptor to wait for and to close, or a negative errno.
 */
int steer_watch_open(struct err *err);

/* Did any since the last call? Return: 1, 0, or a negative errno. */
int steer_watch_read(int fd);

struct steer_events;

/**
 * steer_events_open() - read the programs' events, as their only reader
 * @s: open; may be closed before the result
 * @err: filled on failure
 *
 * Return: to be given back by steer_events_close(), or NULL.
 */
struct steer_events *steer_events_open(struct steer *s, struct err *err);

void steer_events_close(struct steer_events *events);

/* File descriptor to wait for. */
int steer_events_fd(const struct steer_events *events);

/**
 * steer_events_read() - take the events there are
 * @events: of this namespace
 * @fn: called for each
 * @arg: passed to @fn
 *
 * Return: 0; -ENOBUFS: some were taken, but others may be lost, as the buffer
 * was full; another negative errno.
 */
int steer_events_read(struct steer_events *events,
		      void (*fn)(const struct rocesteer_event *event, void *arg),
		      void *arg);

#endif /* ROCESTEER_LIB_STEER_TABLES_H */
