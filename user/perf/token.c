// SPDX-License-Identifier: GPL-2.0
#include "token.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int digit(char c)
{
	return c <= '9' ? c - '0' : tolower(c) - 'a' + 10;
}

static int parse(struct token *token, const char *text, const char *where,
		 struct err *err)
{
	size_t digits = 0;

	memset(token, 0, sizeof(*token));
	for (; isxdigit(*text) || *text == '-'; text++) {
		if (*text == '-')
			continue;
		if (digits < 2 * sizeof(token->key))
			token->key[digits / 2] |= digit(*text) <<
						  (digits % 2 ? 0 : 4);
		digits++;
	}
	if (digits == 2 * sizeof(token->key) && !text[strspn(text, "\r\n")])
		return 0;
	err_set(err, EXIT_BAD_INPUT, "usage",
		"%s: a token is %zu hexadecimal digits", where,
		2 * sizeof(token->key));
	err_hint(err, "To make one: openssl rand -hex %zu",
		 sizeof(token->key));
	return -EINVAL;
}

/* Return: a file descriptor, or a negative errno. */
static int open_private(const char *file, struct err *err)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		int ret = -errno;

		err_set(err, EXIT_BAD_INPUT, "usage", "--token-file %s: %s",
			file, strerror(errno));
		if (fd >= 0)
			close(fd);
		return ret;
	}
	if (!(st.st_mode & 077) && (!st.st_uid || st.st_uid == geteuid()))
		return fd;
	close(fd);
	err_set(err, EXIT_BAD_INPUT, "usage",
		"--token-file %s: others than its owner may know it", file);
	err_hint(err, "Make a new token in a file of your own with mode 0600.");
	return -EPERM;
}

static int read_file(struct token *token, const char *file, struct err *err)
{
	char text[128] = "", where[256];
	size_t length = 0;
	ssize_t got;
	int fd;

	fd = open_private(file, err);
	if (fd < 0)
		return fd;
	do {
		got = read(fd, text + length, sizeof(text) - 1 - length);
		length += got > 0 ? got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	close(fd);
	snprintf(where, sizeof(where), "--token-file %s", file);
	return parse(token, text, where, err);
}

int token_read(struct token *token, const char *file, struct err *err)
{
	const char *text = getenv(TOKEN_VARIABLE);

	if (file)
		return read_file(token, file, err);
	if (text)
		return parse(token, text, TOKEN_VARIABLE, err);
	err_set(err, EXIT_BAD_INPUT, "usage",
		"there is no token that ranks know each other by");
	err_hint(err, "export %s=$(openssl rand -hex 16), or --token-file FILE.",
		 TOKEN_VARIABLE);
	return -EINVAL;
}
