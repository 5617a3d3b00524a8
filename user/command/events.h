/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_EVENTS_H
#define ROCESTEER_EVENTS_H

#include "base/base.h"

/* How people see an event, of the module or of the daemon. */
extern const struct out_column event_columns[];

#endif /* ROCESTEER_EVENTS_H */
