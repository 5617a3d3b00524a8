/* SPDX-License-Identifier: GPL-2.0 */
/* Times in files and output: RFC 3339, to the second, in UTC. */
#ifndef ROCESTEER_LIB_UTC_H
#define ROCESTEER_LIB_UTC_H

#include <stdbool.h>
#include <time.h>

#define UTC_SIZE	32	/* of any year, with the NUL */

/* Return: @text. */
const char *utc_format(time_t at, char text[UTC_SIZE]);

/* Return: whether all of the text is such a time. */
bool utc_parse(const char *text, time_t *at);

#endif /* ROCESTEER_LIB_UTC_H */
