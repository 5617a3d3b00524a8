#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Refusals of "job load" that need a module: each has its own code, and the job that is
# loaded stays as it was. selftests/host has the refusals that need no module.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh

module=build/guest/$(uname -r)/rocesteer.ko

state()
{
	host_exec 0 rocesteer --json job list
	host_exec 0 rocesteer --json job show --job 1
}

# refused CODE COMMAND OPTION...: "COMMAND job load" on host 0; the loaded job stays as it is.
refused()
{
	local code=$1 command=$2 before json status
	shift 2

	before=$(state)
	json=$(host_exec 0 "$command" job load --job 2 --port-map "$dir/ports0.json" "$@" --json)
	status=$?
	echo "$json"
	[[ $(jq -r .error.code <<<"$json") == "$code" ]] &&
		((status == 1)) && [[ $(state) == "$before" ]]
}

module_without_btf()
{
	local status

	objcopy --remove-section .BTF --remove-section .BTF.base "$module" "$dir/rocesteer.ko" &&
		modprobe -a rdma_cm && insmod "$dir/rocesteer.ko" || return
	refused module-no-btf rocesteer --cgroup /sys/fs/cgroup/test0
	status=$?
	rmmod rocesteer && return "$status"
}

# A symbol of ib_core has another checksum, as if the module was built for another ib_core.
module_of_other_ib_core()
{
	objcopy --dump-section __versions="$dir/versions" "$module" "$dir/rocesteer.ko" &&
		python3 -c 'import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[data.index(b"rdma_get_gid_attr\0") - 8] ^= 1
open(sys.argv[1], "wb").write(data)' "$dir/versions" &&
		objcopy --update-section __versions="$dir/versions" "$dir/rocesteer.ko" &&
		modprobe -a rdma_cm && ! insmod "$dir/rocesteer.ko" &&
		dmesg | grep "rocesteer: disagrees about version of symbol rdma_get_gid_attr" &&
		refused module-not-loaded rocesteer --cgroup /sys/fs/cgroup/test0
}

# The other job is known to the module alone, and its flow has sent nothing.
flow_of_other_job()
{
	local genl=$PWD/build/guest/selftests/genl peer ifindex status

	peer=$(host_ip "$far")
	ifindex=$(host_exec 0 ip -j link show "$(host_dev 0)" | jq '.[0].ifindex')
	module_load && host_exec 0 "$genl" job-add id=9 &&
		host_exec 0 "$genl" flow-add ifindex="$ifindex" peer="$peer" dqpn=77 job=9 || return
	refused flow-taken rocesteer --flow "$peer/76,$peer/77" >"$dir/said" &&
		grep "job 2: --flow: $peer/77 belongs to job 9" "$dir/said"
	status=$?
	host_exec 0 "$genl" job-del id=9 && module_unload && return "$status"
}

other_version()
{
	local status

	module_load || return
	refused version build/guest/selftests/rocesteer-next --cgroup /sys/fs/cgroup/test0
	status=$?
	module_unload && return "$status"
}

ready()
{
	steer_up --rate 40mbit --host-rate 80mbit && job_load 0 --all
}

ktap_plan 6
check "a job is loaded on a fabric" ready
check "a job by cgroup is refused where the module has no BTF" module_without_btf
if [[ $(modinfo -F vermagic "$module") == *modversions* ]]; then
	check "a module that was built for another ib_core is refused by the kernel" \
		module_of_other_ib_core
else
	skip "a module that was built for another ib_core is refused by the kernel" \
		"the kernel has no checksums of symbols"
fi
check "a flow that the module knows as another job's is refused" flow_of_other_job
check "a command refuses a module with another netlink version" other_version
check "the first job is unloaded" job_unload 0
ktap_finish
