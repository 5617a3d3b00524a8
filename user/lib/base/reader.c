// SPDX-License-Identifier: GPL-2.0
#include "reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "addr.h"
#include "words.h"

int reader_invalid(struct reader *r, const char *key, const char *fmt, ...)
{
	char what[192];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return err_set(r->err, EXIT_BAD_INPUT, "bad-file", "%s: %s%s%s: %s",
		       r->file, r->where, r->where[0] && key[0] ? "." : "", key,
		       what);
}

size_t reader_enter(struct reader *r, const char *key, size_t i)
{
	size_t len = strlen(r->where);

	snprintf(r->where + len, sizeof(r->where) - len, "%s%s[%zu]", len ? "." : "", key, i);
	return len;
}

size_t reader_enter_key(struct reader *r, const char *key)
{
	size_t len = strlen(r->where);

	snprintf(r->where + len, sizeof(r->where) - len, "%s%s", len ? "." : "", key);
	return len;
}

size_t reader_enter_index(struct reader *r, size_t i)
{
	size_t len = strlen(r->where);

	snprintf(r->where + len, sizeof(r->where) - len, "[%zu]", i);
	return len;
}

int reader_object(struct reader *r, struct json_object *value)
{
	return json_object_is_type(value, json_type_object) ? 0 :
	       reader_invalid(r, r->where[0] ? "" : "(root)", "is not an object");
}

int reader_item(struct reader *r, const char *key, struct json_object *array, size_t i,
		struct json_object **obj, size_t *mark)
{
	*obj = json_object_array_get_idx(array, i);
	*mark = reader_enter(r, key, i);
	return reader_object(r, *obj);
}

void reader_leave(struct reader *r, size_t mark)
{
	r->where[mark] = '\0';
}

size_t reader_bom(const char *text, size_t len)
{
	return len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

const char *reader_quote(const char *text, char *buf, size_t size)
{
	size_t i;

	for (i = 0; text[i] && i + 1 < size; i++)
		buf[i] = text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
	buf[i] = '\0';
	return buf;
}

int reader_get(struct reader *r, struct json_object *obj, const char *key,
	       enum json_type type, struct json_object **value)
{
	if (!json_object_object_get_ex(obj, key, value))
		return reader_invalid(r, key, "is missing");
	if (json_object_get_type(*value) != type)
		return reader_invalid(r, key, "is of type %s, not %s",
			       json_type_to_name(json_object_get_type(*value)),
			       json_type_to_name(type));
	return 0;
}

int reader_array(struct reader *r, struct json_object *obj, const char *key,
		 size_t min, size_t max, struct json_object **array, size_t *n)
{
	int ret = reader_get(r, obj, key, json_type_array, array);

	if (ret)
		return ret;
	*n = json_object_array_length(*array);
	return *n >= min && *n <= max ? 0 :
	       reader_invalid(r, key, "has %zu entries, not %zu to %zu", *n, min, max);
}

/* json-c saturates: a number that is too large is out of range, not wrapped. */
bool reader_in_range(struct json_object *value, __u64 min, __u64 max, __u64 *number)
{
	if (json_object_get_type(value) != json_type_int)
		return false;
	*number = json_object_get_uint64(value);
	return json_object_get_int64(value) >= 0 && *number >= min &&
	       *number <= max;
}

int reader_uint(struct reader *r, struct json_object *obj, const char *key,
		__u64 min, __u64 max, __u64 *number)
{
	struct json_object *value;
	int ret = reader_get(r, obj, key, json_type_int, &value);

	if (ret)
		return ret;
	if (!reader_in_range(value, min, max, number))
		return reader_invalid(r, key, "%s is not a number from %llu to %llu",
			       json_object_get_string(value), min, max);
	return 0;
}

int reader_string(struct reader *r, struct json_object *obj, const char *key,
		  char *text, size_t size)
{
	struct json_object *value;
	int ret = reader_get(r, obj, key, json_type_string, &value);
	int len;

	if (ret)
		return ret;
	len = json_object_get_string_len(value);
	if (!len)
		return reader_invalid(r, key, "is empty");
	if ((size_t)len >= size)
		return reader_invalid(r, key, "is longer than %zu bytes", size - 1);
	if ((size_t)len != strlen(json_object_get_string(value)))
		return reader_invalid(r, key, "contains a NUL");
	memcpy(text, json_object_get_string(value), len + 1);
	return 0;
}

int reader_word(struct reader *r, struct json_object *obj, const char *key,
		const char * const *words, int *index)
{
	char text[32], quoted[32], all[128];
	int ret = reader_string(r, obj, key, text, sizeof(text));

	if (ret)
		return ret;
	*index = words_find(words, text);
	if (*index >= 0)
		return 0;
	return reader_invalid(r, key, "'%s' is not one of %s",
			      reader_quote(text, quoted, sizeof(quoted)),
			      words_list(words, all, sizeof(all)));
}

int reader_length(struct reader *r, struct json_object *array, size_t n)
{
	if (json_object_get_type(array) != json_type_array || json_object_array_length(array) != n)
		return reader_invalid(r, "", "is not an array of %zu", n);
	return 0;
}

int reader_addr(struct reader *r, struct json_object *obj, const char *key, __u8 addr[16])
{
	char text[ADDR_STRLEN], quoted[ADDR_STRLEN];
	int ret = reader_string(r, obj, key, text, sizeof(text));

	if (ret)
		return ret;
	if (addr_parse(text, addr))
		return reader_invalid(r, key, "'%s' is not an address of a host",
				      reader_quote(text, quoted, sizeof(quoted)));
	return 0;
}

int reader_addrs(struct reader *r, const char *key, struct json_object *array,
		 size_t n, __u8 addr[][16])
{
	__u8 unused[16];
	size_t i;

	if (json_object_get_type(array) != json_type_array || json_object_array_length(array) != n)
		return reader_invalid(r, key, "is not an array of %zu addresses", n);
	for (i = 0; i < n; i++) {
		struct json_object *value = json_object_array_get_idx(array, i);

		if (json_object_get_type(value) == json_type_string &&
		    !addr_parse(json_object_get_string(value), addr ? addr[i] : unused))
			continue;
		if (key[0])
			reader_enter_key(r, key);
		reader_enter_index(r, i);
		return reader_invalid(r, "", "is not the address of a host");
	}
	return 0;
}
