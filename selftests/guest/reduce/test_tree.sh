#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NetReduce over leaves and a spine on RoCE connections: each leaf sends one part up, and the
# spine sums the parts. Sums are right bit by bit, no input leaves a leaf, and no part reaches
# a host, whatever is lost or unloaded. When the switches cannot go on, ranks get an error,
# never a wrong sum, and a ring takes over.
#
# shellcheck disable=SC2317 # functions are called through check

set -uo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/reduce/reduce.sh

read -r -a losses <<<"$(few 1 "0.1 1 5")"
places=(before up down behind acks all)

#
# Bytes
#

# Bytes that the first leaf sent up and received from above, and that its first host sent
tree_bytes()
{
	netns_exec leaf0 ip -s -j link show | jq -c '[
		([.[] | select(.ifname | startswith("spine")) | .stats64.tx.bytes] | add),
		([.[] | select(.ifname | startswith("spine")) | .stats64.rx.bytes] | add),
		(.[] | select(.ifname == "host0") | .stats64.rx.bytes)]'
}

within_5_percent()
{
	(($1 > $2 && $1 < $2 * 105 / 100))
}

carried_once()
{
	local before bytes=1048576 up down host

	before=$(tree_bytes)
	sums 4 bytes="$bytes" timeout=20 || return
	read -r up down host < <(jq -rn --argjson a "$(tree_bytes)" --argjson b "$before" \
		'[range(3) | $a[.] - $b[.]] | join(" ")')
	echo "of $bytes bytes $up went up, $down came down, and $host came from a host"
	within_5_percent "$up" "$bytes" && within_5_percent "$down" "$bytes" &&
		within_5_percent "$host" "$bytes"
}

#
# Losses of groups, modules and links
#

# The other switches keep the group, and get nothing.
forgets()
{
	netns_exec "$1" rocesteer reduce unload "$group"
}

# Late packets of the run could be summed: its PSNs are refused.
remembers()
{
	! netns_exec "$1" rocesteer reduce load "$dir/middle.json" "${@:2}" && later middle &&
		netns_exec "$1" rocesteer reduce load "$dir/middle.json" "${@:2}"
}

# A switch without the group lets packets pass.
without_switch()
{
	local at status=0

	seen_mark
	passes=1
	reduce_unload && reduce_load && without=$1 ranks_start none 4 bytes=65536 "${dies[@]}" &&
		ranks_end none 3 4 || status=1
	passes=''
	(($(result none ring_right) == 4 * 16384)) || status=1
	seen_get
	echo "$((seen[0] - marked[0])) inputs, $((seen[3] - marked[3])) left as they came," \
		"$((seen[6] - marked[6])) parts reached hosts"
	((seen[0] > marked[0] && seen[3] == marked[3] && seen[6] == marked[6])) || status=1
	misplaced "$2" || status=1
	for at in leaf0 leaf1 spine0; do
		[[ $at == "$1" ]] || forgets "$at" || status=1
	done
	return "$status"
}

misplaced()
{
	local count

	count=$(netns_exec "$1" rocesteer --json reduce stat | jq .misplaced)
	echo "$1 dropped $count packets that another switch should have taken"
	((count))
}

# A host forges a part of its leaf, and a result of the root.
pretends()
{
	local status=0 before

	before=$(stat_get .misplaced)
	seen_mark
	ranks_start middle 4 type=fp32 bytes=262144 packets=4 hold=2:3 timeout=20 || return
	busywait 20000 ranks_held middle && forge 1 write $((0x40)) && forge 1 write $((0x80)) &&
		busywait 5000 misplaced_is $((before + 2)) || status=1
	ranks_release middle
	ranks_end middle 0 || status=1
	group_unload && no_input_forwarded && return "$status"
}

misplaced_is()
{
	local now

	now=$(stat_get .misplaced)
	echo "$now misplaced"
	((now == $1))
}

spine_link_down()
{
	local status=0

	ip -n spine0 link set leaf1 down && switch=spine0 group_is '.poison == "device"' ||
		status=1
	router_batch spine0 | grep -w leaf1 | ip -n spine0 -batch - || status=1
	return "$status"
}

#
# Groups that are loaded before their ranks
#

# The next run joins the group, also when it was poisoned.
joins()
{
	local status=0

	ranks_start run 4 bytes=65536 || return
	ranks_end run 0 || status=1
	loads="$dir/tree join" ranks_start run 4 type=bf16 op=max bytes=65536 || status=1
	ranks_end run 0 || status=1
	ranks_start odd 4 bytes=65536 packets=40 load="$dir/tree join" odd=1:3 "${dies[@]}" &&
		ranks_end odd 3 4 || status=1
	loads="$dir/tree join" ranks_start run 4 type=fp32 bytes=65536 || status=1
	ranks_end run 0 || status=1
	group_unload && return "$status"
}

#
# Places
#

up()
{
	tree_up "$@" "$fast" && observe_tree
}

first_up()
{
	reduce_load && observer_load && up 2 2 1
}

# Four groups run over two spines at the same time.
side_by_side()
{
	local status=0 name

	seen_mark
	for name in 0 1 2 3; do
		root=$((name % 2))
		shape_by_root || return
		group=$((name + 7)) ranks_start "$name" 4 type=fp32 bytes=200000 ||
			return
	done
	for name in 0 1 2 3; do
		ranks_end "$name" 0 || status=1
		root=$((name % 2)) group=$((name + 7)) group_unload || status=1
	done
	root=0
	no_input_forwarded || status=1
	return "$status"
}

other_spine()
{
	root=0
	shape_by_root && while_packets_wait forgets spine0 || return
	group=5 forgets leaf0 && group=5 forgets leaf1 || return
	root=1
	shape_by_root && group=6 sums 4 type=fp32 bytes=65536
}

reduce_prepare
ktap_plan $((25 + ${#places[@]} * ${#losses[@]}))
defer reduce_down
check "two hosts below each of two leaves are made" first_up
((!ktap_failed)) || exit
check "sums of all types are right" types_of sums 4 bytes=132308
check "minimum is right" sums 4 type=fp16 op=min bytes=8196 packets=1
check "uplinks, downlinks and hosts carry the buffer once" carried_once
check "leaves and spine sum over IPv6" sums "4 0 6" type=fp32 bytes=132308
for place in "${places[@]}"; do
	for loss in "${losses[@]}"; do
		check "sums are right with $loss % loss: $place" \
			disturbed "$place loss $loss% seed 3" \
			some_lost "$loss" sums 4 type=fp32 bytes=132308 iterations=8 "${quick[@]}"
	done
done
check "sums are right with doubled and reordered packets" \
	disturbed "all delay 2ms 1ms duplicate 2%" sums 4 type=fp32 bytes=131072 "${quick[@]}"
check "no packet is sent twice while one rank waits" straggler
check "a ring takes over when a leaf unloads the group while packets wait" \
	while_packets_wait forgets leaf0
check "the leaf takes the group again" remembers leaf0 --leaf 0
check "the group of the failed run is unloaded" group_unload
check "a ring takes over when the spine unloads the group while ranks send" \
	while_ranks_send forgets spine0
check "the spine takes the group again" remembers spine0 --spine 0
check "the group of the failed run is unloaded" group_unload
for how in while_packets_wait while_ranks_send; do
	check "a ring takes over when the module is reloaded ${how//_/ }" $how module_reload
	check "the group of the failed run is unloaded" group_unload
done
check "a ring takes over when a link of the spine goes down" while_packets_wait spine_link_down
check "the group of the failed run is unloaded" group_unload
check "the other ranks end when a rank dies" rank_dies
check "the spine drops inputs of a leaf that does not sum" without_switch leaf0 spine0
check "leaves drop parts from a spine that does not sum" without_switch spine0 leaf1
check "a loaded group can be joined by several runs" joins
check "a host cannot send in the place of its leaf or the root" pretends
fabric_down

check "four hosts below two leaves and two spines are made" up 2 2 2
check "four groups over two spines run side by side" side_by_side
check "the next run takes the other spine when one has lost its group" other_spine
fabric_down
check "no group, module or namespace is left" reduce_down
ktap_finish
