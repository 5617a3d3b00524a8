/* SPDX-License-Identifier: GPL-2.0 */
/* Use of the tables. */
#ifndef ROCESTEER_LIB_STEER_USE_H
#define ROCESTEER_LIB_STEER_USE_H

#include "steer_tables.h"

/**
 * struct steer_use - use of a table
 * @name: name, as in bpftool map
 * @used: number of entries
 * @room: maximum of entries
 */
struct steer_use {
	char name[16];
	__u32 used;
	__u32 room;
};

/* The fullest of the tables that refuse entries. Return: 0 or a negative errno. */
int steer_fullest(struct steer *s, struct steer_use *fullest);

#endif /* ROCESTEER_LIB_STEER_USE_H */
