/* SPDX-License-Identifier: GPL-2.0 */
/* The interface to the kernel: BPF programs and their tables, and the module. */
#ifndef ROCESTEER_LIB_STEER_H
#define ROCESTEER_LIB_STEER_H

#include "genl.h"
#include "job_record.h"
#include "names.h"
#include "netns.h"
#include "path_store.h"
#include "promise.h"
#include "qps.h"
#include "steer_chunks.h"
#include "steer_observe.h"
#include "steer_tables.h"
#include "steer_use.h"

#endif /* ROCESTEER_LIB_STEER_H */
