#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NetReduce, and packets that come late, twice, from an earlier run or from elsewhere: no sum is
# wrong, and nothing stalls. And packets that are charged more memory than they have bytes, and
# time stamps where packets leave a box.
#
# shellcheck disable=SC2317 # functions are called through check

set -uo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/reduce/reduce.sh

skbs=/sys/fs/bpf/test_skb

up()
{
	local from=-

	reduce_load && leaf_up 8 "$fast" || return
	! fabric_has_host_netns || from=$(host_netns 1)
	mkfifo "$dir/replay"
	selftests/guest/reduce/replay.py leaf0 host1 "$from" "$(host_dev 1)" \
		<"$dir/replay" >"$dir/replayed" 2>&1 &
	exec {replay}>"$dir/replay"
	busywait 20000 grep -q ready "$dir/replayed"
}

# replay same|changed POSITION [NAME]: a packet of rank 1 comes again, of this run or another one
replay()
{
	local lines

	lines=$(wc -l <"$dir/replayed")
	echo "$1 $((($(jq '.ranks[1].psn' "$dir/${3:-run}.json") + $2) & 0xffffff))" >&"$replay"
	busywait 5000 replayed "$lines"
	tail -n 1 "$dir/replayed"
	[[ $(tail -n 1 "$dir/replayed") == sent ]]
}

replayed()
{
	(($(wc -l <"$dir/replayed") > $1))
}

# held_at NAME POSITION HELD OPTION...: start a run; its last rank is held there, while so many
# packets of others wait
held_at()
{
	ranks_start "$1" "${ranks:-4}" type=fp32 "hold=$((${ranks:-4} - 1)):$2" "${@:4}" &&
		busywait 20000 ranks_held "$1" && busywait 20000 group_is ".held >= $3"
}

# ends NAME STATUS: the rank goes on
ends()
{
	ranks_release "$1"
	ranks_end "$1" "$2"
}

code_of()
{
	jq -r .error.code
}

#
# Packets that are not of this run
#

# far AHEAD: a packet with such a PSN is forged, with no payload
far()
{
	local status=0

	held_at middle 3 12 bytes=262144 packets=4 timeout=20 || return
	ahead=$1 forge 1 write && busywait 5000 group_is '[.ranks[].beyond] | add == 1' ||
		status=1
	group_is '.state == "alive"' || status=1
	ends middle 0 || status=1
	group_unload && return "$status"
}

nowhere_near()
{
	far 4000000 && far -100 && far 52 && far $((RANDOM << 9 | 64))
}

# Where the numbers of a connection are used again, its PSNs are far from those before.
near_is_refused()
{
	local shift status=0

	ranks_start run 4 bytes=65536 packets=4 && ranks_end run 0 && group_unload || return
	for shift in 0 16 -4000000 4000000; do
		jq --argjson by "$shift" '.ranks[].psn |= (. + $by + 16777216) % 16777216' \
			"$dir/run.json" >"$dir/near.json"
		in_switch rocesteer --json reduce load "$dir/near.json" >"$dir/said"
		[[ $(code_of <"$dir/said") == psn ]] || status=1
	done
	cat "$dir/said"
	return "$status"
}

# A group that may not join goes on.
join_is_refused()
{
	held_at run 3 12 bytes=262144 packets=4 timeout=20 || return
	in_switch rocesteer --json reduce join "$dir/run.json" >"$dir/said"
	cat "$dir/said"
	[[ $(code_of <"$dir/said") == psn ]] && ends run 0 && group_unload
}

# before VERB: packets of the run before come while a rank of the next run is held.
before()
{
	local status=0 position

	ranks_start old 4 type=fp32 bytes=65536 packets=4 iterations=2 && ranks_end old 0 || return
	[[ $1 == join ]] || group_unload || return
	loads="nsenter --net=/run/netns/$switch rocesteer reduce $1" \
		held_at run 0 12 bytes=65536 packets=4 timeout=20 || return
	for position in 1 9 17 31; do
		replay same "$position" old || status=1
	done
	busywait 5000 group_is '.ranks[1].beyond == 4' || { group_get '.ranks[1]'; status=1; }
	ends run 0 || status=1
	group_is '[.ranks[].duplicates] | add == 0' || status=1
	group_unload && return "$status"
}

# Where an input comes twice and differs, nobody can tell which one is the rank's.
other_payload()
{
	local status=0

	held_at run 3 24 bytes=262144 packets=4 timeout=20 retry=1 fallback=ring \
		stall=$((2 * TIME_SCALE)) || return
	replay same 12 && busywait 5000 group_is '.ranks[1].duplicates >= 1 and .state == "alive"' &&
		replay changed 13 &&
		busywait 5000 group_is '.poison == "disagree" and .poison_rank == 1' || status=1
	ends run 3 4 || status=1
	group_unload && return "$status"
}

#
# Packets that come twice
#

# ms_of POSITION: how long an All-Reduce takes to end, after a packet has come again
ms_of()
{
	local begin

	held_at run 2 24 bytes=65536 packets=4 timeout=20 stall=$((30 * TIME_SCALE)) || return
	[[ ! $1 ]] || replay same "$1" || return
	begin=${EPOCHREALTIME/./}
	ends run 0 || return
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
	echo "position ${1:-none} twice: $ms ms"
	group_unload
}

# The timers of the queue pairs would take 4.3 s.
late_duplicate()
{
	local ms least

	ms_of '' || return
	least=$ms
	for position in 2 9 14; do
		ms_of "$position" && ((ms < least + 1000 * TIME_SCALE)) || return
	done
}

#
# Memory and time stamps of packets
#

skb_load()
{
	mkdir "$skbs" && bpftool prog loadall build/guest/bpf/skb.bpf.o "$skbs" pinmaps "$skbs"
}

skb_count()
{
	bpftool -j map lookup pinned "$skbs/skbs" key "$1" 0 0 0 | jq .formatted.value
}

# Each packet is charged more than the group has reserved for one.
pages()
{
	local port status=0

	skb_load && disturb before delay 1ms || return
	for port in "${ports[@]}"; do
		echo "qdisc add dev $port clsact"
		echo "filter add dev $port ingress bpf direct-action object-pinned $skbs/grow"
	done | in_switch tc -batch - || return
	ranks=8 held_at run 0 560 bytes=327680 mtu=1024 packets=40 window=2 timeout=17 \
		stall=$((20 * TIME_SCALE)) || status=1
	ends run 0 || status=1
	echo "$(skb_count 0) packets were grown"
	(($(skb_count 0) >= 560 && $(stat_get .no_memory) == 0)) || status=1
	undisturbed
	observe_end
	group_unload && return "$status"
}

# Somebody wants to know when packets arrive, and fq when they may leave.
stamps()
{
	local stamp status=0

	exec {stamp}> >(python3 -c 'import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 35, 1)	# SO_TIMESTAMPNS
print("ready", flush=True)
sys.stdin.read()' >"$dir/stamp")
	modprobe sch_fq && busywait 10000 grep -q ready "$dir/stamp" || return
	printf '%s\n' "qdisc replace dev eth0 root fq" "qdisc add dev eth0 clsact" \
		"filter add dev eth0 egress bpf direct-action object-pinned $skbs/stamped" |
		in_switch tc -batch - || return
	reduces 4 type=fp32 bytes=65536 packets=8 timeout=15 retry=3 stall=$((8 * TIME_SCALE)) ||
		status=1
	exec {stamp}>&-
	echo "$(skb_count 2) of $(skb_count 1) results leave with a time stamp"
	(($(skb_count 1) >= 64 && $(skb_count 2) == 0)) && return "$status"
}

box()
{
	exec {replay}>&-
	fabric_down && box_up 4 "$fast"
}

gone()
{
	rm -r "$skbs" && reduce_down
}

reduce_prepare
ktap_plan 12
defer reduce_down
check "eight hosts below a leaf are made" up
((!ktap_failed)) || exit
check "a forged packet outside the window is dropped, and the sum is right" nowhere_near
check "a group with PSNs near those of the last run is refused" near_is_refused
check "a run with PSNs near those of the present one does not join" join_is_refused
check "a packet of the run before is not summed after another load" before load
check "a packet of the run before is not summed after a join" before join
check "an input that comes again with another payload poisons the group" other_payload
check "a late duplicate does not stop the last window" late_duplicate
check "packets with a page each do not lock up a group" pages
check "a box beside the switches is made" box
check "a box sends no time stamps of arrival" stamps
check "no group, module or namespace is left" gone
ktap_finish
