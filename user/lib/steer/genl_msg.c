// SPDX-License-Identifier: GPL-2.0
/* The messages of the family. */
#include <assert.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "genl_priv.h"

/* Counters by attribute. RESEQ_DEPTH and RESEQ_WAIT have several values. */
static const struct genl_stat stats[] = {
#define STAT(attr, name, ...) \
	[ROCESTEER_A_STATS_ ## attr] = { name, __VA_ARGS__ }
	STAT(JOBS, "jobs", "Jobs that the module knows.", true),
	STAT(FLOWS, "flows", "Flows that the module knows.", true),
	STAT(LEARNT, "learnt", "Queue pairs that were seen and registered."),
	STAT(UNTAGGED, "untagged", "Registered queue pairs of no job."),
	STAT(REMOVED, "removed", "Flows that went with their queue pair or device."),
	STAT(DUPLICATE, "duplicate",
	     "Queue pairs whose peer is connected to another process as well."),
	STAT(FULL, "full", "Queue pairs that were not registered, as there were too many flows."),
	STAT(NO_MEMORY, "no_memory", "Queue pairs that were not registered, as memory was short."),
	STAT(RESEQ_HELD, "reseq_held", "Packets that waited for an earlier packet."),
	STAT(RESEQ_FILLED, "reseq_filled", "Missing packets that came while others waited."),
	STAT(RESEQ_LOST, "reseq_lost",
	     "Missing packets given up, as all paths had delivered later ones."),
	STAT(RESEQ_TIMEOUT, "reseq_timeout", "Missing packets given up by the timer."),
	STAT(RESEQ_NAK, "reseq_nak", "NAKs and repeated READ requests of resequenced queue pairs."),
	STAT(RESEQ_BEHIND, "reseq_behind", "Packets from before the expected packet."),
	STAT(RESEQ_RESYNC, "reseq_resync",
	     "Packets so far behind that the order starts again there."),
	STAT(RESEQ_OUT_OF_WINDOW, "reseq_out_of_window",
	     "Packets delivered at once, as they were too far ahead."),
	STAT(RESEQ_NO_MEMORY, "reseq_no_memory",
	     "Packets delivered at once, as there was no memory to let them wait."),
	STAT(RESEQ_DROPPED, "reseq_dropped", "Waiting packets that were freed."),
	STAT(RESEQ_FOREIGN, "reseq_foreign",
	     "Packets to resequenced queue pairs from other hosts than their peer."),
	STAT(RESEQ_BYTES, "reseq_bytes",
	     "Memory that waiting packets take, in all network namespaces.", true),
	STAT(QP_STEERED, "qp_steered", "Queue pairs connected with the source port of a path."),
	STAT(QP_OWN_LABEL, "qp_own_label",
	     "Queue pairs that kept a flow label of their application."),
	STAT(RESEQ_GSO, "reseq_gso", "Aggregates of packets, which were not sorted."),
	STAT(UNKNOWN_SENDER, "unknown_sender",
	     "Packets to registered flows from queue pairs that are not registered."),
	STAT(QP_LANE_LABEL, "qp_lane_label",
	     "Queue pairs that came with the flow label of a lane of UCX."),
	STAT(QP_CM_LABEL, "qp_cm_label", "Queue pairs that came with the flow label of rdma_cm."),
	STAT(KPROBES, "kprobes", "0 if kprobes are off: no queue pair is seen.", true),
	STAT(RESEQ_DEPTH_SUM, "reseq_depth_sum", NULL),
	STAT(RESEQ_WAIT_SUM, "reseq_wait_sum", NULL),
#undef STAT
};

static_assert(ARRAY_SIZE(stats) == ROCESTEER_A_STATS_MAX + 1, "each counter has a name");

const struct genl_stat *genl_stat(unsigned int attr)
{
	return attr <= ROCESTEER_A_STATS_MAX && stats[attr].name ? &stats[attr] : NULL;
}

static void get_name(const struct nlattr *attr, char name[ROCESTEER_NAME_SIZE])
{
	snprintf(name, ROCESTEER_NAME_SIZE, "%.*s",
		 (int)mnl_attr_get_payload_len(attr), mnl_attr_get_str(attr));
}

static void parse_job(const struct nlmsghdr *nlh, struct genl_job *job)
{
	const struct nlattr *attr;

	memset(job, 0, sizeof(*job));
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case ROCESTEER_A_JOB_ID:
			job->id = family_uint(attr);
			break;
		case ROCESTEER_A_JOB_NAME:
			get_name(attr, job->name);
			break;
		case ROCESTEER_A_JOB_CGROUP_ID:
			job->cgroup_id = family_uint(attr);
			break;
		case ROCESTEER_A_JOB_PID:
			job->pid = family_uint(attr);
			break;
		case ROCESTEER_A_JOB_FLOWS:
			job->flows = family_uint(attr);
			break;
		case ROCESTEER_A_JOB_RESEQUENCE:
			job->resequence = family_uint(attr);
			break;
		}
	}
}

static void parse_flow(const struct nlmsghdr *nlh, struct genl_flow *flow)
{
	const struct nlattr *attr;

	memset(flow, 0, sizeof(*flow));
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case ROCESTEER_A_FLOW_IFINDEX:
			flow->key.ifindex = family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_PEER:
			if (mnl_attr_get_payload_len(attr) == 16)
				memcpy(flow->key.peer, mnl_attr_get_payload(attr), 16);
			break;
		case ROCESTEER_A_FLOW_DQPN:
			flow->key.dqpn |= family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_SOURCE:
			if (mnl_attr_get_payload_len(attr) == 16)
				memcpy(flow->source, mnl_attr_get_payload(attr), 16);
			break;
		case ROCESTEER_A_FLOW_RIVAL:
			flow->key.dqpn |= family_uint(attr) << ROCESTEER_RIVAL_SHIFT;
			break;
		case ROCESTEER_A_FLOW_JOB:
			flow->job = family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_ORIGIN:
			flow->origin = family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_SQPN:
			flow->sqpn = family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_RDMA_DEVICE:
			get_name(attr, flow->rdma_device);
			break;
		case ROCESTEER_A_FLOW_PID:
			flow->pid = family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_PATH_MTU:
			flow->path_mtu = family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_RESEQ_DEPTH:
			flow->resequenced = true;
			flow->reseq_depth = family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_RESEQ_AGE:
			flow->reseq_age = family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_RESEQ_HELD:
			flow->reseq_held = family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_RESEQ_LOST:
			flow->reseq_lost = family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_RESEQ_TIMEOUT:
			flow->reseq_timeout = family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_LABEL:
			flow->label = family_uint(attr);
			break;
		case ROCESTEER_A_FLOW_SOFTWARE:
			flow->software = true;
			break;
		}
	}
}

int genl_job_add(struct genl *genl, const struct genl_job *job, struct err *err)
{
	struct nlmsghdr *nlh = family_request(&genl->family, ROCESTEER_CMD_JOB_ADD, 0);

	mnl_attr_put_u32(nlh, ROCESTEER_A_JOB_ID, job->id);
	if (job->name[0])
		mnl_attr_put_strz(nlh, ROCESTEER_A_JOB_NAME, job->name);
	if (job->cgroup_id)
		mnl_attr_put_u64(nlh, ROCESTEER_A_JOB_CGROUP_ID, job->cgroup_id);
	if (job->pid)
		mnl_attr_put_u32(nlh, ROCESTEER_A_JOB_PID, job->pid);
	if (job->resequence)
		mnl_attr_put_u32(nlh, ROCESTEER_A_JOB_RESEQUENCE, job->resequence);
	return family_ask(&genl->family, nlh, NULL, NULL, err, "cannot add job %u", job->id);
}

int genl_job_del(struct genl *genl, __u32 id, struct err *err)
{
	struct nlmsghdr *nlh = family_request(&genl->family, ROCESTEER_CMD_JOB_DEL, 0);

	mnl_attr_put_u32(nlh, ROCESTEER_A_JOB_ID, id);
	return family_ask(&genl->family, nlh, NULL, NULL, err, "cannot delete job %u", id);
}

int genl_flow_add(struct genl *genl, const struct rocesteer_flow_key *key,
		  __u32 job, struct err *err)
{
	struct nlmsghdr *nlh = family_request(&genl->family, ROCESTEER_CMD_FLOW_ADD, 0);
	char text[ADDR_STRLEN];

	mnl_attr_put_u32(nlh, ROCESTEER_A_FLOW_IFINDEX, key->ifindex);
	mnl_attr_put(nlh, ROCESTEER_A_FLOW_PEER, 16, key->peer);
	mnl_attr_put_u32(nlh, ROCESTEER_A_FLOW_DQPN, key->dqpn);
	mnl_attr_put_u32(nlh, ROCESTEER_A_FLOW_JOB, job);
	return family_ask(&genl->family, nlh, NULL, NULL, err,
			  "cannot add flow %s/%u",
			  addr_format(key->peer, text), key->dqpn);
}

int genl_flow_adopt(struct genl *genl, __u32 ifindex, __u32 sqpn, struct err *err)
{
	struct nlmsghdr *nlh = family_request(&genl->family, ROCESTEER_CMD_FLOW_ADOPT, 0);

	mnl_attr_put_u32(nlh, ROCESTEER_A_FLOW_IFINDEX, ifindex);
	mnl_attr_put_u32(nlh, ROCESTEER_A_FLOW_SQPN, sqpn);
	return family_ask(&genl->family, nlh, NULL, NULL, err, "cannot learn queue pair %u", sqpn);
}

int genl_hop_limit(struct genl *genl, __u8 limit, struct err *err)
{
	struct nlmsghdr *nlh = family_request(&genl->family, ROCESTEER_CMD_HOP_LIMIT_SET, 0);

	mnl_attr_put_u32(nlh, ROCESTEER_A_HOP_LIMIT_LIMIT, limit);
	return family_ask(&genl->family, nlh, NULL, NULL, err, "cannot limit hops to %u", limit);
}

static int take_job(const struct nlmsghdr *nlh, void *arg)
{
	parse_job(nlh, arg);
	return MNL_CB_OK;
}

int genl_job_get(struct genl *genl, __u32 id, struct genl_job *job, struct err *err)
{
	struct nlmsghdr *nlh = family_request(&genl->family, ROCESTEER_CMD_JOB_GET, 0);

	mnl_attr_put_u32(nlh, ROCESTEER_A_JOB_ID, id);
	return family_ask(&genl->family, nlh, take_job, job, err, "cannot get job %u", id);
}

/* A dump's callback and what it returned. */
struct walk {
	int (*job)(const struct genl_job *job, void *arg);
	int (*flow)(const struct genl_flow *flow, void *arg);
	void *arg;
	int ret;
};

static int walk_message(const struct nlmsghdr *nlh, void *data)
{
	struct walk *walk = data;
	struct genl_flow flow;
	struct genl_job job;

	if (walk->ret)		/* the walk has ended: drop the rest */
		return MNL_CB_OK;
	if (walk->job) {
		parse_job(nlh, &job);
		walk->ret = walk->job(&job, walk->arg);
	} else {
		parse_flow(nlh, &flow);
		walk->ret = walk->flow(&flow, walk->arg);
	}
	return MNL_CB_OK;
}

int genl_job_each(struct genl *genl,
		  int (*fn)(const struct genl_job *job, void *arg), void *arg,
		  struct err *err)
{
	struct nlmsghdr *nlh = family_request(&genl->family, ROCESTEER_CMD_JOB_GET, NLM_F_DUMP);
	struct walk walk = { .job = fn, .arg = arg };

	return family_ask(&genl->family, nlh, walk_message, &walk, err,
			  "cannot list jobs") ?: walk.ret;
}

int genl_flow_each(struct genl *genl,
		   int (*fn)(const struct genl_flow *flow, void *arg),
		   void *arg, struct err *err)
{
	struct nlmsghdr *nlh = family_request(&genl->family, ROCESTEER_CMD_FLOW_GET, NLM_F_DUMP);
	struct walk walk = { .flow = fn, .arg = arg };

	return family_ask(&genl->family, nlh, walk_message, &walk, err,
			  "cannot list flows") ?: walk.ret;
}

/* Attributes of one type follow each other in the order of their buckets. */
static int take_stats(const struct nlmsghdr *nlh, void *arg)
{
	struct genl_stats *stats = arg;
	unsigned int depth = 0, wait = 0, type;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		type = mnl_attr_get_type(attr);
		if (type == ROCESTEER_A_STATS_RESEQ_DEPTH && depth < ARRAY_SIZE(stats->depth))
			stats->depth[depth++] = family_uint(attr);
		else if (type == ROCESTEER_A_STATS_RESEQ_WAIT && wait < ARRAY_SIZE(stats->wait))
			stats->wait[wait++] = family_uint(attr);
		else if (type <= ROCESTEER_A_STATS_MAX)
			stats->value[type] = family_uint(attr);
	}
	return MNL_CB_OK;
}

int genl_stats(struct genl *genl, struct genl_stats *stats, struct err *err)
{
	struct nlmsghdr *nlh = family_request(&genl->family, ROCESTEER_CMD_STATS_GET, 0);

	memset(stats, 0, sizeof(*stats));
	return family_ask(&genl->family, nlh, take_stats, stats, err, "cannot read the counters");
}

static bool parse_event(const struct nlmsghdr *nlh, struct genl_event *event)
{
	const struct genlmsghdr *head = mnl_nlmsg_get_payload(nlh);

	memset(event, 0, sizeof(*event));
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*head))
		return false;
	switch (head->cmd) {
	case ROCESTEER_CMD_JOB_ADD_NTF:
		event->name = "job-add";
		break;
	case ROCESTEER_CMD_JOB_DEL_NTF:
		event->name = "job-del";
		break;
	case ROCESTEER_CMD_FLOW_ADD_NTF:
		event->name = "flow-add";
		break;
	case ROCESTEER_CMD_FLOW_DEL_NTF:
		event->name = "flow-del";
		break;
	default:
		return false;
	}
	event->is_job = head->cmd == ROCESTEER_CMD_JOB_ADD_NTF ||
			head->cmd == ROCESTEER_CMD_JOB_DEL_NTF;
	event->is_flow = !event->is_job;
	if (event->is_job)
		parse_job(nlh, &event->job);
	else
		parse_flow(nlh, &event->flow);
	return true;
}

int genl_receive(struct genl *genl, int (*fn)(const struct genl_event *event, void *arg), void *arg)
{
	struct genl_event event = { .name = "lost" };
	struct family *family = &genl->family;
	const struct nlmsghdr *nlh = (void *)family->buf;
	int rest, ret = 0;

	rest = mnl_socket_recvfrom(family->nl, family->buf, sizeof(family->buf));
	if (rest < 0)
		return errno == ENOBUFS ? fn(&event, arg) : -errno;
	for (; !ret && mnl_nlmsg_ok(nlh, rest);
	     nlh = mnl_nlmsg_next(nlh, &rest))
		if (nlh->nlmsg_type == family->id && parse_event(nlh, &event))
			ret = fn(&event, arg);
	return ret;
}

int genl_listen(struct genl *genl, struct err *err)
{
	struct family *family = &genl->family;

	if (mnl_socket_setsockopt(family->nl, NETLINK_ADD_MEMBERSHIP,
				  &family->group, sizeof(family->group)))
		return err_errno(err, errno, "netlink", "cannot listen to the module's events");
	return mnl_socket_get_fd(family->nl);
}
