/* SPDX-License-Identifier: GPL-2.0 */
/* KTAP results of a native test (Documentation/dev-tools/ktap.rst). */
#ifndef ROCESTEER_TEST_KTAP_H
#define ROCESTEER_TEST_KTAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"

/* Those of all files of a test */
unsigned int ktap_count __attribute__((weak)), ktap_failed __attribute__((weak));

/* Is this "make check-all", where tests take longer? Else the variable is not set, or empty. */
static inline bool ktap_all(void)
{
	const char *all = getenv("CHECK_ALL");

	return all && *all;
}

static inline void ktap_begin(void)
{
	puts("KTAP version 1");
	fflush(stdout);
}

static inline void ktap_result(bool ok, const char *fmt, ...) __printf(2, 3);

static inline void ktap_result(bool ok, const char *fmt, ...)
{
	va_list args;

	ktap_failed += !ok;
	printf("%s %u ", ok ? "ok" : "not ok", ++ktap_count);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* Return: exit status of the test. */
static inline int ktap_end(void)
{
	printf("1..%u\n# Totals: pass:%u fail:%u xfail:0 xpass:0 skip:0 error:0\n",
	       ktap_count, ktap_count - ktap_failed, ktap_failed);
	return ktap_failed ? 1 : 0;
}

#endif /* ROCESTEER_TEST_KTAP_H */
