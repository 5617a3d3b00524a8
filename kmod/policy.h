/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_KMOD_POLICY_H
#define ROCESTEER_KMOD_POLICY_H

#include <linux/types.h>

struct rocesteer_flow;

int rocesteer_policy_register(void);
u16 rocesteer_policy_sport(const struct rocesteer_flow *flow);

#endif /* ROCESTEER_KMOD_POLICY_H */
