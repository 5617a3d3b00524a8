#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The containers of packaging/kubernetes/daemonset.yaml, with the commands, the capabilities, the
# mounts and the network namespace that it gives them, but without its profiles of seccomp and
# AppArmor: the daemon loads the job of its directory, and flows are steered.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh
. selftests/guest/steer/containers.sh

pod=build/guest/pod.json
maps=/var/lib/rocesteer
jobs=/etc/rocesteer/jobs.d

# pod_filter CONTAINER: what makes a container that of the pod; its path is an expression of jq.
# The mounts of the node are its own; that of the ConfigMap is $dir/jobs.
pod_filter()
{
	jq -r --arg jobs "$dir/jobs" '.volumes as $volumes |
		def source($name): $volumes[] | select(.name == $name) |
			.hostPath.path // $jobs;
		'"$1"' | {
			args: (["rocesteer"] + .command[1:]),
			caps: (.securityContext.capabilities.add | map("CAP_" + .)),
			locked: (.securityContext.allowPrivilegeEscalation == false),
			mounts: (.volumeMounts | map({destination: .mountPath, type: "bind",
				source: source(.name),
				options: ["rbind", (if .readOnly then "ro" else "rw" end)]}))
		} | "\(.) as $pod | .process.args = $pod.args |
			.process.noNewPrivileges = $pod.locked |
			.process.capabilities = ({bounding: $pod.caps, effective: $pod.caps,
				permitted: $pod.caps}) |
			.mounts |= ([.[] | select(.destination | IN(\"/run\", \"/tmp\",
				\"/dev/infiniband\") | not)] + $pod.mounts)"' "$pod"
}

ready()
{
	module_load && defer module_unload && steer_up --hosts 1 --spines 2 &&
		mkdir -p "$dir/jobs" "$maps" /run/rocesteer "$jobs" &&
		cp "$dir/ports0.json" "$maps/map.json" &&
		echo '{"job": 1, "port_map": "'"$maps"'/map.json",
			"cgroup": "/sys/fs/cgroup/test0"}' >"$dir/jobs/map.json"
}

# pod_bundle NAME CONTAINER
pod_bundle()
{
	container_bundle "$1" "$(pod_filter "$2")" && mkdir -p "$dir/$1/rootfs$maps" &&
		jq -c '.process | [.args, .capabilities.bounding]' "$dir/$1/config.json"
}

loads_programs()
{
	pod_bundle programs '.initContainers[0]' && container_run programs 0 &&
		host_exec 0 rocesteer prog show
}

job_is_listed()
{
	host_exec 0 rocesteer --json job list | jq -e '[.jobs[].job] == [1]'
}

daemon_loads_the_job()
{
	pod_bundle daemon '.containers[0]' && container_run daemon 0 --detach &&
		defer container_down daemon &&
		{ busywait 20000 job_is_listed >/dev/null || { cat "$dir/daemon/out"; false; }; }
}

steers()
{
	traffic -q 4 -s 65536 -n 10 &&
		host_exec 0 rocesteer --json stat | jq -e '.verdicts.steered >= 4 * 10 * 16' &&
		container_exec daemon rocesteer --json status | jq -e '.host.daemon' &&
		host_exec 0 rocesteer --json status | jq -e '.host.daemon'
}

has_ended()
{
	[[ $(crun state daemon | jq -r .status) == stopped ]]
}

# The pod is replaced, and its job stays.
stops()
{
	container_exec daemon rocesteer prog unload
	crun kill daemon TERM && busywait 20000 has_ended && job_is_listed &&
		host_exec 0 rocesteer job unload --all && nothing_pinned
}

[[ -s $pod ]] || skip_all "no python3-yaml where the guest was built"
ktap_plan 5
check "a fabric and the files of a node are made" ready
check "the init container loads the programs" loads_programs
check "the daemon's container loads the job of its directory" daemon_loads_the_job
check "the job steers, and status says that the daemon runs" steers
check "the container ends at once, and the job stays until it is unloaded" stops
rm -rf "$maps" "$jobs"
ktap_finish
