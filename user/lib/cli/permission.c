// SPDX-License-Identifier: GPL-2.0
#include "permission.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Since Linux 5.8; headers may be older. */
#ifndef CAP_BPF
#define CAP_BPF	39
#endif
#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#endif

struct caps {
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

/* If capabilities cannot be read, the kernel refuses later. */
static bool get(struct caps *caps)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};

	return !syscall(SYS_capget, &header, caps->data);
}

static bool has(const struct caps *caps, int cap)
{
	return caps->data[cap / 32].effective >> (cap % 32) & 1;
}

static int refuse(struct err *err, const char *what, const char *missing)
{
	err_set(err, EXIT_FAILED, "permission", "not permitted: %s %s", what, missing);
	err_hint(err, "Run it as root.");
	return -EPERM;
}

int permission_check(struct err *err)
{
	static const char what[] = "this changes what the kernel steers and needs";
	struct caps caps = {};

	if (!get(&caps))
		return 0;
	if (!has(&caps, CAP_NET_ADMIN))
		return refuse(err, what, "CAP_NET_ADMIN");
	if (!has(&caps, CAP_BPF) && !has(&caps, CAP_SYS_ADMIN))
		return refuse(err, what, "CAP_BPF");
	return 0;
}

int permission_load(struct err *err)
{
	struct caps caps = {};

	if (!get(&caps) || has(&caps, CAP_PERFMON) || has(&caps, CAP_SYS_ADMIN))
		return 0;
	return refuse(err, "loading the programs needs", "CAP_PERFMON");
}

int permission_probe(struct err *err)
{
	struct caps caps = {};

	if (!get(&caps) || has(&caps, CAP_NET_RAW))
		return 0;
	return refuse(err, "probes need", "CAP_NET_RAW");
}
