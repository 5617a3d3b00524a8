// SPDX-License-Identifier: GPL-2.0
/*
 * Another mount of a BPF file system has other pins. Programs of rocesteer that are attached to a
 * device but pinned elsewhere belong to jobs that are not to be seen from here.
 */
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "netns.h"
#include "steer_priv.h"

/* A link goes some time after its pin: 100 times 10 ms are waited for it. */
#define TRIES	100
#define PAUSE	10000000

static void take_link(struct set *links, const char *dir, const char *name)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	int fd = steer_pin_get(dir, name);

	if (fd < 0)
		return;
	if (!bpf_link_get_info_by_fd(fd, &info, &len))
		set_get(links, &info.id, sizeof(info.id), sizeof(info.id));
	close(fd);
}

static void take_links(struct set *links, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *de;

	while (d && (de = readdir(d)))
		if (!strncmp(de->d_name, "link_", 5))
			take_link(links, dir, de->d_name);
	if (d)
		closedir(d);
}

/* Links of all network namespaces: a device that came from another one has links of that one. */
static void take_all_links(struct set *links)
{
	char path[PATH_MAX];
	DIR *d = opendir(PIN_ROOT);
	struct dirent *de;

	while (d && (de = readdir(d)))
		if (!strncmp(de->d_name, "netns-", 6) &&
		    !steer_pin_path(path, sizeof(path), PIN_ROOT, de->d_name))
			take_links(links, path);
	if (d)
		closedir(d);
}

static bool is_rocesteer(__u32 id)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);
	bool is = false;

	if (fd < 0)
		return false;
	if (!bpf_prog_get_info_by_fd(fd, &info, &len))
		is = !strncmp(info.name, "rocesteer_", 10);
	close(fd);
	return is;
}

/* Without permission to ask, the answer is no. */
static bool has_stranger(unsigned int ifindex, enum bpf_attach_type type, const struct set *links)
{
	LIBBPF_OPTS(bpf_prog_query_opts, opts);
	__u32 progs[64], ids[64], i;

	opts.prog_ids = progs;
	opts.link_ids = ids;
	opts.prog_cnt = ARRAY_SIZE(progs);
	if (bpf_prog_query_opts(ifindex, type, &opts))
		return false;
	for (i = 0; i < opts.prog_cnt; i++)
		if (!set_find(links, &ids[i], sizeof(ids[i])) && is_rocesteer(progs[i]))
			return true;
	return false;
}

static bool is_owned(unsigned int ifindex)
{
	struct set links = {};
	bool stranger;

	take_all_links(&links);
	stranger = has_stranger(ifindex, BPF_TCX_EGRESS, &links) ||
		   has_stranger(ifindex, BPF_TCX_INGRESS, &links);
	set_clear(&links, free);
	return !stranger;
}

int steer_owns(unsigned int ifindex, struct err *err)
{
	char device[IF_NAMESIZE], netns[NAME_MAX + 1];
	unsigned int tries;

	for (tries = 0; tries < TRIES; tries++) {
		if (is_owned(ifindex))
			return 0;
		nanosleep(&(struct timespec) { .tv_nsec = PAUSE }, NULL);
	}
	out_device_name(ifindex, device);
	err_set(err, EXIT_FAILED, "other-bpffs",
		"%s has programs of rocesteer that are pinned in another BPF file system than this %s",
		device, BPFFS);
	if (netns_of_ip(netns, sizeof(netns)))
		err_hint(err, "Outside of ip netns exec: rocesteer --netns %s ..", netns);
	else
		err_hint(err,
			 "Run it where these jobs were loaded, as by rocesteer --netns of the host. See: bpftool net show dev %s",
			 device);
	return -EBUSY;
}

int steer_owns_all(struct err *err)
{
	struct if_nameindex *devices = if_nameindex();
	size_t i;
	int ret = 0;

	if (!devices)
		return -errno;
	for (i = 0; !ret && devices[i].if_index; i++)
		ret = steer_owns(devices[i].if_index, err);
	if_freenameindex(devices);
	return ret;
}
