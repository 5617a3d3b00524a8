// SPDX-License-Identifier: GPL-2.0
#include "wait_limit.h"

#include <stdlib.h>

#define DAY	86400

unsigned int wait_limit(const char *variable, unsigned int seconds)
{
	const char *text = getenv(variable);
	unsigned long value;
	char *end;

	if (!text)
		return seconds;
	value = strtoul(text, &end, 10);
	return end != text && !*end && value <= DAY ? value : seconds;
}
