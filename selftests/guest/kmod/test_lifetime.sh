#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Remove jobs, queue pairs, network namespaces and the module while packets of split
# traffic wait.
#
# LIFETIME_ROUNDS is the number of removals: 16, or 200 for a soak of some minutes under
# TCG.
#
#	rs-a: rsa 10.77.0.1 ====== four paths ====== rs-b: rsb 10.77.0.2
#	       |                one of them 100 ms          |
#	      rxea                  slower                 rxeb

set -u
cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/guest/kmod/kmod.sh
. selftests/guest/kmod/split_flows.sh

goals=${LIFETIME_ROUNDS:-16}
patience=300000	# a kernel that checks what it does takes long, or never ends

#
# Vocabulary
#

in_a()
{
	nsenter --net=/run/netns/rs-a "$@"
}

in_b()
{
	nsenter --net=/run/netns/rs-b "$@"
}

# Fails while the kernel is still removing a device with this name.
rdma_add()
{
	"$1" rdma link add "$2" type rxe netdev "$3"
} 2>/dev/null

fabric_make()
{
	ip netns add rs-a && ip netns add rs-b &&
	ip link add rsa mtu 4200 netns rs-a type veth \
		peer name rsb mtu 4200 netns rs-b &&
	ip -n rs-a -batch - <<-E && ip -n rs-b -batch - <<-E &&
		address add 10.77.0.1/24 dev rsa
		link set rsa up
	E
		address add 10.77.0.2/24 dev rsb
		link set rsb up
	E
	busywait "$patience" rdma_add in_a rxea rsa &&
	busywait "$patience" rdma_add in_b rxeb rsb &&
	paths_make rsa in_a && enter=(in_a) && paths rsa 2 delay 100ms
}

fabric_end()
{
	in_a rdma link del rxea 2>/dev/null
	in_b rdma link del rxeb 2>/dev/null
	ip netns del rs-a
	ip netns del rs-b 2>/dev/null
	busywait "$patience" no_device
}

# When a namespace is removed, the RDMA device of its NIC moves to the initial one, and is
# not listed meanwhile. The NIC and its peer are removed after that.
b_is_gone()
{
	! ip -n rs-a link show rsa && no_device
} 2>/dev/null

steer()
{
	in_b "$genl" job-add id=1 resequence=1 \
		"cgroup-id=$cgroup_id" && answers_start rsb in_b && split_start rsa in_a
}

module_start()
{
	load && split_load && steer
}

up()
{
	mkdir "$cgroup" && cgroup_id=$(command stat -c %i "$cgroup") &&
		fabric_make && module_start
}

down()
{
	traffic_kill
	! lsmod | grep -q '^rocesteer ' || module_end
	fabric_end
	rmdir "$cgroup"
}

# A program holds the module
module_end()
{
	answers_end rsb in_b
	split_end rsa in_a
	split_unload
	busywait "$patience" unload
}

traffic=
traffic_runs()
{
	[[ $traffic ]] && kill -0 "$traffic" 2>/dev/null
}

traffic_start()
{
	"$writes" 1 65536 4 18 >"$dir/writes" 2>&1 <<-E &
		host $cgroup - rxea $(gid_index rxea 10.77.0.1)
		host $cgroup - rxeb $(gid_index rxeb 10.77.0.2)
		flow 0 1 $((8 << 20))
	E
	traffic=$!
}

# Both ends end with the process that started them, and their queue pairs with them.
traffic_kill()
{
	[[ $traffic ]] || return 0
	kill -9 "$traffic"
	wait "$traffic"
	traffic=
	busywait "$patience" cgroup_is_empty
} 2>/dev/null

cgroup_is_empty()
{
	[[ ! $(<"$cgroup/cgroup.procs") ]]
}

# Packets wait at this moment; count them.
waited=0
some_wait()
{
	local depth
	traffic_runs || traffic_start
	depth=$(field reseq-depth in_b "$genl" flow-dump)
	((depth)) && ((waited += depth))
}

nothing_waits()
{
	[[ $(stat reseq-bytes) == 0 ]]
}

no_flows()
{
	[[ $(field flows in_b "$genl" stats-get) == 0 ]]
}

# Buffers of the packets' size, of the whole system. Not their sk_buffs, which each CPU
# caches.
buffers()
{
	local cache

	for cache in /sys/kernel/slab/kmalloc*-8k; do
		echo 1 >"$cache/shrink"
	done
	awk '$1 ~ /^kmalloc.*-8k$/ { n += $2 } END { print n }' /proc/slabinfo
}

# Some buffers are freed only when their packets have been delivered.
buffers_are_back()
{
	(($(buffers) <= $1))
}

#
# Removals
#

goes_job()
{
	in_b "$genl" job-del id=1 && nothing_waits &&
	in_b "$genl" job-add id=1 resequence=1 \
		"cgroup-id=$cgroup_id"
}

goes_qp()
{
	traffic_kill && no_flows && nothing_waits
}

# Removing the device waits for the processes with its queue pairs.
goes_netns()
{
	ip netns del rs-b && busywait "$patience" nothing_waits && traffic_kill &&
	busywait "$patience" b_is_gone && fabric_end && fabric_make && steer
}

goes_module()
{
	module_end && traffic_kill && module_start
}

# Queue pairs and jobs are removed more often than the others.
kinds=(job qp netns job qp module job qp)

rounds()
{
	local i
	for ((i = 0; i < $1; i++)); do
		busywait "$patience" some_wait && "goes_${kinds[i % 8]}" && continue
		echo "round $i: ${kinds[i % 8]}"
		cat "$dir/writes"
		return 1
	done
}

soak()
{
	local kept used after
	traffic_kill && module_end && kept=$(buffers) && used=$(memory) &&
	module_start && waited=0 && rounds "$goals" &&
	traffic_kill && module_end || return
	busywait "$patience" buffers_are_back $((kept + 8))
	local result=$?
	after=$(memory)
	echo "$goals rounds, $waited packets waited; buffers: $kept before," \
		"$(buffers) after; unreclaimable memory: $used KiB before," \
		"$after KiB after"
	module_start && ((!result && waited >= goals && after - used < 4096))
}

rxe_has_netns || skip_all "rxe works in no namespace, $release"
ktap_plan 4
defer down
check "flows between two namespaces are split" up
check "a job, a queue pair, a namespace and the module are removed while packets wait" rounds 6
check "$goals removals while packets wait leave nothing behind" soak
check "the kernel did not complain" kernel_quiet
ktap_finish
