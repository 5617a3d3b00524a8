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
. selftests/guest/steer/failure.sh

first='.sender == 3 and .leaf == 0'
flaps=${FLAPS:-6}

up()
{
	steer_up --hosts 1 --rate 8mbit --host-rate 32mbit && paths=$spines && failure_up
}

silent()
{
	write_start "$qps" "$timeout"
	dies spine2
}

# The spine says so, without the limit that Linux has: once a second for each host.
no_route()
{
	local cost

	cost=$(sysctl -n net.ipv4.route.error_cost) &&
		defer sysctl -qw "net.ipv4.route.error_cost=$cost" &&
		sysctl -qw net.ipv4.route.error_cost=0 || return
	write_start "$qps" "$timeout"
	dies spine3 to 10.1.1.0/24 unreachable &&
		told "map(select(.path == $(path_by spine3) and .event == \"path-down\"))[-1] |
			.cause, .cause == \"unreachable\"" || return
	appear spine3
	busywait 60000 last_is up spine3 && busywait 60000 all_up && are_used && write_end
}

# One packet in five is lost, and the path answers to probes.
loses_some()
{
	local p

	p=$(path_by spine1)
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

# Spines are silent for up to one and a half times the limit.
flap()
{
	local i s start late=0 seed=${SEED:-1}

	echo "SEED=$seed"
	RANDOM=$seed
	for ((i = 0; i < flaps; i++)); do
		s=spine$((RANDOM % spines))
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

	for s in $(routers 1); do
		ports=$(flows_of 0 | jq --argjson p "$(path_by "$s")" \
			'[.flows[] | select(.share and .job == 1) | .pieces[] |
				select(.path == $p).port]')
		seen "$(links_of "$s")" 'map(select(.leaf == 0 and .ack == 0).sport) | unique' |
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
check "no piece on another path has moved" moved_least spine2
check "a spine that is back is used again after its hold-down" attempt returns spine2
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
