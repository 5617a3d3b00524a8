/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_CLI_PATH_EXPORT_H
#define ROCESTEER_CLI_PATH_EXPORT_H

#include "../objects.h"

/* The words of export_words, for help texts. */
#define PATH_EXPORT_WORDS	"perftest, ucx, mooncake, uccl, nccl, json"

extern const struct cli_option path_export_options[];

/* rocesteer path export */
int path_export(const struct cli_args *args, struct err *err);

#endif /* ROCESTEER_CLI_PATH_EXPORT_H */
