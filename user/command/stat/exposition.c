// SPDX-License-Identifier: GPL-2.0
#include "exposition.h"

#include <string.h>

#include "base/base.h"

static void append(struct labels *labels, char c)
{
	labels->text[labels->len++] = c;
	labels->text[labels->len] = '\0';
}

static void append_text(struct labels *labels, const char *text)
{
	while (*text)
		append(labels, *text++);
}

/* A value stands in quotes, where three characters are escaped. */
static void append_value(struct labels *labels, const char *value)
{
	for (; *value; value++) {
		if (*value == '\n' || *value == '"' || *value == '\\')
			append(labels, '\\');
		append(labels, *value == '\n' ? 'n' : *value);
	}
}

void labels_add(struct labels *labels, const char *name, const char *value)
{
	/* The longest: all is escaped, between ,=""; and NUL */
	if (labels->len + strlen(name) + 2 * strlen(value) + 5 > sizeof(labels->text))
		return;
	if (labels->len)
		append(labels, ',');
	append_text(labels, name);
	append_text(labels, "=\"");
	append_value(labels, value);
	append(labels, '"');
}

void labels_add_uint(struct labels *labels, const char *name, __u64 value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", value);
	labels_add(labels, name, text);
}

void labels_add_addr(struct labels *labels, const char *name, const __u8 addr[16])
{
	char text[ADDR_STRLEN];

	labels_add(labels, name, addr_format(addr, text));
}

void exposition_begin(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void begin_sample(FILE *out, const char *name, const struct labels *labels)
{
	fputs(name, out);
	if (labels && labels->len)
		fprintf(out, "{%s}", labels->text);
}

void exposition_uint(FILE *out, const char *name, const struct labels *labels, __u64 value)
{
	begin_sample(out, name, labels);
	fprintf(out, " %llu\n", value);
}

static void decimal_text(char text[48], __u64 value, unsigned int decimals)
{
	__u64 unit = 1;
	unsigned int i;

	for (i = 0; i < decimals; i++)
		unit *= 10;
	if (decimals)
		snprintf(text, 48, "%llu.%0*llu", value / unit, (int)decimals, value % unit);
	else
		snprintf(text, 48, "%llu", value);
}

void exposition_decimal(FILE *out, const char *name, const struct labels *labels, __u64 value,
			unsigned int decimals)
{
	char text[48];

	decimal_text(text, value, decimals);
	begin_sample(out, name, labels);
	fprintf(out, " %s\n", text);
}

static void print_bucket(FILE *out, const char *name, const char *most, __u64 count)
{
	fprintf(out, "%s_bucket{le=\"%s\"} %llu\n", name, most, count);
}

/* A bucket of the format has all values up to its bound, also those of buckets before. */
void exposition_histogram(FILE *out, const char *name, const char *help,
			  const struct histogram *histogram)
{
	unsigned int i, bounds = histogram->nr - histogram->open;
	__u64 count = 0;
	char text[48];

	exposition_begin(out, name, "histogram", help);
	for (i = 0; i < bounds; i++) {
		decimal_text(text, histogram->unit << i, histogram->decimals);
		count += histogram->bucket[i];
		print_bucket(out, name, text, count);
	}
	if (histogram->open)
		count += histogram->bucket[bounds];
	print_bucket(out, name, "+Inf", count);
	decimal_text(text, histogram->sum, histogram->decimals);
	fprintf(out, "%s_sum %s\n%s_count %llu\n", name, text, name, count);
}
