/* SPDX-License-Identifier: GPL-2.0 */
/* How long others are waited for. */
#ifndef ROCESTEER_PATIENCE_H
#define ROCESTEER_PATIENCE_H

/* The seconds that an environment variable says, or @seconds where it says none. */
unsigned int patience(const char *variable, unsigned int seconds);

#endif /* ROCESTEER_PATIENCE_H */
