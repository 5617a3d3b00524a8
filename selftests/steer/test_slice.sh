#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two jobs under the same leaves: under ECMP one delays the other, in slices of
# their own it does not, and no packet takes a link that its job does not own.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/steer/lib.sh
. selftests/fabric/observe.sh

pins=/sys/fs/bpf/test_slice
message=65536
bytes=$((16 * message))	# of each flow: two seconds of a link that is its own
declare -A ms ranks=([a]="0 1 4 5" [b]="2 3 6 7")

up()
{
	dir=$(mktemp -d)
	defer rm -rf "$dir"
	fabric_up --leaves 2 --spines 4 --hosts 4 --rate 4mbit
	fabric_load
	defer fabric_down
	for ((i = 0; i < leaves * hosts; i++)); do
		mkdir "/sys/fs/cgroup/test$i"
		defer rmdir "/sys/fs/cgroup/test$i"
	done
	observe_load || return
	defer rm -r "$pins"
	observe
	port_maps
}

port_maps()
{
	local i pids=()

	for ((i = 0; i < leaves * hosts; i++)); do
		host_exec "$i" rocesteer path discover \
			--dev "$(host_dev "$i")" --source "$(host_ip "$i")" \
			--peer "$(far_hosts "$i")" --paths "$spines" \
			--out "$dir/ports$i.json" >"$dir/log$i" 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || { cat "$dir"/log*; return 1; }
	done
}

far_hosts()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		(($(host_leaf "$i") == $(host_leaf "$1"))) || host_ip "$i"
	done | paste -sd,
}

slice()
{
	rocesteer --json slice "$@" --cluster "$dir/cluster.json"
}

# Each job half of the GPUs of both leaves, and half of the spines.
slices()
{
	jq -n --argjson hosts "$("$fabric" hosts --json)" '{
		leaves: 2, spines: 4, gpus_per_leaf: 4, gpus_per_server: 1,
		routers: [range(4) | "10.255.1.\(. + 1)"],
		nics: [range(2) as $l | $hosts | map(select(.leaf == $l) |
			[.ipv4])]}' >"$dir/cluster.json"
	slice mark --as drained --servers 0/2,0/3,1/2,1/3 &&
		slice alloc --gpus 4 --job a >"$dir/a.json" &&
		slice mark --as usable --servers 0/2,0/3,1/2,1/3 &&
		slice alloc --gpus 4 --job b >"$dir/b.json" || return
	jq -c '{job, leaves, spines, servers: [.servers[] | [.leaf, .server]]}' \
		"$dir"/[ab].json
	jq -s -e '.[0].stage == "vclos" and .[1].stage == "vclos" and
		.[0].spines - .[1].spines == .[0].spines' "$dir"/[ab].json
}

# traffic_of JOB...: halving-doubling, the step between leaves: each rank to the
# one two further by XOR. Sets ms[JOB], from its first packet to its last one.
traffic_of()
{
	local job host r n=0 rank

	for job; do
		read -ra rank <<<"${ranks[$job]}"
		for host in "${rank[@]}"; do
			echo "host /sys/fs/cgroup/test$host" \
				"$(netns_file "$host") $(host_rdma "$host") $(host_gid "$host")"
		done
	done >"$dir/writes"
	for job; do
		for r in 0 1 2 3; do
			echo "flow $((n + r)) $((n + (r ^ 2))) $bytes"
		done
		n=$((n + 4))
	done >>"$dir/writes"
	observe_forget
	timeout $((120 * PATIENCE)) build/guest/selftests/writes 1 "$message" 2 22 <"$dir/writes" ||
		return
	bpftool --json map dump pinned "$pins/seen" |
		jq '[.[].formatted | .key + .value + {
			host: (.key.source[2] * 4 + .key.source[3] - 1)}]' >"$dir/seen"
	for job; do
		ms[$job]=$(jq "$(of_job "$job")"' | map(select(.sender == 2 and .ack == 0)) |
			((map(.last) | max) - (map(.first) | min)) / 1000000 | floor' \
			"$dir/seen")
		echo "job $job: ${ms[$job]} ms"
	done
}

netns_file()
{
	local netns

	netns=$(host_netns "$1")
	echo "${netns:+/run/netns/}${netns:--}"
}

# What of all that was seen is from hosts of a job.
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
				--pattern halving-doubling >/dev/null || return
		done
	done
}

# foreign JOB: packets of the job that were seen, and of these those on links
# between switches that it does not own
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

# A machine that stalls delays one run, but not each of three.
undisturbed()
{
	local i

	for i in 1 2 3; do
		traffic_of a && alone=${ms[a]} && traffic_of a b &&
			foreign a && foreign b || return
		echo "$alone ms alone, ${ms[a]} ms beside another job"
		((ms[a] * 100 > alone * 103)) || return 0
	done
	return 1
}

# The mean over a few hash seeds: which flows meet depends on them.
ecmp()
{
	local seed sum=0

	for seed in 1 2 3; do
		"$fabric" seed "$seed" && traffic_of a b || return
		sum=$((sum + ms[a]))
	done
	echo "$((sum / 3)) ms beside another job"
	((sum * 10 > 3 * alone * 13))
}

# Each host says before the job starts that it lacks a path of the slice.
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
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		job_unload "$i" || return
	done
	[[ ! $(find /sys/fs/bpf -name 'rs_*') ]]
}

fabric=selftests/fabric/fabric.sh
ktap_plan 7
check "a fabric, and port maps of all hosts" up
check "two jobs get slices under the same leaves" slices
check "a host that lacks a path of the slice says so" unreachable
check "the slices are loaded on the hosts" load
check "a job takes as long as alone, on its own links only" undisturbed
check "unloaded, nothing is left" unload
check "by ECMP it suffers from the other job" ecmp
ktap_finish
