#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path discover behind a bond: ports choose one of our two leaves, then a spine

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/path/path.sh
. selftests/host/lib/pods.sh
. selftests/host/lib/bond.sh

map=$dir/ports.json
peers=(10.1.{2,3}.{1..8})

# learn [OPTION...]: of all peers; $asked routers have answered
learn()
{
	local before status

	rm -f "$map"
	before=$(answers)
	printf '%s\n' "${peers[@]}" | discover --peer-file - --out "$map" "$@" >/dev/null
	status=$?
	asked=$(($(answers) - before))
	echo "$asked answers"
	jq -c '[.peers[] | [.hop, .leaf_hop, .local, .linear, .probed, (.paths | length)]] |
		group_by(.) | map([length] + .[0])[]' "$map"
	return "$status"
}

# has_paths COUNT: by both leaves, which take turns, and the leaf of each peer is right
has_paths()
{
	jq -e --argjson count "$1" '["10.255.0.1", "10.255.0.2"] as $own |
		all(.peers[]; [.hop, .leaf_hop, (.paths | length)] == [2, 3, $count] and
			.leaf == "10.255.0.\(.address | split(".")[2] | tonumber + 1)" and
			([.paths[] | [.via, .router]] | unique | length) == $count and
			(.paths as $p | all(range($p | length); $p[.].via == $own[. % 2])))' "$map"
}

# meets FILTER TTL: the router of each path to two of the peers is the one that a probe meets
meets()
{
	local peer source port want found n=0

	while read -r peer source port want; do
		found=$(on h0 selftests/net/probe.py "$source" "$peer" "$2" "$port" 1)
		[[ $found == "$port $want" ]] || return
		n=$((n + 1))
	done < <(jq -r ".peers | (.[0], .[-1]) | . as \$peer | .paths[] |
		\"\(\$peer.address) \(\$peer.source) \(.ports[0]) \($1)\"" "$map")
	echo "$n ports"
	((n))
}

# right COUNT: all ports take the leaf and the spine of their path
right()
{
	has_paths "$1" && meets .via 1 && meets .router 2 && path verify "$map" --all
}

is_linear()
{
	jq -e 'all(.peers[]; .linear)' "$map"
}

makes()
{
	leaves=4
	tiers_of_spines 4
	pods_routers h0:0 h1:1 h2:2:8 h3:3:8 && bond_on
}

linear()
{
	pods_hash_set 0 0 && learn && is_linear && ((asked <= 200)) && right 8
}

seed_of_all()
{
	pods_hash_set 0 0 4711 && learn && is_linear && right 8
}

further_peer()
{
	local before peers=(10.1.2.1)

	learn && before=$(answers) && discover --peer 10.1.3.5 --out "$map" &&
		asked=$(($(answers) - before)) && echo "$asked answers" && ((asked <= 20)) &&
		is_linear && right 8
}

# The walk asks many ports of each peer.
not_linear()
{
	local peers=(10.1.{2,3}.1)

	pods_hash linux && learn && ! is_linear && right 8
}

silent_spine()
{
	local status peers=(10.1.{2,3}.1)

	pods_hash_set 0 0 && fabric_silence add spine1 || return
	learn --accept-incomplete --retries 1
	status=$?
	fabric_silence del spine1
	((!status)) && is_linear && has_paths 6
}

# A leaf of ours that does not answer is missed, and the map is refused.
silent_leaf()
{
	local status

	fabric_silence add leaf1
	doubts silent --retries 1 --probe-timeout 20 --ports 96 --peer 10.1.2.1
	status=$?
	fabric_silence del leaf1
	return "$status"
}

# Behind one of our leaves a peer has no path but by the other one.
own_leaf()
{
	rm -f "$map"
	discover --peer 10.1.1.1,10.1.2.1 --out "$map" &&
		jq -e '[.peers[] | [.local, (.paths | length)]] == [[true, 0], [false, 8]]' "$map"
}

# peer_pair: h2 has two leaves as well, of which the spines choose one
peer_pair()
{
	pods_hash_set 0 0 && bond_port h2 eth1 "$(in_ns h2 cat /sys/class/net/eth0/address)" 2 3 &&
		bond_prefix 2 3 && rm -f "$map" &&
		discover --peer 10.1.2.1,10.1.2.2 --out "$map" && is_linear &&
		jq -e 'all(.peers[]; (.paths | length) == 8)' "$map" && meets .via 1 &&
		path verify "$map" --all
}

ipv6()
{
	rm -f "$map"
	discover --peer fd00:1:2::1,fd00:1:3::8 --out "$map" && is_linear &&
		jq -e 'all(.peers[]; (.paths | length) == 8)' "$map" && meets .via 1 &&
		meets .router 2 && path verify "$map" --all
}

# Without its other member the bond sends all to leaf0.
one_member()
{
	local status

	learn && bond_member down || return
	path verify "$map" --json >"$dir/verified"
	status=$?
	((status == 1)) && jq -e '[.moved[] | select(.hop == 1)] | length == 64 and
		all(.[]; .actual == "10.255.0.1" and .expected == "10.255.0.2")' \
		"$dir/verified" && learn && jq -e 'all(.peers[]; (.paths | length) == 4)' "$map" &&
		bond_member up
}

# queue_pairs PROGRAM: leaves hash their numbers: the ports of each take the leaf and the spine
queue_pairs()
{
	local n status

	rm -f "$map"
	router_hash_all on "$1" build/bpf/qpn_hash.bpf.o "$prefix"leaf{0..3} &&
		discover --peer 10.1.2.1 --out "$map" >/dev/null 2>&1 &&
		on h0 build/user/qpn_ports "$map" 17 18 4711 9000001 >"$dir/found" &&
		jq -e '.peers[0].qpn_hash' "$map" || return
	for n in {1..4}; do
		jq -r '.peers[0].paths[] | "\(.via) \(.router)"' "$map"
	done >"$dir/want"
	for n in 1 2; do
		awk '{ print $2, $5 }' "$dir/found" | on h0 selftests/host/path/qpn_router.py \
			10.1.0.1 10.1.2.1 "$n" >"$dir/took$n"
	done
	paste -d ' ' "$dir/took1" "$dir/took2" | diff "$dir/want" -
	status=$?
	router_hash_all off '' '' "$prefix"leaf{0..3}
	return "$status"
}

# said MODE POLICY SELECT FILTER STATUS: path discover --json when files in the place of sysfs say
# that eth0 is such a bond
said()
{
	local net=/sys/class/net/ dev=/sys/class/net/eth0 index json status member

	index=$(in_ns h0 cat "$dev"/ifindex)
	rm -f "$map"
	mount -t tmpfs none "$net" && mkdir -p "$dev"/bonding || return
	for member in nic0 nic1; do
		mkdir -p "$net$member/compat/devlink"
		echo "$3" >"$net$member/compat/devlink/lag_port_select_mode"
	done
	echo "$index" >"$dev"/ifindex
	echo "$1" >"$dev"/bonding/mode
	echo "$2" >"$dev"/bonding/xmit_hash_policy
	echo nic0 nic1 >"$dev"/bonding/slaves
	json=$(on h0 timeout 120 "$rocesteer" path discover --dev eth0 --peer 10.1.2.1 \
		--out "$map" --json)
	status=$?
	umount "$net"
	jq -c '.bond, .peers[0].reasons' <<<"$json"
	((status == $5)) && jq -e "$4" <<<"$json" || return
	if ((status)); then
		[[ ! -e $map ]]
	else
		[[ -e $map ]]
	fi
}

by_ports()
{
	said "802.3ad 4" "layer3+4 1" hash '.bond == {device: "eth0", mode: "802.3ad",
		policy: "layer3+4", members: 2, select: "hash"} and
		(.peers[0].paths | length) == 8' 0
}

affinity()
{
	said "802.3ad 4" "layer3+4 1" queue_affinity \
		'.incomplete and .peers[0].reasons == ["queue-affinity"]' 1
}

by_packets()
{
	said "balance-rr 0" "layer2 0" hash '.peers[0].reasons == ["bond-mode"]' 1
}

by_addresses()
{
	bond_member down && said "balance-xor 2" "layer2+3 2" hash \
		'.bond.policy == "layer2+3" and (.peers[0].paths | length) == 4' 0 &&
		bond_member up
}

# In three tiers peers in the pod have paths by both leaves; those across are refused by name.
three_tiers()
{
	fabric_destroy && pods_make 4 h0:0 h1:2 h2:4 && bond_on && pods_hash apart &&
		doubts bond-tiers --peer 10.1.4.1
}

ktap_plan 19
check "a host with two leaves, below four spines" makes
check "leaves and spines are learnt where leaves hash linearly" linear
check "so they are where all leaves hash alike" seed_of_all
check "a peer in addition takes few probes" further_peer
check "IPv6 is the same" ipv6
check "a spine that does not answer is left out" silent_spine
check "a leaf of ours that does not answer is doubted" silent_leaf
check "a peer below one of our leaves is local" own_leaf
check "a bond with one member has one leaf, and path verify sees it" one_member
check "a bond that hashes ports is said to be one" by_ports
check "queue pairs that choose the port of the NIC are refused" affinity
check "so is a bond by packets" by_packets
check "a bond by addresses is said to be one" by_addresses
check "all is walked through where Linux hashes" not_linear
check "where leaves hash queue pairs, their ports follow from the model" \
	queue_pairs linear_qpn_hash
check "or are found by probes" queue_pairs qpn_hash
check "spines choose the leaf of a peer that has two" peer_pair
check "cores behind a bond are refused" three_tiers
check "nothing is left" world_is_empty
ktap_finish
