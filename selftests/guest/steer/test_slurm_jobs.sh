#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A job of Slurm asks for a slice. The module learns queue pairs of slurmd's cgroup on a host
# under each of two leaves, and these use the slice's links. slurmctld is on host 0, and uses
# the same fabric.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh
. selftests/net/observe.sh
. selftests/slurm.sh
rocesteer=$(command -v rocesteer)
plugin=$PWD/build/guest/slurm/rocesteer.so
pins=/sys/fs/bpf/test-slurm
cgroup=/sys/fs/cgroup/testslurm

up()
{
	steer_fabric --hosts 1 --rate 80mbit && observe_up && module_load &&
		defer module_unload && insmod "build/guest/$(uname -r)/rocesteer_reduce.ko" &&
		defer rmmod rocesteer_reduce && mkdir "$cgroup" && defer rmdir "$cgroup" &&
		discover_all --paths "$spines" || return
	file=$dir/cluster.json
	mv "$dir/ports0.json" "$dir/host0-ports.json"
	mv "$dir/ports1.json" "$dir/host1-ports.json"
}

cluster()
{
	jq -n --argjson hosts "$(fabric_hosts)" '{
		leaves: 2, spines: 4, gpus_per_leaf: 1, gpus_per_server: 1,
		routers: [range(4) | "10.255.1.\(. + 1)"],
		nics: ($hosts | map([[.ipv4]])),
		nodes: [["host0"], ["host1"]]}' >"$file"
}

idle()
{
	[[ $(slurm_state "$(host_netns 0)") == "host0 idle host1 idle " ]]
}

# Both hosts' programs are in one cgroup, but in different network namespaces.
node_start()
{
	slurmd_start "$1" "$(host_netns "${1#host}")"
	echo $! >"$cgroup/cgroup.procs"
}

# slurmctld resolves the names of submitting hosts.
slurm_up()
{
	printf '%s %s\n' "$(host_ip 0)" "$(hostname -s)" >"$dir/hosts"
	mount --bind "$dir/hosts" /etc/hosts && defer umount /etc/hosts || return
	cluster
	slurm_configure "$(host_ip 0)" ports.json \
		host0 "$(host_ip 0)" host1 "$(host_ip 1)"
	slurm_option "--cgroup $cgroup"
	sed -i '2i export ROCESTEER_REDUCE="nsenter --net=/run/netns/%s rocesteer"' \
		"$dir/slurmctld"
	# Slurm's own cgroup plugin needs systemd.
	echo CgroupPlugin=disabled >"$dir/cgroup.conf"
	munged_start && slurmctld_start "$(host_netns 0)"
	defer slurm_down
	node_start host0
	node_start host1
	busywait 60000 idle
}

slurm_down()
{
	mapfile -t pids < <(jobs -p)
	kill "${pids[@]}" && busywait 30000 no_processes
}

no_processes()
{
	! slurm_processes
}

# Note the first flows of each host, and the slices then. False until both hosts had a flow.
sample()
{
	local i

	for i in 0 1; do
		[[ ! -s $dir/flows$i ]] || continue
		flows_of "$i" | jq -c --argjson host "$i" \
			'.flows[] | select(.share) + {$host}' >"$dir/flows$i"
	done
	[[ -s $dir/flows0 && -s $dir/flows1 ]] || return
	cat "$dir"/flows[01] >"$dir/flows"
	cp "$file" "$dir/cluster-then.json"
	groups >"$dir/groups-then"
}

# Groups on leaves and spines
groups()
{
	local switch

	for switch in leaf{0,1} spine{0..3}; do
		netns_exec "$switch" rocesteer --json reduce show |
			jq -c --arg switch "$switch" '.groups[] | [$switch, .group, .role, .state]'
	done
}

# The slice has one spine, which is the root.
reserved()
{
	cat "$dir/groups-then"
	jq -s -e --slurpfile cluster "$dir/cluster-then.json" '
		[$cluster[0].jobs[].links[] | .[1]] as [$spine] |
		. == [["leaf0", $spine, "leaf", "reserved"], ["leaf1", $spine, "leaf", "reserved"],
			["spine\($spine)", $spine, "root", "reserved"]]' "$dir/groups-then"
}

# A Reduce-Scatter and an All-Gather of two ranks
runs()
{
	local srun status

	observe_forget
	# shellcheck disable=SC2016 # the ranks' shell
	host_exec 0 timeout $((100 * TIME_SCALE)) srun --nodes=2 --rocesteer bash -c '
		exec rocesteer-perf --bandwidth 1 --size 2M --chunks 4 \
			--warmup 1 --iters 12 --json --rendezvous "$1" \
			--rdma-dev "rxe$SLURM_PROCID" --dims 2' - "$(host_ip 0)" \
		>"$dir/out" 2>"$dir/log" &
	srun=$!
	until sample || ! kill -0 "$srun" 2>/dev/null; do
		:
	done
	wait "$srun"
	status=$?
	cat "$dir/log"
	jq -c .results "$dir/out" &&
		jq -e '.results[0].wrong == 0' "$dir/out" && ((!status))
}

# The job has Slurm's number. The slice has one link to each leaf.
owned()
{
	jq -c '.jobs[] | {stage, links}' "$dir/cluster-then.json"
	jq -c '{host, job, origin, pid, peer, path, port}' "$dir/flows"
	jq -s -e --slurpfile cluster "$dir/cluster-then.json" '
		($cluster[0].jobs | keys) as [$job] |
		[$cluster[0].jobs[$job].links[] | .[1]] as [$spine, $same] |
		$spine == $same and length >= 2 and
		all(.job == ($job | tonumber) and .origin == "learnt" and
		    .path == $spine)' "$dir/flows"
}

# RoCE packets that the leaves sent up, with acknowledgments
on_slice()
{
	bpftool --json map dump pinned "$pins/seen" |
		jq -c --slurpfile cluster "$dir/cluster-then.json" '
		[.[].formatted | select(.key.sender == 3)] |
		[$cluster[0].jobs[].links[]] as $links |
		{data: map(select(.key.ack == 0).value.packets) | add,
		 acks: map(select(.key.ack == 1).value.packets) | add,
		 foreign: map(select([.key.leaf, .key.index] as $link |
			$links | index([$link]) | not).value.packets) | (add // 0)} |
		., (.data > 1000 and .acks > 0 and .foreign == 0)' |
		tee "$dir/links" && [[ $(tail -n 1 "$dir/links") == true ]]
}

unloaded()
{
	idle && [[ ! $(ls /sys/fs/bpf/rocesteer) && ! $(groups) ]] &&
		jq -e '.jobs == {} and .free_gpus == [[1], [1]]' "$file"
}

fabric_has_host_netns || skip_all "rxe knows no namespaces here"
ktap_plan 7
check "two hosts under two leaves are made" up
check "slurmctld and two slurmd start" slurm_up
check "a job of Slurm runs on both hosts" runs
check "flows of Slurm's job are learnt by cgroup and use its slice" owned
check "switches of the slice have reserved memory for the job's groups" reserved
check "no packet took a link outside the slice" on_slice
check "nothing is loaded when the job is over" busywait 180000 unloaded
((!ktap_failed)) || tail -n 30 "$dir"/*.log
ktap_finish
