/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests to a generic netlink family of a module; steer/genl.h and reduce/reduce.h have
 * the messages.
 */
#ifndef ROCESTEER_LIB_FAMILY_H
#define ROCESTEER_LIB_FAMILY_H

#include <libmnl/libmnl.h>
#include <linux/types.h>

#include "base/base.h"

/**
 * struct family_spec - a family as this program knows it
 * @name: of the family
 * @module: module that registers it
 * @events: name of its multicast group
 * @version: of its messages
 */
struct family_spec {
	const char *name;
	const char *module;
	const char *events;
	__u32 version;
};

/**
 * struct family - a connection
 * @spec: to which family
 * @nl: socket
 * @id: number of the family
 * @version: of its messages, as the kernel has it
 * @group: number of its multicast group
 * @seq: of the last request
 * @extack: what the kernel said about the last error, or empty
 * @buf: of a request and its replies
 */
struct family {
	const struct family_spec *spec;
	struct mnl_socket *nl;
	__u16 id;
	__u32 version;
	__u32 group;
	__u32 seq;
	char extack[160];
	char buf[32768];
};

/**
 * family_open() - connect to a family
 * @family: filled; to be closed by family_close(), whatever is returned
 * @spec: which; stays
 * @err: filled on failure: "module-not-loaded", "version", "netlink"
 *
 * Return: 0; -ENOENT when the module is not loaded; -EPROTO for another version; another
 * negative errno.
 */
int family_open(struct family *family, const struct family_spec *spec, struct err *err);

void family_close(struct family *family);

/**
 * family_request() - begin a request in @family->buf
 * @family: connection
 * @cmd: number of the command
 * @flags: NLM_F_DUMP or 0
 */
struct nlmsghdr *family_request(struct family *family, __u8 cmd, __u16 flags);

/**
 * family_ask() - send a request and take its replies
 * @family: connection
 * @nlh: the request
 * @fn: called for each reply as by mnl_cb_run(), or NULL; it returns MNL_CB_OK
 * @arg: passed to @fn
 * @err: filled on failure by what the kernel says: "exists", "not-found", "permission",
 *	"full", "kernel"
 * @fmt: failed action for the message ("cannot .."), printf style
 *
 * Return: 0 or a negative errno.
 */
int family_ask(struct family *family, struct nlmsghdr *nlh, mnl_cb_t fn, void *arg,
	       struct err *err, const char *fmt, ...) __printf(6, 7);

/* The value of a number of any width; 0 for another attribute. */
__u64 family_uint(const struct nlattr *attr);

#endif /* ROCESTEER_LIB_FAMILY_H */
