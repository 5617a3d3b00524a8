#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer simulate --cluster: jobs that communicate at one time, in their slices and without.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/lib/command.sh
file=$dir/cluster.json

# cluster LEAVES SPINES GPUS_PER_LEAF GPUS_PER_SERVER GPUS...: a cluster with jobs of so many GPUs
cluster()
{
	local gpus n=0

	rm -f "$file"*
	printf '{"leaves":%d,"spines":%d,"gpus_per_leaf":%d,"gpus_per_server":%d,"jobs":{}}' \
		"${@:1:4}" >"$file"
	for gpus in "${@:5}"; do
		"$rocesteer" slice alloc --cluster "$file" --gpus "$gpus" --job "job$((n++))" \
			>/dev/null || return
	done
}

simulate()
{
	timeout 60 "$rocesteer" --json simulate --cluster "$file" --rate 100 --size 8M "$@"
}

slices_are_alone()
{
	local pattern

	cluster 16 16 16 4 32 48 64 24 8 16 || return
	for pattern in pairwise hierarchical ring all-to-all; do
		simulate --pattern "$pattern" --policy slice,all >"$dir/out" &&
			jq -e '.jobs == 6 and all(.policies[:2][];
				.slowdown < 1.0001 and .slowed == 0)' "$dir/out" || return
	done
}

ecmp_slows_jobs()
{
	cluster 16 16 16 4 32 48 64 24 8 16 &&
		simulate --pattern pairwise >"$dir/out" &&
		jq -e '(.policies | map(.policy)) == ["slice", "ecmp"] and
			.policies[1].slowed == 4 and .policies[1].slowdown_worst > 2' \
			"$dir/out" &&
		jq -e 'all(.jobs_by_policy[] | select(.leaves == 1); .slowdown < 1.0001)' \
			"$dir/out"
}

# Two jobs have a flow each from leaf to leaf, and a spine each by slices. By chance both take one
# spine: then each has half of a link while the other sends.
two_flows_on_a_link()
{
	local seed

	cluster 2 2 2 1 || return
	jq -c '.jobs |= {
		a: {gpus: 2, stage: "vclos", leaves: [0,1], spines: [0], lane_links: [1,1],
		    servers: [{leaf:0,server:0,gpus:1}, {leaf:1,server:0,gpus:1}],
		    links: [[0,0],[1,0]], objective: 0},
		b: {gpus: 2, stage: "vclos", leaves: [0,1], spines: [1], lane_links: [1,1],
		    servers: [{leaf:0,server:1,gpus:1}, {leaf:1,server:1,gpus:1}],
		    links: [[0,1],[1,1]], objective: 0}} |
		.free_gpus = [[0,0],[0,0]] | .free_links = [[0,0],[0,0]]' "$file" >"$dir/two" &&
		mv "$dir/two" "$file" || return
	for seed in {1..12}; do
		simulate --pattern ring --seed "$seed" --policy slice || return
	done >"$dir/out"
	jq -se 'all(.[].jobs_by_policy[] | select(.policy == "slice"); .slowdown == 1) and
		([.[].jobs_by_policy[] | select(.policy == "ecmp").slowdown_worst] | unique) ==
			[1, 2]' "$dir/out"
}

people_see_the_jobs()
{
	cluster 2 4 4 2 4 8 || cluster 4 4 4 2 4 8 || return
	"$rocesteer" simulate --cluster "$file" --rate 100 --pattern pairwise >"$dir/out" &&
		grep -E '^POLICY +X BOUND' "$dir/out" && grep -E '^job1 +8 +2 .*slice' "$dir/out"
}

an_empty_cluster()
{
	cluster 2 2 2 1 1 &&
		simulate --pattern ring | jq -e '.jobs == 0 and .policies == []' &&
		"$rocesteer" simulate --cluster "$file" --rate 1 --pattern ring |
		grep 'no job has several GPUs'
}

what_is_refused()
{
	cluster 2 2 2 1 &&
		fails 2 usage "hosts: not with --cluster" simulate --pattern ring --hosts 2 &&
		fails 2 usage "so many links" simulate --pattern ring --dead 99 &&
		fails 2 usage "flows: not with --cluster" simulate --flows /dev/null &&
		fails 2 usage "only one of --leaves, --cluster" simulate --leaves 2 --pattern ring &&
		fails 2 no-file "$dir/none" "$rocesteer" --json simulate --cluster "$dir/none" --rate 1 \
			--pattern ring &&
		jq -c '.links_per_pair = 2 | .parallel = 2' "$file" >"$dir/wide.json" &&
		fails 2 usage "wide.json: only clusters with one link" "$rocesteer" --json simulate \
			--cluster "$dir/wide.json" --rate 1 --pattern ring
}

ktap_plan 6
check "jobs in their slices are as fast as if each were alone" slices_are_alone
check "by ECMP jobs over several leaves slow each other, and others do not" ecmp_slows_jobs
check "two jobs that share a link have half of it each" two_flows_on_a_link
check "people see policies and jobs" people_see_the_jobs
check "a cluster without jobs of several GPUs has no policies to compare" an_empty_cluster
check "what does not go with a cluster file is refused by name" what_is_refused
ktap_finish
