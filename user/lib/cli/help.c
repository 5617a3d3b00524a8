// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "args.h"

/* Columns of a terminal, and of them those for an option, or for an object or verb. */
#define WIDTH		80
#define OPTION_WIDTH	31
#define NAME_WIDTH	15

/* Options of all verbs. */
static const struct cli_option common[] = {
	{ "json", NULL, "print JSON, also for errors (-j)" },
	{ "pretty", NULL, "print JSON with indentation (-p)" },
	{ "color", "[=auto|always|never]",
	  "colour names of states (-c; default: auto, on terminals)" },
	{ "help", NULL, "print this text (-h)" },
	{}
};

/* Options of rocesteer alone, in which each object has a name; then those of all programs. */
static const struct cli_option netns[] = {
	{ "netns", "NAME|PID",
	  "work in the network namespace of this name, or of this process (-n)" },
	{}
};

static const struct cli_option version[] = {
	{ "version", NULL, "print the version (-V)" },
	{}
};

static void print_naming(const struct cli_option *option)
{
	bool needed;

	for (; option->name; option++) {
		needed = option->marks & CLI_NEEDED;
		if (option->marks & CLI_NAMES)
			printf(" %s[--%s] %s%s", needed ? "" : "[", option->name, option->arg,
			       needed ? "" : "]");
	}
}

static void print_usage(const struct cli_object *object, const struct cli_verb *verb)
{
	printf("%s%s%s", cli_program, *object->name ? " " : "", object->name);
	if (verb->name)
		printf(" %s", verb->name);
	if (verb->operand)
		printf(" %s", verb->operand);
	print_naming(verb->options);
	if (verb->options->name)
		printf(" [OPTIONS]");
	putchar('\n');
}

/* Bytes of the words that go into a line of so many columns. */
static int line_length(const char *text, int columns)
{
	int len = strlen(text);

	if (len <= columns)
		return len;
	for (len = columns; len && text[len] != ' '; len--)
		;
	return len ?: (int)strcspn(text, " ");
}

/* Two columns: the second one is wrapped. */
static void print_line(const char *left, int width, const char *help)
{
	int len = line_length(help, WIDTH - width);

	printf("  %-*s %.*s\n", width - 3, left, len, help);
	for (help += len; *help++ == ' '; help += len) {
		len = line_length(help, WIDTH - width);
		printf("%*s%.*s\n", width, "", len, help);
	}
}

static void print_option(const struct cli_option *option)
{
	char words[CLI_WORDS], left[64], help[384];
	const char *arg = cli_argument(option, words, sizeof(words));
	bool listed = option->words && option->arg;

	snprintf(left, sizeof(left), "--%s%s%s", option->name, *arg && *arg != '[' ? " " : "", arg);
	snprintf(help, sizeof(help), "%s%s%s", option->help, listed ? ": " : "",
		 listed ? words_list(option->words, words, sizeof(words)) : "");
	print_line(left, OPTION_WIDTH, help);
}

static void print_options(const struct cli_option *option)
{
	for (; option->name; option++)
		if (!(option->marks & CLI_NEEDED))
			print_option(option);
}

static void print_needed(const struct cli_option *option)
{
	bool any = false;

	for (; option->name; option++) {
		if (!(option->marks & CLI_NEEDED))
			continue;
		if (!any)
			puts("\nNeeded:");
		print_option(option);
		any = true;
	}
}

void cli_help_verb(const struct cli_object *object, const struct cli_verb *verb)
{
	printf("Usage: ");
	print_usage(object, verb);
	printf("\n%s.\n", verb->help);
	print_needed(verb->options);
	puts("\nOptions:");
	print_options(verb->options);
	print_options(*object->name ? netns : version);
	print_options(common);
	printf("\nExample:\n    %s %s\n", cli_program, verb->example);
}

void cli_help_object(const struct cli_object *object)
{
	const struct cli_verb *verb = object->verbs, *first = cli_shown(object);

	if (!verb->name) {
		cli_help_verb(object, verb);
		return;
	}
	printf("Usage: rocesteer %s %s [OPTIONS]\n\n%c%s.\n\nVerbs:\n", object->name,
	       first ? "[VERB]" : "VERB", toupper(*object->help), object->help + 1);
	for (; verb->run; verb++)
		print_line(verb->name, NAME_WIDTH, verb->help);
	if (first)
		printf("\nWithout a verb: %s\n", first->name);
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
		print_line((*objects)->name, NAME_WIDTH, (*objects)->help);
	puts("\nOptions:");
	print_options(netns);
	print_options(version);
	print_options(common);
	puts("\nObjects and verbs may be shortened while only one begins so.\n"
	     "\n"
	     "Example:\n"
	     "    rocesteer -j -p job list\n"
	     "\n"
	     "See also: rocesteer OBJECT help");
}
