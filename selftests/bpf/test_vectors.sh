#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The frames of vectors.py through the egress program of this kernel, in BPF
# alone and calling the module; how it deals flows, and what it is told about them; the
# classes of chunks; and what becomes of packets that are mutated.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
. selftests/qps.sh

PATH=$PWD/build/guest/selftests:$PATH
dir=$(mktemp -d)
defer rm -r "$dir"

# A queue pair that the module resequences
told()
{
	local qpn result
	modprobe -a rdma_rxe ib_uverbs dummy crc32 2>/dev/null
	ip link add rs-told type dummy
	ip address add 10.0.0.1/24 dev rs-told
	ip link set rs-told up
	rdma link add rxetold type rxe netdev rs-told
	genl job-add id=1 resequence=1 &&
		genl flow-add "ifindex=$(</sys/class/net/rs-told/ifindex)" \
			peer=10.0.0.2 dqpn=7 job=1 &&
		qps_start told rxetold 10.0.0.1 10.0.0.2 7 1 &&
		qpn=$(genl flow-dump | grep -o ' sqpn=[0-9]*') &&
		flows "$(</sys/class/net/rs-told/ifindex)" "${qpn#*=}"
	result=$?
	qps_end told
	genl job-del id=1
	rdma link del rxetold
	ip link del rs-told
	return "$result"
}

# From the host each read takes milliseconds.
vectors=$(mktemp -d)
defer rm -r "$vectors"
cp build/vectors-guest/* "$vectors"

status=0
build/guest/selftests/replay "$vectors" || status=1
build/guest/selftests/flows || status=1
build/guest/selftests/chunks || status=1
build/guest/selftests/packets 20000 || status=1
module_load || exit
build/guest/selftests/replay --module "$vectors" || status=1
build/guest/selftests/packets --module 20000 2 || status=1
told || status=1
module_unload || status=1
exit $status
