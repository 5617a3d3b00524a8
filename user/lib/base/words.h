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

/* Return: the index of @text in @words, or of the only word that begins with it, or -1. */
static inline int words_begin(const char * const *words, const char *text)
{
	int i, found = -1, exact = words_find(words, text);
	size_t len = strlen(text);

	if (exact >= 0 || !len)
		return exact;
	for (i = 0; words[i]; i++) {
		if (strncmp(words[i], text, len))
			continue;
		if (found >= 0)
			return -1;
		found = i;
	}
	return found;
}

/* All of @words, with @between them. Return: @buf. */
static inline const char *words_join(const char * const *words, const char *between, char *buf,
				     size_t size)
{
	size_t len = 0;
	int i;

	buf[0] = '\0';
	for (i = 0; words[i] && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%s", i ? between : "", words[i]);
	return buf;
}

/* All of @words, for a message. Return: @buf. */
static inline const char *words_list(const char * const *words, char *buf, size_t size)
{
	return words_join(words, ", ", buf, size);
}

#endif /* ROCESTEER_LIB_WORDS_H */
