/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_LIB_CLOCK_H
#define ROCESTEER_LIB_CLOCK_H

#include <linux/types.h>

/* CLOCK_MONOTONIC in ns. */
__u64 clock_ns(void);

#endif /* ROCESTEER_LIB_CLOCK_H */
