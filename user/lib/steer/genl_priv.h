/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by genl*.c: the connection, and one request on it. */
#ifndef ROCESTEER_LIB_GENL_PRIV_H
#define ROCESTEER_LIB_GENL_PRIV_H

#include <libmnl/libmnl.h>

#include "genl.h"

/**
 * struct genl - a connection
 * @nl: socket
 * @family: number of the family
 * @group: number of its multicast group "events"
 * @seq: of the last request
 * @extack: what the kernel said about the last error, or empty
 * @buf: of a request and its replies
 */
struct genl {
	struct mnl_socket *nl;
	__u16 family;
	__u32 group;
	__u32 seq;
	char extack[160];
	char buf[32768];
};

/**
 * genl_request() - begin a request in @genl->buf
 * @genl: connection
 * @cmd: ROCESTEER_CMD_*
 * @flags: NLM_F_ACK or NLM_F_DUMP
 */
struct nlmsghdr *genl_request(struct genl *genl, __u8 cmd, __u16 flags);

/**
 * genl_talk() - send a request and take its replies
 * @genl: connection
 * @nlh: the request
 * @fn: called for each reply as by mnl_cb_run(), or NULL
 * @arg: passed to @fn
 *
 * Return: 0 or a negative errno; then @genl->extack says more.
 */
int genl_talk(struct genl *genl, struct nlmsghdr *nlh, mnl_cb_t fn, void *arg);

#endif /* ROCESTEER_LIB_GENL_PRIV_H */
