/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_EMIT_H
#define REDUCE_EMIT_H

#include "group.h"

void reduce_emit_init(struct reduce_group *group);

/* Queue pair number with which packets leave on a connection */
u32 reduce_conn_qpn_out(const struct reduce_group *group, u32 conn);

/*
 * Let packets leave the slots of a locked group. Return: whether the caller has to call
 * reduce_emit(), without the lock.
 */
bool reduce_emit_begin(struct reduce_group *group);

/* Send the packets of reduce_emit_begin(). Context: BH off, RCU read-side critical section. */
void reduce_emit(struct reduce_group *group);

#endif /* REDUCE_EMIT_H */
