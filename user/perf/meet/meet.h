/* SPDX-License-Identifier: GPL-2.0 */
/* TCP sockets of the rendezvous. */
#ifndef ROCESTEER_PERF_MEET_H
#define ROCESTEER_PERF_MEET_H

#include <sys/socket.h>
#include <linux/types.h>

#include "base/base.h"

/**
 * meet_listen() - listen for connections
 * @host: name or address of this host
 * @port: number
 * @fd: set to the socket
 * @err: names host and port
 *
 * Return: 0 or a negative errno.
 */
int meet_listen(const char *host, const char *port, int *fd, struct err *err);

/**
 * meet_connect() - connect to a host that may not listen yet
 * @host: name or address
 * @port: number
 * @until: CLOCK_MONOTONIC nanoseconds
 * @fd: set to the socket, which blocks
 * @err: names host and port
 *
 * Addresses of the host are tried in turn, for a short time each.
 *
 * Return: 0 or a negative errno.
 */
int meet_connect(const char *host, const char *port, __u64 until, int *fd, struct err *err);

/* Format an address of a peer. */
void meet_name(const struct sockaddr_storage *addr, socklen_t len, char *name, size_t size);

/* Format the address of a listening socket. */
void meet_here(int fd, char *name, size_t size);

#endif /* ROCESTEER_PERF_MEET_H */
