#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path discover recognises routers that hash the destination queue pair number.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/path/qpn.sh

warns()
{
	rm -f "$dir/ports.json"
	discover --peer 10.1.1.1 --out "$dir/ports.json" 2>"$dir/stderr" &&
		jq -e '.peers[0].qpn_hash == true' "$dir/ports.json" &&
		grep '^10.1.1.1: switches hash the destination queue pair' "$dir/stderr" &&
		"$rocesteer" path show "$dir/ports.json" | grep 'QPN-HASH' || return
	# A peer that was found later has its own verdict.
	fabric_hash off qpn_hash && uplinks 4
	discover --peer 10.1.1.2 --out "$dir/ports.json" 2>"$dir/stderr" &&
		! grep hash "$dir/stderr" &&
		jq -ce '[.peers[] | {(.address): .qpn_hash}] | add ==
			{"10.1.1.1": true, "10.1.1.2": null}' "$dir/ports.json" || return
	fabric_hash on qpn_hash
}

ktap_plan 4
check "a fabric of 4 spines is made" fabric_create 4
mkdir "$lose" && bpftool prog loadall build/bpf/qpn_hash.bpf.o "$lose" 2>/dev/null
fabric_hash on qpn_hash
check "a hash of queue pair numbers is noticed" judges '[[true,false]]' "$(few 8 20)"
check "a hash of queue pair numbers that changes is noticed" \
	judges_changing '[[true,false]]' "$(few 4 10)"
uplinks 4
check "path discover warns of the hash, and writes the map" warns
ktap_finish
