/* SPDX-License-Identifier: GPL-2.0 */
/* Two ways through the runs of slot_model.h: all of them, or many at random. */
#ifndef SLOT_WALK_H
#define SLOT_WALK_H

#include "slot_model.h"

/**
 * struct bounds - what may happen in a run, so often
 * @losses: of packets on any link
 * @twins: packets that come twice
 * @timers: timers that fire too early
 * @unloads: modules of switches that are removed
 */
struct bounds {
	u32 losses;
	u32 twins;
	u32 timers;
	u32 unloads;
};

/**
 * struct least - a group so small that all its runs are walked through
 * @ranks: in it
 * @leaves: of the tree; 0: there is one switch
 * @window: messages in flight
 * @packets: of a message
 * @messages: of a run
 * @bounds: what may happen
 */
struct least {
	u32 ranks;
	u32 leaves;
	u32 window;
	u32 packets;
	u32 messages;
	struct bounds bounds;
};

/**
 * struct walk_stat - what a walk met
 * @states: states that differ
 * @steps: from one to another
 * @longest: steps of the longest path without a loop
 */
struct walk_stat {
	u32 states;
	u32 longest;
	u64 steps;
};

extern struct walk_stat walk_stat;

/* All runs of a group, depth first. Return: no fault. */
bool walk_all(const struct least *least);

/* Print the steps that led to the fault. */
void walk_print(void);

/* A run at random: all that happens in it follows from its number. Return: its steps. */
u32 random_run(u64 number);

/* Runs from 0 on, before @end. Return: number of the first one that has a fault, or @end. */
u64 random_runs(u64 end, u64 *steps, u32 *longest);

#endif /* SLOT_WALK_H */
