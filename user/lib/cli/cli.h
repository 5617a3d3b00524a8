/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of both commands: arguments, help, permissions. */
#ifndef ROCESTEER_LIB_CLI_H
#define ROCESTEER_LIB_CLI_H

#include "args.h"
#include "permission.h"

#endif /* ROCESTEER_LIB_CLI_H */
