// SPDX-License-Identifier: GPL-2.0
#include "decimal.h"

#include <errno.h>

int decimal_read(const char *text, __u64 min, __u64 max, __u64 *value)
{
	__u64 number = 0;
	int decimals = -1;	/* before the point */
	const char *at;

	for (at = text; *at; at++) {
		if (*at == '.' && at > text && at[1] && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (*at < '0' || *at > '9' || decimals == DECIMAL_PLACES || number > max)
			return -EINVAL;
		number = number * 10 + *at - '0';
		decimals += decimals >= 0;
	}
	for (decimals += decimals < 0; decimals < DECIMAL_PLACES; decimals++) {
		if (number > max)
			return -EINVAL;
		number *= 10;
	}
	if (at == text || number < min || number > max)
		return -EINVAL;
	*value = number;
	return 0;
}
