// SPDX-License-Identifier: GPL-2.0
/*
 * Speak the rocesteer netlink family, one request a line.
 *
 *	genl COMMAND [ATTRIBUTE=VALUE]...
 *	genl -		commands from stdin, one a line, until the first error
 *	genl monitor	print events until killed
 *
 * Prints replies as attribute=value lines. A refusal is printed as the name of the errno
 * and the extack message, and the exit status is 1.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include "../../../include/uapi/linux/rocesteer.h"

enum kind { U32, UINT, STRING, ADDRESS, FLAG };

struct attribute {
	const char *name;
	int type;
	enum kind kind;
};

static const struct attribute job_attrs[] = {
	{ "id", ROCESTEER_A_JOB_ID, U32 },
	{ "name", ROCESTEER_A_JOB_NAME, STRING },
	{ "cgroup-id", ROCESTEER_A_JOB_CGROUP_ID, UINT },
	{ "pid", ROCESTEER_A_JOB_PID, U32 },
	{ "flows", ROCESTEER_A_JOB_FLOWS, U32 },
	{ "resequence", ROCESTEER_A_JOB_RESEQUENCE, U32 },
	{ }
};

static const struct attribute flow_attrs[] = {
	{ "ifindex", ROCESTEER_A_FLOW_IFINDEX, U32 },
	{ "peer", ROCESTEER_A_FLOW_PEER, ADDRESS },
	{ "dqpn", ROCESTEER_A_FLOW_DQPN, U32 },
	{ "job", ROCESTEER_A_FLOW_JOB, U32 },
	{ "origin", ROCESTEER_A_FLOW_ORIGIN, U32 },
	{ "sqpn", ROCESTEER_A_FLOW_SQPN, U32 },
	{ "rdma-device", ROCESTEER_A_FLOW_RDMA_DEVICE, STRING },
	{ "pid", ROCESTEER_A_FLOW_PID, U32 },
	{ "path-mtu", ROCESTEER_A_FLOW_PATH_MTU, U32 },
	{ "reseq-depth", ROCESTEER_A_FLOW_RESEQ_DEPTH, U32 },
	{ "reseq-age", ROCESTEER_A_FLOW_RESEQ_AGE, UINT },
	{ "reseq-held", ROCESTEER_A_FLOW_RESEQ_HELD, UINT },
	{ "reseq-lost", ROCESTEER_A_FLOW_RESEQ_LOST, UINT },
	{ "reseq-timeout", ROCESTEER_A_FLOW_RESEQ_TIMEOUT, UINT },
	{ "label", ROCESTEER_A_FLOW_LABEL, U32 },
	{ "software", ROCESTEER_A_FLOW_SOFTWARE, FLAG },
	{ "rival", ROCESTEER_A_FLOW_RIVAL, U32 },
	{ "source", ROCESTEER_A_FLOW_SOURCE, ADDRESS },
	{ }
};

static const struct attribute stats_attrs[] = {
	{ "jobs", ROCESTEER_A_STATS_JOBS, U32 },
	{ "flows", ROCESTEER_A_STATS_FLOWS, U32 },
	{ "learnt", ROCESTEER_A_STATS_LEARNT, UINT },
	{ "untagged", ROCESTEER_A_STATS_UNTAGGED, UINT },
	{ "removed", ROCESTEER_A_STATS_REMOVED, UINT },
	{ "duplicate", ROCESTEER_A_STATS_DUPLICATE, UINT },
	{ "full", ROCESTEER_A_STATS_FULL, UINT },
	{ "no-memory", ROCESTEER_A_STATS_NO_MEMORY, UINT },
	{ "reseq-held", ROCESTEER_A_STATS_RESEQ_HELD, UINT },
	{ "reseq-filled", ROCESTEER_A_STATS_RESEQ_FILLED, UINT },
	{ "reseq-lost", ROCESTEER_A_STATS_RESEQ_LOST, UINT },
	{ "reseq-timeout", ROCESTEER_A_STATS_RESEQ_TIMEOUT, UINT },
	{ "reseq-nak", ROCESTEER_A_STATS_RESEQ_NAK, UINT },
	{ "reseq-behind", ROCESTEER_A_STATS_RESEQ_BEHIND, UINT },
	{ "reseq-resync", ROCESTEER_A_STATS_RESEQ_RESYNC, UINT },
	{ "reseq-out-of-window", ROCESTEER_A_STATS_RESEQ_OUT_OF_WINDOW, UINT },
	{ "reseq-no-memory", ROCESTEER_A_STATS_RESEQ_NO_MEMORY, UINT },
	{ "reseq-dropped", ROCESTEER_A_STATS_RESEQ_DROPPED, UINT },
	{ "reseq-foreign", ROCESTEER_A_STATS_RESEQ_FOREIGN, UINT },
	{ "reseq-bytes", ROCESTEER_A_STATS_RESEQ_BYTES, UINT },
	{ "qp-steered", ROCESTEER_A_STATS_QP_STEERED, UINT },
	{ "qp-own-label", ROCESTEER_A_STATS_QP_OWN_LABEL, UINT },
	{ "reseq-gso", ROCESTEER_A_STATS_RESEQ_GSO, UINT },
	{ "unknown-sender", ROCESTEER_A_STATS_UNKNOWN_SENDER, UINT },
	{ "qp-lane-label", ROCESTEER_A_STATS_QP_LANE_LABEL, UINT },
	{ "qp-cm-label", ROCESTEER_A_STATS_QP_CM_LABEL, UINT },
	{ "kprobes", ROCESTEER_A_STATS_KPROBES, U32 },
	{ "reseq-depth", ROCESTEER_A_STATS_RESEQ_DEPTH, UINT },
	{ "reseq-wait", ROCESTEER_A_STATS_RESEQ_WAIT, UINT },
	{ "reseq-depth-sum", ROCESTEER_A_STATS_RESEQ_DEPTH_SUM, UINT },
	{ "reseq-wait-sum", ROCESTEER_A_STATS_RESEQ_WAIT_SUM, UINT },
	{ }
};

static const struct command {
	const char *name;
	int cmd;
	int flags;
	const struct attribute *attrs;
} commands[] = {
	{ "job-add", ROCESTEER_CMD_JOB_ADD, 0, job_attrs },
	{ "job-del", ROCESTEER_CMD_JOB_DEL, 0, job_attrs },
	{ "job-get", ROCESTEER_CMD_JOB_GET, 0, job_attrs },
	{ "job-dump", ROCESTEER_CMD_JOB_GET, NLM_F_DUMP, job_attrs },
	{ "flow-add", ROCESTEER_CMD_FLOW_ADD, 0, flow_attrs },
	{ "flow-del", ROCESTEER_CMD_FLOW_DEL, 0, flow_attrs },
	{ "flow-adopt", ROCESTEER_CMD_FLOW_ADOPT, 0, flow_attrs },
	{ "flow-get", ROCESTEER_CMD_FLOW_GET, 0, flow_attrs },
	{ "flow-dump", ROCESTEER_CMD_FLOW_GET, NLM_F_DUMP, flow_attrs },
	{ "stats-get", ROCESTEER_CMD_STATS_GET, 0, stats_attrs },
	{ "job-add-ntf", ROCESTEER_CMD_JOB_ADD_NTF, 0, job_attrs },
	{ "job-del-ntf", ROCESTEER_CMD_JOB_DEL_NTF, 0, job_attrs },
	{ "flow-add-ntf", ROCESTEER_CMD_FLOW_ADD_NTF, 0, flow_attrs },
	{ "flow-del-ntf", ROCESTEER_CMD_FLOW_DEL_NTF, 0, flow_attrs },
	{ }
};

static struct mnl_socket *nl;
static unsigned int seq;
static int family, group;

static void value_put(struct nlmsghdr *nlh, const struct attribute *attr, const char *value)
{
	unsigned char address[16] = { [10] = 0xff, [11] = 0xff };

	switch (attr->kind) {
	case U32:
		mnl_attr_put_u32(nlh, attr->type, strtoul(value, NULL, 0));
		break;
	case UINT:
		mnl_attr_put_u64(nlh, attr->type, strtoull(value, NULL, 0));
		break;
	case STRING:
		mnl_attr_put_strz(nlh, attr->type, value);
		break;
	case ADDRESS:
		if (!inet_pton(AF_INET, value, address + 12) &&
		    !inet_pton(AF_INET6, value, address))
			errx(2, "%s: not an address", value);
		mnl_attr_put(nlh, attr->type, sizeof(address), address);
		break;
	case FLAG:
		mnl_attr_put(nlh, attr->type, 0, NULL);
		break;
	}
}

static void value_print(const struct nlattr *nla, enum kind kind)
{
	char text[INET6_ADDRSTRLEN];

	switch (kind) {
	case U32:
		printf("%u", mnl_attr_get_u32(nla));
		break;
	case UINT:	/* as wide as it has to be */
		if (mnl_attr_get_payload_len(nla) == 4)
			printf("%u", mnl_attr_get_u32(nla));
		else
			printf("%llu", (unsigned long long)mnl_attr_get_u64(nla));
		break;
	case STRING:
		printf("%s", mnl_attr_get_str(nla));
		break;
	case ADDRESS:
		printf("%s", inet_ntop(AF_INET6, mnl_attr_get_payload(nla), text, sizeof(text)));
		break;
	case FLAG:
		printf("1");
		break;
	}
}

static int message_print(const struct nlmsghdr *nlh, void *command)
{
	const struct attribute *attr, *attrs = ((struct command *)command)->attrs;
	const char *space = "";
	struct nlattr *nla;

	mnl_attr_for_each(nla, nlh, sizeof(struct genlmsghdr)) {
		for (attr = attrs; attr->name; attr++)
			if (attr->type == mnl_attr_get_type(nla))
				break;
		if (!attr->name)
			errx(2, "unknown attribute %d", mnl_attr_get_type(nla));
		printf("%s%s=", space, attr->name);
		value_print(nla, attr->kind);
		space = " ";
	}
	putchar('\n');
	return MNL_CB_OK;
}

/* The extack message follows the copy of the request. */
static const char *explanation(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*error);
	struct nlattr *nla;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return "";
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += mnl_nlmsg_get_payload_len(&error->msg);
	mnl_attr_for_each(nla, nlh, skip)
		if (mnl_attr_get_type(nla) == NLMSGERR_ATTR_MSG)
			return mnl_attr_get_str(nla);
	return "";
}

/* Return: 0, or the errno of the reply. */
static int answer_read(mnl_cb_t callback, void *data)
{
	char buf[65536];

	for (;;) {
		ssize_t len = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		struct nlmsghdr *nlh = (void *)buf;
		int left = len;

		if (len < 0)
			return errno;
		for (; mnl_nlmsg_ok(nlh, left);
		     nlh = mnl_nlmsg_next(nlh, &left)) {
			struct nlmsgerr *error = mnl_nlmsg_get_payload(nlh);

			if (nlh->nlmsg_type == NLMSG_DONE)
				return 0;
			if (nlh->nlmsg_type != NLMSG_ERROR) {
				callback(nlh, data);
				continue;
			}
			if (error->error)
				printf("%s %s\n", strerrorname_np(-error->error), explanation(nlh));
			return -error->error;
		}
	}
}

static struct nlmsghdr *request_new(char *buf, int type, int cmd, int flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	nlh->nlmsg_seq = ++seq;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = 1;
	return nlh;
}

static void groups_read(const struct nlattr *groups)
{
	struct nlattr *entry, *nla;

	mnl_attr_for_each_nested(entry, groups)
		mnl_attr_for_each_nested(nla, entry)
			if (mnl_attr_get_type(nla) == CTRL_ATTR_MCAST_GRP_ID)
				group = mnl_attr_get_u32(nla);
}

static int family_read(const struct nlmsghdr *nlh, void *data)
{
	struct nlattr *nla;

	(void)data;
	mnl_attr_for_each(nla, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(nla) == CTRL_ATTR_FAMILY_ID)
			family = mnl_attr_get_u16(nla);
		if (mnl_attr_get_type(nla) == CTRL_ATTR_MCAST_GROUPS)
			groups_read(nla);
	}
	return MNL_CB_OK;
}

static bool family_find(void)
{
	char buf[1024];
	struct nlmsghdr *nlh;

	nlh = request_new(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, ROCESTEER_FAMILY_NAME);
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(2, "send");
	return !answer_read(family_read, NULL);
}

static int request(char **words)
{
	const struct command *command;
	const struct attribute *attr;
	struct nlmsghdr *nlh;
	char buf[4096];

	for (command = commands; command->name; command++)
		if (!strcmp(command->name, words[0]))
			break;
	if (!command->name)
		errx(2, "%s: no such command", words[0]);

	nlh = request_new(buf, family, command->cmd, command->flags);
	while (*++words) {
		char *value = strchr(*words, '=');

		if (!value)
			errx(2, "%s: no value", *words);
		*value++ = '\0';
		for (attr = command->attrs; attr->name; attr++)
			if (!strcmp(attr->name, *words))
				break;
		if (!attr->name)
			errx(2, "%s: no such attribute", *words);
		value_put(nlh, attr, value);
	}
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(2, "send");
	return answer_read(message_print, (void *)command);
}

static int requests(FILE *in)
{
	char line[1024], *words[16], *next;
	int i, error;

	while (fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		next = line;
		for (i = 0; i < 15; i++, next = NULL) {
			words[i] = strtok(next, " ");
			if (!words[i])
				break;
		}
		words[i] = NULL;
		error = request(words);
		if (error)
			return error;
	}
	return 0;
}

static int event_print(const struct nlmsghdr *nlh, void *data)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	const struct command *command;

	(void)data;
	for (command = commands; command->name; command++)
		if (command->cmd == genl->cmd)
			break;
	if (!command->name)
		errx(2, "unknown event %d", genl->cmd);
	printf("%s ", command->name);
	return message_print(nlh, (void *)command);
}

static int monitor(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (mnl_socket_setsockopt(nl, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		err(2, "membership");
	puts("listening");
	return answer_read(event_print, NULL);
}

int main(int argc, char **argv)
{
	int on = 1, error;

	if (argc < 2)
		errx(2, "usage: genl -|monitor|COMMAND [ATTRIBUTE=VALUE]...");
	nl = mnl_socket_open(NETLINK_GENERIC);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID))
		err(2, "netlink");
	mnl_socket_setsockopt(nl, NETLINK_EXT_ACK, &on, sizeof(on));
	if (!family_find())
		return 3;

	if (!strcmp(argv[1], "monitor"))
		error = monitor();
	else if (!strcmp(argv[1], "-"))
		error = requests(stdin);
	else
		error = request(argv + 1);
	mnl_socket_close(nl);
	return error ? 1 : 0;
}
