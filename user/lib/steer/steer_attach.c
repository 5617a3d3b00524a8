// SPDX-License-Identifier: GPL-2.0
/* The programs at the hooks of devices, by links that are pinned. */
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/base.h"
#include "steer_priv.h"

/* Links go by ifindex: bpffs takes no dot in a name, VLAN devices have one. */
static void link_name(char *buf, size_t size, const char *hook, unsigned int ifindex)
{
	snprintf(buf, size, "link_%s_%u", hook, ifindex);
}

static void detach(struct steer *s, const char *prog, unsigned int ifindex)
{
	char name[32], path[PATH_MAX];

	link_name(name, sizeof(name), prog, ifindex);
	if (!steer_pin_path(path, sizeof(path), s->dir, name))
		unlink(path);
}

/* Is a program attached to a device? A link stays pinned when its device goes. */
static bool is_attached(const struct steer *s, const char *prog, unsigned int ifindex)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	char name[32];
	int fd, ret;

	link_name(name, sizeof(name), prog, ifindex);
	fd = steer_pin_get(s->dir, name);
	if (fd < 0)
		return false;
	ret = bpf_link_get_info_by_fd(fd, &info, &len);
	close(fd);
	return !ret && info.tcx.ifindex == ifindex;
}

bool steer_has_link(const struct steer *s, unsigned int ifindex)
{
	char name[32];
	int fd;

	link_name(name, sizeof(name), "egress", ifindex);
	fd = steer_pin_get(s->dir, name);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool steer_serves(const struct steer *s, __u32 ifindex)
{
	return is_attached(s, "egress", ifindex) &&
	       is_attached(s, "ingress", ifindex);
}

bool steer_serves_job(const struct steer *s, const struct rocesteer_job *job)
{
	char name[IF_NAMESIZE];

	if (job->actuator == ROCESTEER_ACTUATOR_QP)
		return if_indextoname(job->ifindex, name);
	return steer_serves(s, job->ifindex);
}

static __u32 prog_id(const struct steer *s, const char *prog)
{
	struct bpf_prog_info info = {};
	int fd = steer_pin_get(s->dir, prog);
	__u32 len = sizeof(info);

	if (fd < 0)
		return 0;
	if (bpf_prog_get_info_by_fd(fd, &info, &len))
		info.id = 0;
	close(fd);
	return info.id;
}

/* The programs that run before one, if they are attached: of ours, or NULL. */
static const char *runs_before(const char *prog)
{
	return strcmp(prog, "chunk") ? NULL : "egress";
}

/* Does a program run before all that are not ours? -EPERM: the kernel does not tell. */
static int is_first(const struct steer *s, const char *prog,
		    enum bpf_attach_type type, unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_prog_query_opts, opts);
	const char *before = runs_before(prog);
	__u32 id = prog_id(s, prog), ids[64], i;
	__u32 first = before ? prog_id(s, before) : 0;
	int ret;

	opts.prog_ids = ids;
	opts.prog_cnt = ARRAY_SIZE(ids);
	ret = bpf_prog_query_opts(ifindex, type, &opts);
	if (ret)
		return ret;
	for (i = 0; i < opts.prog_cnt; i++)
		if (ids[i] == id || ids[i] != first)
			return ids[i] == id;
	return 0;
}

int steer_first(const struct steer *s, __u32 ifindex)
{
	int ret = is_first(s, "egress", BPF_TCX_EGRESS, ifindex);

	return ret > 0 ? is_first(s, "ingress", BPF_TCX_INGRESS, ifindex) : ret;
}

/* Attach before all other programs, or right behind the one that runs before it. */
static int create_link(struct steer *s, const char *prog, int prog_fd,
		       enum bpf_attach_type type, unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = BPF_F_BEFORE);
	const char *before = runs_before(prog);
	int link_fd = -1, ret;
	char name[32];

	if (before && is_attached(s, before, ifindex)) {
		link_name(name, sizeof(name), before, ifindex);
		link_fd = steer_pin_get(s->dir, name);
	}
	if (link_fd >= 0) {
		opts.flags = BPF_F_AFTER | BPF_F_LINK;
		opts.tcx.relative_fd = link_fd;
	}
	ret = bpf_link_create(prog_fd, ifindex, type, &opts);
	if (link_fd >= 0)
		close(link_fd);
	return ret;
}

/*
 * Programs may be attached for another job already. Others that were put before them since
 * then move behind.
 */
static int attach(struct steer *s, const char *prog, enum bpf_attach_type type,
		  unsigned int ifindex)
{
	int prog_fd, link_fd, ret;
	char name[32];

	if (is_attached(s, prog, ifindex) && is_first(s, prog, type, ifindex) > 0)
		return 0;
	link_name(name, sizeof(name), prog, ifindex);
	link_fd = steer_pin_get(s->dir, name);
	if (link_fd >= 0) {
		bpf_link_detach(link_fd);
		close(link_fd);
		detach(s, prog, ifindex);
	} else if (link_fd != -ENOENT) {
		return link_fd;
	}
	prog_fd = steer_pin_get(s->dir, prog);
	if (prog_fd < 0)
		return prog_fd;
	link_fd = create_link(s, prog, prog_fd, type, ifindex);
	close(prog_fd);
	if (link_fd < 0)
		return link_fd;
	ret = steer_pin_put(s->dir, name, link_fd);
	close(link_fd);
	return ret;
}

static int attach_error(unsigned int ifindex, int ret, struct err *err)
{
	return err_errno(err, -ret, ret == -EPERM ? "permission" : "attach",
			 "cannot attach to device %u", ifindex);
}

int steer_check_device(unsigned int ifindex, struct err *err)
{
	struct ifreq ifr = {};
	int fd, ret;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ret = fd < 0 || !if_indextoname(ifindex, ifr.ifr_name) ||
	      ioctl(fd, SIOCGIFHWADDR, &ifr) ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (ret)
		return attach_error(ifindex, ret, err);
	if (ifr.ifr_hwaddr.sa_family == ARPHRD_ETHER || ifr.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK)
		return 0;
	err_set(err, EXIT_FAILED, "no-ethernet",
		"the packets of %s have no Ethernet header: they cannot be steered",
		ifr.ifr_name);
	err_hint(err, "Load the job on the Ethernet device of the RDMA device: rdma link show");
	return -EOPNOTSUPP;
}

int steer_attach(struct steer *s, unsigned int ifindex,
		 enum rocesteer_actuator actuator, struct err *err)
{
	int ret;

	ret = steer_check_device(ifindex, err);
	if (ret || actuator == ROCESTEER_ACTUATOR_QP)
		return ret;
	ret = attach(s, "egress", BPF_TCX_EGRESS, ifindex);
	if (!ret)
		ret = attach(s, "ingress", BPF_TCX_INGRESS, ifindex);
	return ret ? attach_error(ifindex, ret, err) : 0;
}

void steer_detach(struct steer *s, unsigned int ifindex)
{
	detach(s, "egress", ifindex);
	detach(s, "ingress", ifindex);
}

int steer_attach_chunk(struct steer *s, unsigned int ifindex, struct err *err)
{
	int ret = attach(s, "chunk", BPF_TCX_EGRESS, ifindex);

	return ret ? attach_error(ifindex, ret, err) : 0;
}

void steer_detach_chunk(struct steer *s, unsigned int ifindex)
{
	detach(s, "chunk", ifindex);
}
