// SPDX-License-Identifier: GPL-2.0
/* Find the verb, and read its options. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "args.h"
#include "permission.h"

enum { OPTION_HELP = CLI_MAX_OPTIONS, OPTION_JSON, OPTION_PRETTY, OPTIONS };

/* Arguments that stay: the first @to, and all behind the first @from. */
static void close_gap(int *argc, char **argv, int from, int to)
{
	while (from < *argc)
		argv[to++] = argv[from++];
	argv[to] = NULL;
	*argc = to;
}

/* The rest of @arg behind the option @name: "" or "=..."; NULL: another option. */
static const char *behind(const char *arg, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(arg, name, len) && (!arg[len] || arg[len] == '=') ? arg + len : NULL;
}

/* An option without argument; with one it stays, and is refused. */
static bool take_flag(int *argc, char **argv, const char *name, const char *letter)
{
	bool found = false;
	int from, to = 1;

	for (from = 1; from < *argc && strcmp(argv[from], "--"); from++) {
		if (!strcmp(argv[from], name) || !strcmp(argv[from], letter))
			found = true;
		else
			argv[to++] = argv[from];
	}
	close_gap(argc, argv, from, to);
	return found;
}

int cli_take_value(int *argc, char **argv, const struct cli_anywhere *option,
		   const char **value, struct err *err)
{
	int from, to = 1, ret = 0;

	*value = NULL;
	for (from = 1; !ret && from < *argc && strcmp(argv[from], "--"); from++) {
		const char *rest = behind(argv[from], option->name) ?:
				   behind(argv[from], option->letter);

		if (!rest) {
			argv[to++] = argv[from];
			continue;
		}
		if (*value)
			ret = cli_usage(err, option->name, "is given twice", NULL);
		else if (!*rest && !option->alone && from + 1 == *argc)
			ret = cli_usage(err, option->name, "needs an argument", NULL);
		else
			*value = *rest ? rest + 1 : option->alone ?: argv[++from];
		if (!ret && !**value)
			ret = cli_usage(err, option->name, "is empty", NULL);
	}
	close_gap(argc, argv, from, to);
	return ret;
}

/* A terminal has colours, unless $NO_COLOR says no; an option decides for every output. */
static int take_color(int *argc, char **argv, struct err *err)
{
	enum { AUTO, ALWAYS, NEVER };
	static const char *const words[] = { "auto", "always", "never", NULL };
	static const struct cli_anywhere option = { "--color", "-c", "always" };
	const char *no = getenv("NO_COLOR"), *value;
	int when, ret;

	ret = cli_take_value(argc, argv, &option, &value, err);
	when = value ? words_find(words, value) : AUTO;
	if (!ret && when < 0)
		ret = cli_usage(err, "--color: neither auto, always nor never:", value, NULL);
	table_color(when == ALWAYS || (when == AUTO && !(no && *no) && isatty(STDOUT_FILENO)));
	return ret;
}

int cli_take_output(int *argc, char **argv, struct out *out, struct err *err)
{
	out->json = take_flag(argc, argv, "--json", "-j");
	out->pretty = take_flag(argc, argv, "--pretty", "-p");
	out->json |= out->pretty;
	return take_color(argc, argv, err);
}

int cli_usage(struct err *err, const char *what, const char *name, const char *see)
{
	err_set(err, EXIT_BAD_INPUT, "usage", "%s%s%s", what, name ? " " : "", name ?: "");
	err_hint(err, "See: %s%s%s --help", cli_program, see && *see ? " " : "", see ?: "");
	return -EINVAL;
}

static int bad_option(struct err *err, const char *name, const char *what, const char *see)
{
	char option[32];

	snprintf(option, sizeof(option), "--%s", name);
	return cli_usage(err, option, what, see);
}

bool cli_wants_help(const char *arg)
{
	return !strcmp(arg, "help") || !strcmp(arg, "--help") ||
	       !strcmp(arg, "-h");
}

const struct cli_verb *cli_shown(const struct cli_object *object)
{
	const struct cli_verb *verb;

	for (verb = object->verbs; verb->run; verb++)
		if (verb->shows)
			return verb;
	return NULL;
}

bool cli_wants_version(const char *arg)
{
	return !strcmp(arg, "version") || !strcmp(arg, "--version") || !strcmp(arg, "-V");
}

int cli_version(const struct out *out)
{
	struct json_object *root;

	if (!out->json) {
		printf("%s %s\n", cli_program, ROCESTEER_VERSION);
		return 0;
	}
	root = out_root();
	out_string(root, "version", ROCESTEER_VERSION);
	return out_show(out, root, NULL);
}

/*
 * Options for getopt_long(), from the table of the verb. --json and --pretty are read before, but
 * not --json=x.
 */
static void long_options(const struct cli_option *options, struct option *longs)
{
	int i;

	for (i = 0; options[i].name; i++)
		longs[i] = (struct option) {
			.name = options[i].name,
			.has_arg = cli_takes_argument(&options[i]) ? required_argument :
								     no_argument,
			.val = i,
		};
	longs[i++] = (struct option) { "help", no_argument, NULL, OPTION_HELP };
	longs[i++] = (struct option) { "json", no_argument, NULL, OPTION_JSON };
	longs[i++] = (struct option) { "pretty", no_argument, NULL, OPTION_PRETTY };
	longs[i] = (struct option) {};
}

/* The argument that getopt_long() took last as an option. */
static const char *last_option(char **argv)
{
	return argv[optind - (optarg && optarg == argv[optind - 1] ? 2 : 1)];
}

/* getopt_long() takes the beginning of a name as well: --a is not --all. */
static bool in_full(const char *text, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(text + 2, name, len) &&
	       (!text[2 + len] || text[2 + len] == '=');
}

/* Report an option that getopt_long() refused. */
static int unknown(struct err *err, const struct option *longs, const char *arg, const char *see)
{
	for (; strchr(arg, '=') && longs->name; longs++)
		if (in_full(arg, longs->name))
			return bad_option(err, longs->name, "takes no argument", see);
	return cli_usage(err, "unknown option", arg, see);
}

/* The error of an empty argument, or NULL: it may be empty. */
static const char *lack(const struct cli_option *option)
{
	return !option->arg ? NULL :
	       !strcmp(option->arg, "FILE") ? "names no file" :
	       !strcmp(option->arg, "COMMAND") ? "names no command" : NULL;
}

/* The operand, and the argument of an option that was not given by its name. */
static void take_operands(struct cli_args *args, const struct cli_verb *verb, int argc, char **argv)
{
	int i;

	if (optind < argc && verb->operand)
		args->operand = argv[optind++];
	for (i = 0; optind < argc && args->options[i].name; i++)
		if (args->options[i].marks & CLI_NAMES && !args->value[i])
			args->value[i] = argv[optind++];
}

/* Return: 0, 1 when help was asked for, or a negative errno. */
static int parse(struct cli_args *args, const struct cli_verb *verb, int argc,
		 char **argv, const char *see, struct err *err)
{
	struct option longs[OPTIONS + 1];
	int option, index;

	long_options(verb->options, longs);
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":h", longs, &index)) != -1) {
		if (option < OPTIONS && !in_full(last_option(argv), longs[index].name))
			return cli_usage(err, "unknown option", last_option(argv), see);
		switch (option) {
		case 'h':
		case OPTION_HELP:
			return 1;
		case ':':
			return cli_usage(err, argv[optind - 1], "needs an argument", see);
		case '?':
			return unknown(err, longs, argv[optind - 1], see);
		}
		if (args->value[option])
			return bad_option(err, longs[option].name, "is given twice", see);
		if (optarg && !*optarg && lack(&verb->options[option]))
			return cli_usage(err, last_option(argv), lack(&verb->options[option]), see);
		args->value[option] = optarg ?: "";
	}
	take_operands(args, verb, argc, argv);
	if (optind < argc)
		return cli_usage(err, "unexpected argument", argv[optind], see);
	if (args->operand && !*args->operand)
		return cli_usage(err, verb->operand, "is empty", see);
	if (verb->operand && verb->operand[0] != '[' && !args->operand)
		return cli_usage(err, verb->operand, "is missing", see);
	return cli_need_all(args, err);
}

int cli_run(const struct cli_object *object, const struct cli_verb *verb,
	    struct cli_args *args, int argc, char **argv, struct err *err)
{
	char see[64];
	int ret;

	snprintf(see, sizeof(see), "%s%s%s", object->name, verb->name ? " " : "", verb->name ?: "");
	if (argc > 1 && cli_wants_help(argv[1])) {
		cli_help_verb(object, verb);
		return 0;
	}
	args->options = verb->options;
	ret = parse(args, verb, argc, argv, see, err);
	if (ret == 1) {
		cli_help_verb(object, verb);
		return 0;
	}
	if (!ret && verb->changes)
		ret = permission_check(err);
	if (!ret)
		ret = verb->run(args, err);
	if (ret < 0 && err->code && !strcmp(err->code, "usage") && !err->hint[0])
		err_hint(err, "See: %s%s%s --help", cli_program, *see ? " " : "", see);
	return ret;
}

int cli_fail(const struct out *out, struct json_object *root,
	     const struct out_view *views, int ret, struct err *err)
{
	if (!err->code)
		err_set(err, EXIT_FAILED, "system", "%s", strerror(-ret));
	return out_error(out, root, views, err);
}

int cli_exit(const struct out *out, int ret, struct err *err)
{
	static const struct out_view nothing[] = { {} };
	int output = out_flush();

	if (output && (!err->code || ret >= 0)) {
		ret = err_set(err, EXIT_FAILED, "output", "standard output: %s", strerror(-output));
		err_hint(err, "Only the output is lost: what the command does is done.");
	} else if ((ret == -EPERM || ret == -EACCES) && err->code && !err->hint[0]) {
		err_hint(err, "Run it as root.");
	}
	return ret < 0 ? cli_fail(out, out_root(), nothing, ret, err) : ret;
}
