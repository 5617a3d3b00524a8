# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of fabric_load and of reduce.sh
#
# Packets that are lost or late, and groups, modules, links and ranks that go. Sourced by
# reduce.sh.

# The last rank of each leaf sends by way of the root: set shape from a port map of all hosts.
shape_by_root()
{
	local l host next port

	shape=("per_leaf=$hosts")
	for ((l = 0; l < leaves; l++)); do
		host=$((l * hosts + hosts - 1))
		next=$(((host + 1) % (leaves * hosts)))
		[[ -e $dir/paths$host.json ]] ||
			host_exec $host rocesteer path discover --dev "$(host_dev $host)" \
				--source "$(host_ip $host)" --peer "$(host_ip $next)" \
				--out "$dir/paths$host.json" || return
		port=$(jq --arg router "10.255.1.$((root + 1))" \
			'.peers[0].paths[] | select(.router == $router) | .ports[0]' \
			"$dir/paths$host.json")
		shape+=("sport=$host:$port")
	done
	echo "by spine $root: ${shape[*]}"
}

# hosts_tc LINE...: commands of tc, with DEV for the device of each host
hosts_tc()
{
	local i

	if fabric_has_host_netns; then
		for ((i = 0; i < leaves * hosts; i++)); do
			printf '%s\n' "${@//DEV/eth0}" | tc -n "host$i" -force -batch -
		done
		return
	fi
	for ((i = 0; i < leaves * hosts; i++)); do
		printf '%s\n' "${@//DEV/eth$i}"
	done | tc -force -batch -
}

# switch_tc SWITCH LINE PORT...: commands of tc, with DEV for each port
switch_tc()
{
	local port at=$1 line=$2
	shift 2

	for port; do
		echo "${line//DEV/$port}"
	done | netns_exec "$at" tc -force -batch -
}

# ports_tc PLACE LINE: behind is the ports to hosts, up those of leaves to spines, down those
# of spines to leaves
ports_tc()
{
	local i places spine_ports leaf_ports

	[[ ${shape[*]} ]] || {
		[[ $1 != behind ]] || switch_tc "$switch" "$2" "${ports[@]}"
		return
	}
	mapfile -t spine_ports < <(printf 'spine%d\n' $(seq 0 $((spines - 1))))
	mapfile -t leaf_ports < <(printf 'leaf%d\n' $(seq 0 $((leaves - 1))))
	case $1 in
	behind)
		for ((i = 0; i < leaves; i++)); do
			mapfile -t places < <(printf 'host%d\n' $(seq $((i * hosts)) $((i * hosts + hosts - 1))))
			switch_tc "leaf$i" "$2" "${places[@]}" || return
		done
		;;
	up)
		for ((i = 0; i < leaves; i++)); do
			switch_tc "leaf$i" "$2" "${spine_ports[@]}" || return
		done
		;;
	down)
		for ((i = 0; i < spines; i++)); do
			switch_tc "spine$i" "$2" "${leaf_ports[@]}" || return
		done
		;;
	esac
}

# disturb PLACE NETEM...: apply netem to data (before) or IPv4 acknowledgments (acks) of
# hosts, behind their rate limit, as fabric.sh sorts them; to packets from switches to hosts
# (behind), to spines (up) or to leaves (down); or to all
disturb()
{
	local place=$1 lines=() netem
	shift

	netem="netem limit 10000 $*"
	[[ $place != before && $place != all ]] || lines+=("qdisc replace dev DEV parent 2:2 $netem")
	[[ $place != acks && $place != all ]] || lines+=("qdisc replace dev DEV parent 2:1 $netem")
	((!${#lines[@]})) || hosts_tc "${lines[@]}" || return
	[[ $place != behind && $place != all ]] ||
		ports_tc behind "qdisc replace dev DEV root $netem" || return
	[[ $place != up && $place != all ]] ||
		ports_tc up "qdisc replace dev DEV parent 2:2 $netem" || return
	[[ $place != down && $place != all ]] ||
		ports_tc down "qdisc replace dev DEV parent 2:2 $netem"
}

# Undo disturb.
undisturbed()
{
	local rate=$fast fifo="qdisc replace dev DEV parent 2:2 bfifo limit 8m"

	hosts_tc "$fifo" "qdisc del dev DEV parent 2:1"
	ports_tc behind "qdisc del dev DEV root"
	ports_tc up "$fifo"
	ports_tc down "$fifo"
	[[ $switch != spine* ]] || tbf_batch "$rate" "${ports[@]}" | in_switch tc -batch -
	return 0
} 2>/dev/null

# Packets that netem has dropped
lost_packets()
{
	local netns

	{
		tc -s -j qdisc show
		for netns in $(routers) $(host_namespaces) ${box:+box}; do
			tc -n "$netns" -s -j qdisc show
		done
	} | jq -s '[.[][] | select(.kind == "netem") | .drops] | add // 0'
}

# some_lost PERCENT COMMAND...: while packets are lost, at least one if PERCENT is 1 or more
some_lost()
{
	local status=0 lost percent=$1
	shift

	"$@" || status=1
	lost=$(lost_packets)
	echo "$lost packets were lost"
	[[ $percent == 0.* ]] || ((lost)) || status=1
	return "$status"
}

# disturbed "PLACE NETEM..." COMMAND...
disturbed()
{
	local status=0 how=$1
	shift

	# shellcheck disable=SC2086 # words
	disturb $how || return
	"$@" || status=1
	undisturbed
	return "$status"
}

#
# Losses of groups, modules and links: ranks get an error, never a wrong sum, and then a
# ring's
#

dies=(timeout=14 retry=2 stall=$((10 * TIME_SCALE)) fallback=ring)

types_of()
{
	local type

	for type in int32 fp32 bf16 fp16; do
		"$1" "$2" type="$type" "${@:3}" || return
	done
}

# The queue pairs' timer exceeds the time of the rank that waits.
straggler()
{
	local status=0

	seen_mark
	ranks_start straggle 4 type=fp32 bytes=262144 packets=8 timeout=21 \
		straggle="2:3:$(few 1500 5000)" &&
		ranks_end straggle 0 || return
	group_is '[.ranks[] | select(.inputs) | .duplicates + .replays + .stale + .restarts] | add == 0' ||
		status=1
	((status == 0)) || group_get .
	group_unload && no_input_forwarded && return "$status"
}

# while_packets_wait COMMAND...: run it when rank 2 is held before its fourth message, and
# packets of all others wait in the switch
while_packets_wait()
{
	local status=0

	seen_mark
	ranks_start middle 4 type=fp32 bytes=262144 packets=4 hold=2:3 "${dies[@]}" || return
	busywait 20000 ranks_held middle && busywait 20000 group_is ".held >= $held" || status=1
	"$@" || status=1
	ranks_release middle
	ranks_end middle 3 4 || status=1
	(($(result middle ring_right) == 4 * 65536)) || status=1
	no_input_forwarded || status=1
	return "$status"
}

# dropped "COUNTER..." COMMAND: while rank 2 is held, COMMAND sends packets, of which the switch
# drops one for each of these reasons
dropped()
{
	local counters="[.${1// /, .}]" want status=0

	want=$(stat_get "$counters | map(. + 1)")
	seen_mark
	ranks_start middle 4 type=fp32 bytes=262144 packets=4 hold=2:3 timeout=20 || return
	busywait 20000 ranks_held middle && "$2" && busywait 5000 stat_is "$counters" "$want" ||
		status=1
	stat_get "$counters"
	ranks_release middle
	ranks_end middle 0 || status=1
	group_unload && no_input_forwarded && return "$status"
}

# while_ranks_send COMMAND...: run it while ranks send
while_ranks_send()
{
	local status=0

	seen_mark
	ranks_start middle 4 type=fp32 bytes=524288 iterations=60 "${dies[@]}" || return
	busywait 20000 group_is '.done >= 100' || status=1
	"$@" || status=1
	ranks_end middle 3 4 || status=1
	(($(result middle ring_right) == 4 * 131072)) || status=1
	no_input_forwarded || status=1
	return "$status"
}

module_reload()
{
	passes=1
	reduce_unload && reduce_load && $loads "$dir/middle.json"
}

# Packets of the other ranks wait until the group goes.
rank_dies()
{
	local status=0

	ranks_start dies 4 bytes=262144 packets=4 kill=1:3 timeout=14 retry=2 stall=5 &&
		ranks_end dies 3 4 || status=1
	group_is '.held > 0 and .state == "alive"' || status=1
	group_unload && nothing_held && return "$status"
}

nothing_held()
{
	local bytes

	bytes=$(stat_get .bytes)
	echo "$bytes bytes are in use"
	((bytes == 0))
}

# forge HOST KIND [BITS [MORE]]: send the group an empty packet for the queue pair of rank 1, with
# these bits of the number, and what the kind needs more; $ahead of the first PSN. A raw packet of
# hosts that share a namespace is not routed by its source address.
forge()
{
	local from=$1 psn to=${box:-$(host_ip 2)} rule
	rule=(pref 9 iif lo to "$to" lookup $((100 + $1)))

	psn=$((($(jq '.ranks[1].psn' "$dir/middle.json") + ${ahead:-0}) & 0xffffff))
	fabric_has_host_netns || ip rule add "${rule[@]}" || return
	printf 'to %d\n%s %d 50000 1 %s\n' $((0xC00000 | group << 8 | ${3:-0} | 1)) "$2" \
		"$psn" "${4:-}" |
		host_exec "$from" inject "$(host_ip "$from")" "$to"
	fabric_has_host_netns || ip rule del "${rule[@]}"
}

# An empty packet poisons the group.
forged()
{
	forge 1 write && busywait 5000 group_is '.poison == "empty" and .poison_rank == 1'
}

# Nobody has loaded the group.
no_group()
{
	ranks_start none 3 bytes=65536 load= "${dies[@]}" && ranks_end none 3 4 &&
		(($(result none ring_right) == 3 * 16384))
}
