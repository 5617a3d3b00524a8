/* SPDX-License-Identifier: GPL-2.0 */
/* All runs of slot_model.h, or many random ones */
#ifndef SLOT_WALK_H
#define SLOT_WALK_H

#include "slot_model.h"

/**
 * struct bounds - how often faults may happen in a run
 * @losses: of packets on any link
 * @twins: packets that come twice
 * @late: packets of which a copy comes late
 * @timers: timers that fire too early
 * @unloads: modules of switches that are removed
 */
struct bounds {
	u32 losses;
	u32 twins;
	u32 late;
	u32 timers;
	u32 unloads;
};

/**
 * struct least - a group that is small enough to walk through all runs
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
 * struct walk_stat - statistics of a walk
 * @states: different states
 * @steps: between states
 * @longest: steps of the longest path without a loop
 */
struct walk_stat {
	u32 states;
	u32 longest;
	u64 steps;
};

extern struct walk_stat walk_stat;

/* Walk through all runs of a group, depth first. Return: whether there is no fault. */
bool walk_all(const struct least *least);

/* Print the steps that led to the fault. */
void walk_print(void);

/* A random run, which its number determines. Return: its steps. */
u32 random_run(u64 number);

/* Runs from 0 on, before @end. Return: number of the first one that has a fault, or @end. */
u64 random_runs(u64 end, u64 *steps, u32 *longest);

#endif /* SLOT_WALK_H */
