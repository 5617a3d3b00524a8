/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_CONF_H
#define ROCESTEER_CONF_H

#include <linux/types.h>

struct netlink_ext_ack;
struct rocesteer_flow_key;
struct rocesteer_job_rule;
struct rocesteer_net;

int rocesteer_conf_job_add(struct rocesteer_net *rn,
			   const struct rocesteer_job_rule *rule,
			   struct netlink_ext_ack *extack);
int rocesteer_conf_job_del(struct rocesteer_net *rn, u32 id);
int rocesteer_conf_flow_add(struct rocesteer_net *rn,
			    const struct rocesteer_flow_key *key, u32 job);
int rocesteer_conf_flow_del(struct rocesteer_net *rn,
			    const struct rocesteer_flow_key *key);

#endif /* ROCESTEER_CONF_H */
