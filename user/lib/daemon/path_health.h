/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of the paths of a group, and the decision whether a path is dead. Nothing here
 * probes or writes.
 *
 * A path is suspected when a flow sends a packet again. Two probes follow: to the router that
 * tells the path from others, and to the router behind, the destination leaf. If the leaf
 * does not answer, the path is probed again, and other paths, the controls, after it. Answers
 * need not come back by the path that is probed: a router that does not answer proves
 * nothing unless it, or another router at its distance, answers a later probe by another
 * path. If the leaf answers to no control, other controls follow soon. Routers limit how often
 * they answer: a router that answered just now is asked again later, if another path is down that
 * accounts for the loss.
 */
#ifndef ROCESTEER_LIB_PATH_HEALTH_H
#define ROCESTEER_LIB_PATH_HEALTH_H

#include <stdbool.h>
#include <linux/types.h>
#include <rocesteer/types.h>

#include "groups/groups.h"

enum path_state {
	PATH_UP,
	PATH_LOSSY,	/* in use */
	PATH_DOWN,	/* not in use */
};

/**
 * enum path_verdict - result of an examination
 * @VERDICT_ALIVE: the path answers
 * @VERDICT_UNKNOWN: no router answers
 * @VERDICT_ROUTER: the router of the path does not answer, other routers do
 * @VERDICT_LEAF: the leaf answers by another path only
 * @VERDICT_DATA: no router answers, but this path alone loses packets
 * @VERDICT_UNREACHABLE: a router of the path says that the peer is unreachable
 */
enum path_verdict {
	VERDICT_ALIVE,
	VERDICT_UNKNOWN,
	VERDICT_ROUTER,
	VERDICT_LEAF,
	VERDICT_DATA,
	VERDICT_UNREACHABLE,
};

/**
 * struct path - one path
 * @state: state
 * @cause: why the path is down
 * @since: time of the last change of @state
 * @hold: time that the path is held down, at least
 * @wait: time until the next probe while the path does not answer
 * @due: time to examine the path again or, by path_health_recovers(), to use it again; or 0
 * @calm_until: a suspicion before this time is examined at this time
 * @calm: times in a row that the path answered although suspected
 * @unsure: times in a row that its router answered, and the leaf by no path
 * @suspected: time of the last suspicion
 * @lost: time of the last suspicion because a flow lost packets
 * @doubted: suspected only because its router did not answer
 * @detours: suspicions because flows lost packets, since the first suspicion
 * @fresh: @packets and @rounds have to be set
 * @packets: packets of the group's flows on the path before the first suspicion
 * @rounds: rounds of go-back-N that began on the path before the first suspicion
 * @loss: rounds per packet since the first suspicion
 * @streak: answers while down, less the probes without an answer
 * @sent: probes since the first suspicion
 * @answered: answers since the first suspicion
 * @heard: time of the last answer of its router
 * @router: its router answered in this examination
 * @leaf: the leaf answered in this examination
 * @moved: another router answered: the port takes another path now
 * @unreachable: a router said that the peer is unreachable
 * @refused: time when a router said so about a packet of a flow, or 0
 *
 * Times are CLOCK_MONOTONIC ns.
 */
struct path {
	enum path_state state;
	enum path_verdict cause;
	__u64 since;
	__u64 hold;
	__u64 wait;
	__u64 due;
	__u64 calm_until;
	unsigned int calm;
	unsigned int unsure;
	__u64 suspected;
	__u64 lost;
	bool doubted;
	__u64 detours;
	bool fresh;
	__u64 packets;
	__u64 rounds;
	double loss;
	unsigned int streak;
	unsigned int sent;
	unsigned int answered;
	__u64 heard;
	bool router;
	bool leaf;
	bool moved;
	bool unreachable;
	__u64 refused;
};

/**
 * struct path_health - state of the paths of a group; bit p stands for path p
 * @nr_paths: number of paths
 * @suspects: suspected paths
 * @doubts: other paths of a flow that suspects a path: after a timeout, the first packet that
 *	is sent again need not be the lost one. They are watched once the suspect is alive
 * @examined: paths under examination
 * @watched: paths among them whose port alone is checked
 * @controls: paths probed for comparison, in the second round
 * @witnesses: paths whose router alone is asked, in the second round
 * @router: the router of a control answered
 * @leaf: the leaf answered by a control
 * @out: outstanding probes
 * @peer: destination of the flow that was last in trouble
 * @source: source of that flow
 * @turn_peer: peer whose ports are checked in turn
 * @turn: paths whose port to that peer is still to be checked
 * @path: paths
 */
struct path_health {
	__u32 nr_paths;
	__u64 suspects;
	__u64 doubts;
	__u64 examined;
	__u64 watched;
	__u64 controls;
	__u64 witnesses;
	bool router;
	bool leaf;
	unsigned int out;
	__u8 peer[16];
	__u8 source[16];
	struct rocesteer_peer_key turn_peer;
	__u64 turn;
	struct path path[ROCESTEER_MAX_PATHS];
};

/**
 * path_health_suspect() - a flow avoids a path, or a router refuses its packets
 * @health: of its group
 * @p: path
 * @lost: a flow has lost packets; if not, the path is only examined
 * @now: time
 *
 * Sets the path's bit in @suspects unless the path is down, later if it answered just now.
 */
void path_health_suspect(struct path_health *health, __u32 p, bool lost, __u64 now);

/**
 * path_health_confirm() - an examination is over
 * @health: of a group
 * @doubts: watched paths that are in doubt
 * @now: time
 *
 * Suspects the paths of @doubts whose router did not answer, if other routers did.
 */
void path_health_confirm(struct path_health *health, __u64 doubts, __u64 now);

/**
 * path_health_due() - paths to examine now
 * @health: of a group
 * @now: time
 * @at: set to the time of the next one, or ~0
 *
 * Return: a bit for each path.
 */
__u64 path_health_due(const struct path_health *health, __u64 now, __u64 *at);

/**
 * path_health_recovers() - check if a path that is due is up again without an examination
 * @path: the path
 * @now: time
 *
 * Return: true for a lossy path that no flow suspects any more, and for one that is down by its
 * traffic alone.
 */
bool path_health_recovers(const struct path *path, __u64 now);

/* Does path_health_examine() need the traffic? Its sum takes a walk over all flows. */
bool path_health_is_fresh(const struct path_health *health);

/**
 * path_health_examine() - begin an examination
 * @health: of a group, with no probe out
 * @due: paths from path_health_due(), which are probed as the suspects are
 * @watched: paths that are probed as well, but need not answer
 * @usable: paths that can be probed
 * @traffic: of the group, if path_health_is_fresh()
 *
 * Sets @examined and @watched.
 */
void path_health_examine(struct path_health *health, __u64 due, __u64 watched,
			 __u64 usable, const struct traffic *traffic);

/**
 * path_health_examine_again() - begin the second round, if there has to be one
 * @health: all probes of the first round are in
 * @usable: paths that can be probed
 *
 * Suspects that did not answer are probed again, then @controls, which are few because the
 * leaf answers for all of them; where it did not in the examination before, they are others. If
 * no other path is up, paths that are down are controls. If the router of a suspect answered but
 * the leaf did not, the answer of the leaf may have been lost on the way back: the routers of all
 * other paths are @witnesses.
 *
 * Return: suspects to probe, a bit for each.
 */
__u64 path_health_examine_again(struct path_health *health, __u64 usable);

/* Forget the examination, whose probes are forgotten already; begin again later. */
void path_health_postpone(struct path_health *health, __u64 now);

/**
 * path_health_judge() - judge a path that was examined
 * @health: all probes are in
 * @p: path, whose port has not moved
 * @traffic: of the group
 * @now: time
 */
enum path_verdict path_health_judge(const struct path_health *health, __u32 p,
				    const struct traffic *traffic, __u64 now);

/**
 * path_health_is_lossy() - check if a path that answers loses more than the others
 * @health: of the group
 * @p: the path
 * @traffic: of the group
 *
 * Sets @loss of the path.
 */
bool path_health_is_lossy(struct path_health *health, __u32 p, const struct traffic *traffic);

/*
 * The verdict is unknown: examine again if the router may only have limited its answers, and a few
 * times, by other controls, if it answered but the leaf did not.
 */
void path_health_unknown(struct path_health *health, __u32 p, __u64 now);

/* The path is lossy. It is up again when no flow suspects it for a while. */
void path_health_lossy(struct path_health *health, __u32 p, __u64 now);

/**
 * path_health_alive() - a suspected path answers
 *
 * Each time the next suspicion is examined later, because random loss causes many.
 */
void path_health_alive(struct path_health *health, __u32 p, __u64 now);

/**
 * path_health_down() - hold a path down
 * @health: of the group
 * @p: the path
 * @cause: why
 * @hold: ns, doubled each time the path fails again soon
 * @now: time
 */
void path_health_down(struct path_health *health, __u32 p,
		      enum path_verdict cause, __u64 hold, __u64 now);

/**
 * path_health_probed() - a path that is down was examined
 * @health: of the group
 * @p: the path
 * @traffic: of the group
 * @now: time
 *
 * Return: true if the path can be used again: it answered three times more often than not,
 * or no router answers anyway.
 */
bool path_health_probed(struct path_health *health, __u32 p,
			const struct traffic *traffic, __u64 now);

/* The path is used again, or no longer lossy. */
void path_health_up(struct path_health *health, __u32 p, __u64 now);

#endif /* ROCESTEER_LIB_PATH_HEALTH_H */
