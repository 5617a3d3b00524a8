/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_QP_H
#define ROCESTEER_QP_H

bool rocesteer_qp_is_seen(void);
int rocesteer_qp_watch(void);
void rocesteer_qp_unwatch(void);

#endif /* ROCESTEER_QP_H */
