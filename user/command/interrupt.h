/* SPDX-License-Identifier: GPL-2.0 */
/* Changes that a signal must not cut in two. */
#ifndef ROCESTEER_INTERRUPT_H
#define ROCESTEER_INTERRUPT_H

#include <stdbool.h>

/* Block SIGINT, SIGTERM and SIGHUP. */
void interrupt_hold(void);

/* Has one of them come? */
bool interrupt_pending(void);

/* Unblock signals: a pending one ends the process here. */
void interrupt_release(void);

#endif /* ROCESTEER_INTERRUPT_H */
