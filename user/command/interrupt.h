/* SPDX-License-Identifier: GPL-2.0 */
/* Changes that a signal must not cut in two. */
#ifndef ROCESTEER_INTERRUPT_H
#define ROCESTEER_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM and SIGHUP wait. */
void interrupt_hold(void);

/* Has one of them come? */
bool interrupt_pending(void);

/* They wait no more: one that has come ends the process here. */
void interrupt_release(void);

#endif /* ROCESTEER_INTERRUPT_H */
