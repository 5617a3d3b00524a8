#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NetReduce for jobs: groups are planned from a slice, leaves and spines reserve memory for
# the groups, and rocesteer-perf deals a buffer to the groups, checks every element, and
# leaves out a group that has failed.
#
# shellcheck disable=SC2317 # functions are called through check

set -uo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/reduce/reduce.sh

cluster='' memory=/sys/module/rocesteer_reduce/parameters/reduce_memory
all=(leaf0 leaf1 spine0 spine1)

# at SWITCH VERB JOB: on the switch, named by its own option
at()
{
	local number=${1#leaf}

	number=${number#spine}
	netns_exec "$1" rocesteer --json reduce "$2" --cluster "$cluster" --job "$3" \
		"--${1%"$number"}" "$number"
}

# Two jobs of two hosts below each leaf with a spine each, and a job with both spines
slices()
{
	cluster=$dir/cluster.json
	jq -n --argjson hosts "$(fabric_hosts)" '{
		leaves: 2, spines: 2, gpus_per_leaf: 2, gpus_per_server: 1,
		routers: ["10.255.1.1", "10.255.1.2"],
		nics: [range(2) as $l | $hosts | map(select(.leaf == $l) | [.ipv4])]}' >"$cluster"
	rocesteer slice alloc --cluster "$cluster" --gpus 4 --job train >/dev/null &&
		rocesteer --json reduce plan --cluster "$cluster" --job train >"$dir/plan.json" &&
		jq -c '[.groups[] | {group, root, packets}]' "$dir/plan.json"
}

load_all()
{
	local switch

	for switch in "${all[@]}"; do
		at "$switch" load train || return
	done
	netns_exec leaf1 rocesteer --json reduce show |
		jq -e '[.groups[] | [.role, .leaf, .state, .done]] ==
			[["leaf", 1, "reserved", 0], ["leaf", 1, "reserved", 0]]' &&
		netns_exec spine1 rocesteer --json reduce show |
		jq -e '[.groups[] | [.group, .role, .state]] == [[1, "root", "reserved"]]'
}

# One switch has lost its group, and says so.
unload_all()
{
	local switch said status=0

	for switch in leaf0 leaf1 spine0; do
		at "$switch" unload train || status=1
	done
	said=$(at spine1 unload train)
	echo "$said"
	jq -e '.error.code == "not-found"' <<<"$said" || status=1
	nothing_held && return "$status"
}

# The switch has memory for one of the two groups.
no_room()
{
	local was said status=0

	read -r was <"$memory"
	echo 6000000 >"$memory"
	said=$(at leaf0 load train)
	(($? == 3)) || status=1
	echo "$was" >"$memory"
	echo "$said"
	jq -e '.error | .code == "no-room" and (.message | test("of reduce_memory [0-9]+ are free"))' \
		<<<"$said" || status=1
	netns_exec leaf0 rocesteer --json reduce stat | jq -e '.groups == 0 and .bytes == 0' ||
		status=1
	return "$status"
}

learn()
{
	local host

	for host in 1 3; do
		host_exec "$host" rocesteer path discover --dev "$(host_dev "$host")" \
			--source "$(host_ip "$host")" --peer "$(host_ip $(((host + 1) % 4)))" \
			--out "$dir/paths$host.json" >/dev/null || return
	done
}

# perf ITERATIONS SIZE: start an All-Reduce of all hosts
perf()
{
	local i

	pid=()
	for i in 3 2 1 0; do
		host_exec "$i" rocesteer-perf --rank "$i" --rendezvous "$(host_ip 0)" \
			--rdma-dev "$(host_rdma "$i")" --dims 4 --bandwidth 0.01 --size "$2" --warmup 0 \
			--iters "$1" --timeout $((20000 * TIME_SCALE)) --json --algorithm netreduce \
			--groups "$dir/plan.json" --port-map "$dir/paths$i.json" \
			--switch "nsenter --net=/run/netns/%s rocesteer" >"$dir/perf$i" 2>&1 &
		pid[i]=$!
	done
}

perf_end()
{
	local i status=0

	for i in "${pid[@]}"; do
		wait "$i" || status=1
	done
	jq -c '{by_ring, reason, groups, wrong: .results[0].wrong}' "$dir/perf0" ||
		cat "$dir"/perf[0-3]
	return "$status"
}

runs()
{
	seen_mark
	perf 2 1M
	perf_end && jq -e '.by_ring == 0 and .results[0].wrong == 0 and
		all(.groups[]; .failed == null)' "$dir/perf0" >/dev/null && no_input_forwarded &&
		all_have_summed
}

all_have_summed()
{
	local switch

	for switch in "${all[@]}"; do
		netns_exec "$switch" rocesteer --json reduce show |
			jq -e 'all(.groups[]; .state == "alive" and .done > 0)' >/dev/null || return
	done
}

# The second group has done more than in the run before when its root unloads it.
group_fails()
{
	local status=0

	seen_mark
	perf 20 4M
	switch=spine1 group=1 busywait 30000 group_is '.state == "alive" and .done >= 1000' &&
		netns_exec spine1 rocesteer reduce unload 1 || status=1
	# The command's exit status tells the failure.
	! perf_end || status=1
	no_input_forwarded || status=1
	jq -e '.by_ring == 1 and .results[0].wrong == 0 and
		[.groups[] | .failed != null] == [false, true]' "$dir/perf0" >/dev/null &&
		return "$status"
}

# A group that is loaded for one run is unloaded after the run.
loads_itself()
{
	perf 1 1M
	perf_end && jq -e '.by_ring == 0 and .results[0].wrong == 0' "$dir/perf0" >/dev/null &&
		nothing_held
}

up()
{
	reduce_load && observer_load && tree_up 2 2 2 "$fast" && observe_tree && learn && slices
}

reduce_prepare
ktap_plan 8
defer reduce_down
check "two leaves of two hosts, two spines and a job are made" up
((!ktap_failed)) || exit
check "a switch without memory for all groups of a job takes none" no_room
check "switches give the job's groups their memory" load_all
check "an All-Reduce joins the groups" runs
check "a group that fails costs one run, and is left out of the next" group_fails
check "unload removes the job's groups, and reports one that is gone" unload_all
check "an All-Reduce loads groups that are not there" loads_itself
check "no group, module or namespace is left" reduce_down
ktap_finish
