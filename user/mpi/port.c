// SPDX-License-Identifier: GPL-2.0
#include "port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define POLL_BATCH	16

/* CQ size: completions of all open connections and of as many closed ones. */
#define COMPLETIONS	(2 * PORT_PARTS * NETREDUCE_COMPLETIONS)

static int open_named(struct port *port, const char *device, __u64 timeout)
{
	int ret;

	port->nic = (struct nic_device) {
		.name = device, .gid_index = NIC_ANY_GID, .err = &port->err,
	};
	ret = nic_device_open(&port->nic, timeout);
	if (ret)
		nic_device_close(&port->nic);
	return ret;
}

/* Containers may see devices of others, whose addresses are not here. */
static bool is_here(const union ibv_gid *gid)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	bool mapped = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid->raw), here;
	int fd = socket(mapped ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(&v6.sin6_addr, gid->raw, sizeof(v6.sin6_addr));
	memcpy(&v4.sin_addr, gid->raw + 12, sizeof(v4.sin_addr));
	here = fd >= 0 && !(mapped ? bind(fd, (struct sockaddr *)&v4, sizeof(v4)) :
				     bind(fd, (struct sockaddr *)&v6, sizeof(v6)));
	if (fd >= 0)
		close(fd);
	return here;
}

/* The first device whose address is here. The list owns its name, and the context after that. */
static int open_first(struct port *port, __u64 timeout)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int ret = -ENODEV, i;

	err_set(&port->err, EXIT_FAILED, "no-device",
		"no RDMA device has an address of this host (ROCESTEER_MPI_DEVICE)");
	for (i = 0; ret && list && list[i]; i++) {
		ret = open_named(port, ibv_get_device_name(list[i]), timeout);
		if (ret || is_here(&port->nic.gid))
			continue;
		nic_device_close(&port->nic);
		ret = -ENODEV;
	}
	if (!ret)
		port->nic.name = ibv_get_device_name(port->nic.context->device);
	if (list)
		ibv_free_device_list(list);
	return ret;
}

static void *buffer(struct port *port, __u64 iova, struct ibv_mr **mr)
{
	void *data = mmap(NULL, PORT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (data == MAP_FAILED) {
		nic_fail(&port->nic, errno, "memory", "no memory for buffers");
		return NULL;
	}
	/* A process that forks does not take the pages away. */
	madvise(data, PORT_BYTES, MADV_DONTFORK);
	*mr = ibv_reg_mr_iova(port->nic.pd, data, PORT_BYTES, iova,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!*mr)
		nic_fail(&port->nic, errno, "memory", "cannot register buffers (see ulimit -l)");
	return data;
}

int port_open(struct port *port, const char *device, __u64 timeout)
{
	int ret = device ? open_named(port, device, timeout) : open_first(port, timeout);

	if (ret) {
		port->nic = (struct nic_device) {};
		return ret;
	}
	port->in = buffer(port, WINDOW_IOVA, &port->nic.mr);
	port->out = port->nic.mr ? buffer(port, NETREDUCE_IOVA, &port->results) : NULL;
	if (!port->results)
		return -ENOMEM;
	port->nic.cq = ibv_create_cq(port->nic.context, COMPLETIONS, NULL, NULL, 0);
	return port->nic.cq ? 0 : nic_fail(&port->nic, errno, "device",
					   "cannot create a completion queue");
}

void port_close(struct port *port)
{
	__u32 i;

	for (i = 0; i < PORT_PARTS; i++)
		port_detach(port, i);
	if (port->results)
		ibv_dereg_mr(port->results);
	nic_device_close(&port->nic);
	if (port->in)
		munmap(port->in, PORT_BYTES);
	if (port->out)
		munmap(port->out, PORT_BYTES);
	*port = (struct port) {};
}

int port_attach(struct port *port, __u32 index, struct netreduce *part, const struct group *group)
{
	*part = (struct netreduce) {
		.nic = &port->nic,
		.group = group,
		.tag = port->round++ * PORT_PARTS + index,
		.key = port->results->rkey,
	};
	port->part[index] = part;
	return netreduce_open(part);
}

void port_detach(struct port *port, __u32 index)
{
	if (port->part[index])
		netreduce_stop(port->part[index]);
	port->part[index] = NULL;
}

/* Ignore completions of queue pairs that are gone. */
static void completed(struct port *port, const struct ibv_wc *wc)
{
	__u32 tag = netreduce_tag(wc);
	struct netreduce *part = port->part[tag % PORT_PARTS];

	if (part && part->tag == tag)
		netreduce_completed(part, wc);
}

bool port_poll(struct port *port)
{
	struct ibv_wc wc[POLL_BATCH];
	int nr = ibv_poll_cq(port->nic.cq, POLL_BATCH, wc), i;

	for (i = 0; i < nr; i++)
		completed(port, &wc[i]);
	return nr > 0;
}
