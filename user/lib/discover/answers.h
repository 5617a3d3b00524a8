/* SPDX-License-Identifier: GPL-2.0 */
/* Check whether hosts answer at all: probes do not reach them. */
#ifndef ROCESTEER_LIB_ANSWERS_H
#define ROCESTEER_LIB_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/**
 * answers_check() - try to connect to hosts
 * @device: network device to connect by
 * @source: source addresses, one per host
 * @hosts: their addresses
 * @answers: set: the host took or refused the connection
 * @n: how many
 *
 * TCP to the port that RoCE v2 has in UDP; SYNs are sent again after one and three
 * seconds. A host whose firewall drops SYNs counts as absent.
 *
 * Return: 0 or a negative errno.
 */
int answers_check(const char *device, const __u8 (*source)[16],
		  const __u8 (*hosts)[16], bool *answers, size_t n);

#endif /* ROCESTEER_LIB_ANSWERS_H */
