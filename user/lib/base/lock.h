/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks between commands, by flock(), which ends with the process. A process that can read
 * a file can lock it, so a file used as a lock is open only to users who may change what it
 * guards.
 */
#ifndef ROCESTEER_LIB_LOCK_H
#define ROCESTEER_LIB_LOCK_H

#include <sys/file.h>

#include "err.h"

/**
 * lock_take() - lock a file or a directory, or wait until its holder unlocks it
 * @fd: its descriptor; closing the last copy of the descriptor releases the lock
 * @how: LOCK_EX, or LOCK_SH for a reader
 * @name: its name for messages
 * @err: filled on failure
 *
 * After a second a line on standard error says what the command waits for. The wait ends
 * after ROCESTEER_LOCK_WAIT seconds, by default 30, with EXIT_LOCKED and code "locked".
 *
 * Return: 0, -EAGAIN when another process kept the lock, or another negative
 * errno.
 */
int lock_take(int fd, int how, const char *name, struct err *err);

/* The same without waiting. */
int lock_try(int fd, int how, const char *name, struct err *err);

#endif /* ROCESTEER_LIB_LOCK_H */
