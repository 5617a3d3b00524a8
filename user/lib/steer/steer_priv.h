/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of this library.
 */
#ifndef ROCESTEER_LIB_STEER_PRIV_H
#define ROCESTEER_LIB_STEER_PRIV_H

#include "steer_tables.h"

#define BPFFS		"/sys/fs/bpf"
#define PIN_ROOT	BPFFS "/rocesteer"
#define PIN_DIR		"netns-%llu"
#define STEER_PIN_POLICY	"link_policy"
#define STEER_PIN_FLOW_ADD	"link_flow_add"
#define STEER_PIN_FLOW_DEL	"link_flow_del"

/* The pinned maps; the order is that of map_specs[] in steer.c. */
enum steer_map {
	MAP_FLOWS,
	MAP_PEERS,
	MAP_SOURCES,
	MAP_QPNS,
	MAP_GROUPS,
	MAP_ENDED,
	MAP_JOBS,
	MAP_DEVICES,
	MAP_VERDICTS,
	MAP_OBSERVED,
	MAP_EVENTS,
	MAP_CHUNK_JOBS,
	MAP_CHUNKS,
	MAP_RANGES,
	MAP_RANGE_PEERS,
	MAP_TAGS,
	MAP_CHUNK_COUNTS,
	MAP_CHUNK_SUMS,
	MAP_VERSION,
	MAP_MAX,
};

/* The pinned programs that user space runs. */
enum steer_prog {
	PROG_SET_FLOW,
	PROG_SET_GROUP,
	PROG_SET_OBSERVE,
	PROG_SET_PATHS,
	PROG_SET_PEER,
	PROG_FORGET,
	PROG_SET_ORDER,
	PROG_CHANGED,
	PROG_UNTAG,
	PROG_MAX,
};

/**
 * struct steer - handle
 * @lock: fd of the pins' parent directory, locked until steer_unlock()
 * @netns: SO_NETNS_COOKIE
 * @dir: directory of the pins
 * @maps: descriptors of maps
 * @progs: descriptors of programs
 * @ours: no other process has the tables open, and their layout is known: without a job they
 *	may be removed
 * @module: the programs call the module
 */
struct steer {
	int lock;
	__u64 netns;
	char dir[64];
	int maps[MAP_MAX];
	int progs[PROG_MAX];
	bool ours;
	bool module;
};

extern const char *const steer_prog_names[PROG_MAX];

/* Pins in a directory. Return: 0, a descriptor, or a negative errno. */
int steer_pin_path(char *buf, size_t size, const char *dir, const char *name);
int steer_pin_get(const char *dir, const char *name);
int steer_pin_put(const char *dir, const char *name, int fd);

/*
 * Remove a pin directory with its contents, first the pin that marks it as complete, in case
 * this process is killed.
 */
void steer_pins_remove(const char *dir);

/*
 * Remove the directories and records of namespaces that are gone, except @own. The module knows
 * which are gone. @guess: without the module, a namespace whose devices are all gone counts as
 * gone, too.
 */
void steer_pins_sweep(const char *own, bool guess);

/* From here on programs outlive the last job. Return: 0 or a negative errno. */
int steer_keep(struct steer *s, struct err *err);

/* Run a program of type syscall. Return: 0 or a negative errno. */
int steer_run_program(int prog, const void *ctx, size_t size);

/* Detach the policy, so that the namespace may have another one. */
void steer_policy_detach(const char *dir);

/*
 * Load the programs, with the module if @s->module, and pin them. Old programs serve a device
 * until it has the new ones. Return: 0 or a negative errno.
 */
int steer_load(struct steer *s, struct err *err);

/*
 * Open our directory in the BPF file system; create it with STEER_CREATE. Fails unless it is
 * root's alone. Return: a descriptor, or a negative errno as of steer_open().
 */
int steer_root(int flags, struct err *err);

/* Read a parameter of the module, a number. Return: 0 or a negative errno. */
int steer_module_param(const char *name, __u32 *value, struct err *err);

/* Check that a device has Ethernet frames for the programs. Return: 0 or a negative errno. */
int steer_check_device(unsigned int ifindex, struct err *err);

/*
 * Attach to a device, unless the actuator steers queue pairs only, or detach. Return: 0
 * or a negative errno.
 */
int steer_attach(struct steer *s, unsigned int ifindex,
		 enum rocesteer_actuator actuator, struct err *err);
void steer_detach(struct steer *s, unsigned int ifindex);

/* Is there a link for a device, which may be gone? */
bool steer_has_link(const struct steer *s, unsigned int ifindex);

/* The same for the program that tags packets by their chunks. */
int steer_attach_chunk(struct steer *s, unsigned int ifindex, struct err *err);
void steer_detach_chunk(struct steer *s, unsigned int ifindex);

/* Bytes of a key of a map */
size_t steer_key_size(enum steer_map map);

/*
 * Walk a hash. Entries are read in batches before the callback, which may delete any of
 * them. If @fn returns a value other than 0, the walk ends with it.
 */
int steer_map_each(int fd, int (*fn)(int fd, const void *key, const void *value,
				     void *arg), void *arg);

/* The number of a path of the group, or -1. */
int steer_group_path(const struct rocesteer_group *group, const __u8 router[16],
		     const __u8 via[16], const __u8 leaf[16]);

/* Write the peers of a job's map, and their groups; with spec->replace over old entries. */
int steer_peers_put(struct steer *s, const struct steer_job_spec *spec);

/* The entry of a job in rs_jobs. */
struct rocesteer_job steer_job_of(const struct steer_job_spec *spec);

/* Say why the tables could not be filled. Return: a negative errno. */
int steer_fill_error(__u32 id, int ret, struct err *err);

/* Touch the directory for steer_watch_open(): inotify does not see table entries. */
void steer_tell_watchers(struct steer *s);

/* Wait until no program runs that saw the tables as they were. */
void steer_wait_programs(void);

/* Add up the @nr counters that each CPU has at an index. Return: 0 or a negative errno. */
int steer_sum_cpus(int fd, __u32 at, __u32 nr, __u64 *sums);

/* Remove a job's chunks, if it has any. */
void steer_chunks_purge(struct steer *s, __u32 job);

/* Forget the messages of flows that are another job's now. */
void steer_chunks_forget(struct steer *s, const struct rocesteer_flow_key *flows, size_t nr);

#endif /* ROCESTEER_LIB_STEER_PRIV_H */
