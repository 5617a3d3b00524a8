// SPDX-License-Identifier: GPL-2.0
/* rocesteer - steer RoCE v2 flows over the paths of a leaf-spine fabric. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "permission.h"

#ifndef ROCESTEER_VERSION
#define ROCESTEER_VERSION	"0.1.0"
#endif

enum { OPTION_JSON = CLI_MAX_OPTIONS, OPTION_HELP };

static const struct cli_object * const objects[] = {
	&cli_plan,
	&cli_chunk,
	&cli_slice,
	&cli_path,
	&cli_job,
	&cli_flow,
	&cli_stat,
	&cli_monitor,
	&cli_daemon,
	&cli_top,
	NULL
};

/* "--json" may stand anywhere: take it out before anything can fail. */
static bool take_json(int *argc, char **argv)
{
	bool found = false;
	int from, to = 1;

	for (from = 1; from < *argc; from++) {
		if (!strcmp(argv[from], "--"))
			break;
		if (!strcmp(argv[from], "--json"))
			found = true;
		else
			argv[to++] = argv[from];
	}
	while (from < *argc)
		argv[to++] = argv[from++];
	argv[to] = NULL;
	*argc = to;
	return found;
}

static int usage(struct err *err, const char *what, const char *name,
		 const char *see)
{
	err_set(err, EXIT_BAD_INPUT, "usage", "%s%s%s", what, name ? " " : "",
		name ?: "");
	err_hint(err, "See: rocesteer%s%s --help", see ? " " : "", see ?: "");
	return -EINVAL;
}

static int repeated(struct err *err, const char *name, const char *see)
{
	char option[32];

	snprintf(option, sizeof(option), "--%s", name);
	return usage(err, option, "is given twice", see);
}

static const struct cli_object *find_object(const char *name)
{
	int i;

	for (i = 0; objects[i]; i++)
		if (!strcmp(objects[i]->name, name))
			return objects[i];
	return NULL;
}

static const struct cli_verb *find_verb(const struct cli_object *object,
					const char *name)
{
	const struct cli_verb *verb;

	for (verb = object->verbs; verb->run; verb++)
		if (!strcmp(verb->name, name))
			return verb;
	return NULL;
}

static int wants_help(const char *arg)
{
	return !strcmp(arg, "help") || !strcmp(arg, "--help") ||
	       !strcmp(arg, "-h");
}

/* What getopt_long() reads, made from the verb's table. */
static void long_options(const struct cli_option *options,
			 struct option *longs)
{
	int i;

	for (i = 0; options[i].name; i++)
		longs[i] = (struct option) {
			.name = options[i].name,
			.has_arg = options[i].arg ? required_argument :
						    no_argument,
			.val = i,
		};
	longs[i++] = (struct option) { "help", no_argument, NULL, OPTION_HELP };
	longs[i] = (struct option) {};
}

/* Return: 0, 1 when help was asked for, or a negative errno. */
static int parse(struct cli_args *args, const struct cli_verb *verb, int argc,
		 char **argv, const char *see, struct err *err)
{
	struct option longs[CLI_MAX_OPTIONS + 2];
	int option;

	long_options(verb->options, longs);
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
		switch (option) {
		case 'h':
		case OPTION_HELP:
			return 1;
		case ':':
			return usage(err, argv[optind - 1],
				     "needs an argument", see);
		case '?':
			return usage(err, "unknown option", argv[optind - 1],
				     see);
		}
		if (args->value[option])
			return repeated(err, longs[option].name, see);
		args->value[option] = optarg ?: "";
	}
	if (optind < argc && verb->operand)
		args->operand = argv[optind++];
	if (optind < argc)
		return usage(err, "unexpected argument", argv[optind], see);
	if (verb->operand && !args->operand)
		return usage(err, verb->operand, "is missing", see);
	return 0;
}

static int run(const struct cli_object *object, const struct cli_verb *verb,
	       struct cli_args *args, int argc, char **argv, struct err *err)
{
	char see[64];
	int ret;

	snprintf(see, sizeof(see), "%s%s%s", object->name,
		 verb->name ? " " : "", verb->name ?: "");
	if (argc > 1 && wants_help(argv[1])) {
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
	if (ret < 0 && err->code && !strcmp(err->code, "usage") &&
	    !err->hint[0])
		err_hint(err, "See: rocesteer %s --help", see);
	return ret;
}

static int dispatch(struct cli_args *args, int argc, char **argv,
		    struct err *err)
{
	const struct cli_object *object;
	const struct cli_verb *verb;

	if (argc < 2)
		return usage(err, "no object is given", NULL, NULL);
	if (wants_help(argv[1])) {
		cli_help(objects);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("rocesteer " ROCESTEER_VERSION);
		return 0;
	}
	object = find_object(argv[1]);
	if (!object)
		return usage(err, argv[1][0] == '-' ? "unknown option" :
			     "unknown object", argv[1], NULL);
	if (!object->verbs->name)
		return run(object, object->verbs, args, argc - 1, argv + 1,
			   err);
	if (argc < 3)
		return usage(err, "no verb is given for", object->name,
			     object->name);
	if (wants_help(argv[2])) {
		cli_help_object(object);
		return 0;
	}
	verb = find_verb(object, argv[2]);
	if (!verb)
		return usage(err, "unknown verb", argv[2], object->name);
	return run(object, verb, args, argc - 2, argv + 2, err);
}

int main(int argc, char **argv)
{
	struct cli_args args = {};
	struct err err = {};
	int ret;

	args.out.json = take_json(&argc, argv);
	ret = dispatch(&args, argc, argv, &err);
	if (ret >= 0)
		return ret;
	if (!err.code)
		err_set(&err, EXIT_FAILED, "system", "%s", strerror(-ret));
	return out_error(&args.out, &err);
}
