/* SPDX-License-Identifier: GPL-2.0 */
/* A device that counts the packets it sends. */
#ifndef SINK_H
#define SINK_H

#include <stdio.h>
#include <stdlib.h>

/* Packets that it has sent. */
static inline unsigned long sink_packets(const char *device)
{
	unsigned long packets;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/tx_packets", device);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lu", &packets) != 1) {
		fprintf(stderr, "%s: no such device\n", device);
		exit(1);
	}
	fclose(f);
	return packets;
}

/* Exit where it has not sent so many. */
static inline void sink_expect(const char *device, unsigned long packets)
{
	unsigned long has = sink_packets(device);

	if (has != packets) {
		fprintf(stderr, "%s: %lu packets, expected %lu\n", device, has, packets);
		exit(1);
	}
}

#endif /* SINK_H */
