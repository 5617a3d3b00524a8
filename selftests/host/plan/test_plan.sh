#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer plan: plans, weights, prior plans, and numbers of queue pairs

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/lib/command.sh

plan_as_designed()
{
	local want='{"flows":3,"paths":2,"unit":2,"pieces":[
		{"flow":0,"path":0,"from":0,"to":2},
		{"flow":1,"path":1,"from":0,"to":2},
		{"flow":2,"path":0,"from":0,"to":1},
		{"flow":2,"path":1,"from":1,"to":2}],"load":[3,3]}'

	"$rocesteer" plan --flows 3 --paths 2 --json |
		jq -e --argjson want "$want" '. == $want' &&
		"$rocesteer" --json plan --paths 2 --flows 3 |
		jq -e --argjson want "$want" '. == $want' &&
		"$rocesteer" plan --json --flows 3 --paths 2 |
		jq -e --argjson want "$want" '. == $want'
}

plan_fewest()
{
	"$rocesteer" plan --flows 15 --paths 16 --json |
		jq -e '(.pieces | length) == 30 and (.load | unique) == [15]'
}

plan_weights()
{
	"$rocesteer" plan --flows 7 --paths 4 --weights 1,0,2,4 --json |
		jq -e '.load == [1,0,2,4] and .unit == 1'
}

# A path with eight whole flows dies, so its two flows must move.
plan_prior()
{
	local plan=("$rocesteer" plan --flows 8 --paths 4)

	"${plan[@]}" --json >"$dir/level.json" &&
		"${plan[@]}" --prior "$dir/level.json" --weights 1,1,0,1 \
			--json >"$dir/dead.json" &&
		jq -e '.change == {moved: 6, must: 6, flows: 2, unit: 3} and
			.load == [8,8,0,8]' "$dir/dead.json" &&
		"${plan[@]}" --prior "$dir/dead.json" --json |
		jq -e '.change == {moved: 6, must: 6, flows: 2, unit: 3}' &&
		"${plan[@]}" --prior "$dir/level.json" --json |
		jq -e --slurpfile level "$dir/level.json" 'del(.change) == $level[0]' &&
		"${plan[@]}" --prior "$dir/level.json" >"$dir/said" &&
		grep -x 'moved at least         0' "$dir/said" &&
		[[ $(grep -c '^units per flow' "$dir/said") == 1 ]]
}

# recommends CONNECTIONS QPS PROMISE [OPTION..]: the recommendation, on four paths by default
recommends()
{
	"$rocesteer" plan --paths 4 --flows "$1" "${@:4}" --recommend-qps --json |
		jq -e --argjson qps "$2" --arg promise "$3" \
			'.recommended == $qps and .promise == $promise'
}

# The recommendation is even for each connection, if that takes at most 16 queue pairs.
plan_qps()
{
	"$rocesteer" plan --flows 6 --paths 4 --recommend-qps --json |
		jq -e '. == {flows: 6, paths: 4, recommended: 4, promise: "always",
			exact: 2,
			nccl: "NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_SPLIT_DATA_ON_QPS=1",
			choices: [{qps: 1, queue_pairs: 6, imbalance: 1.3333,
					promise: "bytes"},
				{qps: 2, queue_pairs: 12, imbalance: 1,
					promise: "bytes"},
				{qps: 4, queue_pairs: 24, imbalance: 1,
					promise: "always"}]}' &&
		"$rocesteer" plan --flows 6 --paths 64 --recommend-qps --json |
		jq -e '.recommended == 10 and .promise == "bytes" and .exact == 32 and
			(.choices[-3:] | map([.qps, .imbalance, .promise])) ==
				[[10, 1.0667, "bytes"], [32, 1, "bytes"],
				[64, 1, "always"]]' &&
		recommends 2 4 always && recommends 3 4 always &&
		recommends 4 4 always && recommends 2 4 always --weights 3,1,0,0 &&
		"$rocesteer" plan --flows 2 --paths 4 --recommend-qps >"$dir/said" &&
		grep -xE 'promise +always' "$dir/said" &&
		grep -xE ' +2 +4 +1\.0000 +bytes' "$dir/said"
}

ktap_plan 5
check "plan prints the designed plan, with --json at any place" plan_as_designed
check "plan has the fewest pieces" plan_fewest
check "plan --weights shares flows by weight" plan_weights
check "plan --prior moves as little as it can" plan_prior
check "plan --recommend-qps names exact numbers of queue pairs" plan_qps
ktap_finish
