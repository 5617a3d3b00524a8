/* SPDX-License-Identifier: GPL-2.0 */
/* Times in files and output: RFC 3339 in UTC, to the second or finer. */
#ifndef ROCESTEER_LIB_UTC_H
#define ROCESTEER_LIB_UTC_H

#include <stdbool.h>
#include <time.h>
#include <linux/types.h>

#define UTC_SIZE	40	/* of any year, with the NUL */

/* Return: @text. */
const char *utc_format(time_t at, char text[UTC_SIZE]);

/* The same with a fraction of so many digits. */
const char *utc_format_fraction(time_t at, __u32 fraction, int digits, char text[UTC_SIZE]);

/* The same with milliseconds. */
const char *utc_format_ms(__s64 ms, char text[UTC_SIZE]);

/* Return: whether all of the text is such a time. */
bool utc_parse(const char *text, time_t *at);

/* The same with milliseconds, which may be absent. */
bool utc_parse_ms(const char *text, __s64 *ms);

#endif /* ROCESTEER_LIB_UTC_H */
