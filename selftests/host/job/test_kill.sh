#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Kill commands that change something, and the daemon, before every STEP-th system call. The
# next command has to work, and nothing is lost, half-done or left over. Then let these calls
# fail: the command has done what it says, or nothing. STEP=1 takes half an hour, most of it
# for the first job, which loads the programs. The test has a network namespace and a BPF file
# system of its own.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/lib/command.sh
killat=$(realpath -- build/selftests/killat)
step=${STEP:-$(few 370 37)}
plan=$dir/plan.json
ranges=$dir/ranges.json
file=$dir/cluster/c.json
ports=$dir/ports/ports.json

rocesteer()
{
	timeout 60 "$rocesteer" "$@"
}

ready()
{
	veth rs0 rs1 && ip address add 10.1.0.1/24 dev rs0 || return
	port_map rs0 "$(peer 10.1.1.1 49152 49160)" >"$map"
	rocesteer --json chunk plan --dims 4 --bandwidth 1 --size 4M --chunks 4 >"$plan" &&
		jq '{format: 1, hash, dimensions: [{dimension: 0, netdev: "rs0"}],
			ranges: [.chunks[] | {dimension: 0, stage: 0, chunk: .id,
			peer: "10.1.1.1", start: "0x\(.id + 1)0000", length: 4096}]}' \
			"$plan" >"$ranges"
}

# kills BEFORE BEHIND COMMAND...: BEFORE prepares each round, BEHIND checks what the killed
# command has left. The last round is the one in which the command ends by itself, or with
# goes_on=SECONDS has run for so long.
kills()
{
	local before=$1 behind=$2 at status=99 n=0
	shift 2
	for ((at = 1 + step / 3; status == 99; at += step)); do
		"$before" || return
		"$killat" "$at" "${goes_on:-60}" "$@" >"$dir/out" 2>&1
		status=$?
		"$behind" "$status" || {
			echo "killed before system call $at: $*"
			cat "$dir/out"
			return 1
		}
		((++n))
	done
	echo "$n times"
	((status == (goes_on ? 98 : 0)))
}

# is_as_said STATUS DONE: the output in $dir/out says what was done
is_as_said()
{
	if (($1 == 0 || $1 == 97)) ||
	   grep -q "Only the output is lost\|is replaced, but a crash" "$dir/out"; then
		"$2"
	else
		! "$2"
	fi
}

# errors BEFORE DONE BEHIND COMMAND...: as kills, but a system call fails, and DONE tells
# whether the command has done its work
errors()
{
	local before=$1 is_done=$2 behind=$3 at status=0 n=0 numbers=(5 28 12)
	shift 3
	for ((at = 1 + step / 3; status != 97; at += step)); do
		"$before" || return
		"$killat" -e "${numbers[n % 3]}" "$at" 60 "$@" >"$dir/out" 2>&1
		status=$?
		if ! is_as_said "$status" "$is_done" || ! "$behind"; then
			echo "error ${numbers[n % 3]} of system call $at, status $status: $*"
			cat "$dir/out"
			return 1
		fi
		((++n))
	done
	echo "$n times"
}

#
# Cluster files
#

cluster_make()
{
	rm -rf "$dir/cluster"
	mkdir "$dir/cluster" || return
	echo '{"leaves":4,"spines":2,"gpus_per_leaf":4,"gpus_per_server":2}' >"$file" &&
		chown 65534:1 "$file" && chmod 640 "$file"
}

cluster_new()
{
	cluster_used && slice alloc --gpus 8 --job new
}

cluster_used()
{
	cluster_make && slice alloc --gpus 2 --job old && slice submit --gpus 4 --job q1
}

slice()
{
	rocesteer slice "$@" --cluster "$file" >"$dir/log" 2>&1 && return
	cat "$dir/log"
	return 1
}

new_is_there()
{
	jq -e '.jobs.new' "$file" >/dev/null
}

# is_like FILE MODE: the file has this mode and the cluster file's owner, or does not exist
is_like()
{
	[[ ! -e $1 || $(stat -c '%u:%g %a' "$1") == "65534:1 $2" ]] && return
	stat "$1"
	return 1
}

# The old state or the new one, and no other file beside it
cluster_is_whole()
{
	is_like "$file" 640 && is_like "$file.lock" 600 &&
		is_like "$file.journal" 640 &&
		slice list && slice submit --gpus 1 --job next &&
		selftests/host/job/cluster.py "$file" &&
		[[ ! $(find "$dir/cluster" -type f -not -name c.json \
			-not -name c.json.lock -not -name c.json.journal) ]]
}

#
# Jobs
#

load()
{
	rocesteer job load --job "$1" --port-map "$map" \
		--flow 10.1.1.1/17,10.1.1.1/18 >"$dir/log" 2>&1 && return
	cat "$dir/log"
	return 1
}

unload()
{
	rocesteer job unload --job "$1" >"$dir/log" 2>&1 && return
	cat "$dir/log"
	return 1
}

is_loaded()
{
	rocesteer --json job list | jq -e --argjson job "$1" 'any(.jobs[]; .job == $job)'
}

no_job()
{
	:
}

another_job()
{
	is_loaded 1 >/dev/null || rocesteer job load --job 1 --port-map "$map" --all >"$dir/log"
}

one_job()
{
	load 5
}

# Either the job can be unloaded, or its flows can be another job's.
job_is_whole()
{
	if is_loaded 5 >/dev/null; then
		unload 5
	else
		load 6 && unload 6
	fi && load 5 && unload 5 &&
		rocesteer --json flow show | jq -e '.flows == []' >/dev/null
}

is_loaded_5()
{
	is_loaded 5 >/dev/null
}

unload_5()
{
	! is_loaded_5 || unload 5
}

another_and_no_5()
{
	unload_5 && another_job
}

nothing_is_pinned()
{
	job_is_whole && [[ ! $(find /sys/fs/bpf -name 'rs_*') ]] &&
		[[ $(ip -d link show rs0) != *tcx* ]]
}

#
# Chunks
#

chunk()
{
	rocesteer chunk "$@" --job 5 >"$dir/log" 2>&1
}

has_chunks()
{
	rocesteer --json job show --job 5 | jq -e '.chunks == 4' >/dev/null
}

no_chunks()
{
	daemon_job && { ! has_chunks || chunk unload; }
}

chunks()
{
	daemon_job && { has_chunks || chunk load --chunk-plan "$plan" --ranges "$ranges"; }
}

# All chunks are there, or none; then they can be loaded, and unloaded without a trace.
chunks_are_whole()
{
	local left sums

	if ! chunks || ! chunk unload; then
		cat "$dir/log"
		return 1
	fi
	[[ ! $(find /sys/fs/bpf -name 'link_chunk_*') ]] || return
	sums=$(echo /sys/fs/bpf/rocesteer/netns-*/rs_chunk_sums)
	for left in /sys/fs/bpf/rocesteer/netns-*/rs_{chunk*,range*}; do
		[[ $left == "$sums" || $(bpftool --json map dump pinned "$left") == '[]' ]] || return
	done
	bpftool --json map dump pinned "$sums" |
		jq -e 'all(.[].formatted.values[].value[]; . == 0)' >/dev/null
}

#
# Port maps, of peers that do not answer
#

ports_make()
{
	rm -rf "$dir/ports"
	mkdir "$dir/ports" && discover 10.1.0.2
}

discover()
{
	rocesteer path discover --dev rs0 --peer "$1" --out "$ports" \
		--accept-incomplete >"$dir/log" 2>&1
	rocesteer path show "$ports" >"$dir/log" 2>&1 && return
	cat "$dir/log"
	return 1
}

ports_have_3()
{
	jq -e 'any(.peers[]; .address == "10.1.0.3")' "$ports" >/dev/null
}

ports_are_whole()
{
	rocesteer path show "$ports" >"$dir/log" 2>&1 && discover 10.1.0.3 &&
		[[ ! $(find "$dir/ports" -type f -not -name ports.json \
			-not -name ports.json.lock) ]]
}

#
# The daemon
#

daemon_job()
{
	is_loaded 5 >/dev/null || load 5
}

# Another daemon can start.
daemon_begins()
{
	"$killat" 1000000 1 "$rocesteer" daemon >"$dir/log" 2>&1
	(($? == 98)) && is_loaded 5 >/dev/null && return
	cat "$dir/log"
	return 1
}

daemon_ends()
{
	unload 5
}

# JSON, because tables need a locale, and the C library hides errors when it reads one
alloc=("$rocesteer" --json slice alloc --gpus 8 --job new --cluster "$file")
load=("$rocesteer" --json job load --job 5 --port-map "$map" --flow "10.1.1.1/17,10.1.1.1/18")
discover=("$rocesteer" --json path discover --dev rs0 --peer "10.1.0.2,10.1.0.3"
	--out "$ports" --accept-incomplete)

ktap_plan 15
check "a network device and a port map are made" ready
# The first command makes the lock and the journal in a few calls.
step=${STEP:-$(few 8 2)} check "the cluster file is whole after the first slice alloc was killed" \
	kills cluster_make cluster_is_whole "${alloc[@]}"
check "the cluster file is whole after slice alloc was killed" \
	kills cluster_used cluster_is_whole "${alloc[@]}"
check "the cluster file is whole after slice release was killed" \
	kills cluster_new cluster_is_whole "$rocesteer" slice release --job new --cluster "$file"
step=${STEP:-$(few 12 3)} \
	check "the cluster file is whole after a system call of slice alloc failed" \
		errors cluster_used new_is_there cluster_is_whole "${alloc[@]}"
step=${STEP:-$(few 3310 331)} \
	check "a killed load of the first job leaves what the next commands can remove" \
		kills no_job nothing_is_pinned "${load[@]}"
check "a killed job load leaves a whole job or none beside another job" \
	kills another_job job_is_whole "${load[@]}"
check "a job is loaded or not, as said, after a system call of job load failed" \
	errors another_and_no_5 is_loaded_5 unload_5 "${load[@]}"
check "a killed chunk load leaves all chunks or none" kills no_chunks chunks_are_whole \
	"$rocesteer" chunk load --job 5 --chunk-plan "$plan" --ranges "$ranges"
check "a killed chunk unload leaves all chunks or none" \
	kills chunks chunks_are_whole "$rocesteer" chunk unload --job 5
rocesteer job unload --all >"$dir/log"
check "a killed job unload leaves what the next commands can remove" \
	kills one_job nothing_is_pinned "$rocesteer" job unload --job 5
check "the port map is whole after path discover was killed" \
	kills ports_make ports_are_whole "${discover[@]}"
check "the port map is whole after a system call of path discover failed" \
	errors ports_make ports_have_3 ports_are_whole "${discover[@]}"
goes_on=1 check "another daemon can start after one was killed" \
	kills daemon_job daemon_begins "$rocesteer" daemon
check "the job of killed daemons can be unloaded" daemon_ends
ktap_finish
