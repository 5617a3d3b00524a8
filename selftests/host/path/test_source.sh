#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A port takes a path for packets of one source. A device with several addresses, and a device
# above another one, in a fabric of Linux routers, without the module.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/lib/command.sh
. selftests/host/lib/routers.sh

discover()
{
	on_h0 "$rocesteer" path discover --paths 4 --peer 10.1.1.1 "$@"
}

# send DEVICE SOURCE: 80 packets of each of 16 queue pairs; sets @grown, those by each spine
send()
{
	fabric_grown packets on_h0 selftests/host/lib/flows.py \
		--gateway "$(in_ns leaf0 cat /sys/class/net/br1-0/address)" "$1" "$2" 10.1.1.1 \
		"$(seq -s , 17 32)" "$(seq -s , 0 79)"
}

# 320 packets, and some of other kinds
is_even()
{
	local s

	for ((s = 0; s < spines; s++)); do
		((grown[s] >= 320 && grown[s] < 340)) || return
	done
}

# verdicts_are STEERED OTHER_SOURCE
verdicts_are()
{
	on_h0 "$rocesteer" --json stat >"$dir/stat"
	jq -ce '.verdicts | [.steered, .other_source]' "$dir/stat" | grep -x "\[$1,$2\]"
}

# finds STATUS CODE..: the exit status of status, and its errors
finds()
{
	local want=$1
	shift

	on_h0 "$rocesteer" --json status >"$dir/status"
	(($? == want)) || { jq . "$dir/status"; return 1; }
	jq -c '.findings' "$dir/status"
	[[ $(jq -r '.findings[] | select(.severity == "error").code' "$dir/status") == "$*" ]]
}

second_address()
{
	fabric_create 4 && on_h0 ip address add 10.1.0.77/24 dev eth0 &&
		discover --dev eth0 --out "$map" &&
		on_h0 "$rocesteer" job load --job 7 --all --port-map "$map" || return
	send eth0 10.1.0.77 && verdicts_are 0 1280 && finds 1 other-source &&
		jq -e '.findings[] | select(.code == "other-source") |
			.message | test("1280 packets from 10.1.0.77 ")' "$dir/status" &&
		on_h0 "$rocesteer" --json flow show | jq -e '.flows == []' &&
		send eth0 10.1.0.1 && is_even && verdicts_are 1280 1280
}

both_addresses()
{
	discover --dev eth0 --source 10.1.0.77 --out "$map" &&
		jq -e '[.peers[].source] | sort == ["10.1.0.1", "10.1.0.77"]' "$map" &&
		on_h0 "$rocesteer" path verify "$map" &&
		on_h0 "$rocesteer" job replace --job 7 --all --port-map "$map" || return
	send eth0 10.1.0.77 && verdicts_are 1280 2560 && finds 0
}

# Flows of the one address have the queue pair numbers of the other's.
after_silence()
{
	on_h0 "$rocesteer" job unload --all &&
		on_h0 "$rocesteer" job load --job 7 --all --port-map "$map" &&
		send eth0 10.1.0.77 && is_even && verdicts_are 1280 0 && finds 0 &&
		on_h0 "$rocesteer" --json flow show | jq -e '[.flows[].source] | length == 16 and
			unique == ["10.1.0.77"]' &&
		on_h0 "$rocesteer" --json job show --job 7 |
			jq -e '[.peers[].source] | sort == ["10.1.0.1", "10.1.0.77"]'
}

one_source_again()
{
	discover --dev eth0 --out "$dir/one.json" &&
		on_h0 "$rocesteer" job replace --job 7 --all --port-map "$dir/one.json" &&
		send eth0 10.1.0.77 && verdicts_are 1280 1280 && finds 1 other-source &&
		on_h0 "$rocesteer" job unload --all
}

# refuses COMMAND...: it names both sources, and the command that makes a map of one
refuses()
{
	on_h0 "$rocesteer" --json "$@" >"$dir/refused"
	(($? == 2)) && jq -ce '.error | select(.code == "sources") | select(.message |
		test("10.1.1.1 has ports for several sources, as 10.1.0.77 and 10.1.0.1")) |
		select(.hint | test("discover --dev eth0 --source 10.1.0.77 --peer 10.1.1.1 "))' \
		"$dir/refused"
}

ambiguous_map()
{
	refuses path export "$map" --for perftest &&
		refuses path export "$map" --for perftest --peer 10.1.1.1 &&
		refuses job load --job 7 --flow 10.1.1.1/17 --port-map "$map" &&
		on_h0 "$rocesteer" path export "$dir/one.json" --for perftest &&
		on_h0 "$rocesteer" job load --job 7 --flow 10.1.1.1/17 \
			--port-map "$dir/one.json" &&
		on_h0 "$rocesteer" job unload --all
}

# Both addresses of the device are NICs of the slice, each of a GPU with lanes of its own.
slice_of_both()
{
	jq -n '{leaves: 2, spines: 4, gpus_per_leaf: 2, gpus_per_server: 2,
		routers: [range(2) as $l | [range(4) | "10.9.\($l).\(4 * . + 2)"]],
		nics: [[["10.1.0.1", "10.1.0.77"]], [["10.1.1.1", "10.1.1.2"]]]}' \
			>"$dir/cluster.json" &&
		"$rocesteer" slice alloc --cluster "$dir/cluster.json" --gpus 4 --job both || return
	on_h0 "$rocesteer" --json job load --job 7 --all --port-map "$map" \
		--cluster "$dir/cluster.json" --slice-job both >"$dir/refused"
	(($? == 2)) && jq -ce '.error | select(.code == "sources") | .message |
		test("are NICs of the slice, 10.1.0.77 and 10.1.0.1")' "$dir/refused"
}

# A packet passes the programs of both devices.
macvlan()
{
	on_h0 ip link add m0 link eth0 type macvlan mode bridge &&
		on_h0 ip address add 10.1.0.9/24 dev m0 && on_h0 ip link set m0 up &&
		on_h0 ip rule add from 10.1.0.9 lookup 9 &&
		on_h0 ip route add default via 10.1.0.254 dev m0 table 9 &&
		discover --dev m0 --source 10.1.0.9 --out "$dir/m0.json" &&
		on_h0 "$rocesteer" job load --job 1 --all --port-map "$dir/one.json" &&
		on_h0 "$rocesteer" job load --job 2 --all --port-map "$dir/m0.json" || return
	send m0 10.1.0.9 && is_even && verdicts_are 1280 1280 && finds 0
}

ktap_plan 7
check "packets of an address that the port map is not of stay as they are, and are named" \
	second_address
check "a port map has several sources, and flows that are known keep theirs" both_addresses
check "packets of each source are steered by the ports of the source" after_silence
check "job replace takes a source away" one_source_again
check "a map of several sources is refused where the source of a flow is not known" ambiguous_map
check "a map of two NICs of a slice is refused" slice_of_both
check "packets of a macvlan are steered once, by the job of the macvlan" macvlan
ktap_finish
