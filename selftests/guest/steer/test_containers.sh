#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two tenants, each a container in a network namespace with an RDMA device of its own. The
# operator of the machine steers each by itself, from outside:
#
#	container test0, rxe0 --- leaf0 === spine0 --- leaf1 --- host 2
#	container test1, rxe1 ----/   \==== spine1 ===/    \--- host 3
#
# The job of test0 has the paths over spine0 alone, that of test1 those over spine1. Before
# Linux 7.1 rxe works in the initial network namespace only: then there is one container, which
# shares the machine's network as pods with hostNetwork do.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh
. selftests/guest/steer/containers.sh

# on HOST COMMAND...: rocesteer, outside, for the network namespace of the container
on()
{
	local host=$1
	shift

	rocesteer --netns "$(container_pid "test$host")" --json "$@"
}

ready()
{
	module_load && defer module_unload && steer_fabric --hosts 2 --spines 2 &&
		discover 0 2 && discover 1 3 && container_up test0 0 "$@"
}

# own_spine HOST SPINE: a port map with the paths over this spine alone
own_spine()
{
	jq --arg router "10.255.1.$(($2 + 1))" '.peers[].paths |=
		[.[] | select(.router == $router) | .path = 0]' \
		"$dir/ports$1.json" >"$dir/own$1.json"
}

# An operator loads the job, who knows a process of the container.
load()
{
	local cgroup

	cgroup=$(sed -n 's/^0:://p' "/proc/$(container_pid "test$1")/cgroup")
	on "$1" job load --job 1 --name "tenant$1" --port-map "$dir/own$1.json" \
		--cgroup "/sys/fs/cgroup$cgroup"
}

tenants_are_steered()
{
	container_up test1 1 && on 1 path verify "$dir/ports1.json" >"$dir/verified" &&
		own_spine 0 0 && own_spine 1 1 && load 0 && load 1
}

lists_its_own()
{
	on 0 job list | jq -e '[.jobs[].name] == ["tenant0"]' &&
		on 1 job list | jq -e '[.jobs[].name] == ["tenant1"]' &&
		rocesteer --json --netns host0 job list | jq -e '[.jobs[].name] == ["tenant0"]' &&
		rocesteer --json job list | jq -e '.jobs == []'
}

# tenant_start HOST PEER: four queue pairs write from the container to a host
tenant_start()
{
	local host=$1 common=(-F -m 4096 -u 20 -s 65536 -n 20 -q 4)

	far=$2
	in_cgroup "$far" timeout $((120 * TIME_SCALE)) ib_write_bw -d "$(host_rdma "$far")" \
		-x "$(host_gid "$far")" "${common[@]}" -p "$port" >"$dir/server$host" 2>&1 &
	traffics+=($!)
	busywait 20000 server_listens || return
	container_exec "test$host" timeout $((120 * TIME_SCALE)) ib_write_bw \
		-d "$(host_rdma "$host")" -x "$(host_gid "$host")" "${common[@]}" \
		-p "$port" "$(host_ip "$far")" >"$dir/client$host" 2>&1 &
	traffics+=($!)
}

# tenant_wait: for all traffic that was begun
tenant_wait()
{
	local pid status=0

	for pid in "${traffics[@]}"; do
		wait "$pid" || status=1
	done
	traffics=()
	((!status)) || tail -n 4 "$dir"/{client,server}?
	return "$status"
}
traffics=()

# Bytes that leaf 0 has sent to each spine
uplinks()
{
	fabric_links | jq -c '.uplinks[0]'
}

# Each link has what its tenant has sent, and less than 2 % more: what is not RoCE
carry_what_is_planned()
{
	local before after sent

	before=$(uplinks)
	tenant_start 0 2 && tenant_start 1 3
	tenant_wait || return
	after=$(uplinks)
	sent=$({ on 0 stat; on 1 stat; } | jq -c '.verdicts.steered' | jq -cs .)
	jq -ne --argjson before "$before" --argjson after "$after" --argjson packets "$sent" '
		[range(2) | $after[.] - $before[.]] as $bytes |
		{$bytes, $packets, payload: (4 * 20 * 65536)} | debug |
		(.packets | all(. >= 4 * 20 * 16)) and
		(.bytes | all(. > 5242880 and . < 1.1 * 5242880))'
}

other_stays_steered()
{
	local before after

	on 0 job unload --all && on 0 job list | jq -e '.jobs == []' &&
		on 1 job list | jq -e '[.jobs[].name] == ["tenant1"]' || return
	before=$(uplinks)
	tenant_start 1 3
	tenant_wait || return
	after=$(uplinks)
	jq -ne --argjson before "$before" --argjson after "$after" '
		[range(2) | $after[.] - $before[.]] | debug |
		.[0] < 100000 and .[1] > 5242880'
}

# cannot HOST ARGUMENT...: the command fails in the container
cannot()
{
	local host=$1
	shift

	! container_exec "test$host" rocesteer --json "$@" >"$dir/said" && cat "$dir/said" &&
		jq -e '.error.code | IN("permission", "no-bpffs", "no-process", "no-netns")' \
			"$dir/said"
}

# Neither another's jobs nor its own, from inside and without capabilities
sees_and_changes_nothing()
{
	load 0 &&
		cannot 0 job list && cannot 0 flow show && cannot 0 job unload --all &&
		cannot 0 job load --job 2 --port-map "$dir/own0.json" --all &&
		cannot 0 --netns host1 job list && cannot 0 --netns host1 job unload --all &&
		cannot 0 --netns "$(container_pid test1)" job list &&
		on 0 job list | jq -e '.jobs | length == 1' &&
		on 1 job list | jq -e '.jobs | length == 1'
}

# A process of a container has another number outside, which is the one to give.
by_process()
{
	local pid flows

	launch=(crun exec --pid-file "$dir/pid" test1)
	qps_start held rxe1 "$(host_ip 1)" "$(host_ip 3)" 5000 2 || return
	pid=$(<"$dir/pid")
	# Until they are connected again, they stay in the job of the cgroup.
	on 1 job load --job 2 --pid "$pid" --port-map "$dir/own1.json" &&
		qps_tell held reset && qps_tell held connect &&
		flows=$(on 1 flow show |
			jq -c --argjson pid "$pid" '[.flows[] | select(.pid == $pid) | .job]')
	launch=()
	qps_end held
	echo "process $pid, jobs of its flows: $flows"
	on 1 job unload --job 2 && [[ $flows == "[2,2]" ]]
}

# The container goes first, then its namespace, as when a pod ends.
ends()
{
	container_down test0 && rdma link del rxe0 && ip netns del host0 &&
		busywait 20000 is_swept && on 1 job list | jq -e '[.jobs[].name] == ["tenant1"]' &&
		tenant_start 1 3 && tenant_wait
}

# Any command that changes tables removes what is left of namespaces that are gone.
is_swept()
{
	local own

	rocesteer job unload --all >/dev/null
	own=(/sys/fs/bpf/rocesteer/netns-*) && ((${#own[@]} == 1)) &&
		own=(/run/rocesteer/netns-*/) && ((${#own[@]} == 1))
}

# A container without a network namespace of its own
shares_the_network()
{
	host_exec "$1" rocesteer job load --job 1 --port-map "$dir/ports$1.json" \
		--cgroup "/sys/fs/cgroup/test$1" || return
	tenant_start "$1" $(($1 + 2))
	tenant_wait || return
	host_exec "$1" rocesteer --json stat | jq -e '.verdicts.steered >= 4 * 20 * 16'
}

is_empty()
{
	host_exec 1 rocesteer job unload --all && rocesteer job unload --all && nothing_pinned
}

if fabric_has_host_netns; then
	ktap_plan 9
	check "a fabric and a container are made" ready
	check "jobs of two containers are loaded from outside" tenants_are_steered
	check "each namespace lists its own job" lists_its_own
	check "the links of each tenant carry what its job plans" carry_what_is_planned
	check "a container's job is unloaded, and the other's traffic stays steered" \
		other_stays_steered
	check "a container without capabilities sees and changes no job" sees_and_changes_nothing
	check "a job by a process of a container has its flows" by_process
	check "an ended container leaves no tables, and flows of the other are still steered" ends
	check "in the end no table or program is left" is_empty
else
	ktap_plan 4
	check "a fabric and a container are made" ready "$container_user"
	check "a container that shares the machine's network is steered by its job" \
		shares_the_network 0
	check "in the end no table or program is left" is_empty
	skip "jobs of two containers in network namespaces of their own" \
		"before Linux 7.1 rxe works in the initial network namespace only"
fi
ktap_finish
