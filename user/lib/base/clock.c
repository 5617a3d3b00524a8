// SPDX-License-Identifier: GPL-2.0
#include "clock.h"

#include <time.h>

__u64 clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}
