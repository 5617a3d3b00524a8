/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_HOOK_H
#define REDUCE_HOOK_H

#include "net.h"

/**
 * reduce_hook_get() - see the packets of a namespace
 * @rn: namespace
 *
 * The hooks remain until reduce_hook_end(): packets to the queue pair numbers of a group
 * that is unloaded are dropped. Context: Process context, may sleep, holds @rn->conf.
 * Return: 0 or a negative errno.
 */
int reduce_hook_get(struct reduce_net *rn);

/* Nobody loads groups any more. A grace period must pass before @rn is freed. */
void reduce_hook_end(struct reduce_net *rn);

#endif /* REDUCE_HOOK_H */
