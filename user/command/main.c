// SPDX-License-Identifier: GPL-2.0
/* rocesteer - steer RoCE v2 flows over the paths of a leaf-spine fabric. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "objects.h"
#include "steer/steer.h"

const char * const cli_program = "rocesteer";

static const struct cli_object * const objects[] = {
	&cli_plan,
	&cli_chunk,
	&cli_slice,
	&cli_simulate,
	&cli_path,
	&cli_job,
	&cli_flow,
	&cli_stat,
	&cli_status,
	&cli_monitor,
	&cli_daemon,
	&cli_top,
	&cli_prog,
	&cli_reduce,
	&cli_report,
	NULL
};

#define MAX_NAMES	32

/* Find an object by its name, or by a beginning that no other object has. */
static const struct cli_object *find_object(const char *word)
{
	const char *names[MAX_NAMES] = {};
	int i;

	for (i = 0; objects[i]; i++)
		names[i] = objects[i]->name;
	i = words_begin(names, word);
	return i < 0 ? NULL : objects[i];
}

static int refuse_verb(const struct cli_object *object, const char *word,
		       const char *const *names, struct err *err)
{
	char what[128], all[128];

	snprintf(what, sizeof(what), "%s%.64s: %s has", word ? "unknown verb " :
		 "no verb is given", word ?: "", object->name);
	return cli_usage(err, what, names[0] ? words_list(names, all, sizeof(all)) : "none",
			 object->name);
}

/*
 * The verb that is named, or the one that shows where none is. Return: how many arguments
 * stand before the verb's own, or -EINVAL.
 */
static int find_verb(const struct cli_object *object, const char *word,
		     const struct cli_verb **verb, struct err *err)
{
	const char *names[MAX_NAMES] = {};
	bool option = !word || word[0] == '-';
	int i;

	*verb = object->verbs->name ? cli_shown(object) : object->verbs;
	if (option && *verb)
		return 1;
	if (!object->verbs->name && (*verb)->shows && !strcmp(word, "show"))
		return 2;
	for (i = 0; object->verbs[i].name; i++)
		names[i] = object->verbs[i].name;
	i = words_begin(names, option ? "" : word);
	if (i < 0)
		return refuse_verb(object, option ? NULL : word, names, err);
	*verb = &object->verbs[i];
	return 2;
}

/*
 * A file opened while standard output is closed would get its number, and the output. Open
 * one whose writes fail.
 */
static void keep_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

/* "help job load" is "job load help". */
static void help_last(int argc, char **argv)
{
	char *help = argv[1];

	if (argc < 3 || !cli_wants_help(help))
		return;
	memmove(argv + 1, argv + 2, (argc - 2) * sizeof(*argv));
	argv[argc - 1] = help;
}

/*
 * "--netns" may stand anywhere. Nothing has opened a socket yet. Files and the BPF file system
 * stay those of the caller.
 */
static int take_netns(int *argc, char **argv, struct err *err)
{
	static const struct cli_anywhere option = { "--netns", "-n", NULL };
	const char *name;

	return cli_take_value(argc, argv, &option, &name, err) ?:
	       (name ? netns_enter(name, err) : 0);
}

static int dispatch(struct cli_args *args, int argc, char **argv, struct err *err)
{
	const struct cli_object *object;
	const struct cli_verb *verb;
	int skip;

	if (argc < 2)
		return cli_usage(err, "no object is given", NULL, NULL);
	help_last(argc, argv);
	if (cli_wants_help(argv[1])) {
		cli_help(objects);
		return 0;
	}
	if (cli_wants_version(argv[1]))
		return cli_version(&args->out);
	if (!strncmp(argv[1], "--json=", 7))
		return cli_usage(err, "--json takes no argument", NULL, NULL);
	object = find_object(argv[1]);
	if (!object)
		return cli_usage(err, argv[1][0] == '-' ? "unknown option" :
				 "unknown object", argv[1], NULL);
	if (argc > 2 && cli_wants_help(argv[2])) {
		cli_help_object(object);
		return 0;
	}
	skip = find_verb(object, argv[2], &verb, err);
	return skip < 0 ? skip : cli_run(object, verb, args, argc - skip, argv + skip, err);
}

int main(int argc, char **argv)
{
	struct cli_args args = {};
	struct err err = {};
	int ret;

	keep_standard_files();
	ret = cli_take_output(&argc, argv, &args.out, &err) ?:
	      take_netns(&argc, argv, &err) ?: dispatch(&args, argc, argv, &err);
	return cli_exit(&args.out, ret, &err);
}
