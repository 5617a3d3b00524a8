// SPDX-License-Identifier: GPL-2.0
/* rocesteer job load without a port map: its peers are found by the daemon. */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "discover/discover.h"
#include "job_load.h"
#include "rdma_netdevs.h"

/* An address that flows may have, of the form of maps */
static bool take_addr(const struct ifaddrs *from, const char *device, __u8 addr[16])
{
	return !strcmp(from->ifa_name, device) && from->ifa_addr &&
	       !addr_from_sockaddr(from->ifa_addr, addr) &&
	       !IN6_IS_ADDR_LINKLOCAL((struct in6_addr *)addr);
}

static int read_sources(struct load *l, const char *device)
{
	struct ifaddrs *all, *one;
	size_t n = 0;

	if (getifaddrs(&all))
		return err_errno(l->err, errno, "device", "cannot list addresses");
	for (one = all; one; one = one->ifa_next)
		n++;
	l->sources = calloc(n ?: 1, sizeof(*l->sources));
	for (one = all; l->sources && one; one = one->ifa_next)
		l->spec.nr_sources += take_addr(one, device, l->sources[l->spec.nr_sources]);
	freeifaddrs(all);
	if (!l->sources)
		return -ENOMEM;
	l->spec.sources = (const __u8 (*)[16])l->sources;
	return l->spec.nr_sources ? 0 :
	       err_set(l->err, EXIT_FAILED, "no-address", "--dev: %s has no address", device);
}

static void know_nothing(struct load *l, const char *device)
{
	struct portmap none = {};

	snprintf(none.device, sizeof(none.device), "%s", device);
	portmap_free(&l->map);
	l->map = none;
}

void job_load_forget(struct load *l)
{
	char device[IF_NAMESIZE];

	memcpy(device, l->map.device, sizeof(device));
	if (!l->spec.dry_run)
		unlink(l->map_file);
	know_nothing(l, device);
}

/* Is all of it of this device, and of addresses that it still has? */
static bool is_right(const struct load *l, const char *device)
{
	size_t i;

	if (strcmp(l->map.device, device))
		return false;
	for (i = 0; i < l->map.nr_peers; i++)
		if (!probe_source_is_own(device, l->map.peers[i].source))
			return false;
	return true;
}

/* The only network device that has RDMA devices */
static int choose_device(struct load *l, char device[IF_NAMESIZE])
{
	char other[IF_NAMESIZE];
	__u32 ifindex[2];
	size_t nr = rdma_netdevs(ifindex, ARRAY_SIZE(ifindex));

	if (!nr || !if_indextoname(ifindex[0], device)) {
		err_set(l->err, EXIT_FAILED, "no-device",
			"no RDMA device with RoCE v2 has a network device here");
		err_hint(l->err, "See rdma link. A device can be named by --dev.");
		return -ENODEV;
	}
	if (nr == 1)
		return 0;
	return err_set(l->err, EXIT_BAD_INPUT, "usage",
		       "--dev: is needed, as RDMA devices have several network devices: %s, %s",
		       device, if_indextoname(ifindex[1], other) ?: "..");
}

int job_load_device(struct load *l, const char *device)
{
	static char file[PATH_STORE_NAME];
	char name[IF_NAMESIZE];
	struct err err = {};
	int ret;

	l->by_dev = true;
	l->map_file = file;
	if (!device) {
		ret = choose_device(l, name);
		if (ret)
			return ret;
		device = name;
	}
	l->spec.ifindex = if_nametoindex(device);
	if (!l->spec.ifindex)
		return err_set(l->err, EXIT_FAILED, "no-device",
			       "--dev: there is no network device %s", device);
	ret = path_store_name(device, file, l->err) ?: read_sources(l, device);
	if (ret)
		return ret;
	if (portmap_read(file, &l->map, &err))
		l->map = (struct portmap) {};
	if (!is_right(l, device))
		know_nothing(l, device);
	return 0;
}
