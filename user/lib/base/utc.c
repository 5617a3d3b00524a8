// SPDX-License-Identifier: GPL-2.0
#include "utc.h"

#define FORMAT	"%Y-%m-%dT%H:%M:%SZ"

const char *utc_format(time_t at, char text[UTC_SIZE])
{
	struct tm tm;

	strftime(text, UTC_SIZE, FORMAT, gmtime_r(&at, &tm));
	return text;
}

bool utc_parse(const char *text, time_t *at)
{
	struct tm tm = {};
	const char *end = strptime(text, FORMAT, &tm);

	*at = timegm(&tm);
	return end && !*end;
}
