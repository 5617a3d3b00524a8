/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a policy would bring on a fabric that need not be there: the planners and dealing rules of
 * rocesteer, on a model of the network, see Documentation/simulate.rst.
 */
#ifndef ROCESTEER_LIB_SIMULATE_H
#define ROCESTEER_LIB_SIMULATE_H

#include "fabric.h"
#include "jobs.h"
#include "route.h"
#include "run.h"
#include "step.h"
#include "traffic.h"

#endif /* ROCESTEER_LIB_SIMULATE_H */
