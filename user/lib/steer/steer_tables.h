/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Load, attach, pin, fill and read the BPF programs and tables of this network namespace. They
 * are pinned in /sys/fs/bpf/rocesteer/netns-COOKIE, outlive the command, and go with the
 * last job.
 */
#ifndef ROCESTEER_LIB_STEER_TABLES_H
#define ROCESTEER_LIB_STEER_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <rocesteer/set.h>
#include <rocesteer/stats.h>

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
 * steer_open() - open the programs and tables of this namespace
 * @s: set; to be closed by steer_close()
 * @flags: STEER_CREATE ..
 * @err: filled on failure
 *
 * Waits as lock_take() does while another process has them open, unless both only read, so
 * that no command sees half a job. Print after steer_close(): a reader of the output may
 * block. Without STEER_CREATE, -ENOENT with code "no-job" means that nothing is loaded; with
 * STEER_READ -EBUSY with code "other-bpffs", that the jobs cannot be seen from here.
 *
 * Return: 0 or a negative errno.
 */
int steer_open(struct steer **s, int flags, struct err *err);

/*
 * Close @s. If there is no job, remove programs and tables, unless @s was opened with
 * STEER_READ.
 */
void steer_close(struct steer *s);

/**
 * steer_unlock() - keep the tables open without the lock
 * @s: open
 *
 * From here on a job may be half loaded, and steer_close() removes nothing.
 */
void steer_unlock(struct steer *s);

/* Undo steer_keep(): without a job, steer_close() removes the programs. */
void steer_let_go(struct steer *s);

/* Do programs stay when the last job goes? */
bool steer_is_kept(const struct steer *s);

/* The version of the programs. Return: 0 or a negative errno. */
int steer_version(const struct steer *s, struct rocesteer_version *version);

/* Do the programs call the module? */
bool steer_has_module(const struct steer *s);

/* Directory of the pins. */
const char *steer_pin_dir(const struct steer *s);

/**
 * struct steer_job_spec - a job
 * @id: number, not 0
 * @name: for people, at most 31 bytes
 * @cgroup_id: owner; for information, the module tags flows
 * @pid: owner; for information
 * @all: all flows of the device that no other job claims
 * @split: how flows are split
 * @deal: how flows are dealt to home paths
 * @reseq: which flows may be split
 * @actuator: by packet or by queue pair
 * @keep_labels: as in struct rocesteer_job
 * @slice: as in struct rocesteer_job
 * @observe: flows are observed until steer_job_observe() has them steered
 * @ifindex: device of @map
 * @map: paths; peers that are local are left out
 * @sources: our addresses whose peers may be added later: steer_peer_add()
 * @nr_sources: number of sources
 * @home: flows take the home paths of @map while these are up, else any path
 * @flows: explicit flows, with peers of @map
 * @nr_flows: number of explicit flows
 * @seed: seed of this host, for the path at which the deal starts
 * @place: portmap_place() of this host, or its place under a leaf of its slice
 * @dry_run: check only, and change nothing: steer_open() with STEER_READ is enough. Room in the
 *	tables is not checked
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
	bool observe;
	unsigned int ifindex;
	const struct portmap *map;
	const __u8 (*sources)[16];
	size_t nr_sources;
	bool home;
	const struct rocesteer_flow_key *flows;
	size_t nr_flows;
	__u32 seed;
	__u32 place;
	bool dry_run;
	bool replace;
};

/*
 * Can packets of the job's flows, if they are split, announce the number of their paths?
 * Return: 0, -ERANGE if not, or another negative errno.
 */
int steer_check_paths(const struct steer_job_spec *spec, struct err *err);

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
int steer_job_add(struct steer *s, const struct steer_job_spec *spec, struct err *err);

/**
 * steer_job_replace() - give a job that is loaded another port map, slice, name, split or
 * deal
 * @s: open
 * @spec: the job; with the device, owner, flows, actuator and @reseq of the loaded job
 * @err: filled on failure
 *
 * Flows keep their ports until they are planned again, and are observed or steered as before.
 * Flows whose peer is no longer in the map, or is under another leaf, are forgotten.
 *
 * Return: 0 or a negative errno; -ENOENT, code "no-job", if the job is not loaded; -EINVAL,
 * code "other-job", if a field differs that cannot be replaced. If the tables are full, some
 * peers have been replaced.
 */
int steer_job_replace(struct steer *s, const struct steer_job_spec *spec, struct err *err);

/**
 * steer_job_del() - empty a job's tables and detach from a device it was the
 * last to use
 * @s: open
 * @id: the job
 * @err: filled on failure
 *
 * Flows return to their ECMP paths at once. Return: 0, or -ENOENT if there is no such job;
 * parts of it that a killed command left are removed, too.
 */
int steer_job_del(struct steer *s, __u32 id, struct err *err);

/**
 * enum steer_device - state of the device of a job
 * @STEER_DEVICE_THERE: programs are attached, or the job needs none
 * @STEER_DEVICE_GONE: no device of this network namespace has the name
 * @STEER_DEVICE_BACK: a device with the name had no programs; they were attached, the job's
 *	entries moved to the device, and the job's flows forgotten
 */
enum steer_device {
	STEER_DEVICE_THERE,
	STEER_DEVICE_GONE,
	STEER_DEVICE_BACK,
};

/**
 * steer_devices_check() - serve jobs whose device has gone, come back, or got another name
 * @s: open and locked
 * @fn: called for each job, with the name of its device
 * @arg: passed to @fn
 * @err: filled on failure
 *
 * Return: 0 or a negative errno; a failure for one job does not affect the others.
 */
int steer_devices_check(struct steer *s,
			void (*fn)(__u32 id, const char *device, enum steer_device is, void *arg),
			void *arg, struct err *err);

/* Are the programs attached to a device? */
bool steer_serves(const struct steer *s, __u32 ifindex);

/* Does the job have its device, with programs attached if it steers packets? */
bool steer_serves_job(const struct steer *s, const struct rocesteer_job *job);

/*
 * Do the programs run before other programs, which may keep packets from them? Needs
 * CAP_NET_ADMIN. Return: 1, 0, or a negative errno.
 */
int steer_first(const struct steer *s, __u32 ifindex);

/*
 * Are the programs of rocesteer at a device, if any, pinned in this BPF file system? Needs no
 * handle. Return: 0, or -EBUSY with the code "other-bpffs".
 */
int steer_owns(unsigned int ifindex, struct err *err);

/* The same for each device of this network namespace. */
int steer_owns_all(struct err *err);

/* Fill @err: there is no such job. Return: -ENOENT. */
int steer_job_missing(__u32 id, struct err *err);

/* A loaded job. Return: 0 or -ENOENT. */
int steer_job_get(struct steer *s, __u32 id, struct rocesteer_job *job);

/* Bit p: the peer has a port of path p. */
__u64 steer_peer_paths(const struct rocesteer_peer *peer);

/*
 * Walks; a callback that returns nonzero ends the walk with that value. @job 0 stands for all
 * jobs. Flows come and go without the lock, but none is passed twice.
 */
int steer_job_each(struct steer *s,
		   int (*fn)(__u32 id, const struct rocesteer_job *job, void *arg), void *arg);
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
int steer_ended_each(struct steer *s,
		     int (*fn)(const struct rocesteer_group_key *key,
			       const struct rocesteer_ended *ended, void *arg),
		     void *arg);
int steer_flow_each(struct steer *s,
		    int (*fn)(const struct rocesteer_flow_key *key,
			      const struct rocesteer_flow_path *path,
			      void *arg), void *arg);

/* Read an entry. Return: 0, or -ENOENT. */
int steer_flow_get(struct steer *s, const struct rocesteer_flow_key *key,
		   struct rocesteer_flow_path *path);
int steer_peer_get(struct steer *s, const struct rocesteer_peer_key *key,
		   struct rocesteer_peer *peer);

/* The key of the port map for a job's flow whose packets have a source address */
static inline struct rocesteer_peer_key
steer_peer_key(__u32 job, const struct rocesteer_flow_key *flow, const __u8 source[16])
{
	struct rocesteer_peer_key key = { .job = job, .ifindex = flow->ifindex };

	memcpy(key.addr, flow->peer, 16);
	memcpy(key.source, source, 16);
	return key;
}

/*
 * The peer of a job's flow, with the ports for the flow: if switches hash the destination
 * QPN, from rs_qpns, or 0 while not known. Return: 0 or -ENOENT.
 */
int steer_ports_get(struct steer *s, __u32 job, const struct rocesteer_flow_key *flow,
		    const __u8 source[16], struct rocesteer_peer *peer);

/* Walk over the sources of all jobs' packets. Return: as steer_peer_each() */
int steer_source_each(struct steer *s,
		      int (*fn)(const struct rocesteer_source_key *key,
				const struct rocesteer_source *source, void *arg),
		      void *arg);

/* Read an entry. Return: 0, or -ENOENT. */
int steer_source_get(struct steer *s, const struct rocesteer_source_key *key,
		     struct rocesteer_source *source);

/* Write ports of a queue pair. Return: 0, or -ENOENT if it no longer waits for them. */
int steer_qpn_put(struct steer *s, const struct rocesteer_qpn_key *key,
		  const struct rocesteer_ports *ports);

/**
 * steer_peer_add() - add a peer to a job
 * @s: open and locked
 * @job: number of the job, which has the source of the peer
 * @ifindex: its device
 * @peer: ports; with paths in order
 * @partial: as in struct rocesteer_peer
 *
 * The paths of a leaf that other peers have stay as they are: further ones are left out. The peer
 * needs a port of each that is up, as a group does not use a path that a peer has no port of. A
 * peer that is, or was, partial may lack some, and its further paths are added to the leaf's.
 *
 * Return: 0; -EEXIST if the job has the peer, and not in part; -ENOENT if there is no such job, or
 * a port is missing; another negative errno.
 */
int steer_peer_add(struct steer *s, __u32 job, __u32 ifindex,
		   const struct portmap_peer *peer, bool partial);

/*
 * Forget the ports of a job's queue pairs at a peer, or with NULL at all peers, so that they
 * are found again. Return: 0 or a negative errno.
 */
int steer_qpns_forget(struct steer *s, __u32 job, const struct rocesteer_peer_key *peer);

int steer_group_get(struct steer *s, const struct rocesteer_group_key *key,
		    struct rocesteer_group *group);

/* Run the program with that name and argument. Return: 0 or a negative errno. */
int steer_set_flow(struct steer *s, const struct rocesteer_set_flow *set);
int steer_set_group(struct steer *s, const struct rocesteer_set_group *set);
int steer_set_paths(struct steer *s, const struct rocesteer_set_paths *set);
int steer_set_peer(struct steer *s, const struct rocesteer_set_peer *set);

int steer_set_order(struct steer *s, const struct rocesteer_set_order *set);

/* Forget a flow. Return: 0, or -1 if there is none. */
int steer_forget(struct steer *s, const struct rocesteer_flow_key *flow);

/* Sums over the CPUs. Return: 0 or a negative errno. */
int steer_counters(struct steer *s, __u64 verdicts[ROCESTEER_VERDICT_MAX],
		   __u64 observed[ROCESTEER_OBSERVED_MAX]);

/**
 * steer_watch_open() - listen to changes of the jobs of this namespace
 * @err: filled on failure
 *
 * Return: a file descriptor to wait for and to close, or a negative errno.
 */
int steer_watch_open(struct err *err);

/* Have jobs changed since the last call? Return: 1, 0, or a negative errno. */
int steer_watch_read(int fd);

struct steer_events;

/**
 * steer_events_open() - read the programs' events, as their only reader
 * @s: open; may be closed before the result
 * @err: filled on failure
 *
 * Return: to be closed by steer_events_close(), or NULL.
 */
struct steer_events *steer_events_open(struct steer *s, struct err *err);

void steer_events_close(struct steer_events *events);

/* File descriptor to wait for. */
int steer_events_fd(const struct steer_events *events);

/**
 * steer_events_read() - read the events that have arrived
 * @events: reader
 * @fn: called for each
 * @arg: passed to @fn
 *
 * Return: 0; -ENOBUFS if the buffer was full, so that events may be lost; another negative
 * errno.
 */
int steer_events_read(struct steer_events *events,
		      void (*fn)(const struct rocesteer_event *event, void *arg),
		      void *arg);

#endif /* ROCESTEER_LIB_STEER_TABLES_H */
