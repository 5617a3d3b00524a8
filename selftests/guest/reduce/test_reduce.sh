#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NetReduce on RoCE connections: a switch sums the data of a group's ranks. Sums are right bit
# by bit, and no input is ever forwarded, whatever is lost or unloaded. When the switch cannot
# go on, ranks get an error, never a wrong sum, and a ring takes over.
#
# shellcheck disable=SC2317 # functions are called through check

set -uo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/reduce/reduce.sh

#
# Ranks and observer notice wrong behaviour
#

lane_is_noticed()
{
	observe comes_all && ranks_start lane 4 bytes=65536 mode=lane &&
		ranks_end lane 1 || return
	no_input_forwarded && return 1
	observe_end
	(($(result lane right) == 0 && $(result lane raw) == 4 * 16384 && seen[3] >= 4 * 16))
}

ring_is_right()
{
	ranks_start ring 4 type=fp16 bytes=30002 mode=ring && ranks_end ring 0
}

#
# Sums
#

min_and_max()
{
	types_of reduces 3 op=min bytes=8196 packets=1 && types_of reduces 3 op=max bytes=8196
}

# A packet socket keeps packets as they came: the switch writes into copies.
tapped()
{
	local tap in status=0

	rm -f "$dir/tap.in"
	mkfifo "$dir/tap.in"
	in_switch selftests/guest/reduce/tap.py host1 <"$dir/tap.in" >"$dir/tap.out" &
	tap=$!
	exec {in}>"$dir/tap.in"
	busywait 20000 grep -q ready "$dir/tap.out" &&
		sums 4 type=fp32 bytes=131072 timeout=20 || status=1
	exec {in}>&-
	wait "$tap" || status=1
	cat "$dir/tap.out"
	grep -qx "virtual=32 other=0" "$dir/tap.out" && return "$status"
}

# The bridge does not know where hosts are.
flooded()
{
	local status=0 bridge=(ip -n leaf0 link set br0 type bridge ageing_time)

	"${bridge[@]}" 0 && sums 4 type=fp32 bytes=131072 || status=1
	"${bridge[@]}" 30000 && return "$status"
}

host_ip_vlan()
{
	echo 10.5.0.$(($1 + 1))
}

vlan()
{
	local i status=0

	for i in 0 1 2 3; do
		ip -n "host$i" -batch - <<-E || status=1
		link add link eth0 name eth0.5 type vlan id 5
		addr add $(host_ip_vlan "$i")/24 dev eth0.5
		link set eth0.5 up
		E
	done
	sums "4 0 _vlan" type=fp32 bytes=131072 || status=1
	for i in 0 1 2 3; do
		ip -n "host$i" link del eth0.5 || status=1
	done
	return "$status"
}

# Two groups and a ring share hosts.
side_by_side()
{
	local status=0

	seen_mark
	group=5 ranks_start a 4 type=fp32 bytes=300000 &&
		group=16383 ranks_start b "4 2" type=bf16 bytes=300000 &&
		ranks_start c "4 1" bytes=300000 mode=ring || return
	ranks_end a 0 || status=1
	ranks_end b 0 || status=1
	ranks_end c 0 || status=1
	group=5 group_unload || status=1
	group=16383 group_unload || status=1
	no_input_forwarded || status=1
	return "$status"
}

#
# Loss
#

# netem flips bits.
corrupted()
{
	local status=0 before

	before=$(stat_get .icrc)
	disturbed "all corrupt 2%" sums 4 type=fp32 bytes=262144 "${quick[@]}" || status=1
	echo "$(($(stat_get .icrc) - before)) packets had a wrong ICRC at the switch"
	(($(stat_get .icrc) > before)) && return "$status"
}

#
# Losses of groups, modules and links: ranks get an error, never a wrong sum, and then a
# ring's
#

link_down()
{
	local status=0

	in_switch ip link set host1 down && group_is '.poison == "device"' || status=1
	in_switch ip link set host1 up && return "$status"
}

strangers()
{
	forge 1 broken && forge 1 read && forge 4 write
}

# One rank has messages of another size.
odd()
{
	local status=0

	seen_mark
	ranks_start odd 4 bytes=262144 packets=4 odd=1:3 "${dies[@]}" &&
		ranks_end odd 3 4 && group_is '.poison == "disagree"' || status=1
	(($(result odd ring_right) == 4 * 65536)) || status=1
	group_unload && no_input_forwarded && return "$status"
}

#
# Groups
#

twice()
{
	later run && in_switch rocesteer reduce load "$dir/run.json" || return
	refused exists in_switch rocesteer --json reduce load "$dir/run.json" && group_unload &&
		refused not-found in_switch rocesteer --json reduce unload "$group"
}

unprivileged()
{
	local as=(setpriv --reuid 65534 --regid 65534 --clear-groups build/guest/rocesteer)

	refused permission in_switch "${as[@]}" --json reduce load "$dir/run.json" &&
		refused permission in_switch "${as[@]}" --json reduce unload "$group" &&
		[[ $(in_switch rocesteer --json reduce show) == *'"groups":[]'* ]]
}

namespaces()
{
	local status=0

	in_switch rocesteer reduce load "$dir/run.json" &&
		netns_exec spine0 rocesteer reduce load "$dir/run.json" || return
	[[ $(rocesteer --json reduce show) == *'"groups":[]'* ]] || status=1
	netns_exec spine0 rocesteer reduce unload "$group" || status=1
	group_is '.group == 5' || status=1
	group_unload || status=1
	return "$status"
}

#
# Places
#

up()
{
	reduce_load && leaf_up 8 "$fast" && observer_load
}

spine()
{
	spine_up 4 "$fast" && observe comes
}

reduce_prepare
ktap_plan 38
defer reduce_down
check "eight hosts below a leaf are made" up
((!ktap_failed)) || exit
check "ranks and observer notice raw inputs" lane_is_noticed
check "a ring has right results" ring_is_right
check "the observer watches the leaf" observe comes
check "minimum and maximum are right" min_and_max
check "16 ranks on 8 hosts sum with MTU 1024 and one packet a message" \
	sums 16 type=fp16 bytes=40002 mtu=1024 packets=1 window=4
check "each of 4 hosts sends its buffer once" sends_once
check "two groups and a ring run side by side" side_by_side
check "groups sum over IPv6" sums "4 0 6" type=fp32 bytes=132308
vlan="VLAN"
if fabric_has_host_netns; then
	check "$vlan" vlan
else
	skip "$vlan" "hosts share a namespace"
fi
check "a packet socket at the switch sees inputs with their virtual queue pairs" tapped
check "sums are right while the bridge floods" flooded
check "sums are right with lost, doubled and reordered packets" \
	disturbed "before delay 2ms 1ms loss 0.5% duplicate 2%" \
	sums 4 type=fp32 bytes=131072 "${quick[@]}"
check "sums are right with flipped bits" corrupted
check "no packet is sent twice while one rank waits" straggler

check "a ring takes over when the group is unloaded while packets wait" \
	while_packets_wait group_unload
check "a ring takes over when the group is unloaded while ranks send" while_ranks_send group_unload
for how in while_packets_wait while_ranks_send; do
	check "a ring takes over when the module is reloaded ${how//_/ }" $how module_reload
	check "the group of the failed run is unloaded" group_unload
done
check "a ring takes over when a link of the switch goes down" while_packets_wait link_down
check "the group of the failed run is unloaded" group_unload
check "broken packets and packets of other hosts are dropped" \
	dropped "icrc opcode address" strangers
check "ranks that disagree poison the group" odd
check "a forged packet poisons the group" while_packets_wait forged
check "the group of the failed run is unloaded" group_unload
check "the other ranks end when a rank dies" rank_dies
check "without a group no input arrives, and a ring runs" no_group

check "a group is refused a second time" twice
check "an unprivileged user is refused" unprivileged
check "namespaces have groups of their own" namespaces
check "no memory of groups is in use in the end" nothing_held
fabric_down

check "four hosts below leaves of their own are made" spine
check "a spine sums for leaves that do not" sums 4 type=fp32 bytes=132308
check "a spine sums over IPv6" sums "4 0 6" type=bf16 bytes=132308
check "a spine sums with 1 % loss" \
	disturbed "all loss 1%" sums 4 type=fp32 bytes=132308 "${quick[@]}"
check "no group, module or namespace is left" reduce_down
ktap_finish
