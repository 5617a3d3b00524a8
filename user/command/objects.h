/* SPDX-License-Identifier: GPL-2.0 */
/* The objects of the command. */
#ifndef ROCESTEER_OBJECTS_H
#define ROCESTEER_OBJECTS_H

#include "cli/cli.h"

extern const struct cli_object cli_plan;
extern const struct cli_object cli_chunk;
extern const struct cli_object cli_path;
extern const struct cli_object cli_job;
extern const struct cli_object cli_flow;
extern const struct cli_object cli_slice;
extern const struct cli_object cli_stat;
extern const struct cli_object cli_status;
extern const struct cli_object cli_monitor;
extern const struct cli_object cli_daemon;
extern const struct cli_object cli_top;
extern const struct cli_object cli_prog;
extern const struct cli_object cli_reduce;
extern const struct cli_object cli_report;
extern const struct cli_object cli_simulate;

#endif /* ROCESTEER_OBJECTS_H */
