/* SPDX-License-Identifier: GPL-2.0 */
/* A copy of the groups in the tables, plans and rates of their flows, and events about them. */
#ifndef ROCESTEER_LIB_GROUPS_H
#define ROCESTEER_LIB_GROUPS_H

#include "event.h"
#include "event_socket.h"
#include "group.h"
#include "rates.h"

#endif /* ROCESTEER_LIB_GROUPS_H */
