#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two links between each leaf and spine: path discover tells them apart where routers answer
# from the interface at which a packet arrived, and packets take the links of the port map.
#
# shellcheck disable=SC2317 # functions are called through check

set -uo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/net/fabric.sh

rocesteer=$PWD/build/guest/rocesteer
packets=50
far=1

discover()
{
	host_exec 0 timeout $((120 * TIME_SCALE)) "$rocesteer" path discover \
		--dev "$(host_dev 0)" --source "$(host_ip 0)" --peer "$(host_ip "$far")" "$@"
}

# Two spines, two links up and two links down
finds_all()
{
	discover --out "$dir/ports.json" && jq -ce '.peers[0].paths |
		[.[] | [.router, .leaf]] == [range(2) as $up | range(2) as $spine |
			range(2) as $down | ["10.\(100 + $up).0.\(2 * $spine + 2)",
				"10.\(100 + $down).1.\(2 * $spine + 1)"]]' "$dir/ports.json"
}

# Packets on each link by the address of its receiving end: up from leaf 0 to the spines, down
# from the spines to leaf 1
passed()
{
	local s

	{
		for ((s = 0; s < spines; s++)); do
			ip -n "spine$s" -s -j addr show
		done
		ip -n leaf1 -s -j addr show
	} | jq -c -s '[.[][] | . as $dev | .addr_info[] | select(.local | test(
		"^10[.]1[0-9]{2}[.](0[.][0-9]*[02468]|1[.][0-9]*[13579])$")) |
		{(.local): $dev.stats64.rx.packets}] | add'
}

# send PORT: from host 0 to $far
send()
{
	host_exec 0 python3 -c 'import socket, sys
source, peer, port, count = sys.argv[1:]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((source, int(port)))
for i in range(int(count)):
    s.sendto(b"x" * 32, (peer, 4791))' "$(host_ip 0)" "$(host_ip "$far")" "$1" "$packets"
}

# took BEFORE AFTER LINK...: these links, and no others, carried all packets
took()
{
	jq -ne --argjson before "$1" --argjson after "$2" --argjson packets "$packets" \
		'[$after | keys[] | select($after[.] - $before[.] >= $packets)] |
			sort == ($ARGS.positional | sort)' --args "${@:3}"
}

takes_its_links()
{
	local port router leaf before after count=0

	while read -r port router leaf; do
		before=$(passed)
		send "$port" || return
		after=$(passed)
		echo "$port by $router and $leaf: $before $after"
		took "$before" "$after" "$router" "$leaf" || return
		count=$((count + 1))
	done < <(jq -r '.peers[0].paths[] | "\(.ports[0]) \(.router) \(.leaf)"' \
		"$dir/ports.json")
	((count == 8))
}

verifies()
{
	host_exec 0 timeout $((120 * TIME_SCALE)) "$rocesteer" path verify "$dir/ports.json" \
		--all
}

# [[[bytes on each link] to each spine] of each leaf], and the other way
counts_links()
{
	fabric_links | jq -ce '[.uplinks, .downlinks][] |
		length == 2 and all(.[]; length == 2 and all(.[]; length == 2))'
}

# Routers have one address each, as without --links.
looks_alike()
{
	local router

	for router in $(routers); do
		netns_exec "$router" sysctl -qw \
			net.ipv4.icmp_errors_use_inbound_ifaddr=0 || return
	done
	discover --json >"$dir/alike" && jq -ce '.peers[0].paths |
		[.[] | [.router, .leaf]] == [["10.255.1.1", null], ["10.255.1.2", null]]' \
		"$dir/alike"
}

((EUID == 0)) || skip_all "needs root"
modinfo rdma_rxe >/dev/null 2>&1 || skip_all "the kernel has no rdma_rxe"

dir=$(mktemp -d)
defer rm -r "$dir"
ktap_plan 6
check "a fabric with two links between each leaf and spine" \
	fabric_up --leaves 2 --spines 2 --hosts 1 --links 2
fabric_load
defer fabric_down
check "path discover finds 8 paths" finds_all
check "packets take the links that the port map says" takes_its_links
check "path verify accepts the ports of parallel links" verifies
check "fabric.sh counts bytes by parallel link" counts_links
check "path discover finds 2 paths where routers have one address" looks_alike
ktap_finish
