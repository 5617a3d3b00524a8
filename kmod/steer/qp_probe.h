/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_QP_PROBE_H
#define ROCESTEER_QP_PROBE_H

bool rocesteer_qp_probe_test(void);
int rocesteer_qp_probe_register(void);
void rocesteer_qp_probe_unregister(void);

#endif /* ROCESTEER_QP_PROBE_H */
