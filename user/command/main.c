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

static int show_version(const struct out *out)
{
	struct json_object *root;

	if (!out->json) {
		puts("rocesteer " ROCESTEER_VERSION);
		return 0;
	}
	root = out_root();
	out_string(root, "version", ROCESTEER_VERSION);
	return out_show(out, root, NULL);
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
	const char *name;

	return cli_take_value(argc, argv, "--netns", &name, err) ?:
	       (name ? netns_enter(name, err) : 0);
}

static int dispatch(struct cli_args *args, int argc, char **argv,
		    struct err *err)
{
	const struct cli_object *object;
	const struct cli_verb *verb;

	if (argc < 2)
		return cli_usage(err, "no object is given", NULL, NULL);
	help_last(argc, argv);
	if (cli_wants_help(argv[1])) {
		cli_help(objects);
		return 0;
	}
	if (!strcmp(argv[1], "--version"))
		return show_version(&args->out);
	if (!strncmp(argv[1], "--json=", 7))
		return cli_usage(err, "--json takes no argument", NULL, NULL);
	object = find_object(argv[1]);
	if (!object)
		return cli_usage(err, argv[1][0] == '-' ? "unknown option" :
				 "unknown object", argv[1], NULL);
	if (!object->verbs->name)
		return cli_run(object, object->verbs, args, argc - 1, argv + 1,
			       err);
	if (argc < 3)
		return cli_usage(err, "no verb is given for", object->name,
				 object->name);
	if (cli_wants_help(argv[2])) {
		cli_help_object(object);
		return 0;
	}
	verb = find_verb(object, argv[2]);
	if (!verb)
		return cli_usage(err, "unknown verb", argv[2], object->name);
	return cli_run(object, verb, args, argc - 2, argv + 2, err);
}

int main(int argc, char **argv)
{
	struct cli_args args = {};
	struct err err = {};
	int ret;

	keep_standard_files();
	args.out.json = cli_take_json(&argc, argv);
	ret = take_netns(&argc, argv, &err) ?: dispatch(&args, argc, argv, &err);
	return cli_exit(&args.out, ret, &err);
}
