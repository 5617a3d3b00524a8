/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For all libraries: errors, output, JSON, locks, waiting. Nothing here knows what a queue
 * pair is.
 */
#ifndef ROCESTEER_LIB_BASE_H
#define ROCESTEER_LIB_BASE_H

#include "addr.h"
#include "clock.h"
#include "compiler.h"
#include "decimal.h"
#include "err.h"
#include "fnv1a.h"
#include "jsonfile.h"
#include "lines.h"
#include "lock.h"
#include "loop.h"
#include "out.h"
#include "progress.h"
#include "random.h"
#include "reader.h"
#include "replace.h"
#include "set.h"
#include "table.h"
#include "utc.h"
#include "wait_limit.h"
#include "words.h"

#endif /* ROCESTEER_LIB_BASE_H */
