// SPDX-License-Identifier: GPL-2.0
/* The token of rocesteer-perf: the same from a file and from the environment */
#include <sys/stat.h>

#include "perf/token.h"
#include "fuzz.h"

#define ROOM	128	/* of the reader of files, with the NUL */

/* A private file of @size bytes */
static int read_file(struct token *token, const void *data, size_t size)
{
	const char *file = fuzz_file(data, size);
	struct err err = {};
	int ret;

	assert(!chmod(file, 0600));
	ret = token_read(token, file, &err);
	assert(!ret == !err.code);
	return ret;
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct token token, same;
	struct err err = {};
	char *text;
	int ret;

	text = strndup((const char *)data, size < ROOM ? size : ROOM - 1);
	ret = read_file(&token, text, strlen(text));
	setenv(TOKEN_VARIABLE, text, 1);
	assert(token_read(&same, NULL, &err) == ret && !ret == !err.code);
	assert(ret || (!memcmp(&token, &same, sizeof(token)) &&
		       strspn(text, "0123456789abcdefABCDEF-\r\n") == strlen(text)));
	free(text);
	read_file(&token, data, size);	/* longer than any token */
	return 0;
}
