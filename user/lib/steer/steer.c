// SPDX-License-Identifier: GPL-2.0
/* The pins of a namespace: opened under a lock, of a known layout, and removed at the end. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <rocesteer/chunk.h>

#include "base/base.h"
#include "netns.h"
#include "steer_priv.h"

static const struct {
	const char *name;
	__u32 key_size;
	__u32 value_size;
} map_specs[MAP_MAX] = {
	[MAP_FLOWS] = { "rs_flows", sizeof(struct rocesteer_flow_key),
			sizeof(struct rocesteer_flow_path) },
	[MAP_PEERS] = { "rs_peers", sizeof(struct rocesteer_peer_key),
			sizeof(struct rocesteer_peer) },
	[MAP_SOURCES] = { "rs_sources", sizeof(struct rocesteer_source_key),
			  sizeof(struct rocesteer_source) },
	[MAP_QPNS] = { "rs_qpns", sizeof(struct rocesteer_qpn_key),
		       sizeof(struct rocesteer_ports) },
	[MAP_GROUPS] = { "rs_groups", sizeof(struct rocesteer_group_key),
			 sizeof(struct rocesteer_group) },
	[MAP_ENDED] = { "rs_ended", sizeof(struct rocesteer_group_key),
			sizeof(struct rocesteer_ended) },
	[MAP_JOBS] = { "rs_jobs", sizeof(__u32), sizeof(struct rocesteer_job) },
	[MAP_DEVICES] = { "rs_devices", sizeof(__u32), sizeof(__u32) },
	[MAP_VERDICTS] = { "rs_verdicts", sizeof(__u32),
			   sizeof(struct rocesteer_verdicts) },
	[MAP_OBSERVED] = { "rs_observed", sizeof(__u32),
			   sizeof(struct rocesteer_observations) },
	[MAP_EVENTS] = { "rs_events", 0, 0 },
	[MAP_CHUNK_JOBS] = { "rs_chunk_jobs", sizeof(__u32),
			     sizeof(struct rocesteer_chunk_job) },
	[MAP_CHUNKS] = { "rs_chunks", sizeof(struct rocesteer_chunk_key),
			 sizeof(struct rocesteer_chunk) },
	[MAP_RANGES] = { "rs_ranges", sizeof(struct rocesteer_range_key),
			 sizeof(struct rocesteer_range) },
	[MAP_RANGE_PEERS] = { "rs_range_peers",
			      sizeof(struct rocesteer_peer_key),
			      sizeof(struct rocesteer_ranges) },
	[MAP_TAGS] = { "rs_tags", sizeof(struct rocesteer_flow_key),
		       sizeof(struct rocesteer_tags) },
	[MAP_CHUNK_COUNTS] = { "rs_chunk_counts",
			       sizeof(struct rocesteer_count_key), sizeof(__u32) },
	[MAP_CHUNK_SUMS] = { "rs_chunk_sums", sizeof(__u32),
			     sizeof(struct rocesteer_count) },
	[MAP_VERSION] = { "rs_version", sizeof(__u32),
			  sizeof(struct rocesteer_version) },
};

const char *const steer_prog_names[PROG_MAX] = {
	[PROG_SET_FLOW] = "set_flow",
	[PROG_SET_GROUP] = "set_group",
	[PROG_SET_OBSERVE] = "set_observe",
	[PROG_SET_PATHS] = "set_paths",
	[PROG_SET_PEER] = "set_peer",
	[PROG_FORGET] = "forget",
	[PROG_SET_ORDER] = "set_order",
	[PROG_CHANGED] = "changed",
	[PROG_UNTAG] = "untag",
};

size_t steer_key_size(enum steer_map map)
{
	return map_specs[map].key_size;
}

/* A command that looks for jobs reports jobs that cannot be seen from here. */
static int no_job(int flags, struct err *err)
{
	int ret = flags & STEER_READ ? steer_owns_all(err) : 0;

	if (ret)
		return ret;
	err_set(err, EXIT_FAILED, "no-job", "no job is loaded");
	err_hint(err, "Load one: rocesteer job load");
	return -ENOENT;
}

/* Check who may write the directory: its pins are trusted. */
static int check_root(int fd, struct err *err)
{
	struct stat root, above;

	if (fstat(fd, &root) || stat(BPFFS, &above))
		return err_errno(err, errno, "pin", "cannot check %s", PIN_ROOT);
	if ((root.st_uid && root.st_uid != geteuid()) || root.st_mode & 0077) {
		err_set(err, EXIT_FAILED, "unsafe",
			"%s is open to others: its owner is user %u, its mode is %04o",
			PIN_ROOT, root.st_uid, root.st_mode & 07777);
		err_hint(err,
			 "What is there is not to be trusted. rm -r %s; chmod 0700 %s",
			 PIN_ROOT, BPFFS);
		return -EPERM;
	}
	if (above.st_mode & 0002 && !(above.st_mode & S_ISVTX)) {
		err_set(err, EXIT_FAILED, "unsafe",
			"everybody may rename what is in %s: its mode is %04o",
			BPFFS, above.st_mode & 07777);
		err_hint(err, "chmod 0700 %s", BPFFS);
		return -EPERM;
	}
	return 0;
}

/* A BPF file system of "ip netns exec" would have none of the machine's jobs. */
static int no_bpffs(struct err *err)
{
	char netns[NAME_MAX + 1];

	err_set(err, EXIT_FAILED, "no-bpffs", "no BPF file system is mounted on %s", BPFFS);
	if (netns_of_ip(netns, sizeof(netns)))
		err_hint(err, "Outside of ip netns exec, which hides it: rocesteer --netns %s ..",
			 netns);
	else
		err_hint(err, "mount -t bpf -o mode=0700 bpf %s", BPFFS);
	return -ENODEV;
}

int steer_root(int flags, struct err *err)
{
	struct statfs fs;
	int fd, ret;

	if (statfs(BPFFS, &fs) || fs.f_type != BPF_FS_MAGIC)
		return no_bpffs(err);
	if (flags & (STEER_CREATE | STEER_RENEW) && mkdir(PIN_ROOT, 0700) && errno != EEXIST)
		return err_errno(err, errno, "pin", "cannot create %s", PIN_ROOT);
	fd = open(PIN_ROOT, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return no_job(flags, err);
	if (fd < 0)
		return err_errno(err, errno,
				 errno == EACCES ? "permission" : "pin",
				 "cannot open %s", PIN_ROOT);
	ret = check_root(fd, err);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static int lock_root(int flags, struct err *err)
{
	int how = flags & STEER_READ ? LOCK_SH : LOCK_EX;
	int fd, ret;

	fd = steer_root(flags, err);
	if (fd < 0)
		return fd;
	ret = flags & STEER_NO_WAIT ? lock_try(fd, how, PIN_ROOT, err) :
				      lock_take(fd, how, PIN_ROOT, err);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* A pin is not as this version makes it: it is another version's, or a part is gone. */
static int version_error(struct steer *s, const char *name, const char *what, struct err *err)
{
	err_set(err, EXIT_FAILED, "version", "%s/%s %s version %d", s->dir,
		name, what, ROCESTEER_ABI);
	err_hint(err,
		 "Put the programs of this version in place: rocesteer prog load; or take all jobs away: rm -r %s",
		 s->dir);
	return -EPROTO;
}

static int pin_error(struct steer *s, const char *name, int ret, struct err *err)
{
	if (ret == -ENOENT)
		return version_error(s, name, "is not there, unlike in", err);
	return err_errno(err, -ret, ret == -EPERM ? "permission" : "pin",
			 "cannot open %s/%s", s->dir, name);
}

/* Has the map at @fd the layout of map_specs[@i]? */
static bool has_layout(int fd, int i)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	return !bpf_map_get_info_by_fd(fd, &info, &len) &&
	       info.key_size == map_specs[i].key_size &&
	       info.value_size == map_specs[i].value_size;
}

static int maps_open(struct steer *s, struct err *err)
{
	int i;

	for (i = 0; i < MAP_MAX; i++) {
		s->maps[i] = steer_pin_get(s->dir, map_specs[i].name);
		if (s->maps[i] < 0)
			return pin_error(s, map_specs[i].name, s->maps[i], err);
		if (!has_layout(s->maps[i], i))
			return version_error(s, map_specs[i].name, "has another layout than", err);
	}
	return 0;
}

static int pins_open(struct steer *s, struct err *err)
{
	int ret, i;

	ret = maps_open(s, err);
	for (i = 0; !ret && i < PROG_MAX; i++) {
		s->progs[i] = steer_pin_get(s->dir, steer_prog_names[i]);
		if (s->progs[i] < 0)
			ret = pin_error(s, steer_prog_names[i], s->progs[i], err);
	}
	return ret;
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (level != LIBBPF_WARN || !getenv("ROCESTEER_DEBUG"))
		return 0;
	return vfprintf(stderr, fmt, args);
}

/* Tables of another layout cannot be used; missing tables are created. */
static int maps_check(struct steer *s, struct err *err)
{
	int fd, i, ret = 0;

	for (i = 0; !ret && i < MAP_MAX; i++) {
		fd = steer_pin_get(s->dir, map_specs[i].name);
		if (fd == -ENOENT)
			continue;
		if (fd < 0)
			return pin_error(s, map_specs[i].name, fd, err);
		if (!has_layout(fd, i)) {
			ret = err_set(err, EXIT_FAILED, "version",
				      "%s/%s has another layout than version %d: its jobs cannot be taken over",
				      s->dir, map_specs[i].name, ROCESTEER_ABI);
			err_hint(err, "Unload the jobs with the rocesteer that loaded them.");
		}
		close(fd);
	}
	return ret;
}

static bool calls_module(const struct steer *s)
{
	int fd = steer_pin_get(s->dir, STEER_PIN_FLOW_DEL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int make_pins(struct steer *s, struct err *err)
{
	int ret;

	steer_pins_sweep(s->dir, true);
	steer_pins_remove(s->dir);	/* what a killed command began */
	if (mkdir(s->dir, 0700))
		return err_errno(err, errno, "pin", "cannot create %s", s->dir);
	ret = steer_load(s, err);
	if (ret)
		steer_pins_remove(s->dir);
	return ret;
}

static int open_pins(struct steer *s, int flags, struct err *err)
{
	int fd = steer_pin_get(s->dir, "egress"), ret = 0;

	if (fd < 0 && fd != -ENOENT)
		return pin_error(s, "egress", fd, err);
	if (fd < 0 && !(flags & (STEER_CREATE | STEER_RENEW)))
		return no_job(flags, err);
	s->module = !(flags & STEER_NO_MODULE) &&
		    !access("/sys/kernel/btf/rocesteer", F_OK);
	if (fd < 0)
		ret = make_pins(s, err);
	else if (flags & STEER_RENEW)
		ret = maps_check(s, err) ?: steer_load(s, err);
	else
		s->module = calls_module(s);
	if (fd >= 0)
		close(fd);
	if (!ret && flags & STEER_RENEW)
		ret = steer_keep(s, err);
	return ret ?: pins_open(s, err);
}

int steer_open(struct steer **sp, int flags, struct err *err)
{
	struct steer *s = malloc(sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	*s = (struct steer){ .lock = -1 };
	memset(s->maps, -1, sizeof(s->maps));
	memset(s->progs, -1, sizeof(s->progs));
	libbpf_set_print(quiet);
	ret = netns_cookie(&s->netns, err);
	if (ret)
		goto err_close;
	ret = lock_root(flags, err);
	if (ret < 0)
		goto err_close;
	s->lock = ret;
	snprintf(s->dir, sizeof(s->dir), PIN_ROOT "/" PIN_DIR, s->netns);
	if (!(flags & STEER_READ))
		steer_pins_sweep(s->dir, false);
	ret = open_pins(s, flags, err);
	if (ret)
		goto err_close;
	s->ours = !(flags & STEER_READ);
	*sp = s;
	return 0;

err_close:
	steer_close(s);
	return ret;
}

void steer_close(struct steer *s)
{
	__u32 key;
	int i;

	if (!s)
		return;
	if (s->ours && !steer_is_kept(s) &&
	    bpf_map_get_next_key(s->maps[MAP_JOBS], NULL, &key) == -ENOENT)
		steer_pins_remove(s->dir);
	for (i = 0; i < MAP_MAX; i++)
		if (s->maps[i] >= 0)
			close(s->maps[i]);
	for (i = 0; i < PROG_MAX; i++)
		if (s->progs[i] >= 0)
			close(s->progs[i]);
	if (s->lock >= 0)
		close(s->lock);
	free(s);
}

int steer_version(const struct steer *s, struct rocesteer_version *version)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(s->maps[MAP_VERSION], &zero, version) ? -errno : 0;
}

void steer_unlock(struct steer *s)
{
	close(s->lock);
	s->lock = -1;
	s->ours = false;
}

bool steer_has_module(const struct steer *s)
{
	return s->module;
}

const char *steer_pin_dir(const struct steer *s)
{
	return s->dir;
}
