/* SPDX-License-Identifier: GPL-2.0 */
/* Entries that tests make in the tables of the programs. */
#ifndef TABLES_H
#define TABLES_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "unpinned.h"
#include "../ktap.h"
#include "../../include/rocesteer/types.h"

#define JOB		7
#define PATHS		4
#define IFINDEX		1	/* what BPF_PROG_TEST_RUN gives a frame */
#define FIRST_PORT	0xc100	/* of path 0 */

static inline void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static inline void put(struct bpf_map *map, const void *key, const void *value)
{
	if (bpf_map_update_elem(bpf_map__fd(map), key, value, BPF_ANY))
		die(bpf_map__name(map));
}

/* A flow to 10.0.0.@host */
static inline struct rocesteer_flow_key flow_key_to(__u8 host, __u32 dqpn)
{
	return (struct rocesteer_flow_key) {
		.ifindex = IFINDEX, .dqpn = dqpn,
		.peer = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = host },
	};
}

#endif /* TABLES_H */
