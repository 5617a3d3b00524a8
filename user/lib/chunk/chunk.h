/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Themis (arXiv 2110.04478): in which order the chunks of a collective go through the
 * dimensions of a network, how long that takes, and what hosts are told of it.
 */
#ifndef ROCESTEER_LIB_CHUNK_H
#define ROCESTEER_LIB_CHUNK_H

#include "chunk_alg.h"
#include "chunk_model.h"
#include "chunk_plan.h"
#include "chunk_search.h"
#include "chunk_table.h"

#endif /* ROCESTEER_LIB_CHUNK_H */
