#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer slice on cluster files: allocation, refusals, checks, and several controllers at a
# time. test_slice.c compares places with the best ones.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
. selftests/host/slices.sh

small()
{
	cluster '{"leaves":4,"spines":4,"gpus_per_leaf":4,"gpus_per_server":2}'
}

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
		refused 1 no-job "jobs.train: there is no such job" \
			release --job train &&
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
	refused 3 locality "server 0/0: 0 of 2 GPUs are free" \
		alloc --nodes a0,a2 --job 9 &&
		slice mark --as drained --spines 2 >"$dir/out" &&
		refused 3 network "4 GPUs: the leaves of these servers share" \
			alloc --nodes a2,b2 --job 9 &&
		slice mark --as usable --spines 2 >"$dir/out" &&
		refused 1 exists "jobs.7: the job has a slice already" \
			alloc --nodes a0,a1 --job 7 &&
		refused 2 no-node "$file: nodes: there is no 'b1'" \
			alloc --nodes a2,b1 &&
		refused 2 no-node "nodes: there is no 'b0[4-5]-[01,09]'" \
			alloc --nodes 'a2,b0[4-5]-[01,09]' &&
		slice alloc --nodes 'a[0-1]' | jq -e \
			'.error.hint | contains("scontrol show hostnames \u0027a[0-1]\u0027")' &&
		refused 2 usage "--servers: server 1/2 is given twice" \
			alloc --servers 1/2,1/2 &&
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
		refused 3 locality \
			"4 wholly free servers are needed, there are 3" \
			alloc --gpus 8 &&
		refused 3 network "6 GPUs: no leaves share enough free spines" \
			alloc --gpus 6 &&
		refused 3 shape \
			"5 GPUs: under several leaves a job has whole servers of 2 GPUs" \
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
		refused 1 exists "jobs.a: the job has a slice already" \
			alloc --gpus 2 --job a &&
		refused 2 usage "one of --gpus, --servers and --nodes" alloc &&
		refused 2 usage "one of --gpus, --servers and --nodes" \
			alloc --gpus 2 --servers 0/0 &&
		refused 2 usage "--ocs: only with --gpus" \
			alloc --ocs --dry-run --servers 0/0 &&
		refused 2 usage "--gpus: '0' is not a number from 1" \
			alloc --gpus 0 &&
		refused 2 usage "--gpus: '99999999999' is not a number" \
			alloc --gpus 99999999999 &&
		refused 2 usage "--job: 'a/b' is not" alloc --gpus 1 --job a/b &&
		refused 1 no-job "jobs.b: there is no such job" \
			release --job b &&
		refused 1 no-job "jobs.b: there is no such job" show --job b &&
		refused 2 usage "--job NAME is missing" release &&
		refused 2 usage "one of --flows and --pattern" check --job a
}

# wrong FIELD MESSAGE JSON: the file is refused, and stays as it is
wrong()
{
	cluster "$3"
	refused 2 bad-file "$file: $1: $2" alloc --gpus 1 &&
		refused 2 bad-file "$file: $1: $2" release --job a &&
		refused 2 bad-file "$file: $1: $2" list &&
		[[ ! -e $file.journal ]]
}

wrong_files()
{
	local head='"leaves":2,"spines":2,"gpus_per_leaf":2,"gpus_per_server":2'
	local job='"gpus":2,"stage":"leaf","leaves":[0],"spines":[]'
	local server='"servers":[{"leaf":0,"server":0,"gpus":2}],"links":[]'

	wrong "(root)" "is not an object" '[]' &&
		wrong "(root)" "is not an object" null &&
		wrong leaves "is missing" '{}' &&
		wrong leaves "0 is not a number from 1 to 4096" '{"leaves":0}' &&
		wrong spines "is of type string, not int" \
			'{"leaves":2,"spines":"2"}' &&
		wrong gpus_per_server "3 does not divide gpus_per_leaf" \
			'{"leaves":2,"spines":2,"gpus_per_leaf":4,"gpus_per_server":3}' &&
		wrong free_gpus "needs an entry for each leaf: 2, not 1" \
			"{$head,\"free_gpus\":[[2]]}" &&
		wrong "free_gpus[1]" "is not a list of 1 numbers" \
			"{$head,\"free_gpus\":[[2],[2,2]]}" &&
		wrong "free_gpus[1][0]" "is not a number from 0 to 2" \
			"{$head,\"free_gpus\":[[2],[3]]}" &&
		wrong "free_links[0][1]" "is not a number from 0 to 1" \
			"{$head,\"free_links\":[[1,-1],[1,1]]}" &&
		wrong "free_gpus[0][0]" \
			"1 free GPUs and 2 of jobs are more than 2" \
			"{$head,\"free_gpus\":[[1],[2]],\"jobs\":{\"a\":{$job,$server}}}" &&
		wrong nodes "is not an array of 2" "{$head,\"nodes\":[]}" &&
		wrong "nodes[1]" "is not an array of 1" \
			"{$head,\"nodes\":[[\"a\"],\"b\"]}" &&
		wrong "nodes[1][0]" "nodes[0][0] has the same name" \
			"{$head,\"nodes\":[[\"a\"],[\"a\"]]}" &&
		wrong "nodes[0][0]" "is not the name of a node" \
			"{$head,\"nodes\":[[\"a,b\"],[null]]}" &&
		wrong "nodes[1][0]" "is not the name of a node" \
			"{$head,\"nodes\":[[null],[7]]}" &&
		wrong routers "two spines have the router 10.0.0.1" \
			"{$head,\"routers\":[\"10.0.0.1\",\"10.0.0.1\"]}" &&
		wrong "routers[1]" "two spines have the router 10.0.0.1" \
			"{$head,\"routers\":[[\"10.0.0.1\",\"10.0.0.2\"],
				[\"10.0.0.1\",\"10.0.0.1\"]]}" &&
		wrong routers "is not an array of 2" \
			"{$head,\"routers\":[[\"10.0.0.1\",\"10.0.0.2\"]]}" &&
		wrong "routers[1]" "is not an array of 2 addresses" \
			"{$head,\"routers\":[[\"10.0.0.1\",\"10.0.0.2\"],\"10.0.0.1\"]}" &&
		wrong jobs "is of type array, not object" "{$head,\"jobs\":[]}" &&
		wrong "jobs.a.stage" "'foo' is not one of server, leaf, vclos, ocs" \
			"{$head,\"jobs\":{\"a\":{\"stage\":\"foo\"}}}" &&
		wrong "jobs.a b" "is not the name of a job" \
			"{$head,\"jobs\":{\"a b\":{}}}" &&
		wrong jobs.a.servers "is missing" "{$head,\"jobs\":{\"a\":{$job}}}" &&
		wrong "jobs.b.servers[0].gpus" \
			"jobs own more than the server's 2" \
			"{$head,\"jobs\":{\"a\":{$job,$server},\"b\":{$job,$server}}}" &&
		wrong "jobs.a.links[2]" "is owned more than once" \
			"{$head,\"jobs\":{\"a\":{$job,${server%?}[0,1],[1,1],[0,1]]}}}" &&
		wrong "jobs.a.links[0]" "is not a pair of numbers up to 1 and 1" \
			"{$head,\"jobs\":{\"a\":{$job,${server%?}[0,2]]}}}" &&
		wrong "jobs.a.since" "is of type array, not string" \
			"{$head,\"jobs\":{\"a\":{$job,$server,\"since\":[null]}}}" &&
		wrong "jobs.a.submitted" "is not an RFC 3339 time" \
			"{$head,\"jobs\":{\"a\":{$job,$server,\"submitted\":\"now\"}}}" &&
		wrong "jobs.a.objective" "is of type null, not int" \
			"{$head,\"jobs\":{\"a\":{$job,$server,\"objective\":null}}}" &&
		wrong "failed.servers[0]" "is not a pair of numbers up to 1 and 0" \
			"{$head,\"failed\":{\"servers\":[[0,1]]}}" &&
		wrong "drained.leaves[1]" "is not a number from 0 to 1" \
			"{$head,\"drained\":{\"leaves\":[0,2]}}" &&
		wrong generation "is of type double, not int" \
			"{$head,\"generation\":1.5}"
}

# disagrees FIELD MESSAGE FILTER: a job edited so is refused, in a cluster file and alone
disagrees()
{
	wrong "jobs.a.$1" "$2" "$(jq ".jobs.a |= ($3)" "$dir/right.json")" &&
		jq ".jobs.a | $3" "$dir/right.json" >"$dir/slice.json" &&
		timeout 60 "$rocesteer" --json slice check --pattern ring \
			--slice "$dir/slice.json" |
		jq -e --arg message "$dir/slice.json: $1: $2" \
			'.error.message | startswith($message)'
}

jobs_agree_with_themselves()
{
	small
	slice alloc --gpus 8 --job a >"$dir/out" || return
	cp "$file" "$dir/right.json"
	disagrees leaves "is missing" 'del(.leaves)' &&
		disagrees leaves "has 1 entries, for servers under 2 leaves" \
			'.leaves = [0]' &&
		disagrees "leaves[0]" "is not 0, the leaf of the servers" \
			'.leaves = [2, 3]' &&
		disagrees "spines[1]" "2 follows 3: spines ascend" \
			'.spines = [3, 2, 1, 0]' &&
		disagrees "spines[1]" "is not a number from 0 to" \
			'.spines[1] = 1024' &&
		disagrees "lane_links[0]" \
			"in each of 2 lanes, a leaf with 4 GPUs needs 2 links, and has 1" \
			'.spines = [0, 1]' &&
		disagrees spines \
			"in each of 2 lanes, a leaf with 4 GPUs needs 2 links, and has 1" \
			'.spines = [0, 1] | del(.lane_links)' &&
		disagrees spines "is empty, over 2 leaves" '.spines = [] | .links = []' &&
		disagrees lane_links "has 1 entries, for servers under 2 leaves" \
			'.lane_links = [1]' &&
		disagrees lane_links "has 3 entries, for servers under 2 leaves" \
			'.lane_links = [1, 1, 1]' &&
		disagrees lane_links "is of type null, not array" '.lane_links = null' &&
		disagrees "lane_links[1]" "is not a number from 1 to 256" \
			'.lane_links = [1, 0]' &&
		disagrees "lane_links[0]" "is not a number from 1 to 256" \
			'.lane_links = [257, 1]' &&
		disagrees "lane_links[1]" \
			"in each of 2 lanes, a leaf with 4 GPUs needs 2 links, and has 1" \
			'.spines = [0, 1] | .lane_links = [2, 1] | .links = []' &&
		disagrees links "has 8 entries, for 2 leaves and 4 spines 12 are needed" \
			'.lane_links = [2, 1]' &&
		disagrees "links[1]" "is not [0,0], as leaves and spines say" \
			'.spines = [0, 1] | .lane_links = [2, 2]' &&
		disagrees links "has 0 entries, for 2 leaves and 4 spines" \
			'.links = []' &&
		disagrees "links[5]" "is not [1,1], as leaves and spines say" \
			'.links[5] = [2, 2]' &&
		disagrees "servers[2].leaf" "1 is not a number from 2 to" \
			'.servers[1].leaf = 2 | .leaves = [0, 1, 2]' &&
		disagrees gpus "7 is not the 8 of the servers" '.gpus = 7' &&
		disagrees spines "is not empty, under one leaf" \
			'.leaves = [0] | .servers |= .[:2] | .gpus = 4' &&
		wrong jobs.a.stage "'leaf' is not that of 2 leaves" \
			"$(jq '.jobs.a.stage = "leaf"' "$dir/right.json")"
}

no_file()
{
	local json

	json=$("$rocesteer" --json slice list --cluster "$dir/nowhere")
	(($? == 2)) && jq -e '.error.code == "no-file"' <<<"$json" &&
		echo '{"leaves":' >"$file" &&
		refused 2 bad-file "is not JSON" alloc --gpus 1 &&
		echo "{'leaves':4}" >"$file" &&
		refused 2 bad-file "line 1: is not JSON: names need double quotes" \
			list &&
		printf '{"leaves":4,"spines":1,\n "leaves" :2}' >"$file" &&
		refused 2 bad-file 'line 2: the field "leaves" is there twice' list &&
		cluster '{"a":{"a":"\\","b":1},"b":[{"a":1},{"a":"it'"'"'s","b":"a"}],
			"leaves":1,"spines":1,"gpus_per_leaf":1,"gpus_per_server":1}' &&
		slice list
}

# A job keeps what is marked later.
marks()
{
	small
	slice alloc --gpus 8 --job a >"$dir/out" &&
		slice mark --as failed --leaves 2 --links 0/3,1/3 |
		jq -e '.changed == 3' &&
		refused 3 gpus "5 GPUs are wanted, 4 are free" alloc --gpus 5 &&
		slice list | jq -e '.jobs[0].degraded and .usable_links == 4' &&
		"$rocesteer" slice list --cluster "$file" |
		grep -A 2 -x failed | grep -x -E \
			'leaves +2|links +\[ 0, 3 \],\[ 1, 3 \]' |
		grep -c . | grep -x 2 &&
		slice mark --as drained --servers 3/1 &&
		refused 3 gpus "3 GPUs are wanted, 2 are free" alloc --gpus 3 &&
		slice release --job a &&
		slice alloc --gpus 8 --job a --dry-run |
		jq -e '.error.code == "network"'
	slice mark --as usable --leaves 2 --links 0/3 &&
		slice alloc --gpus 8 --job a | jq -e '.leaves == [0, 2]' &&
		slice mark --as usable --leaves 2 | jq -e '.changed == 0' &&
		slice mark --as usable --servers 3/1 --links 1/3 &&
		slice list | jq -e '.usable_gpus == 8 and
			(has("failed") or has("drained") | not)' &&
		refused 2 usage "--servers: '3/2' is not L/V" \
			mark --as failed --servers 3/2 &&
		refused 2 usage "--links: '0' is not L/S" \
			mark --as failed --links 0 &&
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
		refused 3 network "no leaves share enough free spines" \
			alloc --gpus 2 &&
		refused 3 network "share too few free spines" \
			alloc --servers 0/2,1/2 &&
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

# Fields of a later version stay, and so does the order of fields.
keeps_the_unknown()
{
	cluster '{"site":"a \"b\"","leaves":1,"spines":1,"gpus_per_leaf":2,
		"gpus_per_server":1,"racks":[[1,2],{"x":null}],"z":{"é":[]}}'
	chmod 640 "$file" &&
		slice alloc --gpus 1 >"$dir/out" &&
		jq -e '.site == "a \"b\"" and .racks == [[1, 2], {x: null}] and
			.z == {"é": []} and (keys_unsorted[:2]) ==
			["site", "leaves"]' "$file" &&
		[[ $(stat -c %a "$file") == 640 ]]
}

# Misspelt fields are reported with --json as well. All fields of the schema are known.
tells_of_the_unknown()
{
	local head='"leaves":2,"spines":1,"gpus_per_leaf":1,"gpus_per_server":1'
	local says="is not a known field: it has no effect"

	cluster "{$head,\"failled\":{},\"failed\":{\"leafs\":[0]},
		\"drained\":{\"leaves\":[1]}}"
	slice alloc --gpus 1 >"$dir/out" 2>"$dir/said"
	cat "$dir/said"
	[[ $(<"$dir/said") == "rocesteer: $file: failled: $says
rocesteer: $file: failed.leafs: $says" ]] &&
		cluster "$(jq '(.properties | map_values(null)) + {failed:
			(.definitions.parts.properties | map_values(null))}' \
			Documentation/cluster.schema.json)" &&
		! slice list >"$dir/out" 2>"$dir/said" &&
		jq -e '.error.code == "bad-file"' "$dir/out" &&
		[[ ! -s $dir/said ]]
}

# The command, the schema and the text of the file have the same limits.
limits_agree()
{
	local head='{"leaves":2,"spines":1,"gpus_per_leaf":1,"gpus_per_server":1,"oxcs":1}'
	local field most

	for field in leaves spines gpus_per_leaf links_per_pair parallel_links oxcs \
		     spine_ports; do
		most=$(jq ".properties.$field.maximum" Documentation/cluster.schema.json)
		cluster "$(jq ".$field = 0" <<<"$head")"
		refused 2 bad-file "$field: 0 is not a number from 1 to $most" list &&
			grep -A2 "^\`\`.*$field\`\`" Documentation/formats.rst |
			grep "1 to $most\b" || return
	done
}

# as_someone ARGUMENT...: run slice as user "nobody"
as_someone()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups timeout 60 \
		"$dir/rocesteer" slice "$@" --cluster "$file"
}

keeps_the_owner()
{
	if ((EUID)); then
		echo "not root"
		return
	fi
	small
	cp "$rocesteer" "$dir/rocesteer" && chmod 777 "$dir" &&
		chown 65534:1 "$file" && chmod 640 "$file" &&
		slice alloc --gpus 1 --job a >"$dir/out" &&
		[[ $(stat -c '%u:%g %a' "$file"{,.journal} | uniq -c) == \
			*" 2 65534:1 640" ]] &&
		[[ $(stat -c '%u:%g %a' "$file.lock") == "65534:1 600" ]] &&
		as_someone release --job a &&
		[[ $(stat -c '%u %a' "$file") == "65534 640" ]] &&
		chown 0:65534 "$file" && chmod 664 "$file" && rm "$file".* &&
		slice alloc --gpus 1 --job b >"$dir/out" &&
		as_someone release --job b &&
		[[ $(stat -c '%u:%g %a' "$file") == "65534:65534 664" ]]
}

# Who may not write the directory cannot lock, and root is not the way out.
needs_no_root()
{
	if ((EUID)); then
		echo "not root"
		return
	fi
	small
	rm -f "$file.lock"
	chmod 755 "$dir" && chown 65534 "$file" &&
		as_someone alloc --gpus 1 >"$dir/out" 2>&1
	(($? == 1)) && cat "$dir/out" &&
		grep -q "lock: Permission denied" "$dir/out" &&
		grep -q "Root is not needed" "$dir/out" &&
		! grep -q "as root" "$dir/out"
}

follows_links()
{
	small
	mkdir -p "$dir/elsewhere"
	ln -sf "$file" "$dir/elsewhere/link.json"
	timeout 60 "$rocesteer" slice alloc --gpus 1 \
		--cluster "$dir/elsewhere/link.json" &&
		[[ -L $dir/elsewhere/link.json ]] &&
		jq -e '.jobs | length == 1' "$file" &&
		[[ $(ls "$dir/elsewhere") == link.json ]]
}

mends_the_journal()
{
	small
	slice alloc --gpus 1 --job a >"$dir/out"
	echo '{"generation":2,"decision":"alloc","job":"b","gpus":1}' \
		>>"$file.journal"
	printf '{"generation":3,"dec' >>"$file.journal"
	slice alloc --gpus 1 --job c >"$dir/out" &&
		jq -s -e 'map([.generation, .decision]) == [[1, "alloc"],
			[2, "alloc"], [2, "void"], [2, "alloc"]]' \
			"$file.journal" &&
		file_is_right
}

# Jobs that the journal gave servers are not in the file of a backup.
older_than_the_journal()
{
	small
	cp "$file" "$dir/backup" &&
		slice alloc --gpus 1 --job a >"$dir/out" && slice alloc --gpus 1 >"$dir/out" || return
	cp "$file.journal" "$dir/journal" && cp "$dir/backup" "$file"
	refused 2 journal-ahead "$file: generation: is 0, but $file.journal ends with 2" \
		alloc --gpus 1 && refused 2 journal-ahead "" release --job a &&
		refused 2 journal-ahead "" mark --as failed --spines 0 &&
		refused 2 journal-ahead "" submit --gpus 1 &&
		refused 2 journal-ahead "" queue --start &&
		cmp "$dir/journal" "$file.journal" && slice list | jq -e '.generation == 0' &&
		rm "$file.journal" && slice alloc --gpus 1 | jq -e '.job == "1"'
}

# A second name would keep the old file, and a lock of its own.
one_name()
{
	small
	ln "$file" "$dir/name"
	refused 2 bad-file "$file: has 2 names (hard links)" alloc --gpus 1 &&
		rm "$dir/name" && slice alloc --gpus 1 >"$dir/out" &&
		ROCESTEER_LOCK_WAIT='' slice alloc --gpus 1 >"$dir/out"
}

no_slice()
{
	small
	"$rocesteer" --json slice check --slice "$file" --pattern ring | tee "$dir/out"
	jq -e --arg file "$file" '.error.message == "\($file): is a cluster file, not a slice" and
		(.error.hint | contains("slice show --cluster \($file)"))' "$dir/out"
}

# A job without a place is searched for with each number of lanes. The time is that of one CPU.
large_cluster()
{
	jq -n '{leaves: 4096, spines: 1024, gpus_per_leaf: 1024, gpus_per_server: 1}' >"$dir/large"
	(ulimit -t $((5 * TIME_SCALE)) && "$rocesteer" --json slice alloc --cluster "$dir/large" \
		--gpus 65536 --dry-run) | jq -e '.leaves | length == 64'
}

long_lines()
{
	local many

	many=$(printf ',0/0%.0s' {1..30000})
	small
	slice mark --as failed --links "${many:1}" --servers "${many:1}" |
		jq -e '.changed == 2' &&
		(($(wc -c <"$file.journal") > 300000)) &&
		head -c -2 "$file.journal" | sed 's/n":1/n":2/' >"$dir/torn" &&
		cat "$dir/torn" >>"$file.journal" &&
		slice alloc --gpus 1 --job a | jq -e '.leaves == [0]' &&
		jq -s -e 'map([.generation, .decision]) ==
			[[1, "mark"], [2, "alloc"]]' "$file.journal" &&
		file_is_right
}

full_disk()
{
	local before status

	if ((EUID)) || ! unshare --mount true; then
		echo "not root, or no mount namespaces"
		return
	fi
	small
	mkdir -p "$dir/full"
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount bash -c 'mount -t tmpfs -o size=64k tmpfs "$1" &&
		cp "$2" "$1/cluster.json" && cd "$1" &&
		"$3" slice alloc --gpus 1 --job a --cluster cluster.json &&
		cp cluster.json before && dd if=/dev/zero of=fill bs=1k
		! "$3" slice alloc --gpus 1 --job b --cluster cluster.json &&
		cmp cluster.json before && rm fill &&
		"$3" slice alloc --gpus 1 --job b --cluster cluster.json &&
		"$4" verify cluster.json' - "$dir/full" "$file" \
		"$(realpath "$rocesteer")" "$(realpath "$slices")"
}

someone_waits()
{
	grep -s "waiting for $file.lock, which .* has locked" "$dir/said"
}

waits_for_the_lock()
{
	local lock pid

	small
	: >"$file.lock"
	exec {lock}<"$file.lock"
	flock "$lock" || return
	slice alloc --gpus 1 --job a >"$dir/out" 2>"$dir/said" {lock}<&- &
	pid=$!
	busywait 10000 someone_waits &&
		slice list | jq -e '.jobs == []' &&
		jq -e 'has("jobs") | not' "$file" &&
		exec {lock}<&- &&
		wait "$pid" &&
		jq -e '.jobs | has("a")' "$file"
}

# The command ends with its own status, and changes nothing.
waits_no_longer()
{
	local who="process $holder (sleep) has $file.lock locked"

	ROCESTEER_LOCK_WAIT=0 refused 4 locked "$who" alloc --gpus 1 --job b &&
		[[ $(jq -r .error.message "$dir/json") == "$who" ]]
}

# locked_by_nobody MODE-OF-FILE MODE-OF-LOCK: user "nobody" cannot lock it
locked_by_nobody()
{
	rm -f "$file.lock"
	chmod "$1" "$file" && chmod 755 "$dir" &&
		slice alloc --gpus 1 >"$dir/out" &&
		[[ $(stat -c %a "$file.lock") == "$2" ]] &&
		! setpriv --reuid=65534 --regid=65534 --clear-groups \
			flock -n "$file.lock" true
}

not_for_strangers()
{
	small
	locked_by_nobody 644 600 && locked_by_nobody 664 660 &&
		chmod 644 "$file.lock" && slice alloc --gpus 1 >"$dir/out" &&
		[[ $(stat -c %a "$file.lock") == 640 ]] &&
		locked_by_nobody 600 600
}

another_place()
{
	slice alloc --gpus 1 >"$dir/out" && jq -e '.stage == "server"' "$dir/out"
}

not_for_readers()
{
	local all

	cluster '{"leaves":1,"spines":1,"gpus_per_leaf":400,"gpus_per_server":1}'
	all=$(printf ',0/%d' {0..199})
	unread another_place "$rocesteer" --json slice alloc --gpus 200 \
		--job a --cluster "$file" &&
		unread another_place "$rocesteer" --json slice alloc \
			--servers "${all:1}" --job a --cluster "$file" &&
		file_is_right
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
	slice check --job a --pattern hierarchical-ring |
		jq -e '.steps == 2 and .flows == 24' &&
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

# Leaves lose different numbers of servers, so jobs are uneven.
kill_nine()
{
	cluster '{"leaves":4,"spines":6,"gpus_per_leaf":6,"gpus_per_server":1,
		"drained":{"servers":[[1,0],[1,1],[1,2],[2,5],[3,0],[3,1]]}}'
	mkdir "$dir/kill" &&
		cp "$file" "$dir/kill/" &&
		ROCESTEER=$rocesteer timeout 300 "$slices" kill \
			"$dir/kill/cluster.json" "$(few 50 200)"
}

schema()
{
	as_designed >"$dir/out" &&
		slice mark --as failed --leaves 2 --links 0/3 --servers 1/1 &&
		"$slices" schema "$file" '{"leaves": 0}' '{"free_gpus": [1]}' '{"jobs": []}' \
			'{"nodes": [["a,b"]]}' '{"routers": [1]}' '{"failed": {"leaves": [-1]}}' \
			'{"parallel_links": 0}' \
			"$(jq '{jobs: {a: (.jobs.train + {lane_links: [0]})}}' "$file")" &&
		with routers '[["10.0.0.1"]]' && "$slices" schema "$file"
}

ktap_plan 43
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
check "a wrong file is refused by file and field" wrong_files
check "a job that disagrees with itself is refused" jobs_agree_with_themselves
check "a missing file and a file without JSON are refused" no_file
check "marked servers and spines are not allocated" marks
check "a leaf and a spine may have several links" several_links
check "jobs share no pair of leaf and spine" pairs_are_not_shared
check "unknown fields and the file's mode stay" keeps_the_unknown
check "unknown fields are reported" tells_of_the_unknown
check "owner, group and mode of the file stay, whoever writes it" keeps_the_owner
check "a user who may not write the file is told that root is not needed" needs_no_root
check "a file behind a symbolic link is replaced there" follows_links
check "a journal with a cut line and a decision that was not taken is repaired" mends_the_journal
check "a journal may have long lines" long_lines
check "a file that is older than its journal is refused" older_than_the_journal
check "a file with two names is refused, and an empty limit of waiting is none" one_name
check "a cluster file in place of a slice is named" no_slice
check "a large job has a place in the largest cluster within seconds" large_cluster
check "a full disk leaves the file as it was" full_disk
check "a controller waits for the lock of another, a reader does not" waits_for_the_lock
small
slice alloc --gpus 1 --job a >"$dir/out"
check "slice waits for the lock up to the limit, and names its holder" \
	while_locked "$file.lock" waits_no_longer
check "a user who may not write the file cannot lock it" not_for_strangers
check "a controller does not wait for another user's reader" not_for_readers
check "flows that meet are named with their link" checks_flows
check "slice check counts the contention of patterns" checks_patterns
check "two flows of one GPU meet on its link up" checks_links_up
check "flows to one spine meet over several cables too" checks_cables
check "the file stays whole when commands of four processes are killed" kill_nine
check "cluster files fit the schema" schema
check "the command, the schema and formats.rst have the same limits" limits_agree
ktap_finish
