// SPDX-License-Identifier: GPL-2.0
/* Which addresses are of one leaf, as several hosts see them. */
#include <errno.h>
#include <string.h>

#include "report/leaves.h"
#include "../../ktap.h"

static const __u8 *address(unsigned int number)
{
	static __u8 addr[2][16];
	static unsigned int turn;
	__u8 *next = addr[turn++ % 2];

	memset(next, 0, 16);
	next[13] = number >> 16;
	next[14] = number >> 8;
	next[15] = number;
	return next;
}

static int join(struct report_leaves *leaves, unsigned int a, unsigned int b)
{
	return report_leaves_join(leaves, address(a), address(b));
}

static size_t find(const struct report_leaves *leaves, unsigned int number)
{
	return report_leaves_find(leaves, address(number));
}

static void test_alias(void)
{
	struct report_leaves leaves = {};
	bool ok;

	ok = !join(&leaves, 9, 7) && !join(&leaves, 30, 20) && !join(&leaves, 5, 5) &&
	     !join(&leaves, 3, 9) && !join(&leaves, 40, 30) && !join(&leaves, 7, 3) &&
	     !report_leaves_number(&leaves);
	ktap_result(ok && leaves.nr == 3, "addresses that are joined in a chain are one leaf");
	ktap_result(find(&leaves, 3) == 0 && find(&leaves, 7) == 0 && find(&leaves, 9) == 0 &&
		    find(&leaves, 5) == 1 && find(&leaves, 20) == 2 && find(&leaves, 40) == 2,
		    "leaves are numbered by their smallest address");
	ktap_result(leaves.nr == 3 && !memcmp(leaves.leaves[2], address(20), 16),
		    "the smallest address names the leaf");
	ktap_result(find(&leaves, 6) == REPORT_NO_LEAF, "another address is of no leaf");
	ok = !join(&leaves, 40, 5) && !report_leaves_number(&leaves);
	ktap_result(ok && leaves.nr == 2 && find(&leaves, 30) == 1 && find(&leaves, 5) == 1,
		    "two leaves that turn out to be one are numbered anew");
	report_leaves_clear(&leaves);
	ktap_result(find(&leaves, 3) == REPORT_NO_LEAF, "all is forgotten");
}

static void test_many(void)
{
	struct report_leaves leaves = {};
	bool ok = true;

	for (unsigned int i = REPORT_ADDRESSES_MAX; i > 1; i--)
		ok = ok && !join(&leaves, i, i - 1);
	ktap_result(ok && !report_leaves_number(&leaves) && leaves.nr == 1,
		    "one leaf takes as many addresses as are allowed");
	ktap_result(join(&leaves, 1, REPORT_ADDRESSES_MAX + 1) == -E2BIG,
		    "one more address is refused");
	ktap_result(!join(&leaves, 1, REPORT_ADDRESSES_MAX), "known addresses are joined still");
	report_leaves_clear(&leaves);
}

int main(void)
{
	ktap_begin();
	test_alias();
	test_many();
	return ktap_end();
}
