#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# test_steer.sh on rdma_rxe as Linux 6.12 had it before 6.12.44: selftests/vm/rxe-edited

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh

old=build/guest/$(uname -r)/rdma_rxe.ko
[[ -e $old ]] || skip_all "rxe is not built as it was before $(uname -r)"

# The next test needs the kernel's own module.
rxe_unload()
{
	rmmod rdma_rxe
}

ktap_plan 1
modprobe -a ib_uverbs udp_tunnel ip6_udp_tunnel crc32
! lsmod | grep -q '^rdma_rxe ' || rxe_unload
insmod "$old" && defer rxe_unload
check "flows are steered where sockets have the index of a queue pair" \
	selftests/guest/steer/test_steer.sh
ktap_finish
