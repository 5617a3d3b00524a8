#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path audit and path discover in fat trees of linear hashes: polarisation is named where it is, and
# only there

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/path/path.sh
. selftests/host/lib/pods.sh

peers=10.1.1.1,10.1.2.1,10.1.2.2,10.1.4.1

# alike SEED: leaves and aggs hash the same bits with the same seed
alike()
{
	pods_hash_set 0 0 "$1" && pods_hash_set 1 0 "$1"
}

# seeded KIND NUMBER: as pods_hash, with other seeds for each number
seeded()
{
	local router

	RANDOM=$2
	pods_hash "$1" || return
	for router in $(routers 0) $(routers 1); do
		router_hash_set "$prefix$router" 0 $((RANDOM << 15 | RANDOM)) || return
	done
}

# map_of HOST PEERS
map_of()
{
	rm -f "$dir/$1.json"
	in_ns "$1" timeout 120 "$rocesteer" path discover --dev eth0 --peer "$2" \
		--out "$dir/$1.json" --json >"$dir/log" 2>&1 || { cat "$dir/log"; return 1; }
}

maps()
{
	map_of h0 "$peers" && map_of h2 10.1.0.1,10.1.4.1
}

audit()
{
	"$rocesteer" path audit "$dir/h0.json" "$@" --json >"$dir/audit.json"
}

# has CODE FAULT: h0's map has this finding
has()
{
	jq -e --arg code "$1" --argjson fault "$2" --arg map "$dir/h0.json" 'any(.findings[];
		.code == $code and .fault == $fault and .map == $map)' "$dir/audit.json" >/dev/null
}

# names: exit status 1, and the polarised cores are counted
names()
{
	audit "$@"
	(($? == 1)) && has polarised true && jq -e '.maps[0] | .tiers == 3 and
		.next_hops == 2 and .cores == 2 and .cores_per_agg == 1' "$dir/audit.json" >/dev/null
}

# clean: exit status 0, and no fault
clean()
{
	audit "$@" && jq -e '.faults == 0 and all(.findings[]; .fault | not)' \
		"$dir/audit.json" >/dev/null
}

# reaches HOST: the cores in its map
reaches()
{
	jq -r '.peers[].paths[] | select(.via) | .router' "$dir/$1.json" | sort -u
}

# others_tell: hosts share a core, and together they have more than h0
others_tell()
{
	local all own common

	own=$(reaches h0 | wc -l)
	all=$({ reaches h0; reaches h2; } | sort -u | wc -l)
	common=$(comm -12 <(reaches h0) <(reaches h2) | wc -l)
	((common > 0 && all > own))
}

# count_polarised COMMAND...: of fabrics that it makes, with a number behind
count_polarised()
{
	local i given=0 told=0 untold=0

	for ((i = 1; i <= runs; i++)); do
		"$@" $((i * 77)) && maps && clean && has cores false || return
		names --cores 4 && given=$((given + 1))
		if others_tell; then
			names --hosts "$dir/h2.json" && told=$((told + 1))
		else
			clean --hosts "$dir/h2.json" && untold=$((untold + 1))
		fi
	done
	echo "of $runs fabrics, $given are named by --cores, $told by a map of another pod," \
		"in which $untold have no other core, or no common one"
	((given == runs && told + untold == runs))
}

# none_named KIND: fabrics that are not polarised
none_named()
{
	local i

	for ((i = 1; i <= runs; i++)); do
		if ! seeded "$1" $((i * 77)) || ! maps || ! clean || ! clean --cores 4 ||
			! has cores false || ! clean --hosts "$dir/h2.json"; then
			jq -c . "$dir/audit.json"
			return 1
		fi
	done
	echo "none of $runs fabrics is named"
}

tells_fields()
{
	pods_hash apart && maps && clean --cores 4 && jq -e '.findings as $all |
		all("tiers", "hash", "port", "address", "queue-pair", "cores";
			. as $code | any($all[]; .code == $code))' "$dir/audit.json" &&
		"$rocesteer" path audit "$dir/h0.json" --cores 4 >"$dir/text" || return
	cat "$dir/text"
	grep "All 4 cores are reached" "$dir/text" && grep "Linear: the ports of 3 of 3 peers across" \
		"$dir/text" && grep "UDP source port choose" "$dir/text"
}

# A part of the cores that divides their number is reached where leaves and aggs hash alike.
tells_missing()
{
	audit --cores 5
	(($? == 1)) && has missing true && ! has polarised true || return
	audit --cores 2
	(($? == 1)) && has more true
}

# Of 4 paths 2 are found: the peer in the pod lacks none.
discover_names()
{
	alike 4711 && doubts polarised --peer 10.1.2.1,10.1.1.1 --paths 4 &&
		discover --peer "$peers" --paths 4 --json >"$dir/found"
	jq -c '[.peers[] | [.address, .hop, .reasons]]' "$dir/found"
	jq -e 'all(.peers[]; if .hop == 3 then .reasons == ["polarised"] else .reasons == null end)' \
		"$dir/found"
}

discover_notes()
{
	discover --peer "$peers" 2>"$dir/text" >/dev/null && cat "$dir/text" &&
		grep "2 aggs lead to 1 core each, .* see path audit" "$dir/text" &&
		pods_hash apart && discover --peer "$peers" 2>"$dir/text" >/dev/null &&
		! grep "path audit" "$dir/text"
}

runs=20
ktap_plan 10
check "a fat tree of 4 pods" pods_make 4 h0:0 h1:1 h2:2:2 h3:4
check "polarised fabrics of one seed are named" count_polarised alike
check "polarised fabrics of a seed for each router are named" count_polarised seeded seeds
check "fabrics that hash by other bits in each tier are not" none_named apart
check "fabrics that hash by bits side by side are not" none_named shared
check "tiers and fields are told" tells_fields
check "cores that are missing in another way, or too many, are told" tells_missing
check "path discover --paths names polarisation, across only" discover_names
check "path discover without it notes that there may be more cores" discover_notes
check "nothing is left" world_is_empty
ktap_finish
