#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Spines that go silent under traffic, with their links up: split flows leave them in time, no
# queue pair fails, every byte arrives, and spines that are back are used again. A path that
# loses some packets, a NIC without carrier, and a bond that loses a link take no path down.
#
# FLAPS is how many spines go silent for a while, one after the other: 6, or 50 for a soak of
# some minutes under TCG.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh
. selftests/net/observe.sh

pins=/sys/fs/bpf/test_failure
qps=3
timeout=17	# of a queue pair: 4.096 us * 2^17
limit=$((3 * 4096 * (1 << timeout) / 1000000))	# ms
flaps=${FLAPS:-6}

up()
{
	steer_up --hosts 1 --rate 8mbit --host-rate 32mbit && module_load &&
		defer module_unload && observe_up && daemons_up &&
		job_load_cgroup 0 --split all --resequence on &&
		job_load_cgroup "$far" --split all --resequence on
}

# One daemon for each network namespace. The events of host 0's go to $dir/events.
daemons_up()
{
	local host n=0

	defer daemons_down
	for host in 0 "$far"; do
		((!n)) || [[ $(host_netns "$host") ]] || continue
		host_exec "$host" rocesteer --json daemon --probe-timeout 10 \
			>"$dir/daemon$host" 2>&1 &
		busywait 30000 daemons_run $((++n)) || return
	done
	host_exec 0 rocesteer --json monitor >"$dir/events" &
}

daemons_run()
{
	(($(find /run/rocesteer -name '*.sock' | wc -l) == $1))
}

# seen SPINE FILTER: jq of the packets on the links to the spine
seen()
{
	bpftool --json map dump pinned "$pins/seen" |
		jq --argjson s "$1" "[.[].formatted | .key + .value |
			select(.sender == 3 and .index == \$s)] | $2"
}

all_carry()
{
	bpftool --json map dump pinned "$pins/seen" |
		jq -e --argjson n "$spines" '[.[].formatted | .key + .value |
			select(.sender == 3 and .leaf == 0 and .ack == 0)] |
			group_by(.index) | length == $n and
			all(.[]; map(.packets) | add > 20)' >/dev/null
}

# All spines are used from now on.
are_used()
{
	observe_forget && busywait 60000 all_carry
}

# path_by SPINE: the path in host 0's port map
path_by()
{
	jq --arg router "10.255.1.$(($1 + 1))" \
		'.peers[0].paths[] | select(.router == $router).path' \
		"$dir/ports0.json"
}

# vanish SPINE [RULE]: by default it loses all packets
vanish()
{
	local s=$1
	shift

	ip -n "spine$s" rule add pref 1 "${@:-blackhole}"
}

appear()
{
	ip -n "spine$1" rule del pref 1
}

# told FILTER: of the events of job 1, which is host 0's
told()
{
	jq -s -e "[.[] | select(.job == 1)] | $1" "$dir/events"
}

daemon_told()
{
	told "$@" >/dev/null
}

last_is()
{
	daemon_told "map(select(.path == $(path_by "$2") and .event != \"detour\")) |
		last.event == \"path-$1\""
}

plan()
{
	flows_of 0 | jq -c '[.flows[] | select(.share and .job == 1) |
		{dqpn, on: [.pieces[].path] | sort}] | sort_by(.dqpn)'
}

# Set now, in ms.
look()
{
	local s ms _

	IFS='. ' read -r s ms _ </proc/uptime
	now=$((s * 1000 + 10#$ms * 10))
}

is_after()
{
	look
	((now > $1))
}

# off_since SPINE TIME: the last packet of either direction to the spine came within the limit
# after TIME
off_since()
{
	took=$(($(seen "$1" 'map(.last) | max // 0') / 1000000 - $2))
	echo "spine$1: off it after $took ms, at most $limit ms"
	((took <= limit)) && return
	echo "since $2 ms:"
	seen "$1" 'map({leaf, dqpn, ack, packets, last})[]' | jq -c .
	return 1
}

dies()
{
	local s=$1

	are_used || return
	before=$(plan)
	look
	start=$now
	vanish "$@"
	busywait 60000 last_is down "$s" || return
	busywait 60000 is_after $((start + 2 * limit))
	after=$(plan)
	off_since "$s" "$start"
}

silent()
{
	write_start "$qps" "$timeout"
	dies 2
}

# A failure shows the last events, and repairs the spines.
attempt()
{
	local s

	"$@" && return
	tail -n 30 "$dir/events"
	tail -n 30 "$dir/daemon"*
	plan
	write_end 2>/dev/null
	for ((s = 0; s < spines; s++)); do
		appear "$s" 2>/dev/null
	done
	return 1
}

# Each flow keeps its paths but the dead one.
moved_least()
{
	echo "$before"
	echo "$after"
	jq -n -e --argjson before "$before" --argjson after "$after" \
		--argjson dead "$(path_by 2)" '
		($after | length) == 3 and
		$after == ($before | map(.on -= [$dead]))'
}

returns()
{
	appear 2
	busywait 60000 last_is up 2 && busywait 60000 all_up && are_used &&
		told "map(select(.path == $(path_by 2) and
			(.event | startswith(\"path-\")))) | map((.time[:19] + \"Z\" |
			fromdate) + (.time[19:-1] | tonumber)) |
			\"held down for \(.[-1] - .[-2]) s\", .[-1] - .[-2] >= 0.1"
}

# The spine says so, without the limit that Linux has: once a second for each host.
no_route()
{
	local cost

	cost=$(sysctl -n net.ipv4.route.error_cost) &&
		defer sysctl -qw "net.ipv4.route.error_cost=$cost" &&
		sysctl -qw net.ipv4.route.error_cost=0 || return
	write_start "$qps" "$timeout"
	dies 3 to 10.1.1.0/24 unreachable &&
		told "map(select(.path == $(path_by 3) and .event == \"path-down\"))[-1] |
			.cause, .cause == \"unreachable\"" || return
	appear 3
	busywait 60000 last_is up 3 && busywait 60000 all_up && are_used && write_end
}

# One packet in five is lost, and the path answers to probes.
loses_some()
{
	local p

	p=$(path_by 1)
	write_start "$qps" "$timeout"
	ip netns exec spine1 tc qdisc replace dev leaf1 parent 2:2 \
		netem loss 20% limit 4000
	busywait 60000 daemon_told "any(.[]; .event == \"path-lossy\" and
		.path == $p and .loss > 0 and .answers > 0)" &&
		daemon_told "any(.[]; .event == \"detour\" and .path == $p) and
			all(.[]; .event != \"path-down\" or .path != $p)"
	local status=$?
	ip netns exec spine1 tc qdisc replace dev leaf1 parent 2:2 \
		bfifo limit 8m
	((!status)) && write_end
}

# rxe fails a queue pair when its device does not take a packet, so new queue pairs follow.
no_carrier()
{
	local downs

	downs=$(told 'map(select(.event == "path-down")) | length')
	write_start "$qps" "$timeout"
	are_used || return
	ip -n leaf0 link set host0 down
	look
	busywait 20000 is_dark && busywait 20000 is_after $((now + limit))
	ip -n leaf0 link set host0 up
	write_end
	busywait 60000 all_up
	write_start "$qps" "$timeout"
	are_used &&
		daemon_told "map(select(.event == \"path-down\")) | length == $downs"
}

is_dark()
{
	host_exec 0 ip -j link show "$(host_dev 0)" |
		jq -e '.[0].flags | index("NO-CARRIER")' >/dev/null
}

# pause MILLISECONDS
pause()
{
	local s

	printf -v s '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
	read -r -t "$s" <> <(:) || :
}

all_up()
{
	local host

	for host in 0 "$far"; do
		host_exec "$host" rocesteer --json job show \
			--job $((host + 1)) |
			jq -e 'all(.groups[]; .down == [])' >/dev/null || return
	done
}

# Spines are silent for up to one and a half times the limit.
flap()
{
	local i s start late=0 seed=${SEED:-1}

	echo "SEED=$seed"
	RANDOM=$seed
	for ((i = 0; i < flaps; i++)); do
		s=$((RANDOM % spines))
		look
		start=$now
		vanish "$s"
		pause $((RANDOM % (3 * limit / 2)))
		off_since "$s" "$start" || late=$((late + 1))
		appear "$s"
		busywait 60000 all_up && are_used || return
	done
	told 'group_by(.event) | map({(.[0].event): length}) | add' | jq -c .
	((!late)) && replans_move_least && write_end
}

# Three flows leave a dead path, which moves nothing else, or return to it.
replans_move_least()
{
	daemon_told 'map(select(.event == "replan" and .flows == 3)) |
		[.[:-1], .[1:]] | transpose | map({from: .[0].pieces,
			to: .[1].pieces, moved: .[1].moved}) |
		any(.[]; .from == 12 and .to == 9) and all(.[];
			(.from != 12 or .to != 9 or .moved == 0) and
			(.from != 9 or .to != 12 or .moved <= 3))'
}

# Packets on each link have ports of that link's path only.
lands_as_planned()
{
	local s ports

	for ((s = 0; s < spines; s++)); do
		ports=$(flows_of 0 | jq --argjson p "$(path_by "$s")" \
			'[.flows[] | select(.share and .job == 1) | .pieces[] |
				select(.path == $p).port]')
		seen "$s" 'map(select(.leaf == 0 and .ack == 0).sport) | unique' |
			jq -e --argjson ports "$ports" 'length > 0 and
				. - $ports == []' >/dev/null || return
	done
}

# All packets of one look at the links are on plan.
is_on_plan()
{
	are_used && lands_as_planned
}

hashes_otherwise()
{
	write_start "$qps" "$timeout"
	busywait 60000 is_on_plan || return
	selftests/net/fabric.sh seed 2
	busywait 60000 daemon_told 'any(.[]; .event == "remapped")' &&
		busywait 60000 is_on_plan && write_end &&
		daemon_told 'any(.[]; .event == "path-moved")'
}

# bond NETNS MEMBER...: these devices become bond0
bond()
{
	local netns=$1 member
	shift

	{
		echo "link add bond0 mtu $fabric_mtu type bond mode balance-xor miimon 20" \
			"xmit_hash_policy layer3+4"
		for member; do
			printf '%s\n' "address flush dev $member" "link set $member down" \
				"link set $member master bond0"
		done
		echo "link set bond0 up"
	} | ip -n "$netns" -batch -
}

# The RDMA device of host 0 is that of a bond of two links to its leaf.
bond_up()
{
	host_dev()
	{
		(($1)) && echo eth0 || echo bond0
	}
	modprobe bonding && rdma link del "$(host_rdma 0)" &&
		ip link add host0-1 netns leaf0 mtu "$fabric_mtu" \
			type veth peer name eth1 netns host0 mtu "$fabric_mtu" &&
		bond leaf0 host0 host0-1 && ip -n leaf0 link set bond0 master br0 &&
		bond host0 eth0 eth1 && host_batch 0 | ip -n host0 -batch - &&
		host_exec 0 rdma link add "$(host_rdma 0)" type rxe netdev bond0
}

# member_is down|up
member_is()
{
	[[ $(host_exec 0 cat /proc/net/bonding/bond0) == *"eth1"$'\n'"MII Status: $1"* ]]
}

# All flows of the bond are steered, by ports that are true.
bond_is_well()
{
	busywait 20000 member_is "$1" && are_used &&
		host_exec 0 rocesteer path verify "$dir/ports0.json" &&
		host_exec 0 rocesteer status
}

loses_member()
{
	job_unload 0 && rm "$dir/ports0.json" && bond_up && busywait 10000 host_gid 0 &&
		discover 0 "$far" && job_load_cgroup 0 --split all --resequence on || return
	write_start "$qps" "$timeout"
	bond_is_well up && ip -n leaf0 link set host0-1 down && bond_is_well down &&
		ip -n leaf0 link set host0-1 up && bond_is_well up && write_end
}

unload()
{
	job_unload 0 && job_unload "$far"
}

ktap_plan 12
check "a fabric, its port map, daemons and jobs are up" up
check "split flows leave a silent spine in time" attempt silent
check "no piece on another path has moved" moved_least
check "a spine that is back is used again after its hold-down" attempt returns
check "every byte arrives in spite of a silent spine, without a failed completion" attempt write_end
check "a path by a spine without a route goes down, and is used again with the route" \
	attempt no_route
check "a path that loses some packets is lossy, not down" attempt loses_some
check "a NIC without carrier says nothing about paths" attempt no_carrier
check "after $flaps flaps all paths are used, and every byte arrives" attempt flap
check "traffic is on plan again after the fabric hashes otherwise" attempt hashes_otherwise
bond="a bond that loses one of its links, and gets it back, fails no queue pair"
if fabric_has_host_netns; then
	check "$bond" attempt loses_member
else
	skip "$bond" "hosts share a namespace"
fi
check "the jobs are unloaded" unload
ktap_finish
