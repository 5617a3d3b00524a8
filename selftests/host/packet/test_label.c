// SPDX-License-Identifier: GPL-2.0
/* Flow labels and source ports: every port, and the kernel's ports of some labels */
#include "../../../include/rocesteer/label.h"
#include "../../ktap.h"

/* Results of rdma_flow_label_to_udp_sport() */
static const struct {
	__u32 label;
	__u16 sport;
} known[] = {
	{ 0x00001, 0xc001 },
	{ 0x01234, 0xd234 },
	{ 0x03fff, 0xffff },
	{ 0x04001, 0xc000 },
	{ 0x12345, 0xe341 },
	{ 0xfffff, 0xffc0 },
};

int main(void)
{
	unsigned int wrong = 0, i;

	ktap_begin();
	for (i = 0; i < ARRAY_SIZE(known); i++)
		ktap_result(rocesteer_label_sport(known[i].label) ==
			    known[i].sport, "label 0x%05x", known[i].label);
	for (i = ROCESTEER_SPORT_MIN; i <= ROCESTEER_SPORT_MAX; i++) {
		__u32 label = rocesteer_label_of(i);

		wrong += !label || label & ~0xfffffu ||
			 rocesteer_label_sport(label) != i;
	}
	ktap_result(!wrong, "every port has a label, which is not 0");
	return ktap_end();
}
