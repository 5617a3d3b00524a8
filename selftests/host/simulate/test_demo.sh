#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer simulate takes as long as "make demo" has measured, in two tiers and in three, if each
# queue pair takes the paths that it took there. demo.json is made by
#
#	make demo && make demo DEMO="--pods 4 --policies ecmp,place,all" &&
#	demo/report.py --compare build/demo build/demo-pods >selftests/host/simulate/demo.json

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/lib/command.sh
runs=selftests/host/simulate/demo.json

# simulate INDEX: a line for the run: percent of the simulated time above the measured, and its name
simulate()
{
	local options

	jq ".[$1]" "$runs" >"$dir/run"
	mapfile -t options < <(jq -r ".options[]" "$dir/run")
	jq '{flows: [.flows[] | {from: .[0], to: .[1], bytes: .[2], step: .[3]} +
		if .[4] then {paths: [.[4:][] | {path: .[0], bytes: .[1]}]} else {} end]}' \
		"$dir/run" >"$dir/flows" &&
		"$rocesteer" --json simulate "${options[@]}" --policy recorded \
			--flows "$dir/flows" >"$dir/out" &&
		jq -r --slurpfile run "$dir/run" '(.completion_s / $run[0].measured_s - 1) as $over |
			"\($over * 10000 | round / 100) \($run[0] | .pattern + " under " + .policy)" +
			if .fabric.cores then " in three tiers" else "" end' "$dir/out"
}

every_run()
{
	local i count

	count=$(jq length "$runs")
	for ((i = 0; i < count; i++)); do
		simulate "$i" || return
	done >"$dir/all"
	cat "$dir/all"
	((count)) && (($(wc -l <"$dir/all") == count))
}

# The runs by how far they are off, and of these the line in the middle, and the last
off()
{
	awk '{ off = $1 < 0 ? -$1 : $1; $1 = ""; print off $0 }' "$dir/all" | sort -g
}

# at_most PERCENT LINE: the run of this line is not further off
at_most()
{
	echo "$2"
	awk -v most="$1" '{ exit !($1 <= most) }' <<<"$2"
}

median_is_near()
{
	at_most 3 "$(off | sed -n "$(($(off | wc -l) / 2 + 1))p")"
}

worst_is_near()
{
	at_most 10 "$(off | tail -n 1)"
}

ktap_plan 3
check "each run is simulated" every_run
check "the median run is at most 3 % off" median_is_near
check "the worst run is at most 10 % off" worst_is_near
ktap_finish
