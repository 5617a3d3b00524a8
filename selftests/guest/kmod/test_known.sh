#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel reports of selftests/vm/known-reports appear without rocesteer.ko as well:
# test_known.sh, as root in a guest whose kernel tracks references.

set -u
cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/guest/kmod/kmod.sh

in_netns()
{
	nsenter --net=/run/netns/known "$@"
}

world_make()
{
	ip netns add known &&
	ip link add ka netns known type veth peer name kb netns known &&
	ip -n known -batch - <<-E &&
		address add 10.77.0.1/24 dev ka
		link set ka up
		link set kb up
		neighbour replace 10.77.0.9 lladdr 02:00:00:00:00:09 dev ka
	E
	in_netns rdma link add rxek type rxe netdev ka &&
	qps_start qp rxek 10.77.0.1 10.77.0.9 100 1
}

# Remove the namespace while a process has a queue pair on its device.
device_waits()
{
	ip netns del known && busywait 60000 reported "to become free"
	local status=$?
	qps_end qp
	busywait 60000 no_device && return "$status"
}

reported()
{
	dmesg | sed "1,/${0##*/} begins/d" | grep "$1"
}

all_known()
{
	expect "known reports: " kernel_quiet
}

[[ -d /sys/kernel/debug/ref_tracker ]] ||
	skip_all "no reference trackers in kernel $release"
ktap_plan 3
check "a queue pair connects in a network namespace, without rocesteer.ko" world_make
check "rxe keeps the device when its namespace goes" device_waits
check "all reports of the kernel are known" all_known
ktap_finish
