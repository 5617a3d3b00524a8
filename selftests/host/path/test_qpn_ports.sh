#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ports of given queue pairs, where routers hash the destination queue pair number

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/path/path.sh

received()
{
	ip -n "${prefix}leaf0" -s -j link show dn0 | jq '.[0].stats64.rx.packets'
}

# finds_ports TTL COLUMN PATHS QPN...: packets to these queue pairs take the paths of their
# ports, found by at most twenty probes each on four paths
finds_ports()
{
	local ttl=$1 column=$2 paths=$3 before after
	shift 3

	rm -f "$dir/qpn.json"
	discover --peer 10.1.1.1 --out "$dir/qpn.json" >"$dir/out" 2>&1 || return
	before=$(received)
	on h0 build/user/qpn_ports "$dir/qpn.json" "$@" >"$dir/found" || return
	after=$(received)
	probes=$((after - before))
	echo "$((probes / $#)) probes each"
	awk '{ print $2, $5 }' "$dir/found" |
		on h0 selftests/host/path/qpn_router.py 10.1.0.1 10.1.1.1 "$ttl" >"$dir/took"
	awk -v n="$column" '{ print $n }' "$dir/found" | diff - "$dir/took" &&
		(($(wc -l <"$dir/found") == $# * paths)) &&
		((paths > 4 || probes / $# <= 20))
}

# The model says the ports: no packet is sent.
follows_ports()
{
	local status

	fabric_hash off qpn_hash
	fabric_hash on linear_qpn_hash
	# shellcheck disable=SC2046 # words
	finds_ports 2 3 4 $(seq 1 991 16777215 | head -n 500)
	status=$?
	jq -e '.peers[0] | .linear and .qpn_hash' "$dir/qpn.json" && ((!status)) &&
		[[ $probes == 0 ]]
	status=$?
	fabric_hash off linear_qpn_hash
	return "$status"
}

finds_the_others()
{
	local status

	ip -n "${prefix}spine1" rule add pref 1 iif l0 blackhole
	on h0 build/user/qpn_ports "$dir/qpn.json" 17 18 >"$dir/found"
	status=$?
	ip -n "${prefix}spine1" rule del pref 1
	cat "$dir/found"
	((status == 0)) && awk '{ bad += ($5 == 0) != ($3 == "10.9.0.6") }
		END { exit bad || NR != 8 }' "$dir/found"
}

ktap_plan 5
fabric_create 4 && fabric_hash on qpn_hash || exit
# shellcheck disable=SC2046 # words
check "ports are found for each queue pair" finds_ports 2 3 4 $(seq 1 991 16777215 | head -n 50)
check "ports of the other paths are found when a path is dead" finds_the_others
check "where the hash is linear, ports follow from the number of the queue pair" follows_ports
fabric_destroy
check "a fabric of 2 spines with 2 links to each leaf is made" fabric_create 2 2
fabric_sysctl net.ipv4.icmp_errors_use_inbound_ifaddr=1
fabric_hash on qpn_hash
# shellcheck disable=SC2046 # words
check "ports are found for each queue pair and parallel link" \
	finds_ports 3 4 8 $(seq 70 991 16777215 | head -n 20)
ktap_finish
