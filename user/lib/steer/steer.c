// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
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
			       sizeof(struct rocesteer_count_key),
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
};

size_t steer_key_size(enum steer_map map)
{
	return map_specs[map].key_size;
}

/* Links go by ifindex: bpffs takes no dot in a name, VLAN devices have one. */
static void link_name(char *buf, size_t size, const char *hook,
		      unsigned int ifindex)
{
	snprintf(buf, size, "link_%s_%u", hook, ifindex);
}

/* Who looks for jobs is told of those that cannot be seen. */
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
	if ((root.st_uid && root.st_uid != geteuid()) ||
	    root.st_mode & 0077) {
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

/* One that is mounted within "ip netns exec" has none of the machine's jobs. */
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

/* Something else than we would have pinned: another version's, or a part is gone. */
static int version_error(struct steer *s, const char *name, const char *what,
			 struct err *err)
{
	err_set(err, EXIT_FAILED, "version", "%s/%s %s version %d", s->dir,
		name, what, ROCESTEER_ABI);
	err_hint(err,
		 "Put the programs of this version in place: rocesteer prog load; or take all jobs away: rm -r %s",
		 s->dir);
	return -EPROTO;
}

static int pin_error(struct steer *s, const char *name, int ret,
		     struct err *err)
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
			return version_error(s, map_specs[i].name,
					     "has another layout than", err);
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

int steer_run_program(int prog, const void *ctx, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = ctx,
		    .ctx_size_in = size);

	return bpf_prog_test_run_opts(prog, &opts) ?: (int)opts.retval;
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

static void detach(struct steer *s, const char *prog, unsigned int ifindex)
{
	char name[32], path[PATH_MAX];

	link_name(name, sizeof(name), prog, ifindex);
	if (!steer_pin_path(path, sizeof(path), s->dir, name))
		unlink(path);
}

/* Is a program attached to a device? A link stays pinned when its device goes. */
static bool is_attached(const struct steer *s, const char *prog,
			unsigned int ifindex)
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

/* Does a program run before others, but for our own? -EPERM: not to be known. */
static int is_first(const struct steer *s, const char *prog,
		    enum bpf_attach_type type, unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_prog_query_opts, opts);
	__u32 id = prog_id(s, prog), chunk = prog_id(s, "chunk"), ids[64], i;
	int ret;

	opts.prog_ids = ids;
	opts.prog_cnt = ARRAY_SIZE(ids);
	ret = bpf_prog_query_opts(ifindex, type, &opts);
	if (ret)
		return ret;
	for (i = 0; i < opts.prog_cnt; i++)
		if (ids[i] == id || ids[i] != chunk)
			return ids[i] == id;
	return 0;
}

int steer_first(const struct steer *s, __u32 ifindex)
{
	int ret = is_first(s, "egress", BPF_TCX_EGRESS, ifindex);

	return ret > 0 ? is_first(s, "ingress", BPF_TCX_INGRESS, ifindex) : ret;
}

/*
 * Programs may be attached for another job already. Others that were put before them since
 * then move behind.
 */
static int attach(struct steer *s, const char *prog, enum bpf_attach_type type,
		  unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = BPF_F_BEFORE);
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
	link_fd = bpf_link_create(prog_fd, ifindex, type, &opts);
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
	if (ifr.ifr_hwaddr.sa_family == ARPHRD_ETHER ||
	    ifr.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK)
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

int steer_set_flow(struct steer *s, const struct rocesteer_set_flow *set)
{
	return steer_run_program(s->progs[PROG_SET_FLOW], set, sizeof(*set));
}

int steer_set_group(struct steer *s, const struct rocesteer_set_group *set)
{
	return steer_run_program(s->progs[PROG_SET_GROUP], set, sizeof(*set));
}

int steer_set_paths(struct steer *s, const struct rocesteer_set_paths *set)
{
	return steer_run_program(s->progs[PROG_SET_PATHS], set, sizeof(*set));
}

int steer_set_order(struct steer *s, const struct rocesteer_set_order *set)
{
	return steer_run_program(s->progs[PROG_SET_ORDER], set, sizeof(*set));
}

int steer_forget(struct steer *s, const struct rocesteer_flow_key *flow)
{
	return steer_run_program(s->progs[PROG_FORGET], flow, sizeof(*flow));
}

int steer_set_peer(struct steer *s, const struct rocesteer_set_peer *set)
{
	return steer_run_program(s->progs[PROG_SET_PEER], set, sizeof(*set));
}
