/* SPDX-License-Identifier: GPL-2.0 */
/* How much of the tables' room is taken. */
#ifndef ROCESTEER_LIB_STEER_USE_H
#define ROCESTEER_LIB_STEER_USE_H

#include "steer_tables.h"

/**
 * struct steer_use - how full a table is
 * @name: as bpftool map has it
 * @used: entries
 * @room: entries that there may be
 */
struct steer_use {
	char name[16];
	__u32 used;
	__u32 room;
};

/* The fullest of the tables that refuse when they are full. Return: 0 or a negative errno. */
int steer_fullest(struct steer *s, struct steer_use *fullest);

#endif /* ROCESTEER_LIB_STEER_USE_H */
