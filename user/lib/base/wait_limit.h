/* SPDX-License-Identifier: GPL-2.0 */
/* How long others are waited for. */
#ifndef ROCESTEER_LIB_WAIT_LIMIT_H
#define ROCESTEER_LIB_WAIT_LIMIT_H

/* The seconds that an environment variable says, or @seconds where it says none. */
unsigned int wait_limit(const char *variable, unsigned int seconds);

#endif /* ROCESTEER_LIB_WAIT_LIMIT_H */
