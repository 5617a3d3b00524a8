#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer-perf runs a plan, and every packet of a host has the class of its chunk, also when
# the packet is repeated, and in queues of the host. Flows by one device of the host are steered,
# those by the other one are not.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/perf/grid.sh
set -o pipefail

dir=$(mktemp -d)
defer rm -rf "$dir"
pid=()
plan=(--dims 2x2 --bandwidth "1,1" --size 1M --chunks 8)
cgroup=/sys/fs/cgroup/test3
fabric_mtu=1300		# packets of 1 KiB

up()
{
	defer grid_down
	grid_up 4 1gbit 1gbit || return
	mkdir "$cgroup"
	defer rmdir "$cgroup"
	module_load && defer module_unload
}

# run OPTION...: on all hosts, on host3 in its cgroup; RANK stands for the host's number
run()
{
	local i bad=0

	for i in 3 2 1 0; do
		((i != 3)) || echo $$ >"$cgroup/cgroup.procs"
		rank "$i" "${plan[@]}" --timeout $((60000 * TIME_SCALE)) "${@//RANK/$i}"
		((i != 3)) || echo $$ >/sys/fs/cgroup/cgroup.procs
	done
	for i in "${!pid[@]}"; do
		wait "${pid[i]}" || bad=1
		tail -n 1 "$dir/out$i" | cut -c 1-200
	done
	pid=()
	return "$bad"
}

on_host()
{
	netns_exec host3 "$@"
}

# One job has two devices. It steers the flows by the first one, on the only path to a neighbour.
loads()
{
	run --warmup 0 --iters 0 --ranges-out "$dir/rangesRANK" || return
	rocesteer --json chunk plan "${plan[@]}" >"$dir/plan"
	cat >"$dir/ports" <<-E
	{"format":1,"generation":1,"created":"2026-01-02T03:04:05Z",
	 "device":"eth0","hop":1,"peers":[
	  {"address":"10.1.0.3","source":"10.1.0.4","local":false,"leaf":"10.1.0.3",
	   "probed":1,"paths":[{"path":0,"router":"10.1.0.3","ports":[49152]}]}]}
	E
	on_host rocesteer --json job load --job 3 --cgroup "$cgroup" \
		--port-map "$dir/ports" --chunk-plan "$dir/plan" \
		--ranges "$dir/ranges3" | jq -e '.chunks == 8 and .module'
}

# Lose packets on the way to a peer, and give each class a queue 9<N>, the highest first.
worsen()
{
	modprobe -a sch_netem sch_prio &&
		tc -n grid qdisc add dev host2_0 root netem loss 0.3% limit 4000 &&
		tc -n host3 -batch - <<-E
	qdisc replace dev eth0 root handle 9: prio bands 5 priomap 4 3 2 1 0 4 4 4 4 4 4 4 4 4 4 4
	qdisc add dev eth0 parent 9:1 handle 91: pfifo limit 1000
	qdisc add dev eth0 parent 9:2 handle 92: pfifo limit 1000
	qdisc add dev eth0 parent 9:3 handle 93: pfifo limit 1000
	qdisc add dev eth0 parent 9:4 handle 94: pfifo limit 1000
	E
}

captured()
{
	local status

	worsen && capture_begin host3 'udp dst port 4791' || return
	run --warmup 0 --iters 8
	status=$?
	capture_end && ((!status)) || return
	selftests/guest/perf/tags.py "$dir/plan" "$dir/ranges3" "$dir"/capture[01] |
		tee "$dir/seen" &&
		jq -e '.packets >= 10000 and .again > 0 and
			([.classes[].class] | unique | length) > 2' "$dir/seen"
}

counted()
{
	on_host rocesteer --json job show --job 3 >"$dir/job" || return
	jq -c '.classes[]' "$dir/job"
	jq -e --slurpfile seen "$dir/seen" '
		def rows: map(select(.class > 0 and .packets > 0) |
			[.class, .dimension, .packets]) | sort;
		(.classes | rows) == ($seen[0].classes | rows)' "$dir/job"
}

steered()
{
	on_host rocesteer --json stat >"$dir/stat" && jq -c .verdicts "$dir/stat" &&
		jq -e --slurpfile seen "$dir/seen" '.verdicts.steered >= ([$seen[0].classes[] |
			select(.dimension == 0).packets] | add)' "$dir/stat"
}

queued()
{
	tc -n host3 -s -j qdisc show dev eth0 >"$dir/queues"
	jq -c --slurpfile queues "$dir/queues" '
		[.classes[] | select(.dimension == 0) | [.class, .packets]] as $sent |
		[$queues[0][] | select(.handle | test("^9[1-4]:$")) |
			[5 - (.handle[1:2] | tonumber), .packets]] | sort |
		., $sent, . == $sent' "$dir/job" | tee "$dir/result"
	tail -n 1 "$dir/result" | grep -q -x true
}

forgotten()
{
	bpftool --json map dump pinned \
		"$(on_host rocesteer --json job show --job 3 | jq -r .pins)/rs_tags" |
		jq -e 'length == 0'
}

unloads()
{
	on_host rocesteer job unload --job 3 &&
		[[ ! $(find /sys/fs/bpf -name 'rs_*') ]]
}

fabric_has_host_netns || skip_all "rxe knows no namespaces here"
ktap_plan 8
check "four hosts with two NICs are made" up
check "a job is loaded with the chunks of a plan" loads
check "each of 10,000 packets has the class of its chunk" captured
check "job show counts as many packets by class and dimension" counted
check "the flows by one of two devices were steered" steered
check "queues get packets by their class" queued
check "no tags are kept of queue pairs that are gone" forgotten
check "unloading leaves nothing" unloads
ktap_finish
