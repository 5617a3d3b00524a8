# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of steering: OCI containers on hosts of the fabric. A container NAME is in the cgroup
# /sys/fs/cgroup/NAME, and has namespaces of its own of all kinds but one: the network
# namespace is the host's. Where hosts have namespaces, that is how a CNI plugin sets a pod up:
# the namespace is there before the container. Sourced behind steer.sh.

# JSON of a container that does nothing, and has no capability. Its root has the guest's /usr,
# and the guest's RDMA devices.
container_config()
{
	jq -n --arg tree "$PWD" '
		def bind(from; options): {destination: from, type: "bind", source: from,
			options: (["rbind"] + options)};
		def fs(type; at; options): {destination: at, type: type, source: type,
			options: options};
		{ociVersion: "1.0.2", hostname: "tenant", root: {path: "rootfs", readonly: true},
		process: {args: ["sleep", "infinity"], cwd: "/", user: {uid: 0, gid: 0},
			noNewPrivileges: true, capabilities: {},
			env: ["LANG=C.UTF-8", "PATH=\($tree)/build/guest:\($tree)/build/guest" +
				"/selftests:/usr/sbin:/usr/bin"],
			rlimits: [{type: "RLIMIT_MEMLOCK", hard: 268435456, soft: 268435456}]},
		mounts: [fs("proc"; "/proc"; []), fs("tmpfs"; "/dev"; ["mode=755"]),
			fs("sysfs"; "/sys"; ["ro"]), fs("cgroup"; "/sys/fs/cgroup"; ["ro"]),
			fs("tmpfs"; "/run"; []), fs("tmpfs"; "/tmp"; []),
			bind("/usr"; ["ro"]), bind("/etc"; ["ro"]), bind($tree; ["ro"]),
			bind("/dev/infiniband"; [])],
		linux: {namespaces: (["pid", "mount", "ipc", "uts", "cgroup"] | map({type: .})),
			resources: {devices: [{allow: true, access: "rwm"}]}}}'
}

# Its root is a user that the machine does not know: /sys cannot be mounted, only bound.
# shellcheck disable=SC2034 # for tests
container_user='(.linux.uidMappings, .linux.gidMappings) =
		[{containerID: 0, hostID: 100000, size: 65536}] |
	.linux.namespaces += [{type: "user"}] |
	(.mounts[] | select(.destination == "/sys")) =
		{destination: "/sys", type: "bind", source: "/sys", options: ["rbind", "ro"]}'

# container_bundle NAME [FILTER]: what a container is made of. The filter of jq changes its
# configuration.
container_bundle()
{
	# shellcheck disable=SC2154 # set by steer.sh
	local bundle=$dir/$1

	chmod 711 "$dir"
	mkdir -p "$bundle"/rootfs/{dev/infiniband,etc,proc,run,sys,tmp,usr} \
			"$bundle/rootfs$PWD" &&
		ln -sfn usr/bin "$bundle/rootfs/bin" && ln -sfn usr/lib "$bundle/rootfs/lib" &&
		ln -sfn usr/lib64 "$bundle/rootfs/lib64" &&
		container_config | jq --arg cgroup "/$1" ".linux.cgroupsPath = \$cgroup |
			${2:-.}" >"$bundle/config.json"
}

# container_run NAME HOST [OPTION]: start it, and wait for its end unless the option is --detach
container_run()
{
	host_exec "$2" crun run "${@:3}" --bundle "$dir/$1" "$1" </dev/null >"$dir/$1/out" 2>&1 ||
		{ cat "$dir/$1/out"; return 1; }
}

# container_up NAME HOST [FILTER]
container_up()
{
	container_bundle "$1" "${@:3}" && container_run "$1" "$2" --detach &&
		defer container_down "$1"
}

container_down()
{
	! crun state "$1" >/dev/null 2>&1 || crun delete --force "$1" || return
	# The cgroup of a host is the test's.
	[[ $1 != test* ]] || mkdir -p "/sys/fs/cgroup/$1"
}

# container_pid NAME: its process, in the guest's pid namespace
container_pid()
{
	crun state "$1" | jq .pid
}

# container_exec NAME COMMAND...
container_exec()
{
	crun exec "$@" </dev/null
}
