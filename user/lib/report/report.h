/* SPDX-License-Identifier: GPL-2.0 */
/* Reports of what hosts recorded. */
#ifndef ROCESTEER_LIB_REPORT_H
#define ROCESTEER_LIB_REPORT_H

#include "gray.h"
#include "html.h"
#include "join.h"
#include "leaves.h"
#include "period.h"
#include "recording.h"
#include "share.h"
#include "summary.h"

#endif /* ROCESTEER_LIB_REPORT_H */
