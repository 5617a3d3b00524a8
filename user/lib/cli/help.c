// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "args.h"

static void print_usage(const struct cli_object *object,
			const struct cli_verb *verb)
{
	printf("%s%s%s", cli_program, *object->name ? " " : "", object->name);
	if (verb->name)
		printf(" %s", verb->name);
	if (verb->operand)
		printf(" %s", verb->operand);
	if (verb->options->name)
		printf(" [OPTIONS]");
	putchar('\n');
}

static void print_option(const char *name, const char *arg, const char *help)
{
	char left[64];

	snprintf(left, sizeof(left), "--%s%s%s", name, arg ? " " : "",
		 arg ?: "");
	printf("  %-28s %s\n", left, help);
}

void cli_help_verb(const struct cli_object *object,
		   const struct cli_verb *verb)
{
	const struct cli_option *option;

	printf("Usage: ");
	print_usage(object, verb);
	printf("\n%s.\n\nOptions:\n", verb->help);
	for (option = verb->options; option->name; option++)
		print_option(option->name, option->arg, option->help);
	print_option("json", NULL, "print JSON");
	if (*object->name)
		print_option("netns", "NAME|PID", "work in this network namespace");
	else
		print_option("version", NULL, "print the version");
	print_option("help", NULL, "print this text");
}

void cli_help_object(const struct cli_object *object)
{
	const struct cli_verb *verb = object->verbs;

	if (!verb->name) {
		cli_help_verb(object, verb);
		return;
	}
	printf("Usage: rocesteer %s VERB [OPTIONS]\n\n%c%s.\n\nVerbs:\n",
	       object->name, toupper(*object->help), object->help + 1);
	for (; verb->run; verb++)
		printf("  %-12s %s\n", verb->name, verb->help);
	printf("\nSee also: rocesteer %s VERB --help\n", object->name);
}

void cli_help(const struct cli_object * const *objects)
{
	puts("Usage: rocesteer [--json] [--netns NAME|PID] OBJECT [VERB] [OPTIONS]\n"
	     "\n"
	     "Steer the RoCE v2 flows of jobs over the equal-cost paths of a\n"
	     "leaf-spine fabric.\n"
	     "\n"
	     "Objects:");
	for (; *objects; objects++)
		printf("  %-12s %s\n", (*objects)->name, (*objects)->help);
	puts("\nOptions:");
	print_option("json", NULL, "print JSON, also for errors");
	print_option("netns", "NAME|PID",
		     "work in the network namespace of this name, or of this process");
	print_option("version", NULL, "print the version");
	print_option("help", NULL, "print this text");
	puts("\nSee also: rocesteer OBJECT help");
}
