#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two jobs under the same leaves, with different numbers of hosts. Under ECMP one job delays
# the other; in slices it does not, and no packet takes a link of the other job. In a step
# that slice check calls free of contention no link has two flows.
#
#	leaf  hosts	job a: ranks 0 1 2 3 on hosts 0 1 3 6
#	   0  0 1 2	job b: ranks 0 1 2 3 on hosts 2 4 5 7
#	   1  3 4 5
#	   2  6 7 8	two lanes each: a leaf has one link in each

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh
. selftests/net/observe.sh

pins=/sys/fs/bpf/test_slice
message=65536
bytes=$((16 * message))	# of each flow: two seconds of a link that is its own
declare -A ms ranks=([a]="0 1 3 6" [b]="2 4 5 7")

up()
{
	steer_fabric --leaves 3 --hosts 3 --rate 4mbit && observe_up &&
		discover_all --paths "$spines"
}

# Each job has half of the spines.
slices()
{
	jq -n --argjson hosts "$(fabric_hosts)" '{
		leaves: 3, spines: 4, gpus_per_leaf: 3, gpus_per_server: 1,
		routers: [range(4) | "10.255.1.\(. + 1)"],
		nics: [range(3) as $l | $hosts | map(select(.leaf == $l) |
			[.ipv4])]}' >"$dir/cluster.json"
	slice mark --as drained --servers 0/2,1/1,1/2,2/1,2/2 &&
		slice alloc --gpus 4 --job a >"$dir/a.json" &&
		slice mark --as usable --servers 0/2,1/1,1/2,2/1 &&
		slice alloc --gpus 4 --job b >"$dir/b.json" || return
	jq -c '{job, leaves, spines, lane_links, servers: [.servers[] | [.leaf, .server]]}' \
		"$dir"/[ab].json
	jq -s -e 'map(.stage) == ["vclos", "vclos"] and
		map(.lane_links) == [[1, 1, 1], [1, 1, 1]] and
		map(.servers | group_by(.leaf) | map(length)) ==
			[[2, 1, 1], [1, 2, 1]] and
		.[0].spines - .[1].spines == .[0].spines' "$dir"/[ab].json
}

# traffic_of SHIFT JOB...: each rank sends to the rank SHIFT further. Sets ms[JOB], the time
# from the first packet to the last.
traffic_of()
{
	local job host r n=0 rank shift=$1
	shift

	for job; do
		read -ra rank <<<"${ranks[$job]}"
		for host in "${rank[@]}"; do
			host_line "$host" "/sys/fs/cgroup/test$host"
		done
	done >"$dir/writes"
	for job; do
		for r in 0 1 2 3; do
			echo "flow $((n + r)) $((n + (r + shift) % 4)) $bytes"
		done
		n=$((n + 4))
	done >>"$dir/writes"
	observe_forget
	timeout $((120 * TIME_SCALE)) build/guest/selftests/writes 1 "$message" 2 22 <"$dir/writes" ||
		return
	bpftool --json map dump pinned "$pins/seen" |
		jq --argjson hosts "$hosts" '[.[].formatted | .key + .value + {
			host: (.key.source[2] * $hosts + .key.source[3] - 1)}]' >"$dir/seen"
	for job; do
		ms[$job]=$(jq "$(of_job "$job")"' | map(select(.sender == 2 and .ack == 0)) |
			((map(.last) | max) - (map(.first) | min)) / 1000000 | floor' \
			"$dir/seen")
		echo "job $job: ${ms[$job]} ms"
	done
}

# of_job JOB: a jq filter for packets from the job's hosts
of_job()
{
	echo "map(select(.host | IN(${ranks[$1]// /,})))"
}

load()
{
	local job host

	for job in a b; do
		for host in ${ranks[$job]}; do
			job_load "$host" --all --slice "$dir/$job.json" \
				--pattern all-to-all >/dev/null || return
		done
	done
}

# foreign JOB: print the job's packets, and those on links of other jobs
foreign()
{
	jq -e --slurpfile slice "$dir/$1.json" "$(of_job "$1")"' |
		map(select(.sender == 3 or .sender == 4)) |
		{requests: map(select(.ack == 0).packets) | add,
		 acks: map(select(.ack == 1).packets) | add,
		 foreign: map(select([.leaf, .index] as $link |
			$slice[0].links | index([$link]) | not).packets) | (add // 0)} |
		., (.requests > 0 and .acks > 0 and .foreign == 0)' "$dir/seen"
}

# alone_on_links SHIFT: slice check finds no contention in the step, and no link carries more
# than one flow and acknowledgments
alone_on_links()
{
	local before after job

	for job in a b; do
		jq -n --argjson k "$1" '{flows: [range(4) | {from: ., to: ((. + $k) % 4)}]}' \
			>"$dir/flows.json"
		timeout 60 rocesteer --json slice check --slice "$dir/$job.json" \
			--flows "$dir/flows.json" | jq -e '.contended == 0' || return
	done
	before=$(link_bytes)
	traffic_of "$1" a b || return
	after=$(link_bytes)
	jq -n -e --argjson before "$before" --argjson after "$after" --argjson bytes "$bytes" '
		[$before, $after] | transpose | map((.[1] - .[0]) / $bytes) |
		{busy: map(select(. > 0.5)) | length, most: max} |
		., (.busy >= 8 and .most < 1.5)'
}

steps_are_free()
{
	alone_on_links 1 && alone_on_links 2 && alone_on_links 3
}

undisturbed()
{
	local alone

	traffic_of 2 a && alone=${ms[a]} && traffic_of 2 a b && foreign a && foreign b || return
	echo "$alone ms alone, ${ms[a]} ms beside another job"
	((ms[a] * 100 <= alone * 103))
}

# The mean over hash seeds, which decide what flows meet
ecmp()
{
	local seed sum=0

	for seed in 1 2 3; do
		selftests/net/fabric.sh seed "$seed" && traffic_of 2 a b || return
		sum=$((sum + ms[a]))
	done
	echo "$((sum / 3)) ms beside another job"
	((sum * 10 > 3 * alone * 13))
}

unreachable()
{
	local json

	jq '.peers[].paths |= [to_entries[] | .value + {path: .key}]' <(
		jq 'del(.peers[].paths[0])' "$dir/ports0.json"
	) >"$dir/ports9.json"
	json=$(host_exec 0 rocesteer --json job load --job 9 --all \
		--port-map "$dir/ports9.json" --slice "$dir/a.json")
	local status=$?
	echo "$json"
	((status == 3)) && jq -e '.error.code == "no-port" and (.error.message |
		contains("10.1.1.1 by spine 0, 10.255.1.1"))' <<<"$json"
}

unload()
{
	# shellcheck disable=SC2086 # words
	jobs_unload ${ranks[a]} ${ranks[b]}
}

ktap_plan 8
check "a fabric and port maps of all hosts are made" up
check "two jobs get slices under the same leaves, of different sizes" slices
check "a host that lacks a path of the slice says so" unreachable
check "the slices are loaded on the hosts" load
check "no link has two flows of a step that is free of contention" steps_are_free
check "a job in a slice takes as long as alone, on its own links only" undisturbed
check "unloading leaves nothing" unload
check "by ECMP the other job delays a job by 30 % or more" ecmp
ktap_finish
