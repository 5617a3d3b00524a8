#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer slice on cluster files: allocation, refusals and marks. test_slice.c compares places
# with the best ones.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/slice/slices.sh

as_designed()
{
	small
	slice alloc --gpus 8 --job train | jq -e '. == {
		job: "train", gpus: 8, stage: "vclos", leaves: [0, 1],
		spines: [0, 1, 2, 3], lane_links: [1, 1], objective: 8, servers: [
			{leaf: 0, server: 0, gpus: 2}, {leaf: 0, server: 1, gpus: 2},
			{leaf: 1, server: 0, gpus: 2}, {leaf: 1, server: 1, gpus: 2}],
		links: [[0, 0], [0, 1], [0, 2], [0, 3],
			[1, 0], [1, 1], [1, 2], [1, 3]]}' &&
		slice alloc --gpus 3 | jq -e '.stage == "leaf" and .leaves == [2]
			and .servers[1].gpus == 1 and .objective == 4' &&
		slice alloc --gpus 1 | jq -e '.stage == "server" and
			.servers == [{leaf: 2, server: 1, gpus: 1}]' &&
		jq -e '.free_gpus == [[0, 0], [0, 0], [0, 0], [2, 2]] and
			.free_links[1:3] == [[0, 0, 0, 0], [1, 1, 1, 1]] and
			(.jobs | keys) == ["2", "3", "train"]' "$file" &&
		file_is_right
}

lists_and_shows()
{
	slice list | jq -e '.gpus == 16 and .usable_gpus == 4 and
		.usable_servers == 2 and .usable_links == 8 and
		[.jobs[].job] == ["2", "3", "train"]' &&
		slice show --job train | jq -e '.gpus == 8 and
			(.links | length) == 8 and .degraded == false'
}

dry_run_changes_nothing()
{
	local before

	before=$(<"$file")
	slice alloc --gpus 4 --dry-run | jq -e '.stage == "leaf"' &&
		[[ $(<"$file") == "$before" ]]
}

releases()
{
	slice release --job train | jq -e '.gpus == 8 and .links == 8' &&
		refused 1 no-job "jobs.train: there is no such job" release --job train &&
		slice release --job 2 && slice release --job 3 &&
		jq -e '.jobs == {} and (.free_gpus | flatten | add) == 16 and
			(.free_links | flatten | add) == 16' "$file" &&
		file_is_right
}

named()
{
	cluster '{"leaves":3,"spines":4,"gpus_per_leaf":6,"gpus_per_server":2,
		"nodes":[["a0","a1","a2"],["b0",null,"b2"],["c0","c1","c2"]]}'
}

# Leaves may have different numbers of chosen servers. Four GPUs that send to two take two
# links.
servers_by_name()
{
	local before again

	named
	before=$(slice alloc --nodes b0,a1,a0 --job 7) &&
		jq -e '. == {job: "7", gpus: 6, stage: "vclos",
			leaves: [0, 1], spines: [0, 1], lane_links: [1, 1],
			objective: 4, servers: [{leaf: 0, server: 0, gpus: 2},
				{leaf: 0, server: 1, gpus: 2},
				{leaf: 1, server: 0, gpus: 2}],
			links: [[0, 0], [0, 1], [1, 0], [1, 1]]}' \
			<<<"$before" && collectives 7 &&
		again=$(slice alloc --nodes a0,a1,b0 --job 7) &&
		jq -e --argjson before "$before" 'del(.since) == $before and
			has("since")' <<<"$again" &&
		jq -e '.generation == 1' "$file" &&
		slice alloc --servers 2/2 | jq -e '.stage == "server" and
			.servers == [{leaf: 2, server: 2, gpus: 2}]' &&
		slice alloc --nodes c0,c1 | jq -e '.stage == "leaf" and
			.links == [] and .objective == 4' &&
		file_is_right
}

refuses_servers()
{
	refused 3 locality "server 0/0: 0 of 2 GPUs are free" alloc --nodes a0,a2 --job 9 &&
		slice mark --as drained --spines 2 >"$dir/out" &&
		refused 3 network "4 GPUs: the leaves of these servers share" \
			alloc --nodes a2,b2 --job 9 &&
		slice mark --as usable --spines 2 >"$dir/out" &&
		refused 1 exists "jobs.7: the job has a slice already" \
			alloc --nodes a0,a1 --job 7 &&
		refused 2 no-node "$file: nodes: there is no 'b1'" alloc --nodes a2,b1 &&
		refused 2 no-node "nodes: there is no 'b0[4-5]-[01,09]'" \
			alloc --nodes 'a2,b0[4-5]-[01,09]' &&
		slice alloc --nodes 'a[0-1]' | jq -e \
			'.error.hint | contains("scontrol show hostnames \u0027a[0-1]\u0027")' &&
		refused 2 usage "--servers: server 1/2 is given twice" alloc --servers 1/2,1/2 &&
		refused 2 usage "--servers: '1/3' is not L/V, a leaf and a server, in $file" \
			alloc --servers 1/3 &&
		refused 2 usage "--nodes: item 2 is empty" alloc --nodes a2, &&
		slice release --job 7 >"$dir/out" &&
		slice mark --as failed --spines 1,2 >"$dir/out" &&
		slice alloc --nodes a2,b2 | jq -e '.spines == [0, 3]' &&
		file_is_right
}

# 24 is 2 x 12 and 36 is 3 x 12, in whole servers of 6; 6 is 2 x 3.
sizes_that_divide()
{
	cluster '{"leaves":4,"spines":12,"gpus_per_leaf":12,"gpus_per_server":6}'
	slice alloc --gpus 24 | jq -e '.leaves == [0, 1]' &&
		slice release --job 1 &&
		slice alloc --gpus 36 | jq -e '.leaves == [0, 1, 2]' &&
		cluster '{"leaves":2,"spines":3,"gpus_per_leaf":3,
			"gpus_per_server":1}' &&
		slice alloc --gpus 6 | jq -e '.leaves == [0, 1] and
			.spines == [0, 1, 2]' && file_is_right
}

refuses()
{
	cluster '{"leaves":3,"spines":2,"gpus_per_leaf":4,"gpus_per_server":2,
		"free_gpus":[[2,2],[2,1],[1,1]],"free_links":[[1,1],[1,0],[0,1]],
		"jobs":{}}'
	refused 3 gpus "10 GPUs are wanted, 9 are free" alloc --gpus 10 &&
		refused 3 locality "4 wholly free servers are needed, there are 3" alloc --gpus 8 &&
		refused 3 network "6 GPUs: no leaves share enough free spines" alloc --gpus 6 &&
		refused 3 shape "5 GPUs: under several leaves a job has whole servers of 2 GPUs" \
			alloc --gpus 5 &&
		jq -s -e 'map(.decision) == ["refuse", "refuse", "refuse",
			"refuse"] and map(.code) == ["gpus", "locality",
			"network", "shape"]' "$file.journal" &&
		slice mark --as failed --servers 0/1 >"$dir/out" &&
		refused 3 network "3 GPUs fit only under one leaf, and no leaf has" \
			alloc --gpus 3
}

usage()
{
	small
	slice alloc --gpus 2 --job a >"$dir/out" &&
		refused 1 exists "jobs.a: the job has a slice already" alloc --gpus 2 --job a &&
		refused 2 usage "one of --gpus, --servers and --nodes" alloc &&
		refused 2 usage "one of --gpus, --servers and --nodes" \
			alloc --gpus 2 --servers 0/0 &&
		refused 2 usage "--ocs: only with --gpus" alloc --ocs --dry-run --servers 0/0 &&
		refused 2 usage "--gpus: '0' is not a number from 1" alloc --gpus 0 &&
		refused 2 usage "--gpus: '99999999999' is not a number" \
			alloc --gpus 99999999999 &&
		refused 2 usage "--job: 'a/b' is not" alloc --gpus 1 --job a/b &&
		refused 1 no-job "jobs.b: there is no such job" release --job b &&
		refused 1 no-job "jobs.b: there is no such job" show --job b &&
		refused 2 usage "--job NAME is missing" release &&
		refused 2 usage "one of --flows and --pattern" check --job a
}

# A job keeps what is marked later.
marks()
{
	small
	slice alloc --gpus 8 --job a >"$dir/out" &&
		slice mark --as failed --leaves 2 --links 0/3,1/3 | jq -e '.changed == 3' &&
		refused 3 gpus "5 GPUs are wanted, 4 are free" alloc --gpus 5 &&
		slice list | jq -e '.jobs[0].degraded and .usable_links == 4' &&
		"$rocesteer" slice list --cluster "$file" | grep -A 2 -x failed | grep -x -E \
			'leaves +2|links +\[ 0, 3 \],\[ 1, 3 \]' | grep -c . | grep -x 2 &&
		slice mark --as drained --servers 3/1 &&
		refused 3 gpus "3 GPUs are wanted, 2 are free" alloc --gpus 3 &&
		slice release --job a &&
		slice alloc --gpus 8 --job a --dry-run | jq -e '.error.code == "network"'
	slice mark --as usable --leaves 2 --links 0/3 &&
		slice alloc --gpus 8 --job a | jq -e '.leaves == [0, 2]' &&
		slice mark --as usable --leaves 2 | jq -e '.changed == 0' &&
		slice mark --as usable --servers 3/1 --links 1/3 &&
		slice list | jq -e '.usable_gpus == 8 and
			(has("failed") or has("drained") | not)' &&
		refused 2 usage "--servers: '3/2' is not L/V" mark --as failed --servers 3/2 &&
		refused 2 usage "--links: '0' is not L/S" mark --as failed --links 0 &&
		refused 2 usage "--as: 'broken' is not one of drained, failed, usable" \
			mark --as broken --leaves 1 &&
		refused 2 usage "one of --leaves, --spines, --servers and --links" \
			mark --as failed &&
		file_is_right
}

# hint HINT: the last refusal had this hint
hint()
{
	jq -s -e --arg hint "$1" '.[0].error.hint == $hint' "$dir/out"
}

# Hosts tell parallel_links of a pair apart, and each of them may be a lane of another job.
several_links()
{
	cluster '{"leaves":3,"spines":2,"gpus_per_leaf":4,"gpus_per_server":2,
		"links_per_pair":2}'
	refused 3 shape "8 GPUs: even in the empty cluster, leaves share no number of lanes" \
		alloc --gpus 8 >"$dir/out" &&
		hint "The nearest number of GPUs that fits is 6." &&
		slice alloc --gpus 6 --job a | jq -e '.leaves == [0, 1] and
			.spines == [0, 1] and .lane_links == [1, 1]' &&
		collectives a &&
		slice release --job a >"$dir/out" && with parallel_links 2 &&
		slice mark --as failed --links 2/0 &&
		slice alloc --gpus 8 --job a | jq -e '.leaves == [0, 1] and
			.spines == [0, 0, 1, 1] and .lane_links == [1, 1] and
			(.links | length) == 8' &&
		jq -e '.free_links == [[0, 0], [0, 0], [2, 2]]' "$file" &&
		collectives a &&
		slice release --job a >"$dir/out" &&
		slice mark --as drained --spines 1 >"$dir/out" &&
		slice alloc --servers 1/0,1/1 | jq -e '.stage == "leaf"' &&
		slice mark --as drained --servers 0/0,2/0 >"$dir/out" &&
		refused 3 network "4 GPUs" alloc --gpus 4 &&
		slice mark --as usable --links 2/0 >"$dir/out" &&
		slice alloc --gpus 4 | jq -e '.stage == "vclos" and
			.spines == [0, 0] and .objective == 4' &&
		file_is_right
}

# Two leaves lack a server: with four lanes each leaf has a link in each.
uneven()
{
	cluster '{"leaves":3,"spines":4,"gpus_per_leaf":4,"gpus_per_server":2}'
	slice mark --as drained --servers 1/1,2/1 &&
		slice alloc --gpus 8 --job a | jq -e '. == {
		job: "a", gpus: 8, stage: "vclos", leaves: [0, 1, 2],
		spines: [0, 1, 2, 3], lane_links: [1, 1, 1], servers: [
			{leaf: 0, server: 0, gpus: 2}, {leaf: 0, server: 1, gpus: 2},
			{leaf: 1, server: 0, gpus: 2}, {leaf: 2, server: 0, gpus: 2}],
		links: [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1], [1, 2],
			[1, 3], [2, 0], [2, 1], [2, 2], [2, 3]], objective: 12}' &&
		collectives a &&
		slice check --job a --pattern halving-doubling |
		jq -e '.contended == 0' && file_is_right
}

# With two lanes the leaf with four GPUs has two links in each.
uneven_links()
{
	cluster '{"leaves":3,"spines":2,"gpus_per_leaf":4,"gpus_per_server":2,
		"links_per_pair":2,"parallel_links":2}'
	slice mark --as drained --servers 0/1,2/0 --links 2/1 &&
		slice alloc --gpus 8 --job a | jq -e '.leaves == [0, 1, 2] and
			.spines == [0, 1] and .lane_links == [1, 2, 1] and
			.links == [[0, 0], [0, 1], [1, 0], [1, 0], [1, 1], [1, 1],
				[2, 0], [2, 1]] and .objective == 8' &&
		jq -e '.free_links == [[1, 1], [0, 0], [1, 1]]' "$file" &&
		slice list | jq -e '.jobs[0].lane_links == [1, 2, 1] and
			.usable_links == 0' &&
		slice show --job a | jq -e '.lane_links == [1, 2, 1]' &&
		"$rocesteer" slice show --job a --cluster "$file" |
		grep -x 'links per lane  1,2,1' &&
		collectives a && file_is_right &&
		slice release --job a | jq -e '.links == 8' &&
		jq -e '.free_links == [[2, 2], [2, 2], [2, 2]]' "$file"
}

# 30 GPUs in servers of 6: with 6 lanes a leaf with two servers needs 2 links in each.
no_lanes()
{
	local command

	cluster '{"leaves":4,"spines":12,"gpus_per_leaf":12,"gpus_per_server":6}'
	for command in alloc submit; do
		refused 3 shape "30 GPUs: even in the empty cluster, leaves share no number of lanes" \
			"$command" --gpus 30 >"$dir/out" &&
			hint "The nearest numbers of GPUs that fit are 24 and 36." &&
			refused 3 shape "13 GPUs: under several leaves a job has whole servers of 6 GPUs" \
				"$command" --gpus 13 >"$dir/out" &&
			hint "The nearest numbers of GPUs that fit are 12 and 18." ||
			return
	done
	jq '. + {links_per_pair: 2, parallel_links: 2}' "$file" >"$dir/more" &&
		cp "$dir/more" "$file" &&
		slice alloc --gpus 30 --job a | jq -e '.leaves == [0, 1, 2] and
			.spines == [0, 1, 2, 3, 4, 5] and .lane_links == [2, 2, 1]' &&
		collectives a && file_is_right
}

may_meet()
{
	cluster '{"leaves":3,"spines":4,"gpus_per_leaf":4,"gpus_per_server":1}'
	slice alloc --dry-run --servers 0/0,0/1,0/2,1/0,1/1,1/2,2/0 |
		jq -e '.contended_steps > 0' || return
	"$rocesteer" slice alloc --job a --cluster "$file" \
		--servers 0/0,0/1,0/2,1/0,1/1,1/2,2/0 >"$dir/out" 2>"$dir/said" &&
		grep -x "Flows of this job can meet on its own links: the leaves have no lanes for 7 GPUs, see rocesteer slice check." \
			"$dir/said" &&
		slice show --job a | jq -e '.spines == [0, 1, 2] and
			.lane_links == [1, 1, 1]' || return
	slice check --job a --pattern all-to-all >"$dir/out"
	(($? == 1)) && jq -e '.contended > 0 and
		([.links[] | .lane, .link] | unique) == [0]' "$dir/out" &&
		"$rocesteer" slice alloc --job b --cluster "$file" \
			--servers 0/3,1/3 >"$dir/out" 2>"$dir/said" &&
		[[ ! -s $dir/said ]] && collectives b && file_is_right
}

# old LEAVES SPINES LINKS-PER-PAIR: a file with a job without lanes, whose servers have one
# GPU: "4 2" is four under leaf 0, two under leaf 1
old()
{
	cluster "$(jq -n --arg on "$1" --argjson spines "$2" --argjson links "$3" '
		($on | split(" ") | map(tonumber)) as $on |
		[range($on | length)] as $leaves | {leaves: ($on | length),
		spines: ($spines | unique | length), gpus_per_leaf: 4,
		gpus_per_server: 1, links_per_pair: $links, jobs: {a: {
			gpus: ($on | add), stage: "vclos", leaves: $leaves,
			spines: $spines,
			servers: [$leaves[] | {leaf: ., server: range($on[.]), gpus: 1}],
			links: [$leaves[] as $l | $spines[] | [$l, .]], objective: 8,
			since: "2026-11-20T10:00:00Z"}},
		free_gpus: [$on[] as $n | [range(4)] | map(if . < $n then 0 else 1 end)],
		free_links: [$leaves[] | $spines | unique | map(0)],
		generation: 1}')"
	jq -c '{generation, decision: "alloc", job: "a", gpus: .jobs.a.gpus}' \
		"$file" >"$file.journal"
}

# met JOB PATTERN N: flows of the job meet on so many links
met()
{
	slice check --job "$1" --pattern "$2" >"$dir/out"
	jq -e --argjson n "$3" '.contended == $n' "$dir/out"
}

# A job without lanes has one link of each pair and lane, by the hash.
before_lanes()
{
	old "4 4" "[0,1,2,3]" 1
	slice list | jq -e '.usable_links == 0 and
			(.jobs[0] | has("lane_links") | not)' &&
		slice show --job a | jq -e '(.links | length) == 8' &&
		met a ring 0 && met a all-to-all 0 && met a halving-doubling 0 &&
		file_is_right &&
		old "4 4 4" "[0,0,1,1]" 2 && met a ring 0 && met a all-to-all 84 &&
		met a permutation 7 && file_is_right &&
		slice release --job a | jq -e '.links == 12' &&
		jq -e '.free_links == [[2, 2], [2, 2], [2, 2]]' "$file" &&
		old "4 2" "[0,1,2,3]" 1 && met a ring 0 && met a all-to-all 0 &&
		met a permutation 0 && file_is_right &&
		slice alloc --servers 1/2 | jq -e '.stage == "server"' &&
		jq -e '.jobs.a | has("lane_links") | not' "$file" &&
		slice release --job a | jq -e '.links == 8' && file_is_right
}

# Hosts send by a hash over all links of a pair, so one job has all of them, or several jobs
# of an old file.
pairs_are_not_shared()
{
	cluster '{"leaves":2,"spines":2,"gpus_per_leaf":3,"gpus_per_server":1,
		"links_per_pair":2,"parallel_links":2}'
	slice alloc --servers 0/0,1/0 --job a | jq -e '.spines == [0]' &&
		slice alloc --servers 0/1,1/1 --job b | jq -e '.spines == [1]' &&
		jq -e '.free_links == [[1, 1], [1, 1]]' "$file" &&
		slice list | jq -e '.links == 8 and .usable_links == 0' &&
		refused 3 network "no leaves share enough free spines" alloc --gpus 2 &&
		refused 3 network "share too few free spines" alloc --servers 0/2,1/2 &&
		file_is_right &&
		slice release --job a >"$dir/out" &&
		slice alloc --gpus 4 --job c | jq -e '.spines == [0, 0]' &&
		slice release --job c >"$dir/out" || return
	jq '.jobs.old = (.jobs.b | .servers |= map(.server = 0)) |
		.free_gpus = [[0, 0, 1], [0, 0, 1]] |
		.free_links = [[2, 0], [2, 0]]' "$file" >"$dir/old" &&
		cp "$dir/old" "$file" &&
		slice release --job b | jq -e '.links == 2' &&
		slice alloc --servers 0/1,1/1 | jq -e '.spines == [0]' &&
		refused 3 network "2 GPUs" alloc --gpus 2
}

# A job without a place is searched for with each number of lanes. The time is that of one CPU.
large_cluster()
{
	jq -n '{leaves: 4096, spines: 1024, gpus_per_leaf: 1024, gpus_per_server: 1}' >"$dir/large"
	(ulimit -t $((5 * TIME_SCALE)) && "$rocesteer" --json slice alloc --cluster "$dir/large" \
		--gpus 65536 --dry-run) | jq -e '.leaves | length == 64'
}

ktap_plan 18
check "slice alloc makes the designed slices" as_designed
check "slices are listed and shown" lists_and_shows
check "--dry-run changes nothing" dry_run_changes_nothing
check "a slice can be released once" releases
check "servers can be chosen by name, and again for the same job" servers_by_name
check "servers that cannot be had are refused" refuses_servers
check "a job takes the most lanes that divide it" sizes_that_divide
check "the leaves of a job may have different numbers of servers" uneven
check "the leaves of a job may have different numbers of links in a lane" uneven_links
check "a size that has no lanes is refused, with the nearest ones" no_lanes
check "flows of chosen servers may meet where there are no lanes" may_meet
check "jobs without lanes in the file are read" before_lanes
check "refusals name their cause, and are in the journal" refuses
check "wrong usage of slice is refused" usage
check "marked servers and spines are not allocated" marks
check "a leaf and a spine may have several links" several_links
check "jobs share no pair of leaf and spine" pairs_are_not_shared
check "a large job has a place in the largest cluster within seconds" large_cluster
ktap_finish
