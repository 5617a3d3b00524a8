/* SPDX-License-Identifier: GPL-2.0 */
/* The checksum of IPv4 and UDP. */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stddef.h>
#include <linux/types.h>

/* RFC 1071. Return: @sum and @len bytes of @data; 0xffff where these have the right checksum. */
static inline __u32 checksum_add(__u32 sum, const void *data, size_t len)
{
	const __u8 *byte = data;
	size_t i;

	for (i = 0; i < len; i++)
		sum += i % 2 ? byte[i] : byte[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

#endif /* CHECKSUM_H */
