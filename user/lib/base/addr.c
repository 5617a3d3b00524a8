// SPDX-License-Identifier: GPL-2.0
#include "addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const __u8 v4_prefix[12] = { [10] = 0xff, [11] = 0xff };

int addr_parse(const char *text, __u8 addr[16])
{
	struct in6_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		memcpy(addr, v4_prefix, sizeof(v4_prefix));
		memcpy(addr + 12, &v4, 4);
	} else if (inet_pton(AF_INET6, text, &v6) == 1) {
		memcpy(addr, &v6, 16);
	} else {
		return -EINVAL;
	}
	if (addr_is_v4(addr))	/* 0.0.0.0/8, multicast, reserved */
		return addr[12] == 0 || addr[12] >= 224 ? -EINVAL : 0;
	return addr_is_none(addr) || addr[0] == 0xff ? -EINVAL : 0;
}

const char *addr_format(const __u8 addr[16], char *text)
{
	if (addr_is_v4(addr))
		inet_ntop(AF_INET, addr + 12, text, ADDR_STRLEN);
	else
		inet_ntop(AF_INET6, addr, text, ADDR_STRLEN);
	return text;
}

bool addr_is_v4(const __u8 addr[16])
{
	return !memcmp(addr, v4_prefix, sizeof(v4_prefix));
}

bool addr_is_none(const __u8 addr[16])
{
	static const __u8 none[16];

	return !memcmp(addr, none, sizeof(none));
}

int addr_compare(const __u8 a[16], const __u8 b[16])
{
	return memcmp(a, b, 16);
}

static int compare(const void *a, const void *b)
{
	return addr_compare(a, b);
}

int addr_find_twice(const __u8 addr[][16], size_t n, __u8 twice[16])
{
	__u8 (*sorted)[16] = calloc(n ?: 1, sizeof(*sorted));
	int ret = 0;
	size_t i;

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, addr, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	for (i = 1; !ret && i < n; i++) {
		ret = !addr_compare(sorted[i - 1], sorted[i]);
		memcpy(twice, sorted[i], 16);
	}
	free(sorted);
	return ret;
}

socklen_t addr_to_sockaddr(const __u8 addr[16], unsigned int port,
			   unsigned int scope, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (addr_is_v4(addr)) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
		memcpy(&sin->sin_addr, addr + 12, 4);
		return sizeof(*sin);
	}
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = htons(port);
	memcpy(&sin6->sin6_addr, addr, 16);
	if (IN6_IS_ADDR_LINKLOCAL(&sin6->sin6_addr))
		sin6->sin6_scope_id = scope;
	return sizeof(*sin6);
}

int addr_from_sockaddr(const struct sockaddr *ss, __u8 addr[16])
{
	const struct sockaddr_in6 *sin6 = (const void *)ss;
	const struct sockaddr_in *sin = (const void *)ss;

	switch (ss->sa_family) {
	case AF_INET:
		memcpy(addr, v4_prefix, sizeof(v4_prefix));
		memcpy(addr + 12, &sin->sin_addr, 4);
		return 0;
	case AF_INET6:
		memcpy(addr, &sin6->sin6_addr, 16);
		return 0;
	}
	return -EAFNOSUPPORT;
}
