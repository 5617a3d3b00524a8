#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How long rocesteer-perf takes on eight hosts with two NICs each, beside what the plans predict:
# an All-to-All, and collectives on links with a latency that takes longer than the bytes.
#
# shellcheck disable=SC2317 # functions are called through check

set -uo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/perf/grid.sh

dir=$(mktemp -d)
defer rm -rf "$dir"
pid=()
delay=100	# ms, of a link
rate=100	# of the pairs, in millionths of a GiB/s; the fours have twice that

up()
{
	defer grid_down &&
		grid_up 8 "$(grid_rate $((2 * rate)))" "$(grid_rate "$rate")"
}

# run NAME OPTION...: it ends on all ranks, and no element is wrong
run()
{
	local name=$1 i bandwidth status=0
	shift

	printf -v bandwidth '0.%06d,0.%06d' $((2 * rate)) "$rate"
	for ((i = 7; i >= 0; i--)); do
		rank "$i" --bandwidth "$bandwidth" --warmup 0 --iters 1 --timeout 240000 \
			--json "$@"
	done
	for i in "${!pid[@]}"; do
		wait "${pid[i]}" || { status=1; tail -n 1 "$dir/out$i"; }
	done
	pid=()
	jq 'del(.stages)' "$dir/out0" >"$dir/$name"
	jq -c '[.collective, .policy, .predicted_us, .results[0].time_us]' "$dir/$name"
	jq -e '.results[0].wrong == 0' "$dir/$name" >/dev/null && return "$status"
}

# Both dimensions begin at once, where the baseline's second one waits for a chunk.
swap_gains()
{
	local swap=(--dims 4x2 --size 1M --chunks 4 --collective all-to-all
		--algorithm "direct,direct")

	run baseline "${swap[@]}" --policy baseline && run themis "${swap[@]}" || return
	jq -s -e '(1 - .[1].results[0].time_us / .[0].results[0].time_us) as $gain |
		(1 - .[1].predicted_us / .[0].predicted_us) as $hoped |
		"gain \($gain * 100) %, predicted \($hoped * 100) %",
		($hoped > 0.15 and $gain > 0.9 * $hoped)' "$dir/baseline" "$dir/themis"
}

# RoCE is late, and what begins and ends a run is not.
delay_batch()
{
	local port

	for port in host{0..7}_{0,1}; do
		echo "qdisc add dev $port root handle 1: prio bands 2" \
			"priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
		echo "qdisc add dev $port parent 1:2 netem delay ${delay}ms limit 10000"
		echo "filter add dev $port parent 1: protocol ip u32" \
			"match ip dport 4791 0xffff flowid 1:2"
	done
}

# One chunk of an element for each rank: two stages there, two back, and an acknowledgment.
latency_is_measured()
{
	delay_batch | tc -n grid -batch - || return
	run small --dims 4x2 --size 32 --chunks 1 --algorithm direct,direct || return
	latency=$(jq '.results[0].time_us / 5 | floor' "$dir/small")
	echo "$latency us a step"
	((latency >= delay * 1000 && latency < delay * 1100))
}

# predicted NAME OPTION...: within 10 %
predicted()
{
	run "$@" --latency "$latency,$latency" &&
		jq -e '.results[0].time_us / .predicted_us - 1 | fabs < 0.1' "$dir/$1"
}

one_megabyte()
{
	predicted direct --dims 4x2 --size 1M --chunks 16 --algorithm direct,direct &&
		predicted ring --dims 4x2 --size 1M --chunks 16
}

trees()
{
	predicted tree --dims 8x1 --size 4K --chunks 1 --algorithm tree,ring &&
		predicted round --dims 8x1 --size 4K --chunks 1 &&
		jq -s -e '.[0].results[0].time_us < .[1].results[0].time_us * 0.6' "$dir/tree" \
			"$dir/round"
}

fabric_has_host_netns || skip_all "rxe knows no namespaces here"
ktap_plan 5
check "eight hosts with two NICs are made" up
check "an All-to-All gains at least 90 % of what is predicted" swap_gains
check "one chunk of few bytes measures the latency of a step" latency_is_measured
check "an All-Reduce of 1 MB on links with latency takes as long as predicted" one_megabyte
check "a tree of eight takes as long as predicted, and half of what a ring takes" trees
ktap_finish
