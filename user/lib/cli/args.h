/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line: objects, their verbs, and the options of each verb. The tables serve
 * getopt_long(), --help, and tests of manual pages and completion.
 */
#ifndef ROCESTEER_LIB_CLI_ARGS_H
#define ROCESTEER_LIB_CLI_ARGS_H

#include <stdbool.h>
#include <linux/types.h>

#include "base/base.h"

#define CLI_MAX_OPTIONS		28
#define CLI_WORDS		192	/* bytes of all words of an option */

/* Marks of an option. */
enum {
	CLI_NEEDED = 1,		/* it must be given */
	CLI_NAMES = 2,		/* its argument may stand without it: "job show 5" */
};

/**
 * struct cli_option - one long option of a verb
 * @name: without the dashes; NULL ends a table
 * @arg: name of its argument; NULL: its @words are its name, or there is none
 * @help: one line, which is wrapped where it is printed; behind it come @words that have @arg
 * @marks: CLI_*; one option of a table has CLI_NAMES
 * @words: words that its argument may be, for cli_word(), ended by NULL; or NULL
 */
struct cli_option {
	const char *name;
	const char *arg;
	const char *help;
	unsigned int marks;
	const char * const *words;
};

/**
 * struct cli_args - a verb's parsed arguments
 * @out: output and its format
 * @options: table of the verb
 * @value: by index in @options: argument, "" for an option that takes none,
 *	NULL where the option was not given
 * @operand: the verb's operand, or NULL
 */
struct cli_args {
	struct out out;
	const struct cli_option *options;
	const char *value[CLI_MAX_OPTIONS];
	const char *operand;
};

/**
 * struct cli_verb - something that can be done
 * @name: NULL: the object has this one verb, which is not named
 * @operand: name of its one operand, in brackets where it may be left out; NULL: it takes none
 * @help: one line
 * @options: ended by one without name
 * @example: a command line that works, without the name of the program
 * @changes: it changes what the kernel does: CAP_NET_ADMIN and CAP_BPF
 * @shows: it runs where its object is named without a verb; a verb without name is also
 *	called show
 * @run: returns 0, or a negative errno with @err filled, or an exit status
 */
struct cli_verb {
	const char *name;
	const char *operand;
	const char *help;
	const struct cli_option *options;
	const char *example;
	bool changes;
	bool shows;
	int (*run)(const struct cli_args *args, struct err *err);
};

/**
 * struct cli_object - something that things are done to
 * @name: its name; "": the program does nothing else
 * @help: one line
 * @verbs: ended by one without @run
 */
struct cli_object {
	const char *name;
	const char *help;
	const struct cli_verb *verbs;
};

/* The name of the program. */
extern const char * const cli_program;

/**
 * cli_take_output() - take out the options that say how to print: they may stand anywhere
 * @argc: arguments
 * @argv: likewise
 * @out: set also on failure
 * @err: filled on failure
 *
 * Return: 0 or -EINVAL.
 */
int cli_take_output(int *argc, char **argv, struct out *out, struct err *err);

/**
 * struct cli_anywhere - an option with an argument, that may stand anywhere
 * @name: with its dashes
 * @letter: its short name, with its dash
 * @alone: its argument where it has none behind "="; NULL: the next word is
 */
struct cli_anywhere {
	const char *name;
	const char *letter;
	const char *alone;
};

/**
 * cli_take_value() - take out an option that may stand anywhere, and has an argument
 * @argc: arguments
 * @argv: likewise
 * @option: the option
 * @value: set to its argument, or to NULL where the option is not given
 * @err: filled on failure
 *
 * Return: 0, or -EINVAL: it is given twice, or has no argument, or an empty one.
 */
int cli_take_value(int *argc, char **argv, const struct cli_anywhere *option,
		   const char **value, struct err *err);

bool cli_wants_help(const char *arg);
bool cli_wants_version(const char *arg);

/* Print the version of the program. Return: as out_show(). */
int cli_version(const struct out *out);

/**
 * cli_usage() - refuse arguments
 * @err: filled
 * @what: begin of the message
 * @name: its end, or NULL
 * @see: object and verb whose help says more, or NULL
 *
 * Return: -EINVAL.
 */
int cli_usage(struct err *err, const char *what, const char *name, const char *see);

/* The verb of an object that is named without one, or NULL. */
const struct cli_verb *cli_shown(const struct cli_object *object);

/**
 * cli_run() - run a verb
 * @object: it belongs to
 * @verb: the verb
 * @args: zeroed but for @out
 * @argc: arguments from the verb on
 * @argv: likewise; the first is not looked at
 * @err: filled on failure
 *
 * Return: as the verb's run().
 */
int cli_run(const struct cli_object *object, const struct cli_verb *verb,
	    struct cli_args *args, int argc, char **argv, struct err *err);

/* Print the error, if any. Return: the exit status. */
int cli_exit(const struct out *out, int ret, struct err *err);

/* Print a partial result as well: see out_error(). */
int cli_fail(const struct out *out, struct json_object *root,
	     const struct out_view *views, int ret, struct err *err);

/* Does the option have an argument? */
bool cli_takes_argument(const struct cli_option *option);

/* Name of the argument, in @buf if that is its words; "": there is none. */
const char *cli_argument(const struct cli_option *option, char *buf, size_t size);

/* Does the option name a file, or another path? */
bool cli_is_path(const struct cli_option *option);

/**
 * cli_uint() - read an option's number
 * @args: arguments
 * @option: its index; when absent @value stays as it is
 * @min: smallest
 * @max: largest
 * @value: set
 * @err: names the option
 *
 * Decimal, or hexadecimal behind 0x. Return: 0 or -EINVAL.
 */
int cli_uint(const struct cli_args *args, int option, __u64 min, __u64 max,
	     __u64 *value, struct err *err);

/**
 * cli_number() - read a number that is all of a text
 * @text: the text
 * @min: smallest
 * @max: largest
 * @value: set
 *
 * Return: 0 or -EINVAL.
 */
int cli_number(const char *text, __u64 min, __u64 max, __u64 *value);

/**
 * cli_bytes() - read an option that is a number of bytes, with a unit behind it or without
 * @args: arguments
 * @option: its index; it is given
 * @max: largest, in whole units of 2^40
 * @value: set
 * @err: names the option
 *
 * Return: 0 or -EINVAL.
 */
int cli_bytes(const struct cli_args *args, int option, __u64 max, __u64 *value, struct err *err);

/**
 * cli_word() - read an option that is one of its words
 * @args: arguments
 * @option: its index; when absent @value stays as it is
 * @value: set to the word's index
 * @err: names the option and the words
 *
 * Return: 0 or -EINVAL.
 */
int cli_word(const struct cli_args *args, int option, int *value, struct err *err);

/* Read A/B: numbers below @rows and @columns. Return: 0 or -EINVAL. */
int cli_pair(const char *text, __u64 rows, __u64 columns, __u64 *a, __u64 *b);

/* An option that must be given here. Return: 0 or -EINVAL. */
int cli_need(const struct cli_args *args, int option, struct err *err);

/* All options with CLI_NEEDED: cli_run() asks this. Return: 0 or -EINVAL. */
int cli_need_all(const struct cli_args *args, struct err *err);

/* Exactly one of @n options must be given. Return: 0 or -EINVAL. */
int cli_one(const struct cli_args *args, const int *options, size_t n, struct err *err);

/* @option means nothing without @other. */
struct cli_with {
	int option;
	int other;
};

/* Options that mean nothing without another. Return: 0 or -EINVAL. */
int cli_only_with(const struct cli_args *args, const struct cli_with *pairs,
		  size_t n, struct err *err);

/**
 * cli_each() - go through a list separated by commas
 * @option: name of the option, for messages
 * @text: the list; a comma in brackets does not separate
 * @fn: called for each item; nonzero ends the walk
 * @arg: passed on
 * @err: filled where an item is empty or longer than 255 bytes
 *
 * Return: 0, what @fn returned, or -EINVAL.
 */
int cli_each(const char *option, const char *text, int (*fn)(const char *item, void *arg),
	     void *arg, struct err *err);

/* Help pages on standard output. */
void cli_help(const struct cli_object * const *objects);
void cli_help_object(const struct cli_object *object);
void cli_help_verb(const struct cli_object *object, const struct cli_verb *verb);

#endif /* ROCESTEER_LIB_CLI_ARGS_H */
