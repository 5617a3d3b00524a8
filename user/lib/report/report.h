/* SPDX-License-Identifier: GPL-2.0 */
/* Reports of what hosts recorded. */
#ifndef ROCESTEER_LIB_REPORT_H
#define ROCESTEER_LIB_REPORT_H

#include "gray.h"
#include "html.h"
#include "leaves.h"
#include "share.h"

#endif /* ROCESTEER_LIB_REPORT_H */
