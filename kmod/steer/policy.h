/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_KMOD_POLICY_H
#define ROCESTEER_KMOD_POLICY_H

int rocesteer_policy_register(void);

#endif /* ROCESTEER_KMOD_POLICY_H */
