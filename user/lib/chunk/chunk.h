/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Themis (arXiv 2110.04478): the order in which the chunks of a collective go through the
 * dimensions of a network, a model of its time, and tables for hosts.
 */
#ifndef ROCESTEER_LIB_CHUNK_H
#define ROCESTEER_LIB_CHUNK_H

#include "chunk_alg.h"
#include "chunk_model.h"
#include "chunk_plan.h"
#include "chunk_policy.h"
#include "chunk_search.h"
#include "chunk_step.h"
#include "chunk_table.h"

#endif /* ROCESTEER_LIB_CHUNK_H */
