// SPDX-License-Identifier: GPL-2.0
/* The directory of a namespace in the BPF file system. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "job_record.h"
#include "steer_priv.h"

/* A directory among the pins: they stay when the last job goes. */
#define KEEP	"keep"

int steer_pin_path(char *buf, size_t size, const char *dir, const char *name)
{
	return snprintf(buf, size, "%s/%s", dir, name) < (int)size ?
	       0 : -ENAMETOOLONG;
}

int steer_pin_get(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return steer_pin_path(path, sizeof(path), dir, name) ?: bpf_obj_get(path);
}

int steer_pin_put(const char *dir, const char *name, int fd)
{
	char path[PATH_MAX];

	return steer_pin_path(path, sizeof(path), dir, name) ?:
	       bpf_obj_pin(fd, path);
}

/* The link itself goes some time after the pin. */
void steer_policy_detach(const char *dir)
{
	int fd = steer_pin_get(dir, STEER_PIN_POLICY);

	if (fd < 0)
		return;
	bpf_link_detach(fd);
	close(fd);
}

void steer_pins_remove(const char *dir)
{
	struct dirent *de;
	DIR *d = opendir(dir);

	if (!d)
		return;
	unlinkat(dirfd(d), "egress", 0);
	steer_policy_detach(dir);
	while ((de = readdir(d)))
		if (de->d_name[0] != '.')
			unlinkat(dirfd(d), de->d_name, strcmp(de->d_name, KEEP) ? 0 : AT_REMOVEDIR);
	closedir(d);
	rmdir(dir);
}

/*
 * Is the namespace of a policy gone? The module says so where the policy is to take the
 * place of itself.
 */
static bool policy_stale(const char *dir)
{
	LIBBPF_OPTS(bpf_link_update_opts, opts, .flags = BPF_F_REPLACE);
	int link = steer_pin_get(dir, STEER_PIN_POLICY), map = -1;
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	bool stale = false;

	if (link >= 0 && !bpf_link_get_info_by_fd(link, &info, &len))
		map = bpf_map_get_fd_by_id(info.struct_ops.map_id);
	if (map >= 0) {
		opts.old_map_fd = map;
		stale = bpf_link_update(link, map, &opts) == -ENOENT;
		close(map);
	}
	if (link >= 0)
		close(link);
	return stale;
}

/* Has every link in @dir lost its device, as when its namespace is gone? */
static bool links_stale(const char *dir)
{
	bool stale = false;
	struct dirent *de;
	DIR *d = opendir(dir);

	if (!d)
		return false;
	while ((de = readdir(d))) {
		struct bpf_link_info info = {};
		__u32 len = sizeof(info);
		int fd, err;

		if (strncmp(de->d_name, "link_egress_", 12))
			continue;
		fd = steer_pin_get(dir, de->d_name);
		if (fd < 0)
			continue;
		err = bpf_link_get_info_by_fd(fd, &info, &len);
		close(fd);
		stale = !err && !info.tcx.ifindex;
		if (!stale)
			break;
	}
	closedir(d);
	return stale;
}

static bool has_policy(const char *dir)
{
	int fd = steer_pin_get(dir, STEER_PIN_POLICY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void steer_pins_sweep(const char *own, bool guess)
{
	char path[PATH_MAX];
	struct dirent *de;
	DIR *d = opendir(PIN_ROOT);

	if (!d)
		return;
	while ((de = readdir(d))) {
		if (strncmp(de->d_name, "netns-", 6) ||
		    steer_pin_path(path, sizeof(path), PIN_ROOT, de->d_name) ||
		    !strcmp(path, own))
			continue;
		if (has_policy(path) ? !policy_stale(path) : !guess || !links_stale(path))
			continue;
		steer_pins_remove(path);
		job_records_remove(de->d_name);
	}
	closedir(d);
}

int steer_keep(struct steer *s, struct err *err)
{
	char path[PATH_MAX];

	if (!steer_pin_path(path, sizeof(path), s->dir, KEEP) &&
	    mkdir(path, 0700) && errno != EEXIST)
		return err_errno(err, errno, "pin", "cannot create %s", path);
	return 0;
}

bool steer_is_kept(const struct steer *s)
{
	char path[PATH_MAX];

	return !steer_pin_path(path, sizeof(path), s->dir, KEEP) &&
	       !access(path, F_OK);
}

void steer_let_go(struct steer *s)
{
	char path[PATH_MAX];

	if (!steer_pin_path(path, sizeof(path), s->dir, KEEP))
		rmdir(path);
}
