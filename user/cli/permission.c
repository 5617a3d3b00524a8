// SPDX-License-Identifier: GPL-2.0
#include "permission.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From 5.8 on; the headers may be older. */
#ifndef CAP_BPF
#define CAP_BPF	39
#endif

static int has(const struct __user_cap_data_struct *data, int cap)
{
	return data[cap / 32].effective >> (cap % 32) & 1;
}

int permission_check(struct err *err)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
	const char *missing;

	if (syscall(SYS_capget, &header, data))
		return 0;	/* the kernel will say no by itself */
	if (!has(data, CAP_NET_ADMIN))
		missing = "CAP_NET_ADMIN";
	else if (!has(data, CAP_BPF) && !has(data, CAP_SYS_ADMIN))
		missing = "CAP_BPF";
	else
		return 0;
	err_set(err, EXIT_FAILED, "permission",
		"not permitted: this changes what the kernel steers and needs %s",
		missing);
	err_hint(err, "Run it as root.");
	return -EPERM;
}
