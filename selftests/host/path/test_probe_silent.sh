#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path discover where routers limit their ICMP, or answer nothing

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/path/path.sh

# Linux's default is one ICMP error a second to each host. That takes 50 s.
survives_rate_limit()
{
	local status start=$SECONDS

	fabric_sysctl net.ipv4.icmp_ratelimit="$(few 200 1000)"
	rm -f "$dir/ports.json"
	discover --peer 10.1.1.1 --paths 4 --out "$dir/ports.json" &&
		has_all_paths 4 && agrees
	status=$?
	echo "with --paths: $((SECONDS - start)) s"
	start=$SECONDS
	rm -f "$dir/ports.json"
	((!status)) && discover --peer "$remote" --out "$dir/ports.json" \
		2>"$dir/stderr" && has_all_paths 4 && agrees &&
		grep 'slowing down' "$dir/stderr"
	status=$?
	echo "without: $((SECONDS - start)) s"
	fabric_sysctl net.ipv4.icmp_ratelimit=0
	return "$status"
}

silent_spine()
{
	local json status

	fabric_silence add spine2
	json=$(discover --peer 10.1.1.1 --probe-timeout 20 --json --out "$dir/silent.json")
	status=$?
	fabric_silence del spine2
	jq -c '.peers[0] | {probed, unanswered, paths: [.paths[].path]}' <<<"$json"
	((status == 1)) && [[ ! -e $dir/silent.json ]] &&
		jq -e '.peers[0] | .unanswered > 0 and (.paths | length) == 3 and
			.reasons == ["silent"]' <<<"$json" >/dev/null
}

# Linux hashes addresses only by default.
hashes_addresses()
{
	local status

	in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_policy=0
	doubts one-path --peer 10.1.1.1
	status=$?
	in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_policy=1
	return "$status"
}

silent_spines()
{
	local status

	fabric_silence add spine{0..3}
	refused no-reply "hop 2 on the way to 10.1.1.1" \
		discover --peer "$remote" --probe-timeout 20 --retries 1
	status=$?
	fabric_silence del spine{0..3}
	return "$status"
}

silent_leaf()
{
	local status

	fabric_silence add leaf1
	refused no-reply "hop 3 on the way to 10.1.1.1" \
		discover --peer "$remote" --probe-timeout 20
	status=$?
	fabric_silence del leaf1
	return "$status"
}

unreachable()
{
	refused unreachable "says that 10.7.0.1 is unreachable" \
		discover --peer 10.7.0.1 --probe-timeout 100
}

ktap_plan 6
fabric_create 4 || exit
check "all paths are found by routers that limit their ICMP" survives_rate_limit
check "a silent spine is reported, and no map is written" silent_spine
check "a fabric of silent spines is reported" silent_spines
check "a leaf that hashes addresses only is reported" hashes_addresses
check "a silent leaf is reported" silent_leaf
check "an unreachable peer is reported" unreachable
ktap_finish
