/* SPDX-License-Identifier: GPL-2.0 */
/* Tables in memory, in the place of those that steer/steer_tables.h reads and writes. */
#ifndef DAEMON_TABLES_H
#define DAEMON_TABLES_H

#include "steer/steer.h"
#include "fuzz.h"

#define GROUPS	3
#define FLOWS	6

struct table_group {
	bool there;
	struct rocesteer_group_key key;
	struct rocesteer_group value;
};

struct table_flow {
	bool there;
	struct rocesteer_flow_key key;
	struct rocesteer_flow_path value;
};

extern struct fuzz_input in;
extern __u64 now;
extern bool changed;	/* as job load and unload touch the directory */
extern bool races;	/* tables may change between any two calls */
extern struct table_group groups[GROUPS];
extern struct table_flow flows[FLOWS];

void tables_begin(void);
void tables_change(void);

#endif /* DAEMON_TABLES_H */
