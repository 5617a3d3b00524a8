#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer slice replay and trace: times computed by hand, orders of the queue, wrong traces,
# and a comparison of policies on a generated trace.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/lib/command.sh
file=$dir/cluster.json
trace=$dir/trace.csv

# cluster LEAVES SPINES GPUS_PER_LEAF GPUS_PER_SERVER
cluster()
{
	printf '{"leaves":%d,"spines":%d,"gpus_per_leaf":%d,"gpus_per_server":%d}' "$@" >"$file"
}

# trace LINE...: a trace file with these lines
trace()
{
	printf '%s\n' arrival,gpus,duration,communication,pattern "$@" >"$trace"
}

replay()
{
	timeout 120 "$rocesteer" --json slice replay "$trace" --cluster "$file" "$@"
}

# of POLICY FILTER: the filter is true of the policy in a replay on standard input
of()
{
	jq -e ".policies[] | select(.policy == \"$1\") | $2"
}

contention_within_a_job()
{
	cluster 2 1 2 1
	trace 0,4,100,0.5,halving-doubling
	replay --policy ecmp,ideal >"$dir/out" &&
		of ecmp '.jrt_s == 150 and .slowed == 1 and .jwt_s == 0 and
			.jct_to_ideal == 1.5' <"$dir/out" &&
		of ideal '.jrt_s == 100 and .slowed == 0' <"$dir/out" &&
		trace 0,2,100,0.5,halving-doubling &&
		replay --policy ecmp | of ecmp '.jrt_s == 100'
}

# Both GPUs of a server send to the next server, or to the one half of the job away.
hierarchical_patterns()
{
	cluster 2 1 4 2
	trace 0,8,100,0.5,ring
	replay --policy ecmp | of ecmp '.jrt_s == 100' &&
		trace 0,8,100,0.5,hierarchical-ring &&
		replay --policy ecmp | of ecmp '.jrt_s == 150' &&
		trace 0,8,100,0.5,hierarchical-all-to-all &&
		replay --policy ecmp | of ecmp '.jrt_s == 250'
}

# Flows meet as "slice check" finds for the job alone.
contention_within_slices()
{
	local seed
	local -a k

	cluster 8 8 8 4
	trace 0,32,100,0.5,permutation 0,32,100,0.5,permutation
	"$rocesteer" --json slice alloc --cluster "$file" --gpus 32 --dry-run \
		>"$dir/slice" || return
	for seed in 1 2 3; do
		mapfile -t k < <(for ((i = seed; i < seed + 2; i++)); do
			"$rocesteer" --json slice check --slice "$dir/slice" \
				--pattern permutation --seed "$i"
		done | jq '[1, (.links[].flows | length)] | max')
		echo "flows on the worst links: ${k[*]}"
		((k[0] + k[1] > 2)) &&
			replay --policy vclos --seed "$seed" | of vclos \
				".jrt_s == 100 + 25 * (${k[0]} + ${k[1]} - 2)" ||
			return
	done
}

# Each job has four GPUs under a leaf of its own, and one under a common leaf. From 50 s on
# their flows share links, and meet while both communicate.
contention_between_jobs()
{
	cluster 3 1 4 1
	trace 0,5,100,0.5,ring 50,5,100,0.5,ring
	replay --policy ecmp,source-routing,ideal >"$dir/out" &&
		of ecmp '.jrt_s == 112.5 and .slowed == 2 and
			.makespan_s == 162.5' <"$dir/out" &&
		of ideal '.jrt_s == 100 and .makespan_s == 150' <"$dir/out" &&
		trace 0,5,100,0.2,ring 0,5,300,0.6,ring &&
		replay --policy ecmp | of ecmp '.jrt_s == (112 + 312) / 2' &&
		trace 0,5,100,0.2,ring 0,5,100,0,ring &&
		replay --policy ecmp | of ecmp '.jrt_s == 100 and .slowed == 0'
}

# Each leaf has a circuit to a spine of its own, by which four GPUs send.
counts_circuits()
{
	echo '{"leaves":2,"spines":4,"gpus_per_leaf":4,"gpus_per_server":1,
		"oxcs":2,"spine_ports":1,"circuits":[[0,null],[null,2]]}' >"$file"
	trace 0,8,100,0.5,halving-doubling
	replay --policy ecmp,balanced,source-routing >"$dir/out" &&
		jq -e 'all(.policies[]; .jrt_s == 250)' "$dir/out" &&
		cluster 2 4 4 1 &&
		replay --policy balanced | of balanced '.jrt_s == 100'
}

# A job keeps off the links of running jobs, and its flows off each other, also those that
# enter a leaf from different leaves. On two links three of five flows share one.
balances()
{
	cluster 3 2 4 1
	trace 0,5,100,0.5,ring 50,5,100,0.5,ring
	replay --policy balanced,source-routing >"$dir/out" &&
		of balanced '.jrt_s == 100 and .slowed == 0' <"$dir/out" &&
		of source-routing '.jrt_s == 112.5' <"$dir/out" &&
		cluster 2 2 5 1 && trace 0,10,100,0.5,all-to-all &&
		replay --policy balanced | of balanced '.jrt_s == 200' &&
		echo '{"leaves":3,"spines":2,"gpus_per_leaf":2,
			"gpus_per_server":1,"free_gpus":[[1,1],[0,1],[0,1]]}' \
			>"$file" && trace 0,4,100,0.5,halving-doubling &&
		replay --policy balanced | of balanced '.jrt_s == 100'
}

# Under source routing two GPUs of a leaf never share a link up.
routes_by_source()
{
	cluster 2 4 4 1
	trace 0,8,100,1,halving-doubling
	replay --seed 3 >"$dir/out" &&
		of source-routing '.jrt_s == 100' <"$dir/out" &&
		of vclos '.jrt_s == 100' <"$dir/out" &&
		of ecmp '.jrt_s > 100' <"$dir/out"
}

# The second job waits for all GPUs, and the third behind it.
orders()
{
	cluster 1 1 4 4
	trace 0,3,100,0,ring 1,4,10,0,ring 2,1,20,0,ring
	replay --policy ideal | of ideal '.jwt_s == (99 + 108) / 3' &&
		replay --policy ideal --order fewest-gpus | of ideal '.jwt_s == 99 / 3' &&
		replay --policy ideal --order shortest | of ideal '.jwt_s == (99 + 108) / 3' &&
		trace 0,4,100,0,ring 1,4,50,0,ring 2,4,20,0,ring &&
		replay --policy ideal --order shortest |
		of ideal '.jwt_s * 3 | round == 98 + 119' &&
		replay --policy ideal --order fewest-gpus |
		of ideal '.jwt_s * 3 | round == 99 + 148'
}

# Jobs with a place pass jobs without, in the order of arrival, but at most 200 of them.
backfill()
{
	local n
	local -a behind

	cluster 1 1 4 4
	trace 0,4,100,0,ring 1,3,10,0,ring 2,2,20,0,ring 3,1,5,0,ring
	replay --policy ideal --order backfill | of ideal '.jwt_s * 4 == 99 + 108 + 97' || return
	for n in 199 200; do
		mapfile -t behind < <(yes 1,2,1,0,ring | head -n "$n")
		trace 0,3,100,0,ring "${behind[@]}" 1,1,1000,0,ring
		replay --policy vclos --order backfill |
			of vclos ".makespan_s == $((n < 200 ? 1001 : 1200))" ||
			return
	done
	# Nothing runs and the first job has no place, so it is refused and the second starts.
	echo '{"leaves":2,"spines":1,"gpus_per_leaf":2,"gpus_per_server":1}' >"$file"
	trace 0,4,10,0,ring 0,2,10,0,ring
	replay --policy vclos --order backfill |
		of vclos '.refused == 1 and .jrt_s == 10 and .jwt_s == 0'
}

# P99 is the longest of two and of four jobs, and the third longest of 200.
most_keep_to_p99()
{
	cluster 1 1 200 1
	trace 0,1,10,0,ring 0,1,14,0,ring
	replay --policy ideal | of ideal '.jct_p99_s == 14' &&
		trace 0,1,1000,0,ring 0,1,1009,0,ring 0,1,2008,0,ring 0,1,2017,0,ring &&
		replay --policy ideal | of ideal '.jct_p99_s == 2017' &&
		trace 0,1,{1..200},0,ring &&
		replay --policy ideal | of ideal '.jct_p99_s == 198'
}

# In slices three GPUs have two servers, one of them half the first job's. An ideal network
# would use 4 GPUs for 100 s where 1 is used, then 3 for 50 s.
fragmentation()
{
	echo '{"leaves":2,"spines":1,"gpus_per_leaf":4,"gpus_per_server":2,
		"free_gpus":[[2,2],[0,0]]}' >"$file"
	trace 0,1,100,0,ring 0,3,50,0,ring
	replay --policy vclos,ideal >"$dir/out" &&
		of vclos '.jwt_s == 50 and .fragmentation == 0.4545' <"$dir/out" &&
		of ideal '.jwt_s == 0 and .fragmentation == 1' <"$dir/out" &&
		trace 0,3,50,0,ring 0,5,10,0,ring &&
		replay --policy vclos,ideal >"$dir/out" &&
		of vclos '.refused == 1 and .jrt_s == 50 and
			(has("fragmentation") | not)' <"$dir/out" &&
		of ideal '.refused == 1' <"$dir/out" &&
		timeout 120 "$rocesteer" slice replay "$trace" \
			--cluster "$file" 2>&1 >"$dir/out" |
		grep -F "leave out the jobs that were refused"
}

# Each job takes a link of each leaf. A second job would share a link to the only spine.
pairs_are_not_shared()
{
	echo '{"leaves":3,"spines":1,"gpus_per_leaf":2,"gpus_per_server":1,
		"links_per_pair":2}' >"$file"
	trace 0,3,100,0,ring 0,3,100,0,ring
	replay >"$dir/out" && of ideal '.makespan_s == 100' <"$dir/out" &&
		of vclos '.makespan_s == 200' <"$dir/out" &&
		of ocs-vclos '.makespan_s == 200' <"$dir/out"
}

# Leaves 0 and 1 have free links to different spines, so the second job waits unless circuits
# move.
moves_circuits()
{
	echo '{"leaves":2,"spines":2,"gpus_per_leaf":3,"gpus_per_server":1,
		"oxcs":2,"spine_ports":2,"circuits":[[0,0],[1,1]],
		"free_gpus":[[0,1,1],[0,1,1]]}' >"$file"
	trace 0,4,10,0,ring
	replay >"$dir/out" && of vclos '.refused == 1' <"$dir/out" &&
		of ocs-vclos '.refused == 0 and .moved > 0 and .jrt_s == 10' <"$dir/out"
}

# wrong LINE FIELD MESSAGE TRACE-LINE...
wrong()
{
	local message="$trace: line $1: $2$3"

	trace "${@:4}"
	fails 2 bad-file "$message" replay && jq -e --arg message "$message" \
		'.error.message | startswith($message)' "$dir/json"
}

wrong_traces()
{
	cluster 2 2 4 2
	wrong 2 arrival ": '-1' is not a time in seconds" -1,1,1,0,ring &&
		wrong 3 arrival ": '4' is earlier than that of the line before" \
			5,1,1,0,ring 4,1,1,0,ring &&
		wrong 2 gpus ": '0' is not a number from 1 to 8" 1,0,1,0,ring &&
		wrong 2 gpus ": '9' is not" 1,9,1,0,ring &&
		wrong 2 gpus ": '2.0' is not" 1,2.0,1,0,ring &&
		wrong 2 duration ": '0' is not a time" 1,1,0,0,ring &&
		wrong 2 duration ": '' is not a time" 1,1,,0,ring &&
		wrong 4 communication ": '1.1' is not a share" 1,1,1,0,ring \
			1,1,1,1,ring 1,1,1,1.1,ring &&
		wrong 2 pattern ": 'star' is not one of ring, halving-doubling, all-to-all, permutation, hierarchical-ring, hierarchical-all-to-all" 1,1,1,0,star &&
		wrong 2 pattern ": 'halving-doubling' needs a power of two" \
			1,3,1,0,halving-doubling &&
		wrong 2 "does not have 5 fields" "" 1,1,1,0 &&
		wrong 2 "does not have 5 fields" "" 1,1,1,0,ring,2 &&
		wrong 2 "there is no job" "" &&
		echo 1,1,1,0,ring >"$trace" &&
		replay | jq -e '.error.message | contains("line 1: is not the header")' &&
		rm "$trace" && replay | jq -e '.error.code == "no-file"'
}

usage()
{
	trace 0,1,1,0,ring
	replay --policy ecmp,all | jq -e '.error.code == "usage"' &&
		replay --order last | jq -e '.error.code == "usage"' &&
		"$rocesteer" --json slice trace --jobs 0 --gpus 1 |
		jq -e '.error.code == "usage"' &&
		"$rocesteer" --json slice trace --jobs 9 --gpus 1 --load 0 |
		jq -e '.error.message | contains("--load")' &&
		"$rocesteer" --json slice trace --jobs 9 --gpus 999 --like us |
		jq -e '.error.message | contains("--like")' &&
		"$rocesteer" --json slice trace --jobs 9 --gpus 511 --like paper |
		jq -e '.error.message | startswith("--gpus: 511 are too few for --like paper")'
}

makes_traces()
{
	"$rocesteer" --json slice trace --jobs 2000 --gpus 1024 --seed 7 >"$dir/out" &&
		jq -e '(.jobs | length) == 2000 and all(.jobs[];
			.gpus <= 256 and (.gpus | log2 | . == floor) and
			.duration >= 10 and .communication >= 0.1 and
			.communication <= 0.5) and
			([.jobs[].arrival] | . == sort)' "$dir/out" &&
		jq -e '([.jobs[] | .gpus * .duration] | add) as $busy |
			$busy / 1024 / .jobs[-1].arrival |
			. > 0.8 and . < 1' \
			"$dir/out" &&
		"$rocesteer" slice trace --jobs 2000 --gpus 1024 --seed 7 >"$trace" &&
		"$rocesteer" slice trace --jobs 2000 --gpus 1024 --seed 7 | cmp - "$trace" &&
		! "$rocesteer" slice trace --jobs 2000 --gpus 1024 --seed 8 | cmp -s - "$trace"
}

# Shares of the shortest durations, by size of the job
makes_traces_of_the_paper()
{
	"$rocesteer" --json slice trace --jobs 20000 --gpus 8192 --like paper >"$dir/out" &&
		jq -e 'def near($want): . > $want - 0.02 and . < $want + 0.02;
			def share(f): ([.[] | select(f)] | length) / length;
			.jobs | ([.[].gpus] | unique) ==
				[8, 64, 128, 192, 256, 384, 512] and
			(share(.gpus == 8) | near(0.089)) and
			(share(.gpus == 64) | near(0.3)) and
			(share(.gpus == 128) | near(0.14)) and
			(share(.gpus == 256) | near(0.1)) and
			(share(.gpus == 512) | near(0.364)) and
			(map(select(.gpus <= 64)) |
				(share(.duration == 1000) | near(0.734)) and
				(share(.duration <= 10000) | near(0.95))) and
			(map(select(.gpus > 64)) |
				(share(.duration == 1000) | near(0.781)) and
				(share(.duration <= 44000) | near(0.94)) and
				(share(.duration == 100000) | near(0.03))) and
			all(.[]; .duration >= 1000 and .duration <= 100000 and
				.communication >= 0.02 and
				.communication <= 0.35)' "$dir/out" &&
		jq -e '([.jobs[] | .gpus * .duration] | add) as $busy |
			$busy / 8192 / .jobs[-1].arrival |
			. > 0.87 and . < 0.93' "$dir/out" &&
		"$rocesteer" slice trace --jobs 20000 --gpus 8192 \
			--like paper >"$trace" && cluster 256 32 32 4 &&
		replay --policy ideal | of ideal '.refused == 0'
}

# 5,000 jobs on 8,192 GPUs, with the same result when repeated
policies_compare()
{
	cluster 256 32 32 8
	"$rocesteer" slice trace --jobs 5000 --gpus 8192 >"$trace" &&
		replay >"$dir/out" &&
		jq -c '.policies[]' "$dir/out" &&
		jq -e '[.policies[].policy] == ["ecmp", "balanced",
			"source-routing", "vclos", "ocs-vclos", "ideal"] and
			(.policies | map({(.policy): .}) | add |
			.["ocs-vclos"].jct_to_ideal <= 1.04 and
			.["ocs-vclos"].slowed == 0 and .vclos.slowed == 0 and
			.ecmp.slowed > .["source-routing"].slowed and
			.ecmp.jct_s > .["source-routing"].jct_s and
			.["source-routing"].slowed > .balanced.slowed and
			all(.[]; .refused == 0 and .fragmentation <= 1))' \
			"$dir/out" &&
		replay | cmp - "$dir/out"
}

ktap_plan 18
check "flows of a job contend for a link" contention_within_a_job
check "hierarchical patterns go from server to server" hierarchical_patterns
check "jobs in slices contend with themselves only" contention_within_slices
check "two jobs slow each other while both run" contention_between_jobs
check "source routing keeps links up apart" routes_by_source
check "the links of a leaf are its circuits" counts_circuits
check "balanced flows keep off each other" balances
check "the queue follows its order, and blocks" orders
check "small jobs pass in backfill" backfill
check "P99 is the time within which 99 % of the jobs complete" most_keep_to_p99
check "fragmentation and jobs without a place are counted" fragmentation
check "jobs share no pair of leaf and spine" pairs_are_not_shared
check "circuits are moved for jobs without a place" moves_circuits
check "a wrong trace is refused by file, line and field" wrong_traces
check "wrong usage of slice replay and trace is refused" usage
check "a seed determines a generated trace" makes_traces
check "--like paper generates sizes and durations as in the paper" makes_traces_of_the_paper
check "policies compare on 5000 jobs" policies_compare
ktap_finish
