// SPDX-License-Identifier: GPL-2.0
/*
 * The ICRC arithmetic as user space compiles it, on the frames of vectors.py:
 * the ICRC of each valid packet, corrected for its new source port, has to be
 * the one that came from scratch. Output is KTAP.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/rocesteer/icrc.h"

#define FRAME_MAX	8192

static unsigned int next(FILE *f, unsigned char *data)
{
	__u32 header[4];

	if (fread(header, sizeof(header), 1, f) != 1)
		return 0;
	if (header[2] > FRAME_MAX || fread(data, header[2], 1, f) != 1)
		exit(1);
	return header[2];
}

static __u16 load16(const unsigned char *p)
{
	__u16 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static __u32 load32(const unsigned char *p)
{
	__u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

int main(int argc, char **argv)
{
	static unsigned char in[FRAME_MAX], out[FRAME_MAX];
	static __u32 k[ROCESTEER_ICRC_WORDS];
	unsigned int len, total = 0, wrong = 0;
	char path[4096];
	FILE *fin, *fout;

	if (argc != 2)
		return 2;
	rocesteer_icrc_init(k);
	snprintf(path, sizeof(path), "%s/in.pcap", argv[1]);
	fin = fopen(path, "r");
	snprintf(path, sizeof(path), "%s/out.pcap", argv[1]);
	fout = fopen(path, "r");
	if (!fin || !fout || fseek(fin, 24, SEEK_SET) || fseek(fout, 24, SEEK_SET))
		return 1;
	while ((len = next(fin, in)) && next(fout, out) == len) {
		unsigned int l3 = load16(in + 12) == htons(0x8100) ? 18 : 14;
		unsigned int l4 = l3 + (in[l3] >> 4 == 6 ? 40 : (in[l3] & 15) * 4);
		__u32 delta;

		if (!memcmp(in, out, len))	/* the invalid frames follow */
			break;
		delta = rocesteer_icrc_delta(load16(in + l4) ^ load16(out + l4),
					     k[ntohs(load16(in + l4 + 4)) / 4]);
		wrong += (load32(in + len - 4) ^ delta) != load32(out + len - 4);
		total++;
	}
	printf("KTAP version 1\n1..1\n# %u of %u wrong\n", wrong, total);
	printf("%sok 1 an ICRC that user space corrects for a new port is the one from scratch\n",
	       wrong || !total ? "not " : "");
	return 0;
}
