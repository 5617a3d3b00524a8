/* SPDX-License-Identifier: GPL-2.0 */
/* Read untrusted JSON: every field is checked, and an error names file and field. */
#ifndef ROCESTEER_LIB_READER_H
#define ROCESTEER_LIB_READER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "err.h"

/**
 * struct reader - where in a file we are, for messages
 * @file: its name
 * @where: path of fields to the object that is read, empty at the root
 * @err: filled where something is wrong
 */
struct reader {
	const char *file;
	char where[160];
	struct err *err;
};

/**
 * reader_invalid() - say what is wrong with a field
 * @r: where
 * @key: of the field, "" for the object that is read
 * @fmt: printf style, what follows the name
 *
 * Return: -EINVAL.
 */
int reader_invalid(struct reader *r, const char *key, const char *fmt, ...)
	__printf(3, 4);

/* Enter an element of an array. Return: a mark for reader_leave(). */
size_t reader_enter(struct reader *r, const char *key, size_t i);

/* Enter a member of an object, or an element of the array that is read. */
size_t reader_enter_key(struct reader *r, const char *key);
size_t reader_enter_index(struct reader *r, size_t i);

/* Enter element @i of @array, which has to be an object. Return: 0 or -EINVAL. */
int reader_item(struct reader *r, const char *key, struct json_object *array, size_t i,
		struct json_object **obj, size_t *mark);

void reader_leave(struct reader *r, size_t mark);

/* Check that a value is an object. Return: 0 or -EINVAL. */
int reader_object(struct reader *r, struct json_object *value);

/* Length of the byte order mark that some editors put before a text, or 0. */
size_t reader_bom(const char *text, size_t len);

/* A text from the file for a message: cut to @size, and printable. */
const char *reader_quote(const char *text, char *buf, size_t size);

/*
 * Get a field of an object. Return: 0, or -EINVAL if the field is missing, of another type or not
 * from @min to @max. A text has to be shorter than @size and without a NUL.
 */
int reader_get(struct reader *r, struct json_object *obj, const char *key,
	       enum json_type type, struct json_object **value);
/* @n: set to the number of elements, which is to be from @min to @max. */
int reader_array(struct reader *r, struct json_object *obj, const char *key,
		 size_t min, size_t max, struct json_object **array, size_t *n);
int reader_uint(struct reader *r, struct json_object *obj, const char *key,
		__u64 min, __u64 max, __u64 *number);
int reader_string(struct reader *r, struct json_object *obj, const char *key,
		  char *text, size_t size);

/* Get a word of @words; @index is set to its index. */
int reader_word(struct reader *r, struct json_object *obj, const char *key,
		const char * const *words, int *index);

/* Get the address of a host: IPv6, or IPv4 mapped to IPv6. */
int reader_addr(struct reader *r, struct json_object *obj, const char *key, __u8 addr[16]);

/* Check that a value is an array of @n. Return: 0 or -EINVAL. */
int reader_length(struct reader *r, struct json_object *array, size_t n);

/**
 * reader_addrs() - read an array of addresses
 * @r: where
 * @key: of the array, "" for what is read
 * @array: any value
 * @n: number of addresses that there have to be
 * @addr: filled, or NULL: they are only checked
 *
 * Return: 0 or -EINVAL.
 */
int reader_addrs(struct reader *r, const char *key, struct json_object *array,
		 size_t n, __u8 addr[][16]);

/* Is a value a number from @min to @max? @number is set if the value is a number. */
bool reader_in_range(struct json_object *value, __u64 min, __u64 max, __u64 *number);

#endif /* ROCESTEER_LIB_READER_H */
