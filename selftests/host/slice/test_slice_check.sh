#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer slice check: flows that meet, of patterns and of lists

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/slice/slices.sh

no_slice()
{
	small
	"$rocesteer" --json slice check --slice "$file" --pattern ring | tee "$dir/out"
	jq -e --arg file "$file" '.error.message == "\($file): is a cluster file, not a slice" and
		(.error.hint | contains("slice show --cluster \($file)"))' "$dir/out"
}

# Three leaves with four GPUs each: ranks 0-3, 4-7 and 8-11
three_leaves()
{
	cluster '{"leaves":3,"spines":4,"gpus_per_leaf":4,"gpus_per_server":2}'
	slice alloc --gpus 12 --job a >"$dir/slice.json"
}

# flows JSON: the output of slice check on these flows
flows()
{
	echo "{\"flows\":$1}" >"$dir/flows.json"
	timeout 60 "$rocesteer" --json slice check --slice "$dir/slice.json" \
		--flows "$dir/flows.json"
}

checks_flows()
{
	local found status

	three_leaves >"$dir/out" || return
	found=$(flows '[{"from":4,"to":1},{"from":8,"to":2},{"from":5,"to":0},
		{"from":8,"to":9},{"from":4,"to":8,"step":1}]')
	status=$?
	echo "$found"
	((status == 1)) && jq -e '. == {ranks: 12, steps: 2, flows: 5,
		contended: 1, links: [{step: 0, direction: "down", spine: 0,
			leaf: 0, lane: 0, link: 0, flows: [{from: 4, to: 1}, {from: 8, to: 2}]}]}' \
		<<<"$found" &&
		flows '[{"from":4,"to":1},{"from":8,"to":2,"step":7}]' |
		jq -e '.contended == 0 and .steps == 2' &&
		flows '[]' | jq -e '.contended == 0 and .steps == 0' &&
		flows '[{"from":0,"to":12}]' | jq -e '.error.message |
			contains("flows[0].to: 12 is not a number from 0 to 11")' &&
		flows '[{"from":3,"to":3}]' | jq -e '.error.message |
			contains("flows[0].to: 3 is the sender of the flow as well")' &&
		flows '[{"from":0}]' | jq -e '.error.code == "bad-file"'
}

# Two flows of one GPU meet on its link up. Down they go to different leaves.
checks_links_up()
{
	three_leaves >"$dir/out" || return
	flows '[{"from":4,"to":0},{"from":4,"to":8}]' >"$dir/out"
	(($? == 1)) && jq -e '.contended == 1 and .links == [{step: 0,
		direction: "up", spine: 0, leaf: 1, lane: 0, link: 0,
		flows: [{from: 4, to: 0}, {from: 4, to: 8}]}]' "$dir/out"
}

# Hosts tell two cables apart. In a slice without lanes the hash may put both flows of a pair
# on one cable; a flow alone meets none.
checks_cables()
{
	cluster '{"leaves":2,"spines":2,"gpus_per_leaf":4,"gpus_per_server":2,
		"links_per_pair":2,"parallel_links":2}'
	slice alloc --gpus 8 --job a | jq -e '.spines == [0, 0, 1, 1]' &&
		collectives a || return
	slice show --job a >"$dir/slice.json"
	flows '[{"from":0,"to":4},{"from":1,"to":5}]' | jq -e '.contended == 0' &&
		with jobs "$(jq '.jobs | del(.a.lane_links)' "$file")" || return
	slice check --job a --pattern all-to-all >"$dir/out"
	(($? == 1)) && jq -e '.contended > 0 and ([.links[].spine] | unique) ==
		[0, 1] and ([.links[].direction] | unique) == ["down", "up"]' \
		"$dir/out" &&
		slice show --job a >"$dir/slice.json" &&
		flows '[{"from":0,"to":4},{"from":2,"to":5}]' >"$dir/out" &&
		! flows '[{"from":0,"to":4},{"from":1,"to":5}]' >"$dir/out" &&
		jq -e '[.links[] | [.direction, .spine, .leaf]] ==
			[["up", 0, 0], ["down", 0, 1]]' "$dir/out"
}

checks_patterns()
{
	collectives a || return
	slice check --job a --pattern hierarchical-ring | jq -e '.steps == 2 and .flows == 24' &&
		slice check --job a --pattern hierarchical-all-to-all |
		jq -e '.steps == 5 and .flows == 60' || return
	slice check --job a --pattern permutation --seed 4 >"$dir/out"
	(($? == 1)) && jq -e '.contended > 0 and
		(.links | length) == .contended' "$dir/out" &&
		refused 2 pattern "takes a power of two, not 12 ranks" \
			check --job a --pattern halving-doubling &&
		refused 2 usage "--seed: only with --pattern permutation" \
			check --job a --pattern ring --seed 4 &&
		refused 2 usage "'star' is not one of ring, halving-doubling, all-to-all, permutation, hierarchical-ring, hierarchical-all-to-all" \
			check --job a --pattern star &&
		refused 2 usage "one of --slice and --cluster" \
			check --slice "$dir/slice.json" --pattern ring &&
		refused 1 no-job "jobs.b" check --job b --pattern ring &&
		jq '.spines = [0, 1]' "$dir/slice.json" >"$dir/few.json" &&
		timeout 60 "$rocesteer" --json slice check --pattern ring \
			--slice "$dir/few.json" | jq -e '.error.message |
			contains("lane_links[0]: in each of 2 lanes, a leaf with 4 GPUs needs 2")'
}

ktap_plan 5
check "a cluster file in place of a slice is named" no_slice
check "flows that meet are named with their link" checks_flows
check "slice check counts the contention of patterns" checks_patterns
check "two flows of one GPU meet on its link up" checks_links_up
check "flows to one spine meet over several cables too" checks_cables
ktap_finish
