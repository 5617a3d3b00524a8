// SPDX-License-Identifier: GPL-2.0
#include "jsonfile.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"
#include "replace.h"

static int fail(const char *file, struct err *err)
{
	int ret = errno;

	err_set(err, EXIT_BAD_INPUT, ret == ENOENT ? "no-file" : "bad-file",
		"%s: %s", file, strerror(ret));
	return -ret;
}

/* Read all of @fd, at most @max bytes. */
static int slurp(int fd, const char *file, size_t max, char **text, size_t *len, struct err *err)
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
	buf[used] = '\0';	/* there is room: 4096 bytes before each read */
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

/* Skip the string at @i, which is closed: json-c has read it. */
static size_t skip_string(const char *text, size_t len, size_t i)
{
	for (i++; i < len && text[i] != '"'; i++)
		i += text[i] == '\\';
	return i + 1;
}

/* Note a field of an object. Return: whether it was noted before. */
static bool is_twice(struct json_object *seen, const char *key, size_t len)
{
	char *copy = strndup(key, len);
	bool twice;

	twice = copy && json_object_object_get_ex(seen, copy, NULL);
	if (copy)
		json_object_object_add(seen, copy, NULL);
	free(copy);
	return twice;
}

/*
 * Find names of fields in single quotes and duplicate fields, which json-c accepts even in
 * strict mode. Return: the offset, or @len.
 */
static size_t find_lax(const char *text, size_t len)
{
	struct json_object *seen[JSON_TOKENER_DEFAULT_DEPTH + 1];
	size_t i = 0, end, depth = 0;
	bool lax = false;

	while (i < len && !lax) {
		end = text[i] == '"' ? skip_string(text, len, i) : i + 1;
		if (text[i] == '"' && depth && end < len &&
		    text[end + strspn(text + end, " \t\r\n")] == ':')
			lax = is_twice(seen[depth - 1], text + i, end - i);
		else if (text[i] == '{' && depth < ARRAY_SIZE(seen))
			seen[depth++] = json_object_new_object();
		else if (text[i] == '}' && depth)
			json_object_put(seen[--depth]);
		lax |= text[i] == '\'';
		if (!lax)
			i = end;
	}
	while (depth)
		json_object_put(seen[--depth]);
	return i;
}

static int check_lax(const char *text, size_t len, const char *file, struct err *err)
{
	size_t at = find_lax(text, len), end;
	char name[64], quoted[64];

	if (at >= len)
		return 0;
	if (text[at] == '\'')
		return err_set(err, EXIT_BAD_INPUT, "bad-file",
			       "%s: line %d: is not JSON: names need double quotes",
			       file, line_of(text, at));
	end = skip_string(text, len, at);
	snprintf(name, sizeof(name), "%.*s", (int)(end - at), text + at);
	return err_set(err, EXIT_BAD_INPUT, "bad-file",
		       "%s: line %d: the field %s is there twice", file,
		       line_of(text, at),
		       reader_quote(name, quoted, sizeof(quoted)));
}

static int parse(const char *text, size_t len, const char *file, int depth,
		 struct json_object **root, struct err *err)
{
	struct json_tokener *tok = json_tokener_new_ex(depth);
	enum json_tokener_error error;
	size_t at;

	if (!tok)
		return -ENOMEM;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
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
	if (error == json_tokener_success && !check_lax(text, len, file, err))
		return 0;
	json_object_put(*root);
	*root = NULL;
	if (error == json_tokener_success)
		return -EINVAL;
	if (error == json_tokener_continue)
		return err_set(err, EXIT_BAD_INPUT, "bad-file",
			       "%s: is not JSON: it ends too early", file);
	return err_set(err, EXIT_BAD_INPUT, "bad-file",
		       "%s: line %d: is not JSON: %s", file, line_of(text, at),
		       json_tokener_error_desc(error));
}

static int read_open(int fd, const char *file, size_t max, int depth,
		     struct json_object **root, struct err *err)
{
	size_t len = 0, bom;
	char *text = NULL;
	int ret;

	*root = NULL;
	ret = slurp(fd, file, max, &text, &len, err);
	if (ret)
		return ret;
	bom = reader_bom(text, len);
	ret = parse(text + bom, len - bom, file, depth, root, err);
	free(text);
	return ret;
}

int json_file_read(const char *file, size_t max, int depth,
		   struct json_object **root, struct err *err)
{
	struct stat st;
	int fd, ret;

	*root = NULL;
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail(file, err);
	if (!fstat(fd, &st) && S_ISFIFO(st.st_mode))
		fcntl(fd, F_SETFL, 0);	/* <(command) */
	ret = read_open(fd, file, max, depth, root, err);
	close(fd);
	return ret;
}

int json_stdin_read(size_t max, int depth, struct json_object **root, struct err *err)
{
	return read_open(STDIN_FILENO, JSON_STDIN, max, depth, root, err);
}

int json_file_write(const char *file, struct json_object *root, int flags, struct err *err)
{
	struct file_new new;
	int ret = file_begin(&new);

	if (!ret) {
		fprintf(new.out, "%s\n", json_object_to_json_string_ext(root, flags));
		ret = file_replace(file, &new);
	}
	json_object_put(root);
	return ret < 0 ? err_errno(err, -ret, "write", "cannot write %s", file) : 0;
}
