#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path discover where routers hash as switches do, by a CRC: 31 peers below four leaves, 16 spines

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/path/path.sh

map=$dir/ports.json
lose=/sys/fs/bpf/lose
peers=$(printf '10.1.%s\n' {1..4}.{1..8} | head -n 31)

# by_spines LEAF OFFSET [ORDER]: next hops of a leaf by all spines, in an order
by_spines()
{
	local s

	for s in $(seq 0 $((spines - 1)) | ${3:-cat}); do
		printf 'nexthop via 10.9.%s.%s ' "$1" $((s * 4 + $2))
	done
}

# leaf_answers LEAF: from one address, by whatever interface
leaf_answers()
{
	# shellcheck disable=SC2046 # words
	ip -n "${prefix}leaf$1" addr add "10.255.0.$1/32" dev lo &&
		ip -n "${prefix}leaf$1" route replace 10.1.0.0/24 src "10.255.0.$1" \
			$(by_spines "$1" 2)
}

# leaf_add LEAF: as leaf1 is, with a host of eight addresses
leaf_add()
{
	local l=$1 s

	fabric_netns "leaf$l" && fabric_router "leaf$l" || return
	for ((s = 0; s < spines; s++)); do
		fabric_spine_link "$s" "$l" 0
		ip -n "${prefix}spine$s" route add "10.1.$l.0/24" via "10.9.$l.$((s * 4 + 1))"
	done
	# shellcheck disable=SC2046 # words
	fabric_subnet "leaf$l" "1.$l" && fabric_host "h1$l" "leaf$l" dn1 "1.$l" 1 &&
		ip -n "${prefix}leaf0" route add "10.1.$l.0/24" $(by_spines 0 2)
}

# Addresses 3 to 8, and in all but leaf1 2, are of one host.
host_addresses()
{
	local i

	for i in $(seq $((3 - ($1 > 1))) 8); do
		echo "addr add 10.1.$1.$i/24 dev eth0"
	done | ip -n "$prefix$2" -batch -
}

ready()
{
	local l

	fabric_create 16 || return
	for l in 2 3 4; do
		leaf_add "$l" && host_addresses "$l" "h1$l" || return
	done
	host_addresses 1 h1 && for l in 1 2 3 4; do
		leaf_answers "$l" || return
	done
	fabric_hash on linear_hash
}

# add PEER: to the map, $asked routers have answered
add()
{
	local before status

	before=$(answers)
	discover --peer "$1" --out "$map" >/dev/null
	status=$?
	asked=$(($(answers) - before))
	echo "$asked answers"
	jq -c '.peers[0] | [.address, .linear, .probed, (.paths | length)]' "$map"
	return "$status"
}

# The model is in the map: nothing is learnt again.
further_peer()
{
	add 10.1.4.8 && all_linear && ((asked <= 4)) && verifies
}

# Another seed only adds a constant. The peers that are not asked are out of date.
other_seed()
{
	local status

	on leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed=4711 &&
		router_hash_seed "${prefix}leaf0" || return
	add 10.1.2.2 2>"$dir/said" && grep "out of date" "$dir/said" &&
		jq -e '.peers[0].linear and (.models | length) == 1' "$map" && ! verifies &&
		learn && verifies
	status=$?
	on leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed=11 && router_hash_seed "${prefix}leaf0"
	return "$status"
}

# learn [OPTION...]: $asked routers have answered
learn()
{
	local before status

	rm -f "$map"
	before=$(answers)
	discover --peer-file - --out "$map" "$@" <<<"$peers" >/dev/null
	status=$?
	asked=$(($(answers) - before))
	echo "$asked answers"
	jq -c '[.peers[] | [.linear, .probed, (.paths | length)]] | group_by(.) |
		map([length] + .[0])[]' "$map"
	return "$status"
}

all_linear()
{
	jq -e 'all(.peers[]; .linear and (.paths | length) == 16)' "$map" >/dev/null
}

few_answers()
{
	learn && all_linear && ((asked <= 125)) && verifies
}

# 30 further addresses behind each leaf: most are known without a port.
many_peers()
{
	local l host=h1

	for l in 1 2 3 4; do
		ip -n "$prefix$host" route add local "10.1.$l.128/27" dev lo || return
		host=h1$((l + 1))
	done
	peers=$(printf '10.1.%s\n' {1..4}.{129..158}) learn && all_linear && ((asked <= 240)) &&
		verifies && path show "$map" | grep -E '^peers|RESTS ON' &&
		path show "$map" --json | jq -e '.peers_probed == 0 and .peers_predicted >= 60 and
			.peers_confirmed + .peers_predicted == 120 and
			all(.peers[]; .rests_on == if .probed == 0 then "predicted" else
				"confirmed \(.probed)" end)'
}

# One packet in eight is lost on its way to h0.
with_losses()
{
	local status

	bpftool prog loadall build/bpf/qpn_hash.bpf.o "$lose" && on leaf0 tc -batch - <<-E || return
	qdisc replace dev dn0 clsact
	filter add dev dn0 egress pref 4790 bpf direct-action object-pinned $lose/lose
	E
	learn --probe-timeout 50 && all_linear
	status=$?
	on leaf0 tc filter del dev dn0 egress pref 4790 && rm -r "$lose" && ((!status)) && verifies
}

# Linux answers one host six times at once after a silence of six seconds, then once a second.
limit()
{
	local router

	for router in leaf{0..4} $(seq -f spine%g 0 15); do
		on "$router" sysctl -qw "net.ipv4.icmp_ratelimit=$1"
	done
}

with_limits()
{
	local status start

	limit 1000
	sleep 6
	start=$SECONDS
	learn && all_linear
	status=$?
	limit 0
	echo "$((SECONDS - start)) s"
	((!status && SECONDS - start <= 10)) && verifies
}

# Its ports are left out, and the map says that a path is missing.
with_silent_router()
{
	local status json

	fabric_silence add spine7
	json=$(discover --peer 10.1.2.1 --json)
	status=$?
	fabric_silence del spine7
	jq -c '.peers[] | [.linear, .probed, .reasons, (.paths | length)]' <<<"$json"
	((status == 1)) && jq -e '.peers[0] | .linear and .reasons == ["missing"] and
		(.paths | length) == 15' <<<"$json"
}

# Peers of leaf 3 are not as the others: their ports are walked through.
with_other_order()
{
	local status

	# shellcheck disable=SC2046 # words
	ip -n "${prefix}leaf0" route replace 10.1.3.0/24 $(by_spines 0 2 shuf)
	learn && verifies && jq -e '[.peers[] | select(.linear | not) | .address[:7]] | unique ==
		["10.1.3."]' "$map"
	status=$?
	# shellcheck disable=SC2046 # words
	ip -n "${prefix}leaf0" route replace 10.1.3.0/24 $(by_spines 0 2)
	return "$status"
}

# The first six spines alone
with_six()
{
	local status

	# shellcheck disable=SC2046 # words
	ip -n "${prefix}leaf0" route replace 10.1.1.0/24 $(spines=6 by_spines 0 2)
	discover --peer 10.1.1.1 --out "$dir/six.json" >/dev/null &&
		jq -e '.peers[0] | .linear == null and (.paths | length) == 6' "$dir/six.json"
	status=$?
	# shellcheck disable=SC2046 # words
	ip -n "${prefix}leaf0" route replace 10.1.1.0/24 $(by_spines 0 2)
	return "$status"
}

# Here leaf1 answers by the interface at which a packet came in.
ipv6()
{
	rm -f "$map"
	discover --peer fd00:1:1::1,fd00:1:1::2 --out "$map" && all_linear && verifies
}

# What the model is for
few_ports()
{
	fabric_hash off linear_hash && learn && verifies && jq -e 'all(.peers[]; .linear == null)' "$map"
}

ktap_plan 12
check "a fabric of 16 spines, and 31 peers below four leaves" ready
check "125 answers are enough for 31 peers, and every port is right" few_answers
check "a further peer is known by two ports" further_peer
check "a switch that got another seed is noticed" other_seed
check "120 peers take two answers each at most, and path show says what is predicted" many_peers
check "lost answers do no harm" with_losses
check "routers that limit their answers delay discovery by 10 s at most" with_limits
check "a router that never answers is missing, and its ports are left out" with_silent_router
check "a leaf with its next hops in another order is not believed" with_other_order
check "six next hops are no model" with_six
check "IPv6 peers are known by few ports" ipv6
check "the hash of Linux is no model, and ports are walked through" few_ports
ktap_finish
