/* SPDX-License-Identifier: GPL-2.0 */
/* The network namespace of this process, and a move to another one. */
#ifndef ROCESTEER_LIB_NETNS_H
#define ROCESTEER_LIB_NETNS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "base/base.h"

/**
 * netns_cookie() - the number of this network namespace
 * @cookie: set to its SO_NETNS_COOKIE, which is never used again
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int netns_cookie(__u64 *cookie, struct err *err);

/**
 * netns_enter() - go to another network namespace
 * @name: a name that "ip netns" knows, or the number of a process, whose namespace it is
 * @err: filled on failure
 *
 * For a process of one thread that has no socket yet. Mounts stay: /sys shows the devices of
 * the namespace before, and the BPF file system is the one before.
 *
 * Return: 0 or a negative errno.
 */
int netns_enter(const char *name, struct err *err);

/**
 * netns_of_ip() - does this process run in "ip netns exec", and in which namespace?
 * @name: set to the name of the network namespace
 * @size: bytes of @name
 *
 * ip mounts another /sys, without the BPF file system of the machine.
 */
bool netns_of_ip(char *name, size_t size);

#endif /* ROCESTEER_LIB_NETNS_H */
