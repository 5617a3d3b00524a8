#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path discover recognises routers that spray, and takes a hash of five-tuples for neither that nor
# a hash of queue pair numbers.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/path/qpn.sh

refuses()
{
	local json status

	json=$(discover --peer 10.1.1.1 --out "$dir/sprayed.json" --json)
	status=$?
	((status == 1)) && [[ ! -e $dir/sprayed.json ]] &&
		jq -ce '.peers[0].reasons == ["sprays"]' <<<"$json" &&
		discover --peer 10.1.1.1 --out "$dir/sprayed.json" --accept-incomplete &&
		[[ -e $dir/sprayed.json ]]
}

ktap_plan 4
fabric_create 4 || exit
mkdir "$lose" && bpftool prog loadall build/bpf/qpn_hash.bpf.o "$lose" 2>/dev/null
check "a five-tuple hash is not taken for one of queue pair numbers" \
	judges '[[null,false]]' "$(few 8 20)"
check "a five-tuple hash that changes is not taken for one of queue pair numbers" \
	judges_changing '[[null,false]]' "$(few 4 10)"
fabric_hash on packet_hash
check "spraying is noticed" judges '[[null,true]]' "$(few 4 10)"
check "a map of a fabric that sprays is written with --accept-incomplete only" refuses
ktap_finish
