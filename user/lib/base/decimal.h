/* SPDX-License-Identifier: GPL-2.0 */
/* Decimal numbers, exactly. */
#ifndef ROCESTEER_LIB_DECIMAL_H
#define ROCESTEER_LIB_DECIMAL_H

#include <linux/types.h>

#define DECIMAL_PLACES	6

/**
 * decimal_read() - read a decimal number that is all of a text
 * @text: digits, and at most DECIMAL_PLACES more behind a point
 * @min: smallest, in millionths
 * @max: largest, in millionths, below 2^60
 * @value: set, in millionths: nothing is rounded
 *
 * Return: 0 or -EINVAL.
 */
int decimal_read(const char *text, __u64 min, __u64 max, __u64 *value);

#endif /* ROCESTEER_LIB_DECIMAL_H */
