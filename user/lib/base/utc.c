// SPDX-License-Identifier: GPL-2.0
#include "utc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT	"%Y-%m-%dT%H:%M:%S"

const char *utc_format(time_t at, char text[UTC_SIZE])
{
	struct tm tm;

	strftime(text, UTC_SIZE, FORMAT "Z", gmtime_r(&at, &tm));
	return text;
}

const char *utc_format_fraction(time_t at, __u32 fraction, int digits, char text[UTC_SIZE])
{
	size_t len = strlen(utc_format(at, text)) - 1;

	snprintf(text + len, UTC_SIZE - len, ".%0*uZ", digits, fraction);
	return text;
}

const char *utc_format_ms(__s64 ms, char text[UTC_SIZE])
{
	__s64 part = (ms % 1000 + 1000) % 1000;

	return utc_format_fraction((ms - part) / 1000, part, 3, text);
}

/* Return: what follows the seconds, or NULL. */
static const char *parse(const char *text, time_t *at)
{
	struct tm tm = {};
	const char *end = strptime(text, FORMAT, &tm);

	*at = timegm(&tm);
	return end;
}

bool utc_parse(const char *text, time_t *at)
{
	const char *end = parse(text, at);

	return end && !strcmp(end, "Z");
}

bool utc_parse_ms(const char *text, __s64 *ms)
{
	time_t at;
	const char *end = parse(text, &at);

	*ms = at * 1000;
	if (end && *end == '.' && strspn(end + 1, "0123456789") == 3) {
		*ms += strtol(end + 1, NULL, 10);
		end += 4;
	}
	return end && !strcmp(end, "Z");
}
