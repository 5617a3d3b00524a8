#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A plan over two dimensions, one of which sums in the network: eight hosts with two NICs, in
# groups of four at a switch that sums, and in pairs. Every element is right, no input is
# forwarded, and what the plan gains over that of the same network without sums is nearly what
# its prediction says. What goes wrong with a group ends all ranks, and they name it.
#
# shellcheck disable=SC2317 # functions are called through check

set -uo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/reduce/reduce.sh
. selftests/guest/perf/grid.sh

pid=()
limit=40	# seconds
sums=(--algorithm "netreduce,direct" --switch "nsenter --net=/run/netns/grid rocesteer")
two=(--group 7 --packets 16)	# groups 7 and 8

# links_up RATE0 RATE1: of the hosts
links_up()
{
	grid_up 8 "$@" && observe comes leaves
}

up()
{
	switch=grid
	mapfile -t ports < <(printf 'host%d_0\n' {0..7})
	defer grid_down
	reduce_load && observer_load && links_up 1gbit 1gbit
}

# start OPTION...: start all ranks
start()
{
	local i

	for ((i = 7; i >= 0; i--)); do
		rank "$i" --dims 4x2 --timeout $((limit * 1000 * TIME_SCALE)) --json "$@"
	done
}

# run OPTION...: it runs, and no element is wrong
run()
{
	start "$@"
	finish && jq -c 'del(.stages)' "$dir/out0" &&
		jq -e '.results[0].wrong == 0 and .results[0].time_us > 0' "$dir/out0" >/dev/null
}

# right OPTION...: likewise, and no input is forwarded
right()
{
	local status=0

	seen_mark
	run --warmup 1 --iters 2 "${sums[@]}" "$@" || status=1
	no_input_forwarded && nothing_held && return "$status"
}

# The pairs are fast: the switch sums all chunks.
all_summed()
{
	local type

	for type in int32 float32; do
		right --bandwidth 1,2 --size 512K --chunks 8 --type "$type" "${two[@]}" &&
			jq -e '.dimensions[0].bytes == 262144' "$dir/out0" >/dev/null || return
	done
}

# The pairs are slow: some chunks are scattered by the dimension that sums others. Messages of a
# packet and less, one stage at a time
some_summed()
{
	right --bandwidth 2,1 --size 512K --chunks 8 "${two[@]}" &&
		jq -e '.dimensions[0].bytes > 270000' "$dir/out0" >/dev/null &&
		right --bandwidth 2,1 --size 100000 --chunks 5 --packets 1 --in-flight 1 --policy best
}

with_loss()
{
	local status=0

	switch_tc grid "qdisc replace dev DEV root netem limit 10000 loss 1%" "${ports[@]}"
	run --bandwidth 2,1 --size 256K --chunks 8 --warmup 0 --iters 2 "${sums[@]}" ||
		status=1
	switch_tc grid "qdisc del dev DEV root" "${ports[@]}"
	echo "with 1 % lost behind the switch"
	nothing_held && return "$status"
}

all_refused()
{
	local status=0

	start --bandwidth 1,2 --size 64K "${sums[@]}" --group 16383
	finish 2 && all_say "--group: '16383' is not a number from 0 to 16382" || return
	jq -n '{group: 10, type: "int32", op: "sum", mtu: 1024, packets: 1, window: 1, ranks:
		[range(2) | {address: "10.1.0.\(. + 1)", qpn: 17, psn: 0, va: 0}]}' |
		in_switch rocesteer reduce load - || return
	start --bandwidth 1,2 --size 64K --chunks 4 "${sums[@]}" --group 9 --packets 16
	finish 1 && all_say "rank 0: --switch: " && all_say "group 10" || status=1
	in_switch rocesteer reduce unload 10 && nothing_held && return "$status"
}

# The switch loses the second group while its ranks send.
group_lost()
{
	local status=0 limit=16

	start --bandwidth 1,2 --size 256K --chunks 8 --warmup 0 --iters 1000 "${sums[@]}" \
		"${two[@]}"
	group=8 busywait 30000 group_is '.done >= 100' && in_switch rocesteer reduce unload 8 ||
		status=1
	finish 1 && all_say "dimension 0: group 8: " || status=1
	nothing_held && return "$status"
}

# gains RATE0 RATE1: links are what limits; in millionths of a GiB/s. What tc calls that, with
# the headers of packets of 4 KiB. Under TCG a busy machine may disturb a measurement; by the
# clock of instructions none is.
gains()
{
	local bandwidth rates limit=240

	printf -v bandwidth '0.%06d,0.%06d' "$@"
	mapfile -t rates < <(printf '%s\n' "$@" |
		awk '{ printf "%.0fbps\n", $1 * 2^30 / 1e6 * (4096 + 74) / 4096 }')
	grid_down && links_up "${rates[@]}" || return
	for _ in 1 2 3; do
		run --bandwidth "$bandwidth" --size 2M --chunks 32 --warmup 0 --iters 1 \
			--algorithm ring,direct || return
		cp "$dir/out0" "$dir/ring"
		run --bandwidth "$bandwidth" --size 2M --chunks 32 --warmup 0 --iters 1 \
			"${sums[@]}" || return
		jq -s -r 'map([.results[0].time_us, .predicted_us]) as [$ring, $sum] |
			(1 - $sum[0] / $ring[0]) as $gain | (1 - $sum[1] / $ring[1]) as $hoped |
			"\($ring[0] / 1e6) s without sums, \($sum[0] / 1e6) s with them: gain \($gain), "
			+ "predicted \($ring[1] / 1e6), \($sum[1] / 1e6): \($hoped); ratio",
			$gain / $hoped' "$dir/ring" "$dir/out0" >"$dir/gain"
		cat "$dir/gain"
		jq -e '. >= 0.9' <(tail -n 1 "$dir/gain") >/dev/null && return
	done
	return 1
}

gone()
{
	grid_down && reduce_down
}

reduce_prepare
fabric_has_host_netns || skip_all "rxe knows no namespaces here"
ktap_plan "$(few 8 9)"
defer reduce_down
check "eight hosts with two NICs, and a switch that sums, are made" up 1gbit 1gbit
((!ktap_failed)) || exit
check "every element is right where a dimension sums all chunks in the network" all_summed
check "every element is right where a dimension sums some chunks, and scatters others" some_summed
check "every element is right where the switch's packets are lost" with_loss
check "all ranks end and name a group that the switch has already" all_refused
check "all ranks end and name a group that the switch loses" group_lost
check "a plan that sums all chunks gains at least 90 % of what is predicted" gains 100 200
[[ ! ${CHECK_ALL:-} ]] ||
	check "a plan that sums some chunks gains at least 90 % of what is predicted" gains 150 150
check "no group, module or namespace is left" gone
ktap_finish
