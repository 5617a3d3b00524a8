/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vClos and OCS-vClos (arXiv 2308.05692): leaves, spines, links and circuits for a job,
 * so that no other job shares a link with it; and which jobs wait. Pure.
 */
#ifndef ROCESTEER_LIB_SLICE_H
#define ROCESTEER_LIB_SLICE_H

#include "contention.h"
#include "ocs.h"
#include "queue.h"
#include "slice_place.h"

#endif /* ROCESTEER_LIB_SLICE_H */
