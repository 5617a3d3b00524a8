/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups for which switches sum packets: the group file, the groups of a job that has a slice,
 * and the netlink family of rocesteer_reduce.ko,
 * Documentation/netlink/specs/rocesteer_reduce.yaml, which knows the groups of this network
 * namespace.
 */
#ifndef ROCESTEER_LIB_REDUCE_H
#define ROCESTEER_LIB_REDUCE_H

#include <linux/types.h>
#include <stdbool.h>
#include <uapi/linux/rocesteer_reduce.h>

#include "base/base.h"

struct cluster;

#define REDUCE_NO_ROOT		(~0U)
#define REDUCE_MIN_RANKS	2
#define REDUCE_WINDOW		2u	/* messages in flight, of groups that we make */
#define REDUCE_PACKETS		40u	/* of a message, likewise, where nobody says otherwise */

/* Names of enum rocesteer_reduce_type, _op and _role, ended by NULL. */
extern const char * const reduce_types[];
extern const char * const reduce_ops[];
extern const char * const reduce_roles[];

/* The name of a number; "unknown" for one that only a newer module knows. */
const char *reduce_name(const char * const *names, __u32 number);

/**
 * struct reduce_rank - a rank, as the user configures it
 * @address: of its RoCE packets; IPv4 is mapped
 * @router: router that its packets to the next rank have to pass, as in port maps; all zero:
 *	any. Not known to the module
 * @leaf: number of its leaf
 * @qpn: queue pair that receives results from the rank before it
 * @psn: first PSN that it sends
 * @sender_qpn: queue pair that sends to the next rank, with a box
 * @va: virtual address where its results begin
 */
struct reduce_rank {
	__u8 address[16];
	__u8 router[16];
	__u32 leaf;
	__u32 qpn;
	__u32 psn;
	__u32 sender_qpn;
	__u64 va;
};

/**
 * struct reduce_config - a group, as the user configures it
 * @id: 0..ROCESTEER_REDUCE_MAX_GROUP
 * @type: enum rocesteer_reduce_type
 * @op: enum rocesteer_reduce_op
 * @mtu: bytes of payload of a packet, at most
 * @packets: of a message, at most
 * @window: messages in flight, at most
 * @role: enum rocesteer_reduce_role, of the switch
 * @leaf: which leaf the switch is, with the role leaf
 * @root: which spine the root is, or REDUCE_NO_ROOT. Not known to the module
 * @box: address that queue pairs are connected to, of a box beside the switches; IPv4 is
 *	mapped; all zero: the switches between the ranks sum
 * @joined: @type, @op, and queue pairs of @rank are known; otherwise the group only has its
 *	memory
 * @nr_ranks: REDUCE_MIN_RANKS..ROCESTEER_REDUCE_MAX_RANKS
 * @rank: in the order of the ring and of the sum: leaf by leaf
 */
struct reduce_config {
	__u32 id;
	__u32 type;
	__u32 op;
	__u32 mtu;
	__u32 packets;
	__u32 window;
	__u32 role;
	__u32 leaf;
	__u32 root;
	__u8 box[16];
	bool joined;
	__u32 nr_ranks;
	struct reduce_rank rank[ROCESTEER_REDUCE_MAX_RANKS];
};

/* Does a box beside the switches sum? */
static inline bool reduce_config_is_box(const struct reduce_config *config)
{
	return !addr_is_none(config->box);
}

static inline bool reduce_config_has_one_leaf(const struct reduce_config *config)
{
	return config->rank[0].leaf == config->rank[config->nr_ranks - 1].leaf;
}

/**
 * reduce_config_read() - read a group of a file (Documentation/formats.rst)
 * @r: where
 * @obj: the group
 * @config: zeroed; filled, with the role alone. @joined says which format: "Group", or the groups
 *	of "Reduction plan"
 *
 * Return: 0 or -EINVAL.
 */
int reduce_config_read(struct reader *r, struct json_object *obj, struct reduce_config *config);

/* The reverse: add the fields to an object. */
void reduce_config_put(struct json_object *obj, const struct reduce_config *config);

/**
 * reduce_file_read() - read a group file
 * @config: filled, with the role alone
 * @file: name; "-" is standard input
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int reduce_file_read(struct reduce_config *config, const char *file, struct err *err);

/* The switch that a group is loaded on: a leaf, a spine, or the only switch. */
struct reduce_switch {
	bool is_leaf;
	bool is_spine;
	__u64 number;
};

/**
 * reduce_config_role() - set what a switch does for a group
 * @config: its role and leaf are set
 * @self: the switch
 * @err: says why the switch does nothing for the group
 *
 * Return: 0 or -EINVAL.
 */
int reduce_config_role(struct reduce_config *config, const struct reduce_switch *self,
		       struct err *err);

/**
 * struct reduce_plan - the groups of a job (Documentation/formats.rst, "Reduction plan")
 * @nr: number of groups
 * @group: the groups, ascending by root; without queue pairs, and without a role
 */
struct reduce_plan {
	__u32 nr;
	struct reduce_config *group;
};

/**
 * reduce_plan_make() - plan the groups of a job
 * @plan: filled; to be freed by reduce_plan_free() in any case
 * @c: the cluster
 * @slice: of the job, as "slice show" prints it
 * @mtu: 256, 512, 1024, 2048 or 4096
 * @err: filled on failure: "no-groups": switches cannot sum for the job; "bad-file"
 *
 * Equal files give equal plans. On a switch, groups of two jobs never have the same number.
 *
 * Return: 0 or a negative errno.
 */
int reduce_plan_make(struct reduce_plan *plan, const struct cluster *c,
		     struct json_object *slice, __u32 mtu, struct err *err);

void reduce_plan_free(struct reduce_plan *plan);

/**
 * struct reduce_conn - packets of the connection from a rank to the next one
 * @value: counters by ROCESTEER_REDUCE_A_CONN_*, and the rank
 */
struct reduce_conn {
	__u64 value[ROCESTEER_REDUCE_A_CONN_MAX + 1];
};

/**
 * struct reduce_group - a group, as the module has it
 * @config: what was loaded
 * @poison: enum rocesteer_reduce_poison
 * @by_rank: a packet of @poison_rank poisoned the group
 * @poison_rank: sender of that packet
 * @done: packets of each rank whose sum is complete
 * @held: packets that wait now
 * @bytes: memory that is reserved, for packets that wait as well
 * @nr_conns: number of connections that the switch serves
 * @conn: connections; the last one of a leaf brings results
 */
struct reduce_group {
	struct reduce_config config;
	__u32 poison;
	bool by_rank;
	__u32 poison_rank;
	__u64 done;
	__u64 held;
	__u64 bytes;
	__u32 nr_conns;
	struct reduce_conn conn[ROCESTEER_REDUCE_MAX_RANKS];
};

/**
 * struct reduce_stats - the module's counters
 * @value: by ROCESTEER_REDUCE_A_STATS_*
 */
struct reduce_stats {
	__u64 value[ROCESTEER_REDUCE_A_STATS_MAX + 1];
};

/* Names of the counters; NULL: there is no such counter. */
const char *reduce_conn_name(unsigned int attr);
const char *reduce_stat_name(unsigned int attr);

/* Name of an enum rocesteer_reduce_poison, and the same in words. */
const char *reduce_poison_name(__u32 poison);
const char *reduce_poison_text(__u32 poison);

struct reduce;

/**
 * reduce_open() - connect to the module
 * @reduce: set; to be closed by reduce_close()
 * @err: filled on failure: "module-not-loaded", "version", "netlink"
 *
 * Return: 0; -ENOENT when the module is not loaded; another negative errno.
 */
int reduce_open(struct reduce **reduce, struct err *err);

void reduce_close(struct reduce *reduce);

/* Change groups. Errors have the kernel's message. Return: 0 or a negative errno. */
int reduce_add(struct reduce *reduce, const struct reduce_config *config, struct err *err);
int reduce_join(struct reduce *reduce, const struct reduce_config *config, struct err *err);
int reduce_del(struct reduce *reduce, __u32 id, struct err *err);

/**
 * reduce_get() - one group
 * @reduce: connection
 * @id: which
 * @group: filled
 * @err: filled on failure
 *
 * Return: 0; -ENOENT when there is none; another negative errno.
 */
int reduce_get(struct reduce *reduce, __u32 id, struct reduce_group *group, struct err *err);

/* All groups, ascending. Return: 0 or a negative errno. */
int reduce_each(struct reduce *reduce,
		void (*fn)(const struct reduce_group *group, void *arg), void *arg,
		struct err *err);

int reduce_stats(struct reduce *reduce, struct reduce_stats *stats, struct err *err);

#endif /* ROCESTEER_LIB_REDUCE_H */
