/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of the paths of a group that was ever in trouble, and what to
 * make of it. Nothing here probes or writes.
 *
 * A path is suspected when a flow sends the same packet a second time. It is
 * probed then, to the router that tells it from the others and to the one
 * behind, which is the destination leaf. If that does not answer, the path is
 * probed again and followed by others, the controls. Answers come by a way of
 * their own: that a router does not answer means something only where it, or one
 * at the same distance, answers to a probe by another path. And only if that
 * came later: routers limit how often they answer. Where another path is down, and
 * nothing but its silence speaks against one that answered just now, it is asked
 * again when it may.
 */
#ifndef ROCESTEER_LIB_PATH_HEALTH_H
#define ROCESTEER_LIB_PATH_HEALTH_H

#include <stdbool.h>
#include <linux/types.h>
#include <rocesteer/types.h>

enum path_state {
	PATH_UP,
	PATH_LOSSY,	/* in use */
	PATH_DOWN,	/* not in use */
};

/**
 * enum path_verdict - what is made of the answers about a path
 * @VERDICT_ALIVE: it answers
 * @VERDICT_UNKNOWN: nobody answers
 * @VERDICT_ROUTER: its router does not answer, others do
 * @VERDICT_LEAF: the leaf does not answer by it, but by another path
 * @VERDICT_DATA: nobody answers, but only this path loses
 */
enum path_verdict {
	VERDICT_ALIVE,
	VERDICT_UNKNOWN,
	VERDICT_ROUTER,
	VERDICT_LEAF,
	VERDICT_DATA,
};

/**
 * struct path - one path
 * @state: state
 * @cause: why it is down
 * @since: since when it is in this state
 * @hold: how long it is held down at least
 * @wait: how long until it is probed again, as long as it does not answer
 * @due: when to look at it again, unless 0
 * @calm_until: a suspicion is followed then, not before
 * @calm: times in a row that it answered although suspected
 * @suspected: when it was last suspected
 * @doubted: only because its router did not answer
 * @detours: how often since it was first
 * @fresh: @packets and @rounds are to be set
 * @packets: sent on it by the group's flows when it was first suspected
 * @rounds: rounds of go-back-N that began on it until then
 * @loss: rounds per packet since it was first suspected
 * @streak: times that it answered while down, less those that it did not
 * @sent: probes sent since it was first suspected
 * @answered: and answered
 * @heard: when its router last answered
 * @router: its router answered to this examination
 * @leaf: so did the leaf
 * @moved: another router did: its port takes another path now
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
	__u64 suspected;
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
};

/**
 * struct path_health - of the paths of a group
 * @nr_paths: how many
 * @suspects: a bit for each path that is suspected
 * @doubts: that a flow which suspects another one takes as well, or instead: after
 *	a timeout the packet that is sent again first need not be one that was lost.
 *	They are watched once, when the suspect is alive
 * @examined: that is examined now
 * @watched: of these: only to see whether its port still takes it
 * @controls: that is probed to compare, in the second round
 * @witnesses: whose router is asked only, in the second round
 * @router: the router of a control answered
 * @leaf: the leaf did, by a control
 * @out: probes that are out
 * @peer: destination of the flow that was last in trouble
 * @path: each path
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
	struct path path[ROCESTEER_MAX_PATHS];
};

/**
 * struct traffic - what a group's flows sent on each path
 * @packets: packets
 * @rounds: rounds of go-back-N
 */
struct traffic {
	__u64 packets[ROCESTEER_MAX_PATHS];
	__u64 rounds[ROCESTEER_MAX_PATHS];
};

/**
 * path_health_suspect() - a flow avoids a path
 * @health: of its group
 * @p: the path
 * @now: time
 *
 * Sets its bit in @suspects, unless it is down; later if it answered just now.
 */
void path_health_suspect(struct path_health *health, __u32 p, __u64 now);

/**
 * path_health_confirm() - an examination is over
 * @health: of a group
 * @doubts: what was watched, as it is in doubt
 * @now: time
 *
 * Suspects those of @doubts whose router did not answer, while others did.
 */
void path_health_confirm(struct path_health *health, __u64 doubts, __u64 now);

/**
 * path_health_due() - what to look at now, or when
 * @health: of a group
 * @now: time
 * @at: set: when there will be something, or ~0
 *
 * Return: paths whose time it is, a bit for each.
 */
__u64 path_health_due(const struct path_health *health, __u64 now, __u64 *at);

/**
 * path_health_examine() - begin an examination
 * @health: of a group, with no probe out
 * @due: of path_health_due(): these, and the suspects, are to be probed
 * @watched: so are these, but nothing is made of their silence
 * @usable: paths that can be probed
 * @traffic: of the group
 *
 * Sets @examined and @watched.
 */
void path_health_examine(struct path_health *health, __u64 due, __u64 watched,
			 __u64 usable, const struct traffic *traffic);

/**
 * path_health_examine_again() - is there to be a second round?
 * @health: the probes of the first are in
 * @usable: paths that can be probed
 *
 * For suspects that did not answer: these are probed again, and then @controls,
 * which are few, as the leaf answers for all of them. Where no other path is up
 * they are paths that are down. Where the router of a suspect answered, but the leaf
 * did not, the routers of all other paths are @witnesses: the answer of the leaf may
 * have been lost on its way back.
 *
 * Return: suspects to probe, a bit for each.
 */
__u64 path_health_examine_again(struct path_health *health, __u64 usable);

/* Forget the examination under way, its probes are; begin again later. */
void path_health_postpone(struct path_health *health, __u64 now);

/**
 * path_health_judge() - what is with a path that was examined
 * @health: all probes are in
 * @p: the path, its port has not moved
 * @traffic: of the group
 * @now: time
 */
enum path_verdict path_health_judge(const struct path_health *health, __u32 p,
				    const struct traffic *traffic, __u64 now);

/**
 * path_health_is_lossy() - does a path that answers lose more than the others?
 * @health: of the group
 * @p: the path
 * @traffic: of the group
 *
 * Sets its @loss.
 */
bool path_health_is_lossy(struct path_health *health, __u32 p,
			  const struct traffic *traffic);

/* It is not known: examine it again, if its router may have answered too often. */
void path_health_unknown(struct path_health *health, __u32 p, __u64 now);

/* It does. It is up again when nobody suspects it for a while. */
void path_health_lossy(struct path_health *health, __u32 p, __u64 now);

/**
 * path_health_alive() - a suspected path answers
 *
 * The next suspicion is followed later each time: under random loss there are
 * many.
 */
void path_health_alive(struct path_health *health, __u32 p, __u64 now);

/**
 * path_health_down() - hold a path down
 * @health: of the group
 * @p: the path
 * @cause: why
 * @hold: ns, doubled each time it fails again soon
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
 * Return: true: it can be used again, as it answered three times more than it did
 * not, or as there is nobody to ask.
 */
bool path_health_probed(struct path_health *health, __u32 p,
			const struct traffic *traffic, __u64 now);

/* It is used again, or not lossy any more. */
void path_health_up(struct path_health *health, __u32 p, __u64 now);

#endif /* ROCESTEER_LIB_PATH_HEALTH_H */
