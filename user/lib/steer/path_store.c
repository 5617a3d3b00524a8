// SPDX-License-Identifier: GPL-2.0
#include "path_store.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "netns.h"

int path_store_name(const char *device, char file[PATH_STORE_NAME], struct err *err)
{
	__u64 cookie;
	int ret = netns_cookie(&cookie, err);

	if (!ret)
		snprintf(file, PATH_STORE_NAME, PATH_STORE_DIR "/netns-%llu-%s.json", cookie,
			 device);
	return ret;
}

int path_store_make(void)
{
	if (mkdir("/var/lib/rocesteer", 0700) && errno != EEXIST)
		return -errno;
	return mkdir(PATH_STORE_DIR, 0700) && errno != EEXIST ? -errno : 0;
}
