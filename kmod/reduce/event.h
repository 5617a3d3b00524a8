/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_EVENT_H
#define REDUCE_EVENT_H

struct reduce_net;

/* Tell listeners of groups that have been poisoned. Context: any, a work item does it. */
void reduce_event_poisoned(struct reduce_net *rn);

#endif /* REDUCE_EVENT_H */
