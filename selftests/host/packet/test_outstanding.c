// SPDX-License-Identifier: GPL-2.0
/*
 * The module's record of outstanding READ requests, compiled for user space: random requests
 * and responses, compared with a set of PSNs.
 */
#include <stdbool.h>
#include <string.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;

#include "../../../kmod/steer/reseq_reads.c"
#include "../../random.h"
#include "../../ktap.h"

#define STEPS	100000
#define SPAN	600	/* PSNs that are in flight at most */

static struct rocesteer_outstanding out;
static bool awaited[ROCESTEER_PSN_MASK + 1];
static u32 oldest, newest;	/* of what the requester has in flight */
static unsigned int wrong;

static u32 plus(u32 psn, u32 n)
{
	return (psn + n) & ROCESTEER_PSN_MASK;
}

/* The first one at or behind @psn, before @newest; or @newest. */
static u32 first_awaited(u32 psn)
{
	while (psn != newest && !awaited[psn])
		psn = plus(psn, 1);
	return psn;
}

static void forget(u32 from, u32 end)
{
	for (; from != end; from = plus(from, 1))
		awaited[from] = false;
}

/* A READ, or PSNs that are only acknowledged. */
static void request(u32 n, bool read)
{
	u32 i;

	if (read)
		wrong += rocesteer_outstanding_add(&out, newest, n) != 0;
	for (i = 0; i < n; i++)
		awaited[plus(newest, i)] = read;
	newest = plus(newest, n);
}

/* Data, or an acknowledgment of all before. */
static void response(u32 psn)
{
	u32 next = 0, expected;
	bool more = rocesteer_outstanding_pass(&out, psn, &next);

	forget(oldest, plus(psn, 1));
	oldest = plus(psn, 1);
	expected = first_awaited(oldest);
	wrong += more ? next != expected : expected != newest;
}

/* Repeat all from an outstanding READ on. */
static void go_back(void)
{
	u32 psn = first_awaited(oldest);

	if (psn == newest)
		return;
	forget(psn, newest);
	newest = psn;
	wrong += rocesteer_outstanding_add(&out, psn, 1) != 1;
	awaited[psn] = true;
	newest = plus(psn, 1);
}

static void step(void)
{
	u32 flight = (newest - oldest) & ROCESTEER_PSN_MASK;
	u32 n = 1 + random_below(8);

	switch (random_below(8)) {
	case 0 ... 3:
		if (flight < SPAN && out.nr < ROCESTEER_OUTSTANDING_MAX)
			request(n, random_below(2));
		break;
	case 4 ... 6:
		if (flight)
			response(plus(oldest, random_below(n < flight ? n : flight)));
		break;
	default:
		if (!random_below(10))
			go_back();
	}
}

static void test_bounds(void)
{
	u32 i, next;

	memset(&out, 0, sizeof(out));
	for (i = 0; i < ROCESTEER_OUTSTANDING_MAX; i++)
		wrong += rocesteer_outstanding_add(&out, 2 * i, 1) != 0;
	ktap_result(!wrong && rocesteer_outstanding_add(&out, 2 * i, 1) == -ENOSPC &&
		    !rocesteer_outstanding_pass(&out, 0, &next),
		    "%u ranges are kept, and another one is refused", ROCESTEER_OUTSTANDING_MAX);
	ktap_result(!rocesteer_outstanding_add(&out, 5, (1 << 23) - 1) &&
		    rocesteer_outstanding_pass(&out, 5 + (1 << 22), &next) &&
		    next == 6 + (1 << 22) &&
		    rocesteer_outstanding_add(&out, 4 + (1 << 23), (1 << 22) + 2) == -ENOSPC &&
		    rocesteer_outstanding_add(&out, 5, 1 << 23) == -ENOSPC &&
		    rocesteer_outstanding_add(&out, 5, ~0U) == -ENOSPC &&
		    !rocesteer_outstanding_add(&out, 5, 1),
		    "more PSNs than can be told apart are refused");
}

int main(void)
{
	int i;

	ktap_begin();
	oldest = ROCESTEER_PSN_MASK - 1000;
	newest = oldest;
	for (i = 0; i < STEPS; i++)
		step();
	ktap_result(!wrong && newest < ROCESTEER_PSN_MASK - 1000,
		    "%d steps, over the wrap of the PSN: %u wrong, now at %u",
		    STEPS, wrong, newest);
	wrong = 0;
	test_bounds();
	return ktap_end();
}
