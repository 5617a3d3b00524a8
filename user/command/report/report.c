// SPDX-License-Identifier: GPL-2.0
/* rocesteer report: record what hosts send, and say what it means. */
#include "report.h"

static const struct cli_verb verbs[] = {
	{
		.name = "record",
		.help = "Record what this host's flows send on each path",
		.options = report_record_options,
		.example = "report record --out host.json --seconds 10",
		.run = report_record,
	},
	{
		.name = "show",
		.help = "Say which flows share a link, which links are bad, and what has changed",
		.operand = "FILE",
		.options = report_show_options,
		.example = "report show host.json --html report.html",
		.run = report_show,
	},
	{}
};

const struct cli_object cli_report = {
	.name = "report",
	.help = "record paths and links, and compare periods and hosts",
	.verbs = verbs,
};
