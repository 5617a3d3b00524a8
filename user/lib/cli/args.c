// SPDX-License-Identifier: GPL-2.0
/* Values of options. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "args.h"

int cli_number(const char *text, __u64 min, __u64 max, __u64 *value)
{
	int base = text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;
	unsigned long long number;
	char *end;

	/* strtoull() would also take a sign, space, or "0x" alone. */
	if (text[0] < '0' || text[0] > '9' ||
	    (base == 16 && !strchr("0123456789abcdefABCDEF", text[2])) ||
	    (base == 16 && !text[2]))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, base);
	if (errno || *end || number < min || number > max)
		return -EINVAL;
	*value = number;
	return 0;
}

int cli_pair(const char *text, __u64 rows, __u64 columns, __u64 *a, __u64 *b)
{
	const char *slash = strchr(text, '/');
	char first[32];

	if (!slash || slash - text >= (long)sizeof(first))
		return -EINVAL;
	memcpy(first, text, slash - text);
	first[slash - text] = '\0';
	return cli_number(first, 0, rows - 1, a) ?:
	       cli_number(slash + 1, 0, columns - 1, b);
}

bool cli_takes_argument(const struct cli_option *option)
{
	return option->arg || option->words;
}

const char *cli_argument(const struct cli_option *option, char *buf, size_t size)
{
	return option->words && !option->arg ? words_join(option->words, "|", buf, size) :
					       option->arg ?: "";
}

bool cli_is_path(const struct cli_option *option)
{
	return option->arg && (!strcmp(option->arg, "FILE") || !strcmp(option->arg, "PATH"));
}

int cli_uint(const struct cli_args *args, int option, __u64 min, __u64 max,
	     __u64 *value, struct err *err)
{
	const char *text = args->value[option];

	if (!text || !cli_number(text, min, max, value))
		return 0;
	return err_set(err, EXIT_BAD_INPUT, "usage",
		       "--%s: '%s' is not a number from %llu to %llu",
		       args->options[option].name, text, min, max);
}

int cli_need(const struct cli_args *args, int option, struct err *err)
{
	const struct cli_option *of = &args->options[option];
	char words[CLI_WORDS];

	if (args->value[option])
		return 0;
	return err_set(err, EXIT_BAD_INPUT, "usage", "--%s %s is missing", of->name,
		       cli_argument(of, words, sizeof(words)));
}

int cli_need_all(const struct cli_args *args, struct err *err)
{
	int i, ret = 0;

	for (i = 0; !ret && args->options[i].name; i++)
		if (args->options[i].marks & CLI_NEEDED)
			ret = cli_need(args, i, err);
	return ret;
}

int cli_word(const struct cli_args *args, int option, int *value, struct err *err)
{
	const char * const *words = args->options[option].words;
	const char *text = args->value[option];
	char all[CLI_WORDS];
	int i;

	if (!text)
		return 0;
	i = words_find(words, text);
	if (i < 0)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--%s: '%s' is not one of %s",
			       args->options[option].name, text,
			       words_list(words, all, sizeof(all)));
	*value = i;
	return 0;
}

int cli_bytes(const struct cli_args *args, int option, __u64 max, __u64 *value, struct err *err)
{
	static const char units[] = "KMGT";
	const char *text = args->value[option], *unit;
	size_t len = strlen(text);
	char number[32];
	int shift = 0;

	unit = len ? strchr(units, text[len - 1]) : NULL;
	if (unit && *unit) {
		shift = 10 * (unit - units + 1);
		len--;
	}
	if (len >= sizeof(number))
		len = 0;
	snprintf(number, sizeof(number), "%.*s", (int)len, text);
	if (cli_number(number, 1, max >> shift, value))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--%s: '%s' is not a number of bytes from 1 to %lluT, in units of 1024 with K, M, G or T behind",
			       args->options[option].name, text, max >> 40);
	*value <<= shift;
	return 0;
}

int cli_one(const struct cli_args *args, const int *options, size_t n, struct err *err)
{
	size_t i, given = 0, len = 0;
	char all[128];

	for (i = 0; i < n; i++) {
		given += !!args->value[options[i]];
		len += snprintf(all + len, sizeof(all) - len, "%s--%s",
				!i ? "" : i + 1 < n ? ", " : " and ",
				args->options[options[i]].name);
	}
	if (given == 1)
		return 0;
	return err_set(err, EXIT_BAD_INPUT, "usage", "%s of %s must be given",
		       given ? "only one" : "one", all);
}

int cli_only_with(const struct cli_args *args, const struct cli_with *pairs,
		  size_t n, struct err *err)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (args->value[pairs[i].option] && !args->value[pairs[i].other])
			return err_set(err, EXIT_BAD_INPUT, "usage",
				       "--%s: only with --%s",
				       args->options[pairs[i].option].name,
				       args->options[pairs[i].other].name);
	return 0;
}

/* Bytes up to a comma that is not in brackets */
static size_t item_len(const char *text)
{
	int depth = 0;
	size_t len;

	for (len = 0; text[len] && (depth > 0 || text[len] != ','); len++)
		depth += (text[len] == '[') - (text[len] == ']');
	return len;
}

int cli_each(const char *option, const char *text, int (*fn)(const char *item, void *arg),
	     void *arg, struct err *err)
{
	unsigned int n = 1;
	char item[256];
	size_t len;
	int ret;

	for (;; text += len + 1, n++) {
		len = item_len(text);
		if (!len || len >= sizeof(item))
			return err_set(err, EXIT_BAD_INPUT, "usage", "--%s: item %u is %s", option,
				       n, len ? "longer than 255 bytes" : "empty");
		memcpy(item, text, len);
		item[len] = '\0';
		ret = fn(item, arg);
		if (ret || !text[len])
			return ret;
	}
}
