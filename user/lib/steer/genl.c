// SPDX-License-Identifier: GPL-2.0
/* The connection to the module. Messages: genl_msg.c. */
#include <errno.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "genl_priv.h"

struct family {
	__u16 id;
	__u32 version;
	__u32 group;
};

struct nlmsghdr *genl_request(struct genl *genl, __u8 cmd, __u16 flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(genl->buf);
	struct genlmsghdr *head;

	nlh->nlmsg_type = genl->family;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++genl->seq;
	head = mnl_nlmsg_put_extra_header(nlh, sizeof(*head));
	head->cmd = cmd;
	head->version = ROCESTEER_FAMILY_VERSION;
	return nlh;
}

static int find_text(const struct nlattr *attr, void *data)
{
	struct genl *genl = data;

	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
	    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
		snprintf(genl->extack, sizeof(genl->extack), "%s",
			 mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

/*
 * An acknowledgment: an errno, then the request's header (its payload is
 * capped), then attributes in words.
 */
static int take_error(struct genl *genl, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(nlh);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*error))
		return -EBADMSG;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(nlh, sizeof(*error), find_text, genl);
	return error->error;
}

/* Return: 1 when the replies are complete, 0 for more, or a negative errno. */
static int take_messages(struct genl *genl, ssize_t len, mnl_cb_t fn,
			 void *arg)
{
	const struct nlmsghdr *nlh = (void *)genl->buf;
	int rest = len;

	for (; mnl_nlmsg_ok(nlh, rest); nlh = mnl_nlmsg_next(nlh, &rest)) {
		if (nlh->nlmsg_seq != genl->seq)
			continue;
		if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
			return -EINTR;
		switch (nlh->nlmsg_type) {
		case NLMSG_ERROR:
			return take_error(genl, nlh) ?: 1;
		case NLMSG_DONE:	/* of a dump, with its errno */
			return mnl_nlmsg_get_payload_len(nlh) < sizeof(int) ?
			       1 : *(int *)mnl_nlmsg_get_payload(nlh) ?: 1;
		case NLMSG_NOOP:
		case NLMSG_OVERRUN:
			continue;
		}
		if (fn)
			fn(nlh, arg);
	}
	return 0;
}

int genl_talk(struct genl *genl, struct nlmsghdr *nlh, mnl_cb_t fn, void *arg)
{
	bool dump = (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	ssize_t len;
	int ret;

	genl->extack[0] = '\0';
	if (!dump)	/* so that each request ends by an acknowledgment */
		nlh->nlmsg_flags |= NLM_F_ACK;
	if (mnl_socket_sendto(genl->nl, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	do {
		len = mnl_socket_recvfrom(genl->nl, genl->buf,
					  sizeof(genl->buf));
		if (len < 0)
			return -errno;
		ret = take_messages(genl, len, fn, arg);
	} while (!ret);
	return ret < 0 ? ret : 0;
}

static int find_group(const struct nlattr *list, struct family *family)
{
	const struct nlattr *group, *attr;

	mnl_attr_for_each_nested(group, list) {
		const char *name = "";
		__u32 id = 0;

		mnl_attr_for_each_nested(attr, group) {
			if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME &&
			    !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
				name = mnl_attr_get_str(attr);
			if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID &&
			    !mnl_attr_validate(attr, MNL_TYPE_U32))
				id = mnl_attr_get_u32(attr);
		}
		if (!strcmp(name, ROCESTEER_MCGRP_EVENTS))
			family->group = id;
	}
	return MNL_CB_OK;
}

static int take_family(const struct nlmsghdr *nlh, void *data)
{
	struct family *family = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case CTRL_ATTR_FAMILY_ID:
			if (!mnl_attr_validate(attr, MNL_TYPE_U16))
				family->id = mnl_attr_get_u16(attr);
			break;
		case CTRL_ATTR_VERSION:
			if (!mnl_attr_validate(attr, MNL_TYPE_U32))
				family->version = mnl_attr_get_u32(attr);
			break;
		case CTRL_ATTR_MCAST_GROUPS:
			find_group(attr, family);
			break;
		}
	}
	return MNL_CB_OK;
}

/* The module is loaded, but the BPF programs cannot call it. */
static int no_btf(struct err *err)
{
	err_set(err, EXIT_FAILED, "module-no-btf",
		"the module rocesteer is loaded without BTF, BPF programs cannot call it");
	err_hint(err, "Build it where pahole is installed and /sys/kernel/btf/vmlinux exists.");
	return -ENOEXEC;
}

static int check_family(int ret, const struct family *family, struct err *err)
{
	bool present = !access("/sys/module/rocesteer", F_OK);
	bool btf = !access("/sys/kernel/btf/rocesteer", F_OK);

	if (present && !btf)
		return no_btf(err);
	if (ret == -ENOENT) {
		err_set(err, EXIT_FAILED, "module-not-loaded",
			"the module rocesteer is not loaded");
		err_hint(err, "Load it: modprobe rocesteer");
		return ret;
	}
	if (ret)
		return err_errno(err, -ret, "netlink",
				 "cannot ask for the netlink family %s",
				 ROCESTEER_FAMILY_NAME);
	if (family->version == ROCESTEER_FAMILY_VERSION)
		return 0;
	err_set(err, EXIT_FAILED, "version",
		"the module's netlink family has version %u, this program knows %u",
		family->version, ROCESTEER_FAMILY_VERSION);
	err_hint(err, "Install module and program from the same release.");
	return -EPROTO;
}

static int resolve(struct genl *genl, struct err *err)
{
	struct family family = {};
	struct nlmsghdr *nlh;
	int ret;

	genl->family = GENL_ID_CTRL;
	nlh = genl_request(genl, CTRL_CMD_GETFAMILY, 0);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, ROCESTEER_FAMILY_NAME);
	ret = genl_talk(genl, nlh, take_family, &family);
	ret = check_family(ret, &family, err);
	genl->family = family.id;
	genl->group = family.group;
	return ret;
}

int genl_open(struct genl **out, struct err *err)
{
	struct genl *genl = calloc(1, sizeof(*genl));
	int on = 1, ret;

	if (!genl)
		return -ENOMEM;
	genl->seq = time(NULL);
	genl->nl = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!genl->nl || mnl_socket_bind(genl->nl, 0, MNL_SOCKET_AUTOPID)) {
		ret = err_errno(err, errno, "netlink",
				"cannot open a netlink socket");
		goto err_close;
	}
	mnl_socket_setsockopt(genl->nl, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(genl->nl, NETLINK_CAP_ACK, &on, sizeof(on));
	ret = resolve(genl, err);
	if (ret)
		goto err_close;
	*out = genl;
	return 0;

err_close:
	genl_close(genl);
	return ret;
}

void genl_close(struct genl *genl)
{
	if (!genl)
		return;
	if (genl->nl)
		mnl_socket_close(genl->nl);
	free(genl);
}
