// SPDX-License-Identifier: GPL-2.0
/* The expected load if each queue pair takes any path. */
#include <math.h>

#include "export.h"

#define IMPROBABLE	(1 / 1e9)

/*
 * The probability that no path has more than @most of @n, path by path: of k that are left
 * the next of b paths takes i, a binomial number with 1 / b.
 */
static double probability(unsigned int paths, unsigned int n, unsigned int most)
{
	double chance[n + 1], next[n + 1];
	unsigned int b, k, i;

	for (k = 0; k <= n; k++)
		chance[k] = k <= most;	/* one path takes all of them */
	for (b = 2; b <= paths; b++) {
		for (k = 0; k <= n; k++) {
			double term = pow(1 - 1.0 / b, k);

			next[k] = 0;
			for (i = 0; i <= most && i <= k; i++) {
				next[k] += term * chance[k - i];
				term *= (double)(k - i) / (i + 1) / (b - 1);
			}
		}
		for (k = 0; k <= n; k++)
			chance[k] = next[k];
	}
	return chance[n];
}

double export_expected(unsigned int paths, unsigned int n)
{
	double expected = 0, more = 1;
	unsigned int most;

	/* The sum over all numbers of the probability that there are more. */
	for (most = 0; most < n && more > IMPROBABLE; most++) {
		more = (__u64)most * paths < n ? 1 : 1 - probability(paths, n, most);
		expected += more;
	}
	return expected * paths / n;
}
