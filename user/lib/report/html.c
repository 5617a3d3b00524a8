// SPDX-License-Identifier: GPL-2.0
#include "html.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

/* page.html, by the assembler, from the directory of the Makefile */
asm(".pushsection .rodata\n"
	".globl report_page\n"
	"report_page: .incbin \"lib/report/page.html\"\n"
	".byte 0\n"
	".popsection");
extern const char report_page[];

/* The report takes the place of this. */
static const char mark[] = "@REPORT@";

/* A "<" could end the element around, and has no meaning in JSON outside of texts. */
static void put_json(FILE *to, const char *json)
{
	for (; *json; json++) {
		if (*json == '<')
			fputs("\\u003c", to);
		else
			fputc(*json, to);
	}
}

int report_html(struct json_object *root, FILE *to)
{
	const char *json = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE);
	const char *at = strstr(report_page, mark);

	if (!json)
		return -ENOMEM;
	fwrite(report_page, 1, at - report_page, to);
	put_json(to, json);
	fputs(at + strlen(mark), to);
	errno = 0;
	return fflush(to) || ferror(to) ? -(errno ?: EIO) : 0;
}
