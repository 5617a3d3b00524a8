#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "path prove" on an rdma_rxe that ignores flow labels: selftests/vm/rxe-edited

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh

edited=build/guest/$(uname -r)/rdma_rxe.ko
[[ -e $edited ]] || skip_all "no edited rxe is built for $(uname -r)"

# The next test needs the kernel's own module.
rxe_unload()
{
	rmmod rdma_rxe
}

ready()
{
	modprobe -a ib_uverbs udp_tunnel ip6_udp_tunnel crc32
	! lsmod | grep -q '^rdma_rxe ' || rxe_unload
	insmod "$edited" ignore_labels=1 && defer rxe_unload &&
		module_load && defer module_unload && steer_fabric && discover 0 "$far"
}

named()
{
	local proof

	proof=$(host_exec 0 rocesteer --json path prove --rdma-dev "$(host_rdma 0)" \
		--port-map "$dir/ports0.json")
	(($? == 1)) || return
	jq -c . <<<"$proof"
	jq -e '.verdicts[0].verdict == "queue-pair"' <<<"$proof"
}

# Nothing shows that a flow is not steered but the NIC's own packets.
status_named()
{
	local looked status launch=(in_cgroup 0)

	job_load_cgroup 0 --actuator qp && hold named 0 100 2 || return
	looked=$(host_exec 0 rocesteer --json status)
	status=$?
	jq -c '.jobs[], .findings[]' <<<"$looked"
	jq -e '[.findings[].code] | contains(["nic-port"])' <<<"$looked" &&
		jq -e '.jobs[0] | .nic_asked == 2 and .nic_proved == 0' <<<"$looked" &&
		((status == 1)) && qps_end named && job_unload 0
}

ktap_plan 3
check "a fabric whose hosts have an rxe that ignores labels" ready
check "a driver that ignores labels is named, with its rule" named
check "status names the queue pairs that it leaves unsteered" status_named
ktap_finish
