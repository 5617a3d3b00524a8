#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path discover in a fat tree: 3 peers in our pod, 28 in others

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/path/path.sh
. selftests/host/lib/pods.sh

map=$dir/ports.json
own=(10.1.1.{1..3})
far=(10.1.{2,3,4,5,6}.{1..5} 10.1.7.{1..3})

# learn [OPTION...]: of all peers; $asked routers have answered
learn()
{
	local before status

	rm -f "$map"
	before=$(answers)
	printf '%s\n' "${own[@]}" "${far[@]}" |
		discover --peer-file - --out "$map" "$@" >/dev/null
	status=$?
	asked=$(($(answers) - before))
	echo "$asked answers"
	jq -c '[.peers[] | [.hop, .leaf_hop, .linear, .probed, (.paths | length)]] | group_by(.) |
		map([length] + .[0])[]' "$map"
	return "$status"
}

# has_paths AGGS CORES: a path by each agg in the pod, and by each core across
has_paths()
{
	jq -e --argjson aggs "$1" --argjson cores "$2" '
		all(.peers[]; (.address | split(".")[2] | tonumber) as $leaf |
			.leaf == "10.255.0.\($leaf + 1)" and
			[.hop, .leaf_hop, (.paths | length)] ==
				if $leaf < 2 then [2, 3, $aggs] else [3, 5, $cores] end)' "$map"
}

# The agg of each path is the one that a probe of its port meets; aggs take turns.
names_aggs()
{
	local port via found peer=${far[-1]} n=0

	while read -r port via; do
		found=$(on h0 selftests/net/probe.py 10.1.0.1 "$peer" 2 "$port" 1)
		[[ $found == "$port $via" ]] || return
		n=$((n + 1))
	done < <(jq -r --arg peer "$peer" '.peers[] | select(.address == $peer) | .paths[] |
		"\(.ports[0]) \(.via)"' "$map")
	echo "$n ports"
	((n)) && jq -e '([.peers[] | select(.hop == 2)][0].paths | length) as $aggs |
		all(.peers[] | select(.hop == 3); [.paths[].via] as $via |
			all(range($via | length); $via[.] == $via[. % $aggs]))' "$map"
}

# right AGGS CORES: all ports, all leaves and all aggs
right()
{
	has_paths "$@" && names_aggs && path verify "$map" --all
}

is_linear()
{
	jq -e 'all(.peers[]; .linear)' "$map"
}

# linear KIND AGGS CORES: 11 answers are of our leaf, as there may be several
linear()
{
	pods_hash "$1" && learn && is_linear && ((asked <= 168 + 11)) && right "${@:2}"
}

# aggs_differ: those of our pod do, so cores are walked through
aggs_differ()
{
	pods_hash each && learn && right 2 4 &&
		jq -e 'all(.peers[]; .hop == 2 or (.linear | not))' "$map"
}

not_linear()
{
	pods_hash linux && learn && ! is_linear && right 2 4
}

# further_peer: the map has the model, the leaf and the cores.
further_peer()
{
	local before own=(10.1.1.1) far=(10.1.2.1 10.1.7.1)

	pods_hash apart && learn && before=$(answers) &&
		discover --peer 10.1.4.1 --out "$map" && asked=$(($(answers) - before)) &&
		echo "$asked answers" && ((asked <= 9)) && is_linear && right 2 4
}

silent_core()
{
	local status

	fabric_silence add core1
	learn --accept-incomplete
	status=$?
	fabric_silence del core1
	((!status)) && is_linear && has_paths 2 3
}

# One of both is behind the core that is met first.
silent_agg()
{
	local agg status

	for agg in agg6 agg7; do
		rm -f "$map"
		fabric_silence add "$agg"
		discover --peer 10.1.7.1 --out "$map"
		status=$?
		fabric_silence del "$agg"
		((!status)) && is_linear && has_paths 2 4 || return
	done
}

# Hosts say nothing of closed ports: a peer in the pod is not waited for as long as a lost answer.
silent_hosts()
{
	local begin=${EPOCHREALTIME/./} took

	ip -n "${prefix}h1" rule add pref 1 iif lo ipproto icmp blackhole
	rm -f "$map"
	discover --peer "${own[0]}" --out "$map" >/dev/null
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
	ip -n "${prefix}h1" rule del pref 1
	echo "$took ms"
	has_paths 2 4 && ((took < 2500))
}

ipv6()
{
	rm -f "$map"
	discover --peer fd00:1:1::1,fd00:1:7::1 --out "$map" && is_linear &&
		jq -e '[.peers[] | [.hop, .leaf_hop, (.paths | length), .leaf]] ==
			[[2, 3, 2, "fd00:255::2"], [3, 5, 4, "fd00:255::8"]] and
			all(.peers[1].paths[]; .via)' "$map" && path verify "$map" --all
}

# 28 peers across and 12 in the pod, of 4 aggs with 4 cores each
larger()
{
	local own=(10.1.{1,2,3}.{1..4}) far=(10.1.{4,8,12,16,20,24,28}.{1..4})

	fabric_destroy && pods_make 8 h0:0 h1:1:4 h2:2:4 h3:3:4 h4:4:4 h5:8:4 h6:12:4 \
		h7:16:4 h8:20:4 h9:24:4 h10:28:4 &&
		pods_hash apart && learn && is_linear && names_aggs &&
		jq -e '([.peers[].probed] | max) <= 80 and
			all(.peers[]; [.hop, (.paths | length)] ==
				if .address | test("^10.1.[123]\\.") then [2, 4]
				else [3, 16] end)' "$map" &&
		path verify "$map" --all
}

# 128 cores: h0 and h2, below one leaf, take 64 each, of which each agg has as many. A peer in
# addition has the paths of the first one.
wide()
{
	local host peer

	fabric_destroy && pods_make_of 2 2 2 64 h0:0 h2:0 h1:1:2 && pods_hash apart || return
	for host in h0 h2; do
		rm -f "$map"
		for peer in 10.1.1.1 10.1.1.2; do
			in_ns "$host" timeout 120 "$rocesteer" path discover --dev eth0 \
				--out "$map" --peer "$peer" 2>"$dir/said" || return
			grep "64 of 128 routers at hop 3" "$dir/said" || return
		done
		is_linear && jq -e 'all(.peers[]; [.paths[].via] | group_by(.) | map(length) ==
				[32, 32]) and (.peers | map([.paths[].router]) | unique | length == 1)' \
			"$map" && in_ns "$host" "$rocesteer" path verify "$map" --all || return
		jq -r '.peers[0].paths[].router' "$map" | sort >"$dir/$host"
	done
	"$rocesteer" path audit "$map" --cores 128 && ! cmp "$dir/h0" "$dir/h2"
}

ktap_plan 14
check "a fat tree of 4 pods" pods_make 4 h0:0 h1:1:3 h2:2:5 h3:3:5 h4:4:5 h5:5:5 h6:6:5 h7:7:3
check "hops, cores and aggs are learnt where tiers hash by other bits" linear apart 2 4
check "so they are where tiers share a bit" linear shared 2 4
check "where tiers hash by the same bits, half of the cores are found" linear alike 2 2
check "a peer in addition takes few probes" further_peer
check "IPv6 is the same" ipv6
check "a core that does not answer is left out" silent_core
check "an agg of another pod that does not answer does not matter" silent_agg
check "hosts that say nothing of closed ports are not waited for" silent_hosts
check "cores are walked through where each agg hashes by other bits" aggs_differ
check "all is walked through where Linux hashes" not_linear
check "a fat tree of 8 pods is learnt from 80 ports at most" larger
check "of 128 cores each host takes 64, other ones" wide
check "nothing is left" world_is_empty
ktap_finish
