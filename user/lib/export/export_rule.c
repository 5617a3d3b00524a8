// SPDX-License-Identifier: GPL-2.0
/* Libraries that make ports by a rule of their own: the best parameter of the rule. */
#include <errno.h>
#include <string.h>
#include <rocesteer/label.h>

#include "export_priv.h"

#define RULE_PORTS	512	/* 170 factors of 4 lanes, 73 of 8 */
#define LABEL_MASK	(ROCESTEER_LABEL_HIGH | ROCESTEER_LABEL_LOW)
#define UCCL_REST	2	/* behind those of its data: acknowledgments */

/* Fills ports of a parameter. */
typedef void (*rule_fn)(unsigned int value, unsigned int n, bool devx, __u16 *ports);

__u16 export_ucx_port(unsigned int factor, unsigned int lane, bool devx)
{
	__u32 offset = factor * lane;

	return devx ? ROCESTEER_SPORT_MIN | (offset & 0xffff) :
		      rocesteer_label_sport(~offset & LABEL_MASK);
}

static void ucx_ports(unsigned int factor, unsigned int lanes, bool devx, __u16 *ports)
{
	unsigned int i;

	for (i = 0; i < lanes; i++)
		ports[i] = export_ucx_port(factor, i, devx);
}

/* A control queue pair has the first port, then comes the data. */
static void uccl_ports(unsigned int base, unsigned int n, bool devx, __u16 *ports)
{
	unsigned int i;

	(void)devx;
	for (i = 0; i < n; i++)
		ports[i] = base + 1 + i;
}

/* Return: the best value from @min to @max, with its ports, or a negative errno. */
static int try_all(const struct export *e, rule_fn rule, bool devx, unsigned int min,
		   unsigned int max, unsigned int n, __u16 *ports)
{
	struct export_balance best = { .worst = ~0u }, balance;
	__u16 now[EXPORT_MAX_LENGTH];
	int found = -ENOENT, ret;
	unsigned int value;

	for (value = min; value <= max && best.worst > EXPORT_EVEN; value++) {
		rule(value, n, devx, now);
		ret = export_measure(e, now, n, NULL, &balance);
		if (ret == -ENOENT)
			continue;
		if (ret)
			return ret;
		if (found >= 0 && !export_is_better(&balance, &best))
			continue;
		best = balance;
		found = value;
		memcpy(ports, now, n * sizeof(*ports));
	}
	return found;
}

int export_ucx(const struct export *e, unsigned int lanes, bool devx, __u16 *ports)
{
	/* Beyond that lanes would have the same ports again. */
	unsigned int max = lanes > 1 ? ROCESTEER_LABEL_LOW / (lanes - 1) : 1;

	return try_all(e, ucx_ports, devx, 1, max, lanes, ports);
}

int export_uccl(const struct export *e, __u16 *ports)
{
	return try_all(e, uccl_ports, false, ROCESTEER_SPORT_MIN,
		       ROCESTEER_SPORT_MAX - EXPORT_UCCL_QPS - UCCL_REST,
		       EXPORT_UCCL_QPS, ports);
}

size_t export_extra(enum export_for library, __u16 *ports)
{
	bool ucx = library == EXPORT_UCX || library == EXPORT_JSON;
	bool uccl = library == EXPORT_UCCL || library == EXPORT_JSON;
	unsigned int i;
	size_t n = 0;

	for (i = 0; ucx && i < RULE_PORTS; i++)
		ports[n++] = export_ucx_port(1, i, false);
	for (i = 0; uccl && i < RULE_PORTS; i++)
		ports[n++] = ROCESTEER_SPORT_MIN + i;
	return n;
}
