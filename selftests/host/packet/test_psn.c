// SPDX-License-Identifier: GPL-2.0
/* Losses that the PSNs of a flow show: rounds of go-back-N, and NAKs */
#include <linux/types.h>
#include <stdbool.h>

#include "../../../bpf/lib/psn.bpf.h"
#include "../../ktap.h"

static struct rocesteer_psns psns;
static struct rocesteer_resent resent;

/* Send packets @from to before @to. Return: the most rounds of any of them. */
static __u32 sends(__u32 from, __u32 to)
{
	__u32 most = 0;

	for (; from != to; from = (from + 1) & ROCESTEER_PSN_MASK) {
		__u32 rounds = psn_note(&psns, &resent, from);

		if (rounds > most)
			most = rounds;
	}
	return most;
}

static void begin(__u32 psn, __u32 packets)
{
	psns = (struct rocesteer_psns) { .next = ROCESTEER_PSN_NONE };
	resent = (struct rocesteer_resent) { .repeats = ROCESTEER_PSN_NONE };
	sends(psn, (psn + packets) & ROCESTEER_PSN_MASK);
}

static bool is_asked(void)
{
	return resent.again & ROCESTEER_PSN_ASKED;
}

/* Flows whose packet n has PSN @at + n, and of which 100 are sent first. */
static void test_from(__u32 at)
{
#define P(n) ((at + (n)) & ROCESTEER_PSN_MASK)
	bool first;
	int i;

	begin(at, 100);
	first = sends(P(40), P(100)) == 1 && !is_asked();
	ktap_result(first && sends(P(40), P(50)) == 2,
		    "%#x: two repetitions that begin with one packet are two rounds", at);

	begin(at, 100);
	psn_asked(&psns, &resent, P(40), false, false);
	first = is_asked() && sends(P(40), P(110)) == 1;
	psn_asked(&psns, &resent, P(60), false, false);
	ktap_result(first && sends(P(60), P(110)) == 1,
		    "%#x: NAKs for two packets are one round each", at);

	begin(at, 100);
	first = sends(P(40), P(100)) == 1;
	psn_asked(&psns, &resent, P(60), false, false);
	ktap_result(first && is_asked() && sends(P(60), P(100)) == 2,
		    "%#x: a NAK for a packet that a timeout repeated is a second round", at);

	begin(at, 100);
	first = sends(P(40), P(50)) == 1;
	psn_asked(&psns, &resent, P(60), false, false);
	ktap_result(first && !sends(P(60), P(100)) &&
		    sends(P(60), P(100)) == 1,
		    "%#x: a NAK before the timeout's packet is sent is no second round", at);

	begin(at, 100);
	sends(P(40), P(100));
	psn_acked(&resent, P(100));
	sends(P(100), P(200));
	psn_asked(&psns, &resent, P(150), false, false);
	ktap_result(resent.repeats == ROCESTEER_PSN_NONE &&
		    sends(P(150), P(200)) == 1,
		    "%#x: a repeated packet that arrived is forgotten", at);

	begin(at, 100);
	ktap_result(psn_answers(&psns, P(99), false) == P(99) &&
		    psn_answers(&psns, P(0), false) == P(0) &&
		    psn_answers(&psns, P(100), false) == ROCESTEER_PSN_NONE &&
		    psn_answers(&psns, P(99 - 65536), true) ==
		    ROCESTEER_PSN_NONE,
		    "%#x: an acknowledgment is of a packet that was sent", at);
	ktap_result(psn_answers(&psns, P(120), true) == P(99) &&
		    psn_answers(&psns, P(99 + 65536), true) ==
		    ROCESTEER_PSN_NONE,
		    "%#x: READ data beyond the last packet acknowledges that packet", at);
	ktap_result(psn_continues(&psns, P(100)) && psn_continues(&psns, P(0)) &&
		    !psn_continues(&psns, P(100 + 65536)) &&
		    !psn_continues(&psns, P(99 - 65536)),
		    "%#x: a READ request continues what was answered", at);

	begin(at, 100);
	sends(P(40), P(100));
	first = !psn_is_new(&psns, P(99 - 65536)) &&
		!sends(P(99 - 65536), P(200 - 65536));
	ktap_result(first && psn_is_new(&psns, P(200 - 65536)) &&
		    resent.repeats == ROCESTEER_PSN_NONE,
		    "%#x: packets that continue far behind begin a new sequence", at);

	begin(at, 100);
	sends(P(99), P(100));
	for (first = true, i = 0; first && i < 3; i++) {
		psn_asked(&psns, &resent, P(99), true, false);
		first = sends(P(99), P(100)) == 1 && is_asked();
	}
	ktap_result(first, "%#x: a receiver that is not ready loses nothing", at);

	begin(at, 100);
	sends(P(40), P(100));
	psn_asked(&psns, &resent, P(60), false, true);
	ktap_result(sends(P(60), P(100)) == 2 && is_asked(),
		    "%#x: a packet of a silent path counts as lost twice", at);
#undef P
}

int main(void)
{
	ktap_begin();
	test_from(0);
	test_from(ROCESTEER_PSN_MASK - 49);
	psns.next = ROCESTEER_PSN_NONE;
	ktap_result(psn_answers(&psns, 7, true) == ROCESTEER_PSN_NONE &&
		    !psn_continues(&psns, 7),
		    "before the first packet no packet is acknowledged or continued");
	return ktap_end();
}
