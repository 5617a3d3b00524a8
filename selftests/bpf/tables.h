/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the tests of the programs: entries of the tables, and packets of any process. */
#ifndef TABLES_H
#define TABLES_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

static inline unsigned int count_flows(const struct rocesteer_bpf *skel)
{
	struct rocesteer_flow_key key, *prev = NULL;
	unsigned int n = 0;

	while (!bpf_map_get_next_key(bpf_map__fd(skel->maps.rs_flows), prev, &key)) {
		prev = &key;
		n++;
	}
	return n;
}

/* Send this to 10.0.0.2 as RoCE v2, by UDP, as any process can. */
static inline void send_by_udp(const void *packet, size_t size)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(ROCESTEER_ROCE_PORT),
				  .sin_addr.s_addr = inet_addr("10.0.0.2") };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || sendto(fd, packet, size, 0, (void *)&to, sizeof(to)) < 0)
		die("sendto");
	close(fd);
}

#endif /* TABLES_H */
