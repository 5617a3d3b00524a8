// SPDX-License-Identifier: GPL-2.0
#include "family.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct nlmsghdr *family_request(struct family *family, __u8 cmd, __u16 flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(family->buf);
	struct genlmsghdr *head;

	nlh->nlmsg_type = family->id;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++family->seq;
	head = mnl_nlmsg_put_extra_header(nlh, sizeof(*head));
	head->cmd = cmd;
	head->version = family->spec->version;
	return nlh;
}

static int find_text(const struct nlattr *attr, void *data)
{
	struct family *family = data;

	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
	    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
		snprintf(family->extack, sizeof(family->extack), "%s", mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

/*
 * An acknowledgment: an errno, then the request's header (its payload is
 * capped), then attributes in words.
 */
static int take_error(struct family *family, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(nlh);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*error))
		return -EBADMSG;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(nlh, sizeof(*error), find_text, family);
	return error->error;
}

/* Return: 1 when the replies are complete, 0 for more, or a negative errno. */
static int take_messages(struct family *family, ssize_t len, mnl_cb_t fn, void *arg)
{
	const struct nlmsghdr *nlh = (void *)family->buf;
	int rest = len;

	for (; mnl_nlmsg_ok(nlh, rest); nlh = mnl_nlmsg_next(nlh, &rest)) {
		if (nlh->nlmsg_seq != family->seq)
			continue;
		if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
			return -EINTR;
		switch (nlh->nlmsg_type) {
		case NLMSG_ERROR:
			return take_error(family, nlh) ?: 1;
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

static int talk(struct family *family, struct nlmsghdr *nlh, mnl_cb_t fn, void *arg)
{
	bool dump = (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	ssize_t len;
	int ret;

	family->extack[0] = '\0';
	if (!dump)	/* so that each request ends by an acknowledgment */
		nlh->nlmsg_flags |= NLM_F_ACK;
	if (mnl_socket_sendto(family->nl, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	do {
		len = mnl_socket_recvfrom(family->nl, family->buf, sizeof(family->buf));
		if (len < 0)
			return -errno;
		ret = take_messages(family, len, fn, arg);
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
		if (!strcmp(name, family->spec->events))
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

static int check_family(int ret, const struct family *family, struct err *err)
{
	const struct family_spec *spec = family->spec;

	if (ret == -ENOENT) {
		err_set(err, EXIT_FAILED, "module-not-loaded",
			"the module %s is not loaded", spec->module);
		err_hint(err, "Load it: modprobe %s", spec->module);
		return ret;
	}
	if (ret)
		return err_errno(err, -ret, "netlink",
				 "cannot ask for the netlink family %s", spec->name);
	if (family->version == spec->version)
		return 0;
	err_set(err, EXIT_FAILED, "version",
		"the module's netlink family has version %u, this program knows %u",
		family->version, spec->version);
	err_hint(err, "Install module and program from the same release.");
	return -EPROTO;
}

static int resolve(struct family *family, struct err *err)
{
	struct nlmsghdr *nlh;
	int ret;

	family->id = GENL_ID_CTRL;
	nlh = family_request(family, CTRL_CMD_GETFAMILY, 0);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, family->spec->name);
	family->id = 0;
	ret = talk(family, nlh, take_family, family);
	return check_family(ret, family, err);
}

int family_open(struct family *family, const struct family_spec *spec, struct err *err)
{
	int on = 1;

	*family = (struct family) { .spec = spec, .seq = time(NULL) };
	family->nl = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!family->nl || mnl_socket_bind(family->nl, 0, MNL_SOCKET_AUTOPID))
		return err_errno(err, errno, "netlink", "cannot open a netlink socket");
	mnl_socket_setsockopt(family->nl, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(family->nl, NETLINK_CAP_ACK, &on, sizeof(on));
	return resolve(family, err);
}

void family_close(struct family *family)
{
	if (family->nl)
		mnl_socket_close(family->nl);
	family->nl = NULL;
}

/* Errors of the kernel and their meaning for the user; the last entry is for all others. */
static const struct refusal {
	int error;
	int exit_status;
	const char *code;
} refusals[] = {
	{ EEXIST, EXIT_FAILED, "exists" },
	{ ENOENT, EXIT_FAILED, "not-found" },
	{ EPERM, EXIT_FAILED, "permission" },
	{ EACCES, EXIT_FAILED, "permission" },
	{ ENOSPC, EXIT_REFUSED, "full" },
	{ EADDRINUSE, EXIT_FAILED, "psn" },
	{ 0, EXIT_FAILED, "kernel" },
};

static const struct refusal *refusal_of(int ret)
{
	const struct refusal *r = refusals;

	while (r->error && r->error != -ret)
		r++;
	return r;
}

int family_ask(struct family *family, struct nlmsghdr *nlh, mnl_cb_t fn, void *arg,
	       struct err *err, const char *fmt, ...)
{
	int ret = talk(family, nlh, fn, arg);
	const struct refusal *r = refusal_of(ret);
	const char *extack = family->extack;
	char what[128];
	va_list args;

	if (!ret)
		return 0;
	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	err_set(err, r->exit_status, r->code, "module: %s: %s%s%s", what,
		extack[0] ? extack : strerror(-ret),
		extack[0] ? ": " : "", extack[0] ? strerror(-ret) : "");
	return ret;
}

__u64 family_uint(const struct nlattr *attr)
{
	switch (mnl_attr_get_payload_len(attr)) {
	case 4:
		return mnl_attr_get_u32(attr);
	case 8:
		return mnl_attr_get_u64(attr);
	}
	return 0;
}
