// SPDX-License-Identifier: GPL-2.0
/*
 * Load the programs, at first or over other ones, possibly of another version. Tables are
 * opened by their pins and stay. Arrays of tail calls and the timer belong to one set of
 * programs, because the kernel empties these arrays with the last user, and are made anew.
 * The old programs stay until none runs that needs them. If this process is killed at any
 * moment, it leaves programs that work.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/capability.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <rocesteer/icrc.h>

#include "genl.h"
#include "rocesteer.skel.h"
#include "steer_priv.h"

#define ASIDE	"_old"

/* Pin, and replace an old pin. */
static int pin_over(const char *dir, const char *name, int fd)
{
	char now[PATH_MAX], to[PATH_MAX], temporary[64];

	snprintf(temporary, sizeof(temporary), "%s_new", name);
	if (steer_pin_path(now, sizeof(now), dir, temporary) ||
	    steer_pin_path(to, sizeof(to), dir, name))
		return -ENAMETOOLONG;
	unlink(now);
	return bpf_obj_pin(fd, now) || rename(now, to) ? -errno : 0;
}

static void unpin(const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (!steer_pin_path(path, sizeof(path), dir, name))
		unlink(path);
}

/* Step aside under a free name: a killed command may have left several. */
static int step_aside(const char *dir, const char *name)
{
	char from[PATH_MAX], to[PATH_MAX], old[64];
	unsigned int n = 0;

	if (steer_pin_path(from, sizeof(from), dir, name))
		return -ENAMETOOLONG;
	do {
		snprintf(old, sizeof(old), "%s" ASIDE "%u", name, n++);
		if (steer_pin_path(to, sizeof(to), dir, old))
			return -ENAMETOOLONG;
	} while (!access(to, F_OK));
	return rename(from, to) && errno != ENOENT ? -errno : 0;
}

/* Call @fn for each pin with the prefix @begin. */
static int each_pin(const char *dir, const char *begin,
		    int (*fn)(const char *dir, const char *name, int arg), int arg)
{
	DIR *d = opendir(dir);
	struct dirent *de;
	int ret = 0;

	if (!d)
		return -errno;
	while (!ret && (de = readdir(d)))
		if (!strncmp(de->d_name, begin, strlen(begin)))
			ret = fn(dir, de->d_name, arg);
	closedir(d);
	return ret;
}

static int drop_aside(const char *dir, const char *name, int unused)
{
	(void)unused;
	if (strstr(name, ASIDE))
		unpin(dir, name);
	return 0;
}

static int pin_own_maps(struct steer *s, struct rocesteer_bpf *skel)
{
	const struct bpf_map *own[] = { skel->maps.rs_tail_calls, skel->maps.rs_peer_reseq,
				  skel->maps.rs_sweep };
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < ARRAY_SIZE(own); i++)
		ret = step_aside(s->dir, bpf_map__name(own[i])) ?:
		      steer_pin_put(s->dir, bpf_map__name(own[i]), bpf_map__fd(own[i]));
	return ret;
}

/* A namespace has one policy: the new one takes the place of the old one, if it can. */
static int attach_policy(struct steer *s, struct rocesteer_bpf *skel)
{
	int fd = steer_pin_get(s->dir, STEER_PIN_POLICY), ret;
	struct bpf_link *policy;

	if (fd >= 0) {
		ret = bpf_link_update(fd, bpf_map__fd(skel->maps.rs_policy), NULL);
		close(fd);
		if (!ret)
			return 0;
		steer_policy_detach(s->dir);
	}
	policy = bpf_map__attach_struct_ops(skel->maps.rs_policy);
	if (!policy)
		return -errno;
	ret = pin_over(s->dir, STEER_PIN_POLICY, bpf_link__fd(policy));
	bpf_link__destroy(policy);
	return ret;
}

static int attach_tracepoint(struct steer *s, struct bpf_program *prog, const char *pin)
{
	struct bpf_link *link = bpf_program__attach(prog);
	int ret;

	if (!link)
		return -errno;
	ret = pin_over(s->dir, pin, bpf_link__fd(link));
	bpf_link__destroy(link);
	return ret;
}

/* Attach the programs that the module calls. Flows are dealt once their end is seen. */
static int attach_module(struct steer *s, struct rocesteer_bpf *skel)
{
	return attach_tracepoint(s, skel->progs.rocesteer_flow_add, STEER_PIN_FLOW_ADD) ?:
	       attach_tracepoint(s, skel->progs.rocesteer_flow_del, STEER_PIN_FLOW_DEL) ?:
	       attach_policy(s, skel);
}

static void leave_module(struct steer *s)
{
	steer_policy_detach(s->dir);
	unpin(s->dir, STEER_PIN_POLICY);
	unpin(s->dir, STEER_PIN_FLOW_ADD);
	unpin(s->dir, STEER_PIN_FLOW_DEL);
}

/* The device of a link may be gone: then so is the link. */
static int update_link(const char *dir, const char *name, int prog)
{
	int fd = steer_pin_get(dir, name), ret;

	if (fd < 0)
		return fd;
	ret = bpf_link_update(fd, prog, NULL) ? -errno : 0;
	close(fd);
	return ret == -ENOLINK ? 0 : ret;
}

static int update_links(struct steer *s, struct rocesteer_bpf *skel)
{
	return each_pin(s->dir, "link_egress_", update_link,
			bpf_program__fd(skel->progs.rocesteer_egress)) ?:
	       each_pin(s->dir, "link_ingress_", update_link,
			bpf_program__fd(skel->progs.rocesteer_ingress)) ?:
	       each_pin(s->dir, "link_chunk_", update_link,
			bpf_program__fd(skel->progs.rocesteer_chunk));
}

static int pin_programs(struct steer *s, struct rocesteer_bpf *skel)
{
	const struct bpf_program *progs[PROG_MAX] = {
		[PROG_SET_FLOW] = skel->progs.rocesteer_set_flow,
		[PROG_SET_GROUP] = skel->progs.rocesteer_set_group,
		[PROG_SET_OBSERVE] = skel->progs.rocesteer_set_observe,
		[PROG_SET_PATHS] = skel->progs.rocesteer_set_paths,
		[PROG_SET_PEER] = skel->progs.rocesteer_set_peer,
		[PROG_FORGET] = skel->progs.rocesteer_forget,
		[PROG_SET_ORDER] = skel->progs.rocesteer_set_order,
		[PROG_CHANGED] = skel->progs.rocesteer_changed,
		[PROG_UNTAG] = skel->progs.rocesteer_untag,
	};
	int ret = 0, i;

	for (i = 0; !ret && i < PROG_MAX; i++)
		ret = pin_over(s->dir, steer_prog_names[i], bpf_program__fd(progs[i]));
	ret = ret ?: pin_over(s->dir, "ingress", bpf_program__fd(skel->progs.rocesteer_ingress)) ?:
		     pin_over(s->dir, "chunk", bpf_program__fd(skel->progs.rocesteer_chunk));
	/* The last pin, whose presence says that all others are there. */
	return ret ?: pin_over(s->dir, "egress", bpf_program__fd(skel->progs.rocesteer_egress));
}

static int put_version(struct steer *s, struct rocesteer_bpf *skel)
{
	struct rocesteer_version version = {
		.abi = ROCESTEER_ABI,
		.module = s->module,
		.version = ROCESTEER_VERSION,
	};
	__u32 zero = 0;

	return bpf_map_update_elem(bpf_map__fd(skel->maps.rs_version), &zero,
				   &version, BPF_ANY) ? -errno : 0;
}

static int install(struct steer *s, struct rocesteer_bpf *skel)
{
	int ret;

	ret = pin_own_maps(s, skel) ?:
	      steer_run_program(bpf_program__fd(skel->progs.rocesteer_sweep), NULL, 0);
	if (!ret && s->module)
		ret = attach_module(s, skel);
	ret = ret ?: update_links(s, skel) ?: pin_programs(s, skel);
	if (ret)
		return ret;
	if (!s->module)
		leave_module(s);
	steer_wait_programs();
	each_pin(s->dir, "rs_", drop_aside, 0);
	return put_version(s, skel);
}

int steer_module_param(const char *name, __u32 *value, struct err *err)
{
	char file[64], text[32], *end;

	snprintf(file, sizeof(file), "parameters/%s", name);
	genl_module_says(file, text, sizeof(text));
	*value = strtoul(text, &end, 10);
	return end != text ? 0 :
	       err_set(err, EXIT_FAILED, "kernel", "/sys/module/rocesteer/%s: is not a number",
		       file);
}

static int set_up(struct steer *s, struct rocesteer_bpf *skel, struct err *err)
{
	int ret = 0;

	if (s->module)
		ret = steer_module_param("bth_paths", &skel->rodata->rs_bth_paths, err) ?:
		      steer_module_param("bth_reseq", &skel->rodata->rs_bth_reseq, err);
	rocesteer_icrc_tables(skel->bss->rs_icrc);
	skel->rodata->rs_netns = s->netns;
	skel->rodata->rs_use_module = s->module;
	skel->struct_ops.rs_policy->netns = s->netns;
	bpf_program__set_autoload(skel->progs.rocesteer_flow_add, s->module);
	bpf_program__set_autoload(skel->progs.rocesteer_flow_del, s->module);
	bpf_program__set_autoload(skel->progs.rocesteer_source_port, s->module);
	bpf_map__set_autocreate(skel->maps.rs_policy, s->module);
	/* Not those of other programs */
	bpf_map__set_pin_path(skel->maps.rs_tail_calls, NULL);
	bpf_map__set_pin_path(skel->maps.rs_peer_reseq, NULL);
	bpf_map__set_pin_path(skel->maps.rs_sweep, NULL);
	return ret;
}

/* Raise or drop CAP_SYS_ADMIN, if permitted. */
static void use_sys_admin(bool use)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data))
		return;
	data[0].effective &= ~(1u << CAP_SYS_ADMIN);
	if (use)
		data[0].effective |= data[0].permitted & 1u << CAP_SYS_ADMIN;
	syscall(SYS_capset, &header, data);
}

/*
 * A call of the module holds the module, also where it is never reached. Without
 * CAP_SYS_ADMIN libbpf does not look for functions of modules, and leaves such calls out.
 */
static int load_programs(struct steer *s, struct rocesteer_bpf *skel)
{
	int ret;

	if (!s->module)
		use_sys_admin(false);
	ret = rocesteer_bpf__load(skel);
	if (!s->module)
		use_sys_admin(true);
	return ret;
}

int steer_load(struct steer *s, struct err *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .pin_root_path = s->dir);
	struct rocesteer_bpf *skel = rocesteer_bpf__open_opts(&opts);
	int ret;

	if (!skel)
		return err_errno(err, errno, "bpf", "cannot open the BPF programs");
	ret = set_up(s, skel, err);
	if (ret)
		goto out;
	ret = load_programs(s, skel) ?: install(s, skel);
	if (ret) {
		ret = err_errno(err, -ret, ret == -EPERM ? "permission" : "bpf",
				"cannot load the BPF programs");
		err_hint(err, "ROCESTEER_DEBUG=1 shows what the kernel says");
	}
out:
	rocesteer_bpf__destroy(skel);
	return ret;
}
