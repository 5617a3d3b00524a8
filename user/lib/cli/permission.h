/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_PERMISSION_H
#define ROCESTEER_PERMISSION_H

#include "base/base.h"

/**
 * permission_check() - may this process change what the kernel steers?
 * @err: filled, code "permission"
 *
 * That takes CAP_NET_ADMIN, and CAP_BPF or CAP_SYS_ADMIN. Asked first, so that
 * a command without them changes nothing at all.
 *
 * Return: 0 or -EPERM.
 */
int permission_check(struct err *err);

/* May it load programs? That takes CAP_PERFMON as well. Return: 0 or -EPERM. */
int permission_load(struct err *err);

/* May it probe? That takes CAP_NET_RAW. Return: 0 or -EPERM. */
int permission_probe(struct err *err);

#endif /* ROCESTEER_PERMISSION_H */
