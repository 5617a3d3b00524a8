/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_KMOD_LABEL_H
#define ROCESTEER_KMOD_LABEL_H

#include <uapi/linux/rocesteer.h>

struct ib_qp_attr;

enum rocesteer_label rocesteer_label_kind(const struct ib_qp_attr *attr);

int rocesteer_label_register(void);
void rocesteer_label_unregister(void);

#endif /* ROCESTEER_KMOD_LABEL_H */
