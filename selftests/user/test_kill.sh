#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SIGKILL before the system calls of job load, job unload, path discover, slice alloc
# and the daemon: before every STEP-th; STEP=1 takes half an hour, the most of it for
# the first job, which loads the programs. The next command works, and nothing is lost,
# half-done or left over. In a network namespace and a BPF file system of its own.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
rocesteer=$(realpath -- "${ROCESTEER:-build/rocesteer}")
killat=$(realpath -- build/selftests/killat)
step=${STEP:-37}

if [[ ! ${ROCESTEER_TEST_KILL:-} ]]; then
	unshare --net --mount mount -t bpf bpf /sys/fs/bpf 2>/dev/null ||
		skip_all "no network namespaces or BPF: not root, or not allowed"
	[[ ! -e /sys/module/rocesteer ]] ||
		skip_all "the module is loaded"
	ROCESTEER_TEST_KILL=1 exec unshare --net --mount "$0"
fi

dir=$(mktemp -d)
defer rm -rf "$dir"
map=$dir/map.json
file=$dir/cluster/c.json
ports=$dir/ports/ports.json

rocesteer()
{
	timeout 60 "$rocesteer" "$@"
}

ready()
{
	mount -t bpf -o mode=0700 bpf /sys/fs/bpf && mount -t tmpfs run /run &&
		ip link add rs0 mtu 4200 type veth peer name rs1 &&
		ip address add 10.1.0.1/24 dev rs0 &&
		ip link set rs0 up && ip link set rs1 up || return
	cat >"$map" <<-E
	{"format":1,"generation":1,"created":"2026-01-02T03:04:05Z",
	 "device":"rs0","hop":2,"peers":[
	  {"address":"10.1.1.1","source":"10.1.0.1","local":false,
	   "leaf":"10.255.0.2","probed":2,"paths":[
	    {"path":0,"router":"10.255.1.1","ports":[49152]},
	    {"path":1,"router":"10.255.1.2","ports":[49160]}]}]}
	E
}

# kills BEFORE BEHIND COMMAND...: BEFORE makes the world in which the command is
# killed, BEHIND checks the world that is left. Until it ends by itself; with
# goes_on=SECONDS until it has gone on for so long.
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

#
# Cluster files
#

cluster_make()
{
	rm -rf "$dir/cluster"
	mkdir "$dir/cluster" || return
	echo '{"leaves":4,"spines":2,"gpus_per_leaf":4,"gpus_per_server":2}' >"$file"
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

# The old state or the new one; what is beside it is what belongs there
cluster_is_whole()
{
	slice list && slice submit --gpus 1 --job next &&
		selftests/kill/cluster.py "$file" &&
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
	rocesteer --json job list |
		jq -e --argjson job "$1" 'any(.jobs[]; .job == $job)'
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

# It is there and can be unloaded, or it is not, and its flows can be another's
job_is_whole()
{
	if is_loaded 5 >/dev/null; then
		unload 5
	else
		load 6 && unload 6
	fi && load 5 && unload 5 &&
		rocesteer --json flow show | jq -e '.flows == []' >/dev/null
}

nothing_is_pinned()
{
	job_is_whole && [[ ! $(find /sys/fs/bpf -name 'rs_*') ]] &&
		[[ $(ip -d link show rs0) != *tcx* ]]
}

#
# Port maps
#

ports_make()
{
	rm -rf "$dir/ports"
	mkdir "$dir/ports" && discover 10.1.0.2
}

discover()
{
	rocesteer path discover --dev rs0 --peer "$1" --out "$ports" >"$dir/log" 2>&1
	rocesteer path show "$ports" >"$dir/log" 2>&1 && return
	cat "$dir/log"
	return 1
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

# Another one can begin, and gets as far
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

ktap_plan 9
check "a network device and port map" ready
check "slice alloc, the first command of all" kills cluster_make cluster_is_whole \
	"$rocesteer" slice alloc --gpus 8 --job new --cluster "$file"
check "slice alloc, a later one" kills cluster_used cluster_is_whole \
	"$rocesteer" slice alloc --gpus 8 --job new --cluster "$file"
step=${STEP:-331} check "job load, the first job" kills no_job nothing_is_pinned \
	"$rocesteer" job load --job 5 --port-map "$map" --flow 10.1.1.1/17,10.1.1.1/18
check "job load beside another job" kills another_job job_is_whole \
	"$rocesteer" job load --job 5 --port-map "$map" --flow 10.1.1.1/17,10.1.1.1/18
rocesteer job unload --all >"$dir/log"
check "job unload" kills one_job nothing_is_pinned "$rocesteer" job unload --job 5
check "path discover" kills ports_make ports_are_whole \
	"$rocesteer" path discover --dev rs0 --peer 10.1.0.2,10.1.0.3 --out "$ports"
goes_on=1 check "the daemon" kills daemon_job daemon_begins "$rocesteer" daemon
check "what it leaves can be unloaded" daemon_ends
ktap_finish
