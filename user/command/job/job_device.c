// SPDX-License-Identifier: GPL-2.0
/* rocesteer job load --dev: a job without a port map, whose peers are found when flows begin. */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "discover/discover.h"
#include "job_load.h"

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
	struct portmap none = { .hop = PROBE_BATCH_HOP };

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

int job_load_device(struct load *l, const char *device)
{
	static char file[PATH_STORE_NAME];
	struct err err = {};
	int ret;

	l->by_dev = true;
	l->map_file = file;
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
