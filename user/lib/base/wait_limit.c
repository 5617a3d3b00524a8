// SPDX-License-Identifier: GPL-2.0
#include "wait_limit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DAY	86400ul

int wait_limit(const char *variable, int seconds, struct err *err)
{
	const char *text = getenv(variable);
	unsigned long value;

	if (!text || !text[0])
		return seconds;
	value = strtoul(text, NULL, 10);
	if (!text[strspn(text, "0123456789")] && value <= DAY)
		return value;
	err_set(err, EXIT_BAD_INPUT, "usage",
		"%s: '%s' is not a number of seconds up to %lu", variable, text,
		DAY);
	err_hint(err, "See: man rocesteer, ENVIRONMENT");
	return -EINVAL;
}
