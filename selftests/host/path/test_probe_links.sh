#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path discover and path verify where leaves and spines have parallel links

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/path/path.sh

# Packets that arrived at leaf1, by the address of the link
arrived()
{
	in_ns leaf1 ip -s -j addr show | jq -c '[.[] | select(.ifname | test("^s[0-9]")) |
		{(.addr_info[] | select(.family == "inet").local): .stats64.rx.packets}] |
		add'
}

# The first port of each path enters leaf1 by the interface of the map.
enters()
{
	local port leaf before after

	while read -r port leaf; do
		before=$(arrived)
		fabric_packets 10.1.0.1 10.1.1.1 "$port" || return
		after=$(arrived)
		echo "$port $leaf: $before $after"
		jq -ne --arg leaf "$leaf" --argjson before "$before" \
			--argjson after "$after" '[$after | keys[] |
				select($after[.] - $before[.] >= 50)] == [$leaf]' ||
			return
	done < <(jq -r '.peers[0].paths[] | "\(.ports[0]) \(.leaf)"' "$dir/ports.json")
}

# Two spines with two links to each leaf
finds_links()
{
	rm -f "$dir/ports.json"
	fabric_sysctl net.ipv4.icmp_errors_use_inbound_ifaddr=1
	discover --peer "$remote" --out "$dir/ports.json" && has_all_paths 8 &&
		one_leaf && agrees && enters &&
		jq -e 'all(.peers[]; [.paths[] | [.router, .leaf]] ==
			[("10.9.0.2", "10.9.0.6", "10.9.2.2", "10.9.2.6") as $r |
			 ("1", "3") as $l | [$r, "10.9.\($l).\(($r | split(".")[3] |
				tonumber) - 1)"]])' "$dir/ports.json" &&
		path show "$dir/ports.json" | grep 'PATH  ROUTER    LEAF  ' &&
		verifies && discover --peer 10.1.1.1 --paths 8 &&
		doubts missing --peer 10.1.1.1 --paths 9 &&
		doubts few-ports --peer 10.1.1.1 --ports 30
}

# The search goes on after the ports for libraries, and repeats none of them.
extra_links()
{
	discover --peer "$remote" --for json --json >"$dir/extra.json" &&
		jq -e 'all(.peers[]; (.paths | length) == 8 and
			all(.paths[]; .leaf != null))' "$dir/extra.json" &&
		has_ports "$dir/extra.json" 49152 512 && has_ports "$dir/extra.json" 65024 512
}

finds_links_slowly()
{
	local status

	in_ns leaf1 sysctl -qw net.ipv4.icmp_ratelimit=100
	discover --peer 10.1.1.1 --paths 8 --json | jq -ce '(.incomplete | not) and
		(.peers[0].paths | length) == 8'
	status=$?
	in_ns leaf1 sysctl -qw net.ipv4.icmp_ratelimit=0
	return "$status"
}

# The ports keep their routers, and the links behind these change.
verify_finds_moved_links()
{
	local json status s

	for s in 0 1; do
		fabric_downlinks "$s" 1 1 0
	done
	json=$(path verify "$dir/ports.json" --all --json)
	status=$?
	path verify "$dir/ports.json" | grep 'HOP  EXPECTED' || status=3
	for s in 0 1; do
		fabric_downlinks "$s" 1 0 1
	done
	jq -c '.moved[0]' <<<"$json"
	((status == 1)) && jq -e '(.moved | length) == .checked and
		all(.moved[]; .hop == 3 and .actual != .expected)' <<<"$json" >/dev/null
}

# Routers answer by any interface, or from one address.
links_look_alike()
{
	fabric_sysctl net.ipv4.icmp_errors_use_inbound_ifaddr=0
	discover --peer "$remote" --json >"$dir/alike" &&
		jq -e 'all(.peers[].paths[]; .leaf == null)' "$dir/alike" || return
	fabric_sysctl net.ipv4.icmp_errors_use_inbound_ifaddr=1
	in_ns leaf1 ip addr add 10.255.0.2/32 dev lo
	in_ns leaf1 ip route replace 10.1.0.0/24 src 10.255.0.2 \
		nexthop via 10.9.1.2 nexthop via 10.9.1.6
	in_ns leaf1 sysctl -qw net.ipv4.icmp_errors_use_inbound_ifaddr=0
	discover --peer 10.1.1.1 --json >"$dir/alike" &&
		jq -ce '.peers[0] | .leaf == "10.255.0.2" and
			[.paths[].router] == ["10.9.0.2", "10.9.0.6", "10.9.2.2", "10.9.2.6"]
			and all(.paths[]; .leaf == null)' "$dir/alike"
}

ktap_plan 7
check "a fabric of 2 spines with 2 links to each leaf is made" fabric_create 2 2
check "parallel links are different paths" finds_links
check "parallel links are different paths for the ports of libraries" extra_links
check "parallel links are different paths where a leaf limits its ICMP" finds_links_slowly
check "path verify names ports that take another link" verify_finds_moved_links
check "links that routers do not tell apart are one path" links_look_alike
check "no namespace of the fabric is left" world_is_empty
ktap_finish
