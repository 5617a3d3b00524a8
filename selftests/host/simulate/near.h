/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_TEST_NEAR_H
#define ROCESTEER_TEST_NEAR_H

#include <math.h>
#include <stdbool.h>

#define NEAR	0.000001

/* Whether two numbers differ by at most this part of the larger one */
static inline bool is_within(double a, double b, double part)
{
	return fabs(a - b) <= part * fmax(fabs(a), fabs(b));
}

static inline bool is_near(double a, double b)
{
	return is_within(a, b, NEAR);
}

#endif /* ROCESTEER_TEST_NEAR_H */
