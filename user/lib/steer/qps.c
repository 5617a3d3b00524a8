// SPDX-License-Identifier: GPL-2.0
#include "qps.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include "genl.h"

#define QP_TYPE_RC	2	/* IB_QPT_RC */

/* Numbers: of devices, of one net device, or of queue pairs. */
struct list {
	__u32 *item;
	size_t nr;
};

struct dump {
	struct mnl_socket *nl;
	unsigned int seq;
	char buf[32768];
};

static int add(struct list *list, __u32 number)
{
	__u32 *bigger = reallocarray(list->item, list->nr + 1, sizeof(number));

	if (!bigger) {
		errno = ENOMEM;
		return MNL_CB_ERROR;
	}
	list->item = bigger;
	list->item[list->nr++] = number;
	return MNL_CB_OK;
}

/* The first attribute of this type, or NULL. */
static const struct nlattr *find(const struct nlmsghdr *nlh, __u16 type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, 0)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static int take_device(const struct nlmsghdr *nlh, void *list)
{
	const struct nlattr *index = find(nlh, RDMA_NLDEV_ATTR_DEV_INDEX);

	return index ? add(list, mnl_attr_get_u32(index)) : MNL_CB_OK;
}

static int take_port(const struct nlmsghdr *nlh, void *list)
{
	const struct nlattr *index = find(nlh, RDMA_NLDEV_ATTR_NDEV_INDEX);

	return index ? add(list, mnl_attr_get_u32(index)) : MNL_CB_OK;
}

static int take_entry(const struct nlattr *entry, struct list *list)
{
	const struct nlattr *attr;
	__u32 sqpn = 0;
	__u8 type = 0;

	mnl_attr_for_each_nested(attr, entry) {
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_RES_LQPN)
			sqpn = mnl_attr_get_u32(attr);
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_RES_TYPE)
			type = mnl_attr_get_u8(attr);
	}
	return type == QP_TYPE_RC ? add(list, sqpn) : MNL_CB_OK;
}

static int take_qps(const struct nlmsghdr *nlh, void *list)
{
	const struct nlattr *table = find(nlh, RDMA_NLDEV_ATTR_RES_QP), *entry;
	int ret = MNL_CB_OK;

	if (!table)
		return MNL_CB_OK;
	mnl_attr_for_each_nested(entry, table)
		if (ret == MNL_CB_OK)
			ret = take_entry(entry, list);
	return ret;
}

/* Ask for all of a kind, of one device where @device is not NULL. */
static int dump(struct dump *d, int what, const __u32 *device, mnl_cb_t take, struct list *list)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(d->buf);
	ssize_t len;
	int ret;

	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, what);
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = ++d->seq;
	if (device)
		mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, *device);
	if (mnl_socket_sendto(d->nl, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	do {
		len = mnl_socket_recvfrom(d->nl, d->buf, sizeof(d->buf));
		ret = len < 0 ? -1 : mnl_cb_run(d->buf, len, d->seq, 0, take, list);
	} while (ret > 0);
	return ret < 0 ? -errno : 0;
}

static long adopt_device(struct dump *d, __u32 device, struct genl *genl)
{
	struct list ports = {}, qps = {};
	long adopted = 0;
	struct err err;
	size_t i;
	int ret;

	ret = dump(d, RDMA_NLDEV_CMD_PORT_GET, &device, take_port, &ports) ?:
	      dump(d, RDMA_NLDEV_CMD_RES_QP_GET, &device, take_qps, &qps);
	/* A queue pair may not be connected, or be gone by now. */
	for (i = 0; !ret && ports.nr && i < qps.nr; i++)
		adopted += !genl_flow_adopt(genl, ports.item[0], qps.item[i], &err);
	free(ports.item);
	free(qps.item);
	return ret && ret != -ENODEV ? ret : adopted;
}

long qps_adopt(struct genl *genl, struct err *err)
{
	struct dump d = { .seq = time(NULL) };
	struct list devices = {};
	long adopted = 0, n;
	size_t i;
	int ret;

	d.nl = mnl_socket_open2(NETLINK_RDMA, SOCK_CLOEXEC);
	if (!d.nl && errno == EPROTONOSUPPORT)	/* no RDMA, no queue pairs */
		return 0;
	ret = !d.nl || mnl_socket_bind(d.nl, 0, MNL_SOCKET_AUTOPID) ? -errno :
	      dump(&d, RDMA_NLDEV_CMD_GET, NULL, take_device, &devices);
	for (i = 0; !ret && i < devices.nr; i++) {
		n = adopt_device(&d, devices.item[i], genl);
		if (n < 0)
			ret = n;
		else
			adopted += n;
	}
	free(devices.item);
	if (d.nl)
		mnl_socket_close(d.nl);
	return ret ? err_errno(err, -ret, "netlink", "cannot list the queue pairs") :
		     adopted;
}
