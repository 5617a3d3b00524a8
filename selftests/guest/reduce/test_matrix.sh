#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NetReduce on RoCE connections: all types and sizes, 2 to 64 ranks, and losses at each place,
# at one switch and over leaves and a spine. "make check" runs a part.
#
# shellcheck disable=SC2317 # functions are called through check

set -uo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/reduce/reduce.sh

types=(int32 fp32 bf16 fp16)
places=(before behind acks all)
read -r -a losses <<<"$(few 5 "0.1 1 5")"
read -r -a counts <<<"$(few "8" "2 3 4 5 6 7 8 16 64")"
# The tail has 1236 bytes, because fabric.sh lets shorter IPv4 packets overtake others.
sizes=(42196 "$(few 132308 1049812)")
long=$(few 1049812 8388608)
lossy=132308

trees=("2 4")	# leaves, hosts below each
[[ ! ${CHECK_ALL:-} ]] || trees+=("3 2" "4 1")
tree_places=(before up down behind acks all)

one_element()
{
	reduces 2 type=int32 bytes=4 && reduces 2 type=fp32 bytes=4 &&
		reduces 3 type=bf16 bytes=2 && reduces 3 type=fp16 bytes=2
}

# lost RANKS PLACE LOSS TYPE...: these types in turn
lost()
{
	local type ranks=$1 place=$2 loss=$3
	shift 3

	for type; do
		disturbed "$place loss $loss% seed 3" some_lost "$loss" \
			sums "$ranks" type="$type" bytes="$lossy" timeout=15 \
			iterations="$(few 3 20)" || return
	done
}

tree_types()
{
	local type

	for type in "${types[@]}"; do
		sums $((leaves * hosts)) type="$type" bytes="${sizes[0]}" packets=8 timeout=19 ||
			return
	done
}

# Reload the observer, because a part in one tree may be a result in another.
tree_and_observer()
{
	rm -r "$pins"
	observer_load && tree_up "$1" "$2" 1 "$fast" && observe_tree
}

up()
{
	reduce_load && leaf_up 8 "$fast" && observer_load && observe comes
}

reduce_prepare
ktap_plan $((4 + ${#counts[@]} * ${#sizes[@]} * 4 + ${#places[@]} * ${#losses[@]} +
	2 * ${#trees[@]} + ${#tree_places[@]} * ${#losses[@]}))
defer reduce_down
check "eight hosts below a leaf are made" up
((!ktap_failed)) || exit
check "one element is summed" one_element
check "4 hosts sum $long bytes of fp32" sums 4 type=fp32 bytes="$long" iterations=2
for n in "${counts[@]}"; do
	for type in "${types[@]}"; do
		for bytes in "${sizes[@]}"; do
			check "$n ranks sum $bytes bytes of $type" \
				sums "$n" type="$type" bytes="$bytes" packets=8 timeout=19
		done
	done
done
i=0
for place in "${places[@]}"; do
	for loss in "${losses[@]}"; do
		read -r -a those <<<"$(few "${types[i++ % 4]}" "${types[*]}")"
		check "sums are right with $loss % loss: $place" \
			lost 4 "$place" "$loss" "${those[@]}"
	done
done
fabric_down

for tree in "${trees[@]}"; do
	read -r l h <<<"$tree"
	check "$l leaves of $h hosts and a spine are made" tree_and_observer "$l" "$h"
	check "$l x $h hosts sum all types" tree_types
	[[ $tree == "${trees[0]}" ]] || { fabric_down; continue; }
	for place in "${tree_places[@]}"; do
		for loss in "${losses[@]}"; do
			read -r -a those <<<"$(few "${types[i++ % 4]}" "${types[*]}")"
			check "$l x $h hosts sum with $loss % loss: $place" \
				lost $((l * h)) "$place" "$loss" "${those[@]}"
		done
	done
	fabric_down
done
check "no group, module or namespace is left" reduce_down
ktap_finish
