#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A job has two lanes over one spine, by two links between this spine and each leaf: each flow
# takes the link of its lane up and down, as the counters of links show. The other spine is
# drained; with it discovery can tell the links to the leaf apart.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh

message=65536
bytes=$((8 * message))	# of each flow

up()
{
	steer_fabric --spines 2 --links 2 --rate 4mbit &&
		discover_all --paths 8
}

allocated()
{
	jq -n --argjson hosts "$(fabric_hosts)" '{
		leaves: 2, spines: 2, gpus_per_leaf: 2, gpus_per_server: 1,
		links_per_pair: 2, parallel_links: 2,
		leaf_addrs: [range(2) as $l | [range(2) as $s | range(2) |
			"10.\(100 + .).\($l).\(2 * $s + 1)"]],
		spine_addrs: [range(2) as $s | [range(2) as $l | range(2) |
			"10.\(100 + .).\($l).\(2 * $s + 2)"]],
		drained: {spines: [1]},
		nics: [range(2) as $l | $hosts | map(select(.leaf == $l) |
			[.ipv4])]}' >"$dir/cluster.json"
	slice alloc --gpus 4 --job a >"$dir/a.json" || return
	jq -c '{spines, lane_links, up, down}' "$dir/a.json"
	jq -e '.spines == [0, 0] and .lane_links == [1, 1]' "$dir/a.json"
}

load()
{
	local i

	for ((i = 0; i < 4; i++)); do
		job_load "$i" --all --slice "$dir/a.json" --pattern all-to-all \
			>/dev/null || return
	done
}

# alone_on_links SHIFT LINKS: each rank sends to the rank SHIFT further. So many links are
# busy, each with one flow and its acknowledgments.
alone_on_links()
{
	local before after r

	for r in 0 1 2 3; do
		host_line "$r" "/sys/fs/cgroup/test$r"
	done >"$dir/writes"
	for r in 0 1 2 3; do
		echo "flow $r $(((r + $1) % 4)) $bytes"
	done >>"$dir/writes"
	before=$(link_bytes)
	timeout $((120 * TIME_SCALE)) build/guest/selftests/writes 1 "$message" 2 22 \
		<"$dir/writes" || return
	after=$(link_bytes)
	jq -n -e --argjson before "$before" --argjson after "$after" \
		--argjson bytes "$bytes" --argjson links "$2" '
		[$before, $after] | transpose | map((.[1] - .[0]) / $bytes) |
		{busy: map(select(. > 0.5)) | length, most: max} |
		., (.busy == $links and .most < 1.5)'
}

steps_are_free()
{
	alone_on_links 1 4 && alone_on_links 2 8 && alone_on_links 3 4
}

unload()
{
	jobs_unload 0 1 2 3
}

ktap_plan 5
check "a fabric with two links to each spine and port maps of all hosts are made" up
check "a job has two lanes over one spine" allocated
check "the slice of the job is loaded on all hosts" load
check "no link carries two flows of a step" steps_are_free
check "unloading leaves nothing" unload
ktap_finish
