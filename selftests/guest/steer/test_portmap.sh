#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A discovered port map agrees with "ip route get" in the leaf's namespace for the same
# five-tuples.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh

# Spines of the five-tuples with the ports on standard input, by one process
oracle()
{
	local p

	while read -r p; do
		echo "route get $(host_ip "$far") from $(host_ip 0) iif host0" \
			"ipproto udp sport $p dport 4791"
	done | ip -n leaf0 -batch - | sed -n 's/.* dev spine\([0-9]*\) .*/\1/p'
}

ports()
{
	jq -r '.peers[0].paths[].ports[]' "$dir/ports0.json"
}

spines_of_ports()
{
	jq -r '.peers[0].paths[] | (.router | split(".")[3] | tonumber - 1) as $s
		| .ports[] | $s' "$dir/ports0.json"
}

agrees()
{
	ports | oracle >"$dir/oracle"
	spines_of_ports >"$dir/found"
	echo "$(wc -l <"$dir/found") ports probed"
	[[ -s $dir/found ]] && diff "$dir/oracle" "$dir/found"
}

all_paths()
{
	(($(jq '.peers[0].paths | length' "$dir/ports0.json") == spines))
}

leaf_found()
{
	[[ $(jq -r '.peers[0].leaf' "$dir/ports0.json") == 10.255.0.2 ]]
}

verify()
{
	host_exec 0 rocesteer path verify "$dir/ports0.json" --all
}

# With other seeds most ports take another path.
verify_after_reseed()
{
	local json status

	fabric_seed 99
	json=$(host_exec 0 rocesteer --json path verify "$dir/ports0.json" --all)
	status=$?
	fabric_seed 1
	jq -c '.moved[0:3]' <<<"$json"
	((status == 1)) && (($(jq '.moved | length' <<<"$json") > 0))
}

too_many()
{
	local json status

	json=$(discover 0 "$far" --paths $((spines + 1)) --ports 64 --json)
	status=$?
	echo "$json"
	((status == 1)) && [[ $json == *incomplete* ]]
}

local_peer()
{
	discover 0 1 && [[ $(jq '.peers[0].local' "$dir/ports0.json") == true ]]
}

# The same port map as without the VRF
vrf()
{
	modprobe vrf && discover 0 "$far" && map >"$dir/without" && ip -n host0 -batch - <<-E &&
		link add vrf0 up type vrf table 10
		link set eth0 master vrf0
		route add 10.1.0.0/16 via 10.1.0.254 dev eth0 table 10
	E
		discover 0 "$far" && map | diff "$dir/without" - && verify
}

map()
{
	jq 'del(.created, .generation)' "$dir/ports0.json"
}

ktap_plan 9
check "a port map is found" steer_up --rate 40mbit --host-rate 80mbit
check "the port map has all paths" all_paths
check "the port map names the destination leaf" leaf_found
check "the port map agrees with ip route get for every port" agrees
check "path verify accepts the port map" verify
check "path verify reports ports that have moved" verify_after_reseed
check "a path without a port is reported" too_many
check "a peer under the same leaf is local" local_peer
if fabric_has_host_netns; then
	check "a device has the same port map in a VRF as without" vrf
else
	skip "a device has the same port map in a VRF as without" "hosts share a namespace"
fi
ktap_finish
