/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs of rocesteer reduce that have a file of their own. */
#ifndef ROCESTEER_CLI_REDUCE_H
#define ROCESTEER_CLI_REDUCE_H

#include "reduce/reduce.h"
#include "../objects.h"

extern const struct cli_option reduce_plan_options[];
int reduce_plan(const struct cli_args *args, struct err *err);

extern const struct cli_option reduce_load_options[];
int reduce_load(const struct cli_args *args, struct err *err);
int reduce_unload(const struct cli_args *args, struct err *err);

extern const struct cli_option reduce_join_options[];
int reduce_join_file(const struct cli_args *args, struct err *err);

/* Read an operand that is the number of a group. Return: 0 or -EINVAL. */
int reduce_read_id(const char *text, __u32 *id, struct err *err);

/* Add a hint if a group is missing, but not if the module is, or a PSN is refused. Return: @ret. */
int reduce_hint(int ret, struct err *err);

#endif /* ROCESTEER_CLI_REDUCE_H */
