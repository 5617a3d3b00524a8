#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NetReduce by a box beside switches that know nothing of it: queue pairs are connected to the
# box's address, and the box readdresses results and acknowledgments. The same holds as on a
# switch: sums are right bit by bit, and no input is ever sent on.
#
# shellcheck disable=SC2317 # functions are called through check

set -uo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/reduce/reduce.sh

places=(before behind acks all)
read -r -a losses <<<"$(few 5 "0.1 1 5")"

up()
{
	reduce_load && box_up 4 "$fast" && observer_load && observe comes
}

# Sums of a switch on the path are in selftests/guest/reduce/test_reduce.sh.
sums_all_types()
{
	types_of sums 4 bytes=132308 packets=8
}

shown()
{
	sums 4 bytes=65536 || return
	later run && in_switch rocesteer reduce load "$dir/run.json" || return
	in_switch rocesteer reduce show "$group"
	group_is '.box == "10.1.0.200" and .role == "alone" and
		all(.ranks[]; .sender_qpn > 0 and .sender_qpn != .qpn)' || return
	group_unload
}

# lost PLACE LOSS
lost()
{
	local type

	for type in $(few fp32 "int32 fp32 bf16 fp16"); do
		disturbed "$1 loss $2% seed 3" some_lost "$2" sums 4 type="$type" bytes=132308 \
			timeout=15 iterations="$(few 3 20)" || return
	done
}

address_goes()
{
	ip -n box addr del "$box_ip/24" dev eth0
}

address_comes()
{
	box_addresses && group_unload
}

link_down()
{
	local status=0

	ip -n box link set eth0 down && group_is '.poison == "device"' || status=1
	box_addresses && return "$status"
}

# An answer is no longer than an acknowledgment, and a request is none.
strangers()
{
	forge 1 broken && forge 3 write && forge 2 write 0xc0 && forge 2 ack 0xc0 96
}

# bad CODE FILTER: the group's file, changed by a filter of jq, is refused
bad()
{
	jq "$2" "$dir/run.json" >"$dir/changed.json"
	refused "$1" in_switch rocesteer --json reduce load "$dir/changed.json" "${@:3}" &&
		nothing_held
}

bad_groups()
{
	bad kernel '.box = "10.1.0.201"' && bad bad-file '.box = "10.1.0.1"' &&
		bad bad-file '.box = "fd00:1::c8"' && bad bad-file '.box = "box"' &&
		bad bad-file '.root = 1' && bad bad-file 'del(.ranks[2].sender_qpn)' &&
		bad bad-file 'del(.box)' && bad box . --leaf 0
}

perf()
{
	local i pid=() status=0

	seen_mark
	for i in 3 2 1 0; do
		host_exec "$i" rocesteer-perf --rank "$i" --rendezvous "$(host_ip 0)" \
			--rdma-dev "$(host_rdma "$i")" --dims 4 --bandwidth 0.1 --size 1M --warmup 0 \
			--iters 2 --timeout $((20000 * TIME_SCALE)) --json --algorithm netreduce \
			--box "$box_ip" --switch "nsenter --net=/run/netns/box rocesteer" \
			>"$dir/perf$i" 2>&1 &
		pid+=($!)
	done
	for i in "${pid[@]}"; do
		wait "$i" || status=1
	done
	jq -c '{by_ring, reason, wrong: .results[0].wrong}' "$dir/perf0" || cat "$dir"/perf[0-3]
	jq -e '.by_ring == 0 and .results[0].wrong == 0' "$dir/perf0" >/dev/null || status=1
	no_input_forwarded && nothing_held && return "$status"
}

reduce_prepare
ktap_plan $((24 + ${#places[@]} * ${#losses[@]}))
defer reduce_down
check "four hosts below a leaf are made, and a box beside it" up
((!ktap_failed)) || exit
check "the box sums all types" sums_all_types
check "the group is shown with its box and its senders" shown
check "the box sums over IPv6" sums "4 0 6" box="$box_ip6" type=fp32 bytes=132308
check "each of 4 hosts sends its buffer once" sends_once
check "rocesteer-perf sums by the box" perf
for place in "${places[@]}"; do
	for loss in "${losses[@]}"; do
		check "sums are right with $loss % loss: $place" lost "$place" "$loss"
	done
done
check "sums are right with lost, doubled and reordered packets" \
	disturbed "before delay 2ms 1ms loss 0.5% duplicate 2%" \
	sums 4 type=fp32 bytes=131072 "${quick[@]}"
check "sums are right with flipped bits" \
	disturbed "all corrupt 2%" sums 4 type=fp32 bytes=262144 "${quick[@]}"
check "no packet is sent twice while one rank waits" straggler
check "a ring takes over when the group is unloaded while packets wait" \
	while_packets_wait group_unload
check "a ring takes over when the group is unloaded while ranks send" while_ranks_send group_unload
check "a ring takes over when the module is reloaded while ranks send" \
	while_ranks_send module_reload
check "the group of the failed run is unloaded" group_unload
check "a ring takes over when the box loses its address" while_ranks_send address_goes
check "the box gets its address back" address_comes
check "a ring takes over when the box's link goes down" while_packets_wait link_down
check "the group of the failed run is unloaded" group_unload
check "broken packets and packets of other hosts are dropped" \
	dropped "icrc opcode address length" strangers
check "a forged packet poisons the group" while_packets_wait forged
check "the group of the failed run is unloaded" group_unload
check "the other ranks end when a rank dies" rank_dies
check "without a group no input arrives, and a ring runs" no_group
check "a group that does not fit its box is refused" bad_groups
check "no group, module or namespace is left" reduce_down
ktap_finish
