/* SPDX-License-Identifier: GPL-2.0 */
/* A ring of ranks whose writes switches sum: the group, the writes. */
#ifndef ROCESTEER_LIB_RING_H
#define ROCESTEER_LIB_RING_H

#include "group.h"
#include "netreduce.h"

#endif /* ROCESTEER_LIB_RING_H */
