#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The paths that a job takes: by place, by weight, split, and in a slice

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/job/job.sh

# A slice with spine 1, two leaves and two hosts
slice()
{
	cat >"$dir/slice.json" <<-E
	{"job":"train","gpus":2,"stage":"vclos","leaves":[0,1],"spines":[1],
	 "routers":["${1:-10.255.1.2}"],"links":[[0,1],[1,1]],"objective":2,
	 "servers":[
	  {"leaf":0,"server":0,"gpus":1,"nics":["${2:-10.1.0.1}"]},
	  {"leaf":1,"server":0,"gpus":1,"nics":["${3:-10.1.1.1}"]}]}
	E
}

# in_slice HOME SPINE PATTERN ARGUMENT...: the tables have only what is in the slice
in_slice()
{
	local home=$1 spine=$2 pattern=$3
	shift 3

	job load --job 9 --port-map "$map" --all "$@" |
		jq -e --argjson spine "$spine" '.name == "train" and
			.peers == 1 and .steered == 1 and .spines == [1] and .spine == $spine and
			.split == "none"' &&
		job show --job 9 | jq -e --argjson home "$home" \
			--argjson pattern "$pattern" '
			.slice and .pattern == $pattern and
			[.peers[] | {address, ports}] ==
				[{address: "10.1.1.1", ports: [49160]}] and
			[.groups[] | {routers, weights, home}] == [{
				routers: ["10.255.1.2"], weights: [1], home: $home}]' &&
		job unload --job 9
}

# paths_of DEAL: the paths of the flows to one peer; the host is the second under its leaf
paths_of()
{
	# The other host under the leaf has two addresses.
	jq '(.peers[] | select(.local)).address = "10.1.0.0" |
		.peers += [.peers[] | select(.local) | .address = "fd00::0:1:0" |
			.source = "fd00::1"]' "$map" >"$dir/second.json" &&
		job load --job 9 --port-map "$dir/second.json" --deal "$1" \
			--flow 10.1.1.1/50,10.1.1.1/51,fd00:1::2/52 >"$dir/dealt" &&
		[[ $(jq -r .deal "$dir/dealt") == "$2" ]] &&
		"$rocesteer" --json flow show --job 9 |
			jq -c '[.flows | sort_by(.dqpn)[] | [.path, .promise]]' &&
		job unload --job 9 >&2
}

# The only path to the third peer is path 0.
deals_by_place()
{
	local dealt='[[1,"permutations"],[0,"permutations"],[0,"permutations"]]'

	[[ $(paths_of auto place) == "$dealt" ]] &&
		[[ $(paths_of place place) == "$dealt" ]] &&
		paths_of least least | jq -e 'map(.[1]) == ["bytes", "bytes", "bytes"]' &&
		jq '.peers |= map(select(.local | not))' "$map" >"$dir/far.json" &&
		refused no-place 2 load --job 8 --all --deal place --port-map "$dir/far.json" &&
		job load --job 9 --port-map "$dir/far.json" --all | jq -e '.deal == "least"' &&
		job unload --job 9
}

# far ADDRESS LEAF HOP PATH...: a peer of three tiers; each path is a router, and the one before
far()
{
	local peer=$1 leaf=$2 hop=$3
	shift 3

	jq -nc --arg peer "$peer" --arg leaf "$leaf" --argjson hop "$hop" '{
		address: $peer, source: "10.1.0.3", local: false, leaf: $leaf, hop: $hop,
		leaf_hop: (2 * $hop - 1), probed: 9, paths: [$ARGS.positional | to_entries[] |
			(.value / ",") as $by | {path: .key, router: $by[0],
			ports: [49152 + .key]} + if $by[1] then {via: $by[1]} else {} end]}' \
		--args "$@"
}

# The host is the fifth of its pod: the leaf of 10.1.0.1 and of two more hosts comes first, then our
# own with 10.1.0.2, the host itself and 10.1.0.4, and that of 10.1.0.9 is behind.
place_in_pod()
{
	local near='{"source":"10.1.0.3","local":true,"probed":0,"paths":[]}'
	local inside=(2 10.2.0.{1..3}) first

	ip address add 10.1.0.3/24 dev rs0 || return
	{
		jq -c '.address = "10.1.0.2"' <<<"$near"
		jq -c '.address = "10.1.0.4"' <<<"$near"
		far 10.1.0.1 10.255.0.1 "${inside[@]}"
		far 10.1.0.8 10.255.0.1 "${inside[@]}"
		far 10.1.0.10 10.255.0.1 "${inside[@]}"
		far 10.1.0.9 10.255.0.2 "${inside[@]}"
		far 10.1.1.1 10.255.0.3 3 10.3.1.1,10.2.0.1 10.3.2.1,10.2.0.2 10.3.3.1,10.2.0.3 \
			10.3.1.2,10.2.0.1 10.3.2.2,10.2.0.2 10.3.3.2,10.2.0.3
	} | jq -s '{format: 2, generation: 1, created: "2026-01-02T03:04:05Z", device: "rs0",
		peers: .}' >"$dir/tiers.json"
	job load --job 9 --all --port-map "$dir/tiers.json" | jq -e '.deal == "place" and
		.whole.paths == 6 and (.whole | has("hosts") | not)' || return
	first=$(firsts)
	job unload --job 9 && ip address del 10.1.0.3/24 dev rs0 || return
	echo "$first"
	[[ $first == '[1,1,4]' ]]
}

# The paths at which the groups of job 9 begin, those of few paths first
firsts()
{
	bpftool -j map dump pinned "$(echo /sys/fs/bpf/rocesteer/netns-*)/rs_groups" |
		jq -c 'map(.formatted | select(.key.job == 9).value) | sort_by(.nr_paths) | map(.first)'
}

# --split auto, the default, is no error where flows cannot be split.
splits_where_possible()
{
	local options

	for options in --all "--flow 10.1.1.1/55" "--flow 10.1.1.1/55 --split auto"; do
		# shellcheck disable=SC2086 # options and their values
		job load --job 9 --port-map "$map" $options |
			jq -e '.split == "none" and .deal == "place"' &&
			job show --job 9 | jq -e '.split == "none" and
				.deal == "place" and .resequence == "off"' &&
			job unload --job 9 || return
	done
}

# A flow over one spine is not split, whatever --split says.
not_split()
{
	job load --job 9 --port-map "$map" --flow 10.1.1.1/55 --split all \
		--slice "$dir/slice.json" | jq -e '.split == "none"' &&
		job show --job 9 | jq -e '.split == "none" and .slice' &&
		job unload --job 9
}

restricts()
{
	slice
	not_split && in_slice 0 1 null --slice "$dir/slice.json" &&
		in_slice 0 1 '"ring"' --slice "$dir/slice.json" --pattern ring &&
		in_slice null null '"permutation"' --slice "$dir/slice.json" --pattern permutation
}

from_cluster()
{
	echo '{"leaves":2,"spines":2,"gpus_per_leaf":2,"gpus_per_server":1,
		"routers":["10.255.1.1","10.255.1.2"],
		"nics":[[["10.1.0.9"],["10.1.0.1"]],[["10.1.1.9"],["10.1.1.1"]]],
		"free_gpus":[[0,1],[0,1]],"free_links":[[0,1],[0,1]]}' \
		>"$dir/cluster.json"
	"$rocesteer" --json slice alloc --cluster "$dir/cluster.json" --gpus 2 \
		--job train >"$dir/slice.json" &&
		jq -e '.routers == ["10.255.1.2"] and
			[.servers[].nics] == [["10.1.0.1"], ["10.1.1.1"]]' \
			"$dir/slice.json" &&
		in_slice 0 1 null --slice "$dir/slice.json" &&
		in_slice 0 1 null --slice-job train --cluster "$dir/cluster.json" ||
		return
	# Each leaf has other addresses of the spines.
	jq '.routers = [.routers, ["10.255.2.1", "10.255.2.2"]]' "$dir/cluster.json" \
		>"$dir/by-leaf.json" &&
		"$rocesteer" --json slice show --cluster "$dir/by-leaf.json" \
			--job train >"$dir/slice.json" &&
		jq -e '.routers == [["10.255.1.2"], ["10.255.2.2"]]' "$dir/slice.json" &&
		in_slice 0 1 null --slice "$dir/slice.json" &&
		refused no-port 3 load --job 8 --all --port-map "$map" --slice \
			<(jq '.routers |= reverse' "$dir/slice.json")
}

# The lane of a GPU is one of two parallel links at each end, whatever other ports the map
# has.
parallel_links()
{
	local cluster="$dir/parallel.json"

	echo '{"leaves":2,"spines":1,"gpus_per_leaf":2,"gpus_per_server":1,
		"links_per_pair":2,"parallel_links":2,
		"spine_addrs":[["10.3.0.1",["10.3.0.2","10.3.0.9"],"10.3.1.1","10.3.1.2"]],
		"leaf_addrs":[["10.2.0.1","10.2.0.2"],["10.2.1.1","10.2.1.2"]],
		"nics":[[["10.1.0.1"],["10.1.0.2"]],[["10.1.1.1"],["10.1.1.2"]]]}' \
		>"$cluster"
	jq '.peers = [["10.1.1.1", 49152], ["10.1.1.2", 50000] | {address: .[0],
		source: "10.1.0.1", local: false, leaf: "10.2.1.1", probed: 4,
		paths: [{path: 0, router: "10.3.0.1", leaf: "10.2.1.1", ports: [.[1]]},
			{path: 1, router: "10.3.0.1", leaf: "10.2.1.2", ports: [.[1] + 8]},
			{path: 2, router: "10.3.0.9", leaf: "10.2.1.1", ports: [.[1] + 16]},
			{path: 3, router: "10.3.0.9", leaf: "10.2.1.2", ports: [.[1] + 24]}]}]' \
		"$map" >"$dir/both.json" &&
		"$rocesteer" --json slice alloc --cluster "$cluster" --gpus 4 --job train |
		jq -e '.spines == [0, 0] and .lane_links == [1, 1] and
			.down == ["10.2.0.1", "10.2.0.2", "10.2.1.1", "10.2.1.2"]' &&
		job load --job 9 --port-map "$dir/both.json" --all --slice-job train \
			--cluster "$cluster" | jq -e '.spines == [0, 0] and .spine == 0' &&
		job show --job 9 | jq -e '([.peers[] | [.address, .ports]] | sort) == [
			["10.1.1.1", [49152, 49176]], ["10.1.1.2", [50000, 50024]]] and
			[.groups[] | .routers, .weights, .home] ==
				[["10.3.0.1", "10.3.0.9"], [1, 1], 0]' &&
		job unload --job 9 &&
		refused no-port 3 load --job 8 --all --slice-job train --cluster "$cluster" \
			--port-map <(jq 'del(.peers[1].paths[3]) |
				.peers[].paths |= [to_entries[] | .value + {path: .key}]' \
				"$dir/both.json") &&
		jq 'del(.leaf_addrs, .spine_addrs)' "$cluster" >"$dir/untold.json" &&
		refused bad-file 2 load --job 8 --all --slice-job train \
			--cluster "$dir/untold.json" --port-map "$dir/both.json" &&
		jq 'del(.leaf_addrs)' "$cluster" >"$dir/untold.json" &&
		refused bad-file 2 load --job 8 --all --slice-job train \
			--cluster "$dir/untold.json" --port-map "$dir/both.json"
}

under_one_leaf()
{
	echo '{"job":"small","gpus":1,"leaves":[0],"spines":[],"links":[],
		"servers":[{"leaf":0,"server":0,"gpus":1}]}' >"$dir/slice.json"
	job load --job 9 --port-map "$map" --all --slice "$dir/slice.json" |
		jq -e '.peers == 0 and .steered == 0 and (has("spines") | not)' &&
		job show --job 9 | jq -e '.peers == [] and .groups == []' &&
		job unload --job 9
}

# refused_slice CODE STATUS MESSAGE SLICE-ARGUMENT...
refused_slice()
{
	local code=$1 want=$2 message=$3
	shift 3

	slice "$@"
	refused "$code" "$want" load --job 8 --all --port-map "$map" \
		--slice "$dir/slice.json" >"$dir/said" || return
	cat "$dir/said"
	grep -F "$message" "$dir/said"
}

refuses_slices()
{
	refused_slice no-port 3 "$map: job train: the port map has no port to \
10.1.1.1 by spine 1, 10.255.1.9\"" 10.255.1.9 &&
		refused_slice no-port 3 "10.1.1.7 by spine 1" '' '' 10.1.1.7 &&
		refused_slice not-in-slice 2 "10.1.0.1, the source" '' 10.1.0.7 &&
		refused_slice bad-file 2 "servers: two GPUs have the NIC" '' 10.1.1.1 &&
		refused_slice bad-file 2 "routers[0]: is not the address" spine1 &&
		refused_slice bad-file 2 "servers[1].nics[0]: is not" '' '' nic
	echo '{"job":"train","gpus":4,"leaves":[0,1],"spines":[0,1],
	 "routers":["10.255.1.1","10.255.1.9"],
	 "links":[[0,0],[0,1],[1,0],[1,1]],"servers":[
	  {"leaf":0,"server":0,"gpus":2,"nics":["10.1.0.1","10.1.0.9"]},
	  {"leaf":1,"server":0,"gpus":2,"nics":["10.1.1.1","10.1.1.7"]}]}' \
		>"$dir/slice.json"
	refused no-port 3 load --job 8 --all --port-map "$map" \
		--slice "$dir/slice.json" >"$dir/said" || return
	grep "10.1.1.1 by spine 1, 10.255.1.9, and 2 more\"" "$dir/said" || return
	slice
	jq '.format = 2 | .peers[] |= if .local then . else . + {hop: 3, leaf_hop: 5} end' "$map" \
		>"$dir/across.json" &&
		refused three-tiers 2 load --job 8 --all --port-map "$dir/across.json" \
			--slice "$dir/slice.json" || return
	jq '.peers[].paths[].via = "10.255.0.1"' "$map" >"$dir/bond.json" &&
		refused two-leaves 2 load --job 8 --all --port-map "$dir/bond.json" \
			--slice "$dir/slice.json" || return
	refused no-port 3 load --job 8 --all --port-map "$map" --slice \
		<(sed 's/10.1.1.1/10.1.0.2/' "$dir/slice.json") &&
		refused bad-file 2 load --job 8 --all --port-map "$map" --slice \
			<(jq 'del(.routers)' "$dir/slice.json") &&
		refused usage 2 load --job 8 --all --port-map "$map" --pattern ring &&
		refused usage 2 load --job 8 --all --port-map "$map" \
			--slice "$dir/slice.json" --pattern spiral &&
		refused no-file 2 load --job 8 --all --port-map "$map" \
			--slice-job train --cluster "$dir/none"
}

# Path 1 has three times the capacity of path 0.
weighs()
{
	jq '(.peers[].paths[] | select(.router == "10.255.1.2")).weight = 3' "$map" \
		>"$dir/weights.json"
	job load --job 1 --port-map "$dir/weights.json" --flow \
		10.1.1.1/11,10.1.1.1/12,10.1.1.1/13,10.1.1.1/14,10.1.1.1/15 >"$dir/log" || return
	job show --job 1 | jq -ce '.groups[] |
		select(.leaf == "10.255.0.2").flows == [1, 4]' &&
		job unload --job 1 >"$dir/log"
}

ktap_plan 9
ready && loads >/dev/null || exit
check "flows are dealt by the host's place, where that is known" deals_by_place
check "in three tiers the place is that in the pod, and path numbers begin at one agg" place_in_pod
check "without --split, flows are split only where the order can be restored" splits_where_possible
check "a job with a slice has only the slice's paths in its tables" restricts
check "job load takes a slice from a cluster file" from_cluster
check "a slice names parallel links to one spine" parallel_links
check "a job whose slice is under one leaf has nothing to steer" under_one_leaf
check "a slice that the port map does not reach is refused" refuses_slices
check "paths take listed flows by weight" weighs
ktap_finish
