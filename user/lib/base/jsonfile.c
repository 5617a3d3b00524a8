// SPDX-License-Identifier: GPL-2.0
#include "jsonfile.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"

static int fail(const char *file, struct err *err)
{
	int ret = errno;

	err_set(err, EXIT_BAD_INPUT, ret == ENOENT ? "no-file" : "bad-file",
		"%s: %s", file, strerror(ret));
	return -ret;
}

/* Read all of @fd, at most @max bytes. */
static int slurp(int fd, const char *file, size_t max, char **text,
		 size_t *len, struct err *err)
{
	char *buf = NULL, *bigger;
	size_t room = 0, used = 0;
	ssize_t got;
	int ret;

	do {
		if (room - used < 4096) {
			room = room ? room * 2 : 16384;
			bigger = realloc(buf, room);
			if (!bigger)
				goto err_free;
			buf = bigger;
		}
		got = read(fd, buf + used, room - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			goto err_free;
		used += got;
		if (used > max) {
			errno = EFBIG;
			goto err_free;
		}
	} while (got);
	*text = buf;
	*len = used;
	return 0;

err_free:
	ret = fail(file, err);
	free(buf);
	return ret;
}

static int line_of(const char *text, size_t at)
{
	int line = 1;
	size_t i;

	for (i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

static int parse(const char *text, size_t len, const char *file, int depth,
		 struct json_object **root, struct err *err)
{
	struct json_tokener *tok = json_tokener_new_ex(depth);
	enum json_tokener_error error;
	size_t at;

	if (!tok)
		return -ENOMEM;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT |
			       JSON_TOKENER_VALIDATE_UTF8);
	*root = json_tokener_parse_ex(tok, text, len);
	error = json_tokener_get_error(tok);
	at = json_tokener_get_parse_end(tok);
	if (error == json_tokener_success) {
		while (at < len && strchr(" \t\r\n", text[at]) && text[at])
			at++;
		if (at < len)
			error = json_tokener_error_parse_unexpected;
	}
	json_tokener_free(tok);
	if (error == json_tokener_success)
		return 0;
	json_object_put(*root);
	*root = NULL;
	if (error == json_tokener_continue)
		return err_set(err, EXIT_BAD_INPUT, "bad-file",
			       "%s: is not JSON: it ends too early", file);
	return err_set(err, EXIT_BAD_INPUT, "bad-file",
		       "%s: line %d: is not JSON: %s", file, line_of(text, at),
		       json_tokener_error_desc(error));
}

int json_file_read(const char *file, size_t max, int depth,
		   struct json_object **root, struct err *err)
{
	struct stat st;
	size_t len = 0, bom;
	char *text = NULL;
	int fd, ret;

	*root = NULL;
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail(file, err);
	if (!fstat(fd, &st) && S_ISFIFO(st.st_mode))
		fcntl(fd, F_SETFL, 0);	/* <(command) */
	ret = slurp(fd, file, max, &text, &len, err);
	close(fd);
	if (ret)
		return ret;
	bom = reader_bom(text, len);
	ret = parse(text + bom, len - bom, file, depth, root, err);
	free(text);
	return ret;
}
