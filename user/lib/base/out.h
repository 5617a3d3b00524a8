/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output for people and for programs: a command builds one tree, and views say how it is
 * printed for people. --json prints the tree itself.
 */
#ifndef ROCESTEER_LIB_OUT_H
#define ROCESTEER_LIB_OUT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <linux/types.h>

#include "err.h"

/**
 * struct out - where and how to print
 * @json: print JSON
 * @pretty: print it with indentation
 */
struct out {
	bool json;
	bool pretty;
};

/**
 * struct out_column - one value of a row
 * @key: looked up in the row, then in the objects around it
 * @heading: column heading, or name of the field in a list of fields
 */
struct out_column {
	const char *key;
	const char *heading;
};

/**
 * struct out_view - how people see a part of the tree
 * @rows: keys of nested arrays, separated by dots, one line per innermost
 *	element ("peers.paths"); NULL: the root's own fields, one per line
 * @in: without @rows: key of the object whose fields are printed; NULL: root
 * @title: printed above, or NULL
 * @empty: printed when there is no row; NULL: nothing is
 * @columns: ended by one without key; one that no row has is left out
 *
 * An array of views ends with one without columns.
 */
struct out_view {
	const char *rows;
	const char *in;
	const char *title;
	const char *empty;
	const struct out_column *columns;
};

/**
 * out_show() - print a command's result
 * @out: where
 * @root: the tree; released here
 * @views: how people see it
 *
 * Return: 0, -ENOMEM when @root is NULL, or as out_flush().
 */
int out_show(const struct out *out, struct json_object *root, const struct out_view *views);

/**
 * out_flush() - write what was printed
 *
 * Return: 0, or a negative errno where that, or something printed before, could not
 * be written.
 */
int out_flush(void);

/**
 * out_event() - print one line of a stream and flush it
 * @out: where
 * @event: the line; released here
 * @columns: values in order, for people; those that are absent are left out
 *
 * Return: as out_show().
 */
int out_event(const struct out *out, struct json_object *event, const struct out_column *columns);

/**
 * out_error() - print a failure, as text where standard output takes nothing
 * @out: where
 * @root: result up to the failure; released here; with --json it gets the error
 * @views: how people see it
 * @err: the failure
 *
 * Return: the exit status for it.
 */
int out_error(const struct out *out, struct json_object *root,
	      const struct out_view *views, const struct err *err);

/* A note for people on standard error; nothing with --json. */
void out_note(const struct out *out, const char *fmt, ...)
	__printf(2, 3);

/*
 * Add a value to an object, a real one with four decimals. A failure to allocate
 * ends the program.
 */
void out_uint(struct json_object *obj, const char *key, __u64 value);
void out_string(struct json_object *obj, const char *key, const char *value);
void out_bool(struct json_object *obj, const char *key, bool value);
void out_addr(struct json_object *obj, const char *key, const __u8 addr[16]);
void out_device(struct json_object *obj, const char *key, unsigned int ifindex);

/* A device's name into @name, of IF_NAMESIZE bytes, which is returned. */
char *out_device_name(unsigned int ifindex, char *name);

struct json_object *out_object(struct json_object *obj, const char *key);
struct json_object *out_array(struct json_object *obj, const char *key);

/* @value / 10^@decimals, one to nine, printed exactly. */
void out_decimal(struct json_object *obj, const char *key, __u64 value, unsigned int decimals);

/**
 * out_sort() - sort an array
 * @array: of objects
 * @keys: of the objects' numbers, by value, or texts, in which numbers count by value, too;
 *	ended by NULL
 */
void out_sort(struct json_object *array, const char *const *keys);

/* Append a value to an array. */
struct json_object *out_append_object(struct json_object *array);
struct json_object *out_append_array(struct json_object *array);
void out_append_uint(struct json_object *array, __u64 value);
void out_append_addr(struct json_object *array, const __u8 addr[16]);
void out_append_decimal(struct json_object *array, __u64 value, unsigned int decimals);

/* A root to begin with. */
struct json_object *out_root(void);

#endif /* ROCESTEER_LIB_OUT_H */
