/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs of the object chunk, one file each. */
#ifndef ROCESTEER_CLI_CHUNK_H
#define ROCESTEER_CLI_CHUNK_H

#include "chunk/chunk.h"
#include "chunk_args/chunk_args.h"
#include "../objects.h"

extern const struct cli_option chunk_plan_options[];
extern const struct cli_option chunk_compare_options[];
extern const struct cli_option chunk_train_options[];

int chunk_plan_run(const struct cli_args *args, struct err *err);
int chunk_compare_run(const struct cli_args *args, struct err *err);
int chunk_train_run(const struct cli_args *args, struct err *err);

extern const struct cli_option chunk_load_options[];
extern const struct cli_option chunk_unload_options[];

int chunk_load_run(const struct cli_args *args, struct err *err);
int chunk_unload_run(const struct cli_args *args, struct err *err);

#endif /* ROCESTEER_CLI_CHUNK_H */
