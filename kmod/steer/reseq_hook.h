/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_HOOK_H
#define ROCESTEER_RESEQ_HOOK_H

struct rocesteer_net;

int rocesteer_hook_init(void);
int rocesteer_hook_get(struct rocesteer_net *rn);
void rocesteer_hook_put(struct rocesteer_net *rn);
void rocesteer_hook_end(struct rocesteer_net *rn);

#endif /* ROCESTEER_RESEQ_HOOK_H */
