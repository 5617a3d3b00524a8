// SPDX-License-Identifier: GPL-2.0
#include "out.h"

#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addr.h"
#include "table.h"

#define TEXT	1024	/* more than any message or note */

/* The errno of the first failure; a stream only remembers that there was one. */
static int write_error;

int out_flush(void)
{
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && !write_error)
		write_error = errno ?: EIO;
	return -write_error;
}

static void print_json(const struct out *out, struct json_object *root)
{
	int how = out->pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED :
				JSON_C_TO_STRING_PLAIN;

	puts(json_object_to_json_string_ext(root, how | JSON_C_TO_STRING_NOSLASHESCAPE));
}

int out_show(const struct out *out, struct json_object *root, const struct out_view *views)
{
	bool first = true;

	if (!root)
		return -ENOMEM;
	if (out->json)
		print_json(out, root);
	else
		for (; views->columns; views++)
			if (table_print(stdout, root, views, first))
				first = false;
	json_object_put(root);
	return out_flush();
}

int out_event(const struct out *out, struct json_object *event, const struct out_column *columns)
{
	if (!event)
		return -ENOMEM;
	if (out->json)
		print_json(out, event);
	else
		table_print_line(event, columns);
	json_object_put(event);
	return out_flush();
}

int out_error(const struct out *out, struct json_object *root,
	      const struct out_view *views, const struct err *err)
{
	struct json_object *error;
	char text[TEXT];

	if (out->json) {
		error = out_object(root, "error");
		out_string(error, "code", err->code);
		out_string(error, "message", err->message);
		if (err->hint[0])
			out_string(error, "hint", err->hint);
	}
	if (out_show(out, root, views) || !out->json) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name,
			table_printable(err->message, text, TEXT));
		if (err->hint[0])
			fprintf(stderr, "%s\n", table_printable(err->hint, text, TEXT));
	}
	return err->exit_status;
}

void out_note(const struct out *out, const char *fmt, ...)
{
	char raw[TEXT], text[TEXT];
	va_list args;

	if (out->json)
		return;
	va_start(args, fmt);
	vsnprintf(raw, sizeof(raw), fmt, args);
	va_end(args);
	fprintf(stderr, "%s\n", table_printable(raw, text, TEXT));
}

/* json-c reports only a lack of memory: nothing useful is left to do then. */
static struct json_object *must(struct json_object *obj)
{
	if (obj)
		return obj;
	fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
	exit(EXIT_FAILED);
}

static void add(struct json_object *obj, const char *key, struct json_object *value)
{
	if (json_object_object_add(obj, key, value))
		must(NULL);
}

static void append(struct json_object *array, struct json_object *value)
{
	if (json_object_array_add(array, value))
		must(NULL);
}

/* A number that prints exactly, with all its decimals: one to nine. */
static struct json_object *decimal(__u64 value, unsigned int decimals)
{
	char text[32], *point;
	int len;

	len = sprintf(text, "%0*llu", (int)decimals + 1, value);
	point = text + len - decimals;
	memmove(point + 1, point, decimals + 1);
	*point = '.';
	return must(json_object_new_double_s(strtod(text, NULL), text));
}

void out_uint(struct json_object *obj, const char *key, __u64 value)
{
	add(obj, key, must(json_object_new_uint64(value)));
}

void out_decimal(struct json_object *obj, const char *key, __u64 value, unsigned int decimals)
{
	add(obj, key, decimal(value, decimals));
}

void out_string(struct json_object *obj, const char *key, const char *value)
{
	add(obj, key, must(json_object_new_string(value)));
}

void out_bool(struct json_object *obj, const char *key, bool value)
{
	add(obj, key, must(json_object_new_boolean(value)));
}

void out_addr(struct json_object *obj, const char *key, const __u8 addr[16])
{
	char text[ADDR_STRLEN];

	out_string(obj, key, addr_format(addr, text));
}

/* The number stands for a device without a name. */
char *out_device_name(unsigned int ifindex, char *name)
{
	if (!if_indextoname(ifindex, name))
		snprintf(name, IF_NAMESIZE, "if%u", ifindex);
	return name;
}

void out_device(struct json_object *obj, const char *key, unsigned int ifindex)
{
	char name[IF_NAMESIZE];

	out_string(obj, key, out_device_name(ifindex, name));
}

struct json_object *out_object(struct json_object *obj, const char *key)
{
	struct json_object *value = out_root();

	add(obj, key, value);
	return value;
}

struct json_object *out_array(struct json_object *obj, const char *key)
{
	struct json_object *value = must(json_object_new_array());

	add(obj, key, value);
	return value;
}

struct json_object *out_append_object(struct json_object *array)
{
	struct json_object *value = out_root();

	append(array, value);
	return value;
}

struct json_object *out_append_array(struct json_object *array)
{
	struct json_object *value = must(json_object_new_array());

	append(array, value);
	return value;
}

void out_append_uint(struct json_object *array, __u64 value)
{
	append(array, must(json_object_new_uint64(value)));
}

void out_append_addr(struct json_object *array, const __u8 addr[16])
{
	char text[ADDR_STRLEN];

	append(array, must(json_object_new_string(addr_format(addr, text))));
}

void out_append_decimal(struct json_object *array, __u64 value, unsigned int decimals)
{
	append(array, decimal(value, decimals));
}

static const char *const *sort_keys;

static int compare_values(struct json_object *a, struct json_object *b)
{
	__u64 x = json_object_get_uint64(a), y = json_object_get_uint64(b);

	if (json_object_is_type(a, json_type_int) && json_object_is_type(b, json_type_int))
		return (x > y) - (x < y);
	return strverscmp(json_object_get_string(a) ?: "", json_object_get_string(b) ?: "");
}

static int compare(const void *a, const void *b)
{
	struct json_object *x = *(struct json_object *const *)a;
	struct json_object *y = *(struct json_object *const *)b;
	const char *const *key;
	int order = 0;

	for (key = sort_keys; !order && *key; key++)
		order = compare_values(json_object_object_get(x, *key),
				       json_object_object_get(y, *key));
	return order;
}

void out_sort(struct json_object *array, const char *const *keys)
{
	sort_keys = keys;
	json_object_array_sort(array, compare);
}

struct json_object *out_root(void)
{
	return must(json_object_new_object());
}
