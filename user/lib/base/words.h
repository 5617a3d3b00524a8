/* SPDX-License-Identifier: GPL-2.0 */
/* Words that an option or a field may be: arrays that end with NULL. */
#ifndef ROCESTEER_LIB_WORDS_H
#define ROCESTEER_LIB_WORDS_H

#include <stdio.h>
#include <string.h>

/* Return: the index of @text in @words, or -1. */
static inline int words_find(const char * const *words, const char *text)
{
	int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	return -1;
}

/* All of @words, for a message. Return: @buf. */
static inline const char *words_list(const char * const *words, char *buf,
				     size_t size)
{
	size_t len = 0;
	int i;

	buf[0] = '\0';
	for (i = 0; words[i] && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%s", i ? ", " : "",
				words[i]);
	return buf;
}

#endif /* ROCESTEER_LIB_WORDS_H */
