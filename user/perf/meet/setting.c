// SPDX-License-Identifier: GPL-2.0
#include "setting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int setting_print(const struct setting *settings, char *text, size_t size)
{
	size_t length = 0;

	for (; settings->name; settings++) {
		length += snprintf(text + length, size - length, "%s=%s\n",
				   settings->name, settings->value);
		if (length >= size)
			return -EMSGSIZE;
	}
	return length;
}

static bool find(const char *text, const char *name, char *value, size_t size)
{
	size_t len = strlen(name);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, name, len) || text[len] != '=')
			continue;
		text += len + 1;
		snprintf(value, size, "%.*s", (int)strcspn(text, "\n"), text);
		return true;
	}
	return false;
}

bool setting_differs(const struct setting *settings, const char *text, char *what, size_t size)
{
	char value[sizeof(settings->value)];

	for (; settings->name; settings++) {
		if (!find(text, settings->name, value, sizeof(value)))
			snprintf(value, sizeof(value), "unknown");
		if (!strcmp(value, settings->value))
			continue;
		snprintf(what, size, "%s is %s there, %s on rank 0",
			 settings->name, value, settings->value);
		return true;
	}
	return false;
}
