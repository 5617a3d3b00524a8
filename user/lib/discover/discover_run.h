/* SPDX-License-Identifier: GPL-2.0 */
/* Make a port map by probes, and prove one again. */
#ifndef ROCESTEER_LIB_DISCOVER_RUN_H
#define ROCESTEER_LIB_DISCOVER_RUN_H

#include <stddef.h>
#include <linux/types.h>

#include "base/base.h"
#include "portmap/portmap.h"
#include "probe_batch.h"

/* A further path stays unseen once in so many searches. */
#define DISCOVER_ONE_IN	1e3

/**
 * struct discover - input of a search for paths
 * @config: how to probe
 * @hop: distance of the routers that tell paths apart, in front of the leaf; 0: not known
 * @hops: by peer, its hop and that of its leaf, as in struct portmap_peer; NULL: not known
 * @paths: number of paths to each peer, of three tiers those to other pods; 0: not known
 * @source: our address, NULL: the one the kernel takes for each peer
 * @peers: addresses of the peers, no two alike
 * @nr_peers: how many
 * @enough: are the paths found to @peers[i] all that are wanted? NULL: all paths are
 *	wanted, and the leaves of peers
 * @split: are paths to @peers[i] by one router to be told apart by leaf? NULL: where
 *	answers of the leaf tell them apart
 * @bonded: with @hops: paths by two hops are told apart by our leaf as well, as ports choose it
 * @leave_out: a peer without a route or an answer is left out
 * @quick: so is a peer whose ports do not follow from a linear hash
 * @known: an earlier port map of the device, whose models are tried first, or NULL
 * @extra: ports to probe besides, of each peer that is not local, no two alike
 * @nr_extra: how many
 * @note: called with lines for the user, may be NULL
 * @arg: passed to @enough, @split and @note
 */
struct discover {
	struct probe_batch_config config;
	unsigned int hop;
	const __u8 (*hops)[2];
	unsigned int paths;
	const __u8 *source;
	const __u8 (*peers)[16];
	size_t nr_peers;
	bool (*enough)(void *arg, size_t i, const struct portmap_peer *found);
	bool (*split)(void *arg, size_t i);
	bool bonded;
	bool leave_out;
	bool quick;
	const struct portmap *known;
	const __u16 *extra;
	size_t nr_extra;
	void (*note)(void *arg, const char *line);
	void *arg;
};

/**
 * discover_run() - find the port map to some peers
 * @discover: input
 * @map: filled; to be freed by portmap_free()
 * @err: filled on failure: "no-device", "no-route", "permission",
 *	"no-reply", "unreachable", "too-many-paths" where the hash is not linear
 *
 * All or nothing, but for peers that are left out, of which @err names one, and missing paths: a
 * peer with fewer than @paths paths has its @expected above its @nr_paths. Where all paths are
 * wanted, a peer also says whether they depend on more than the port, or on the time: @qpn_hash,
 * @sprays, @moved, and paths have weights where switches seem to weigh next hops.
 *
 * Return: 0 or a negative errno.
 */
int discover_run(const struct discover *discover, struct portmap *map, struct err *err);

/**
 * discover_bound() - ports after which one more path is improbable
 * @paths: paths that there may be
 * @one_in: 1 / probability
 *
 * The probability that n random ports all miss at least one of s equally
 * likely paths is at most s * (1 - 1/s)^n.
 *
 * Return: the least n for which that is at most 1 / @one_in.
 */
unsigned int discover_bound(unsigned int paths, double one_in);

/**
 * discover_port() - the walk through the source ports
 * @i: 0..PORTMAP_MAX_PORTS - 1
 *
 * Return: each port of the range once, from the lowest on.
 */
__u16 discover_port(unsigned int i);

/**
 * struct discover_qpn - a queue pair, where switches hash its number
 * @peer: its host, and the paths to it
 * @model: that may hold for the peer, or NULL
 * @dqpn: destination queue pair number of the packets
 * @port: filled: for each path of @peer a source port by which packets to the queue pair
 *	take it, host order, or 0 where none was found
 */
struct discover_qpn {
	const struct portmap_peer *peer;
	const struct hash_model *model;
	__u32 dqpn;
	__u16 port[ROCESTEER_MAX_PATHS];
};

/**
 * discover_qpn() - find ports for queue pairs, without probes where a model says them
 * @config: how to probe; its @ports is the most for each queue pair
 * @what: queue pairs; all are probed at once
 * @nr: how many
 * @err: filled on failure
 *
 * A path that is dead, or a hash that avoids a path, is no failure. But probes that take
 * a dead path wait for all of their repetitions, and slow others down unless the rate is
 * @steady: with timeouts of 40 ms, then 80 ms, by a second for each queue pair.
 *
 * Return: 0 or a negative errno.
 */
int discover_qpn(const struct probe_batch_config *config, struct discover_qpn *what,
		 size_t nr, struct err *err);

/**
 * struct discover_flow - a flow, and the path that its port takes
 * @peer: its host, and the paths to it
 * @dqpn: destination queue pair number of its packets
 * @port: their UDP source port, host order
 * @path: filled: number of the path, or ROCESTEER_MAX_PATHS where no router of a path
 *	answered
 */
struct discover_flow {
	const struct portmap_peer *peer;
	__u32 dqpn;
	__u16 port;
	unsigned int path;
};

/**
 * discover_flows() - find the paths that ports take
 * @config: how to probe
 * @flows: flows
 * @nr: how many
 * @err: filled on failure
 *
 * A probe or two for each flow. Return: 0 or a negative errno.
 */
int discover_flows(const struct probe_batch_config *config, struct discover_flow *flows,
		   size_t nr, struct err *err);

/**
 * struct verify_result - a port of a map that was not seen on its path
 * @peer: index in the map
 * @path: number of the path
 * @port: the port
 * @hop: distance at which the probe ended
 * @leaf: that is the leaf's
 * @unreachable: @actual says that the peer is unreachable
 * @expected: address that should have answered
 * @actual: address that answered; all zero: none
 */
struct verify_result {
	size_t peer;
	unsigned int path;
	__u16 port;
	__u8 hop;
	bool leaf;
	bool unreachable;
	__u8 expected[16];
	__u8 actual[16];
};

/**
 * struct verify - outcome of verify_run()
 * @checked: ports probed
 * @ports: ports that could be probed
 * @far: probes that went on to the leaf
 * @far_lost: of these, probes without an answer; @moved has them
 * @hop: distance at which the farthest probe ended
 * @moved: ports that moved, got no answer or are unreachable; to be freed
 * @nr_moved: how many
 */
struct verify {
	size_t checked;
	size_t ports;
	size_t far;
	size_t far_lost;
	unsigned int hop;
	struct verify_result *moved;
	size_t nr_moved;
};

/**
 * struct verify_extent - which ports of a map are probed
 * @all: every port, not only the first of each path
 * @far: most probes to leaves, where any answer will do; 0: one for each path,
 *	and a path that is told apart by its leaf has to enter there
 * @peers: most peers, spread over the map; 0: all
 * @paths: most paths of each peer, which take turns; 0: all
 */
struct verify_extent {
	bool all;
	size_t far;
	size_t peers;
	unsigned int paths;
};

/**
 * verify_run() - probe the ports of a port map again, to the routers of paths and to the leaves
 * @config: how to probe, but for ports and device, which are the map's
 * @map: the port map
 * @extent: which ports
 * @note: called with lines for the user, may be NULL
 * @arg: passed to @note
 * @verify: filled
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int verify_run(const struct probe_batch_config *config, const struct portmap *map,
	       const struct verify_extent *extent,
	       void (*note)(void *arg, const char *line), void *arg,
	       struct verify *verify, struct err *err);

/* A Linux router answers six probes at once, then one a second. */
#define VERIFY_SAMPLE_PEERS	6
#define VERIFY_SAMPLE_PATHS	10
#define VERIFY_SAMPLE_FAR	6

/**
 * verify_sample() - probe a few ports of a port map, in a tenth of a second or two
 * @map: the port map
 * @verify: filled
 * @err: filled on failure
 *
 * At most 60 ports, and six of each router and each leaf, as routers limit their ICMP. Only
 * answers prove anything.
 *
 * Return: 0 or a negative errno.
 */
int verify_sample(const struct portmap *map, struct verify *verify, struct err *err);

#endif /* ROCESTEER_LIB_DISCOVER_RUN_H */
