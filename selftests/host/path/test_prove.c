// SPDX-License-Identifier: GPL-2.0
/* Verdicts on a NIC and a fabric, by answers of routers */
#include <string.h>
#include <rocesteer/label.h>

#include "prove/prove_verdict.h"
#include "../../ktap.h"

#define ROWS	4

static struct prove_row rows[ROWS];
static struct prove_answer answers[3][ROWS];

static void fill(void)
{
	unsigned int i;

	for (i = 0; i < ROWS; i++) {
		rows[i] = (struct prove_row) {
			.label = 0x4567 * (i + 1), .sqpn = 17 + i, .dqpn = 0xbfff00 + i,
			.answered = true,
		};
		rows[i].answer.sport = rocesteer_label_sport(rows[i].label);
		rows[i].answer.router[15] = i + 1;
		rows[i].expected[15] = i + 1;
		memset(answers[0] + i, 0, sizeof(answers[0][i]));
		memset(answers[1] + i, 0, sizeof(answers[1][i]));
		memset(answers[2] + i, 0, sizeof(answers[2][i]));
	}
}

static enum prove_port port(void)
{
	return prove_port_of(rows, ROWS);
}

static bool is_label(void)
{
	bool all;

	fill();
	all = port() == PROVE_PORT_LABEL;
	rows[0].answered = false;
	return all && port() == PROVE_PORT_LABEL && !prove_stray(rows, ROWS);
}

static bool is_constant(void)
{
	unsigned int i;

	fill();
	for (i = 0; i < ROWS; i++)
		rows[i].answer.sport = 50000;
	return port() == PROVE_PORT_CONSTANT;
}

/* The kernel's formula, by numbers that were computed elsewhere: 17 * 0xbfff00 = 0xcbfef00. */
static bool is_qpn(void)
{
	fill();
	rows[0].answer.sport = rocesteer_label_sport((0xcbfef00 ^ 0xcbfef00 >> 20) & 0xfffff);
	return prove_port_of(rows, 1) == PROVE_PORT_QPN;
}

static bool is_other(void)
{
	fill();
	rows[2].answer.sport ^= 1;
	return port() == PROVE_PORT_OTHER;
}

static bool is_silent(void)
{
	unsigned int i;

	fill();
	for (i = 0; i < ROWS; i++)
		rows[i].answered = false;
	return port() == PROVE_PORT_SILENT && !prove_stray(rows, ROWS);
}

static bool is_stray(void)
{
	fill();
	rows[1].answer.router[15] = 9;
	if (prove_stray(rows, ROWS) != &rows[1])
		return false;
	/* An unknown router cannot be another one. */
	memset(rows[1].expected, 0, 16);
	return !prove_stray(rows, ROWS);
}

static enum prove_way way(void)
{
	return prove_way_of(answers[0], ROWS, answers[1], ROWS, answers[2], ROWS);
}

static bool ways_differ(void)
{
	bool other;

	fill();
	other = way() == PROVE_WAY_OTHER;
	answers[2][3].router[0] = 1;
	other &= way() == PROVE_WAY_DQPN;
	answers[1][1].router[0] = 1;
	other &= way() == PROVE_WAY_SQPN;
	answers[0][2].router[0] = 1;
	return other && way() == PROVE_WAY_SPRAYED;
}

int main(void)
{
	ktap_begin();
	ktap_result(is_label(), "a NIC that makes the ports of labels is named so");
	ktap_result(is_constant(), "a NIC that makes one port of all labels is named so");
	ktap_result(is_qpn(), "a NIC that makes ports of queue pair numbers is named so");
	ktap_result(is_other(), "a NIC that makes one other port follows no known rule");
	ktap_result(is_silent(), "without an answer nothing is said of ports");
	ktap_result(is_stray(), "a packet that meets another router than probes is found");
	ktap_result(ways_differ(), "spraying, bonds and hashes of queue pairs are told apart");
	return ktap_end();
}
