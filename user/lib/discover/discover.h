/* SPDX-License-Identifier: GPL-2.0 */
/* Discovery of the fabric: routes, carriers, bonds, and by probes the paths. */
#ifndef ROCESTEER_LIB_DISCOVER_H
#define ROCESTEER_LIB_DISCOVER_H

#include "answers.h"
#include "bond.h"
#include "carrier.h"
#include "discover_run.h"
#include "probe_queue.h"
#include "quote.h"
#include "route.h"

#endif /* ROCESTEER_LIB_DISCOVER_H */
