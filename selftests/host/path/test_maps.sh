#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Port maps of fabrics that are not what they seem: switches weigh next hops, routers have no
# address or that of another, or change routes; hosts have two uplinks.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/path/maps.sh

# leaf0_weights WEIGHT...: of the next hops to the peers' leaf, one each spine
leaf0_weights()
{
	local s=0 weight nexthops=()

	for weight; do
		nexthops+=(nexthop via "10.9.0.$((s++ * 4 + 2))" weight "$weight")
	done
	ip -n "${prefix}leaf0" route replace 10.1.1.0/24 "${nexthops[@]}"
}

# The fabric gives it 11. The other leaf has 12.
leaf0_seed()
{
	in_ns leaf0 sysctl -qw "net.ipv4.fib_multipath_hash_seed=$1"
}

tells_weights()
{
	leaf0_weights 1 3 &&
		discover 10.1.1.1,10.1.1.2 --out "$map" &&
		holds 'all(.peers[]; [.paths[] | .weight // 1] == [1, 3])' &&
		says "path 0 has 0.[34][0-9]* of the ports of path 1: .* weigh next hops" \
			10.1.1.1,10.1.1.2 &&
		(($(grep -c "weigh next hops" "$dir/said") == 1)) || return
	jq -e 'all(.peers[]; [.paths[] | .weight // 1] == [1, 3])' "$map" &&
		on_h0 "$rocesteer" path show "$map" | grep 'ROUTER  *WEIGHT'
}

finds_small_weights()
{
	local seed

	leaf0_weights 16 16 1
	for seed in $(seq "$(few 5 30)"); do
		leaf0_seed "$seed"
		discover 10.1.1.1,10.1.1.2 && holds 'all(.peers[]; (.paths | length) == 3 and
			.paths[2].weight == null and .paths[0].weight > 7 and
			.paths[0].weight == .paths[1].weight)' || return
	done
}

equal_paths_are_equal()
{
	local seed

	leaf0_weights 1 1 1 1
	for seed in $(seq "$(few 5 30)"); do
		leaf0_seed "$seed"
		discover 10.1.1.1,10.1.1.2 && holds 'all(.peers[]; (.paths | length) == 4 and
			all(.paths[]; .weight == null)) and ([.peers[].probed] |
			max >= 225 and min < 100)' || return
	done
	leaf0_seed 11
}

# Spines 0 and 1 answer from one address.
same_address()
{
	local s status

	for s in 0 1; do
		ip -n "${prefix}spine$s" addr add 10.255.9.9/32 dev lo
		ip -n "${prefix}spine$s" route replace 10.1.0.0/24 \
			via "10.9.0.$((s * 4 + 1))" src 10.255.9.9
	done
	discover 10.1.1.1 && says "several routers answer from one address" 10.1.1.1
	status=$?
	for s in 0 1; do
		fabric_downlinks "$s" 0 0
		ip -n "${prefix}spine$s" addr del 10.255.9.9/32 dev lo
	done
	((status == 0)) && holds '[.peers[0].paths[] | .weight // 1] == [1, 1, 2]'
}

# no_addresses SPINE...: as with BGP unnumbered
no_addresses()
{
	local s k nexthops=()

	for s; do
		ip -n "${prefix}spine$s" -4 addr flush dev l0
		ip -n "${prefix}spine$s" -4 addr flush dev l1
		ip -n "${prefix}spine$s" route add 10.1.0.0/24 via inet6 "fd00:9:0:$s::1"
		ip -n "${prefix}spine$s" route add 10.1.1.0/24 via inet6 "fd00:9:1:$s::1"
	done
	for k in 0 1 2 3; do
		if [[ " $* " == *" $k "* ]]; then
			nexthops+=(nexthop via inet6 "fd00:9:0:$k::2")
		else
			nexthops+=(nexthop via "10.9.0.$((k * 4 + 2))")
		fi
	done
	ip -n "${prefix}leaf0" route replace 10.1.1.0/24 "${nexthops[@]}"
}

refuses_dummy()
{
	no_addresses 1 2 && refused no-address 10.1.1.1 && says "192.0.0.8 answers" 10.1.1.1
}

tells_dummies_apart()
{
	in_ns leaf1 sysctl -qw net.ipv4.icmp_errors_use_inbound_ifaddr=1
	discover 10.1.1.1 && holds '.peers[0].paths | length == 4 and
		all(.[]; .leaf != null)'
}

refuses_dummies()
{
	no_addresses 0 3 && no_addresses 0 1 2 3 && refused no-address 10.1.1.1
}

# h0 has an address on lo, behind eth0 and eth1: ICMP comes back by either.
hears_other_uplinks()
{
	local s d nexthops=() seed

	leaf0_weights 1 1 1 1
	fabric_link h0 eth1 leaf0 dn0b
	ip -n "${prefix}h0" addr add 10.2.0.9/24 dev eth1
	ip -n "${prefix}leaf0" link set dn0b master br2-0
	ip -n "${prefix}h0" addr add 10.1.0.200/32 dev lo
	ip -n "${prefix}h0" route replace default src 10.1.0.200 \
		nexthop via 10.1.0.254 dev eth0 nexthop via 10.2.0.254 dev eth1
	ip -n "${prefix}leaf0" route add 10.1.0.200/32 nexthop via 10.1.0.1 nexthop via 10.2.0.9
	for s in 0 1 2 3; do
		ip -n "${prefix}spine$s" route add 10.1.0.200/32 via "10.9.0.$((s * 4 + 1))"
		nexthops+=(nexthop via "10.9.1.$((s * 4 + 2))")
	done
	ip -n "${prefix}leaf1" route add 10.1.0.200/32 "${nexthops[@]}"
	for seed in 11 13; do
		leaf0_seed "$seed"
		for d in eth0 eth1; do
			dev=$d discover 10.1.1.1 --source 10.1.0.200 --retries 0 &&
				holds '(.peers[0].paths | length) == 4' || return
		done
	done
	leaf0_seed 11
	ip -n "${prefix}h0" route replace default via 10.1.0.254 dev eth0
}

# A host that listens on the RoCE port answers to no probe there, as a NIC does not.
silent_tier()
{
	local status

	fabric_silence add spine{0..3}
	in_ns leaf1 sysctl -qw net.ipv4.icmp_errors_use_inbound_ifaddr=1
	listen h1
	rm -f "$map"
	discover 10.1.1.1,10.1.1.2 --hop 3 --probe-timeout 50 --retries 1 --out "$map" &&
		holds 'all(.peers[]; [.paths[].router] ==
			["10.9.1.1", "10.9.1.5", "10.9.1.9", "10.9.1.13"] and
			.leaf == "10.9.1.1")' && on_h0 "$rocesteer" path verify "$map" --all &&
		says "no router answers before hop 3" 10.1.1.1 --hop 3 --paths 4 \
			--probe-timeout 50 --retries 1
	status=$?
	in_ns leaf1 sysctl -qw net.ipv4.icmp_errors_use_inbound_ifaddr=0
	kill "$listener"
	wait "$listener" 2>/dev/null
	fabric_silence del spine{0..3}
	return "$status"
}

# Each first port enters the leaf by the interface that the map has as router.
talking_tier()
{
	refused hop 10.1.1.2 --hop 3
}

# 3,000 peers behind a black hole: the first are given up in time.
gives_up_early()
{
	local start=$SECONDS

	ip -n "${prefix}leaf0" route add blackhole 10.60.0.0/16
	seq 0 2999 | awk '{ print "10.60." int($1 / 250) "." $1 % 250 + 1 }' >"$dir/peers"
	on_h0 "$rocesteer" --json path discover --dev eth0 --peer-file "$dir/peers" >"$dir/out"
	(($? == 1)) && cat "$dir/out" && holds '.error.code == "no-reply"' &&
		echo "$((SECONDS - start)) s" && ((SECONDS - start < 20))
}

# On a terminal, which python3 makes
shows_time_left()
{
	on_h0 python3 -c 'import pty, sys
pty.spawn(sys.argv[1:])' "$rocesteer" path discover --dev eth0 --peer 10.1.1.1,10.1.1.2 \
		--rate 50 >"$dir/text"
	tr '\r' '\n' <"$dir/text" | grep "of 2 peers done, .* about [0-9]* s left"
}

# sent: packets of leaf0 to all spines
sent()
{
	fabric_uplinks_sent packets | awk '{ sum += $1 } END { print sum }'
}

# more_than N
more_than()
{
	(($(sent) > $1))
}

# change N WEIGHT...: change the routes after N probes more
change()
{
	local n

	n=$(($(sent) + $1))
	busywait 20000 more_than "$n" && leaf0_weights "${@:2}"
}

# search OPTION...: while routes change; what it says is in $dir/said
search()
{
	rm -f "$map" "$dir/said"
	leaf0_weights 1 1 1 1
	on_h0 "$rocesteer" path discover --dev eth0 --peer 10.1.1.1 --rate 30 --ports 120 --out "$map" \
		"$@" 2>"$dir/said" >/dev/null &
	searching=$!
}

searches_anew()
{
	search
	change 20 1 1 1 && wait "$searching"
	cat "$dir/said"
	grep "starting anew" "$dir/said" &&
		jq -e '.peers[0] | (.paths | length) == 3 and .moved == null' "$map" &&
		on_h0 "$rocesteer" path verify "$map" --all
}

refuses_changes()
{
	search --accept-incomplete
	change 20 1 1 1 && busywait 20000 grep "starting anew" "$dir/said" &&
		change 20 1 1 1 1 && wait "$searching"
	cat "$dir/said"
	grep "ports moved to other paths during the search, twice" "$dir/said" &&
		jq -e '.peers[0].moved' "$map" || return
	on_h0 "$rocesteer" --json path export "$map" --for perftest |
		jq -e '.libraries[0].exact == false' &&
		on_h0 "$rocesteer" path export "$map" --for perftest | grep "^# Not exact: ports moved"
}

ktap_plan 15
check "a fabric of 4 spines is made" fabric_create 4
check "weights of next hops are told, and proposed for all peers of the leaf" tells_weights
check "a path of a small weight is found" finds_small_weights
check "equal paths have no weights, and one peer of a leaf is probed at length" \
	equal_paths_are_equal
check "two routers that answer from one address are doubted" same_address
check "routes that change during the search make it start anew" searches_anew
check "routes that keep changing are refused, and export is not exact" refuses_changes
check "answers that come back by another uplink are received" hears_other_uplinks
check "--hop 3 is refused where the spines answer" talking_tier
check "the interfaces of the leaf tell paths apart where no spine answers" silent_tier
check "thousands of silent peers are given up early" gives_up_early
check "a terminal shows the time that is left" shows_time_left
check "192.0.0.8 is refused by name" refuses_dummy
check "routers without an address are told apart by the leaf's interfaces" tells_dummies_apart
check "a tier of routers without addresses is refused by name" refuses_dummies
ktap_finish
