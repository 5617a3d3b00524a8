#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path verify: ports that have moved, and ports without an answer; and answers to path discover that
# quote too little

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/path/path.sh

# Change the order of leaf0's next hops.
leaf0_order()
{
	local s nexthops=()

	for s; do
		nexthops+=(nexthop via "10.9.0.$((s * 4 + 2))")
	done
	ip -n "${prefix}leaf0" route replace 10.1.1.0/24 "${nexthops[@]}"
}

# Make the map of h1.
verify_is_at_home()
{
	fails 2 other-host '' path verify --json \
		<(jq '.peers[].source = "10.1.1.1"' "$dir/ports.json")
}

verify_finds_moved()
{
	local json status before

	before=$(<"$dir/ports.json")
	leaf0_order 1 2 3 0
	json=$(path verify "$dir/ports.json" --all --json)
	status=$?
	leaf0_order 0 1 2 3
	jq -c '.moved[0]' <<<"$json"
	# All ports have moved, none is lost, and the file is as it was.
	((status == 1)) && jq -e '(.moved | length) == .checked and
		all(.moved[]; .actual != null and .actual != .expected)' \
		<<<"$json" >/dev/null && [[ $(<"$dir/ports.json") == "$before" ]]
}

# verify_quick OPTION...
verify_quick()
{
	path verify "$dir/ports.json" --probe-timeout 50 --retries 0 "$@"
}

# A port without an answer has not moved.
verify_unanswered()
{
	local json text status

	fabric_silence add spine1
	json=$(verify_quick --json)
	status=$?
	text=$(verify_quick)
	fabric_silence del spine1
	echo "$json" "$text"
	((status == 1)) && [[ $text == *"No answer:"* && $text != *"every port"* ]] &&
		jq -e '.moved == [] and [.unanswered[].expected] ==
			["10.9.0.6", "10.9.0.6"]' <<<"$json" || return
	ip -n "${prefix}leaf0" link set dn0 down || return
	refused no-carrier "the device eth0 is down, or has no carrier" verify_quick
	status=$?
	ip -n "${prefix}leaf0" link set dn0 up && busywait 20000 verify_quick &&
		return "$status"
}

# icmp.py answers in place of the gateway, which forwards nothing.
lone_host()
{
	local host

	fabric_netns lone && fabric_netns gate &&
		fabric_link lone eth0 gate e0 &&
		ip -n "${prefix}lone" addr add 10.3.0.1/24 dev eth0 &&
		ip -n "${prefix}lone" route add 10.9.9.0/24 via 10.3.0.254 &&
		in_ns gate sysctl -qw net.ipv4.ip_forward=0 \
			net.ipv6.conf.all.forwarding=0 || return
	for host in 254 66 67; do
		ip -n "${prefix}gate" addr add "10.3.0.$host/24" dev e0
		ip -n "${prefix}gate" addr add "fd00:3::$host/64" dev e0 nodad
	done
	# Without this route the gateway would send an ICMP error itself.
	ip -n "${prefix}gate" route add fd00:9::/64 dev e0 &&
		ip -n "${prefix}lone" addr add fd00:3::1/64 dev eth0 nodad &&
		ip -n "${prefix}lone" route add fd00:9::/64 via fd00:3::254
}

# answered QUOTE ROUTER,.. OPTION..: discover with such answers; host= asks, for peer=
answered()
{
	local quote=$1 routers=$2 pid status
	shift 2

	: >"$dir/ready"
	# shellcheck disable=SC2086 # words
	ip netns exec "${prefix}gate" selftests/host/path/icmp.py e0 "${host:-10.3.0.1}" "$quote" \
		${routers//,/ } >"$dir/ready" &
	pid=$!
	busywait 20000 test -s "$dir/ready" &&
		in_ns lone timeout 120 "$rocesteer" path discover --dev eth0 \
			--peer "${peer:-10.9.9.9}" --ports 1 --paths 1 --probe-timeout 100 \
			--retries 1 --accept-incomplete "$@" >"$dir/out" 2>"$dir/said"
	status=$?
	kill "$pid"
	wait "$pid"
	cat "$dir/said" "$dir/out"
	return "$status"
}

# A sender who sees no probe can guess 16 unknown bits of a UDP header.
believes_enough()
{
	answered all "$1" && grep "$1" "$dir/out" &&
		! answered else "$1" &&
		! answered else "$1" --short-quotes &&
		! answered header "$1" &&
		grep -e "$1 .* --short-quotes" "$dir/said" &&
		answered header "$1" --short-quotes &&
		grep "$1" "$dir/out"
}

tells_of_two_answers()
{
	answered all 10.3.0.66,10.3.0.67 &&
		grep "10.3.0.66 and 10.3.0.67 .* one probe" "$dir/said" &&
		answered all 10.3.0.66,10.3.0.66 &&
		! grep "one probe" "$dir/said"
}

ktap_plan 8
fabric_create 4 && found "$remote" 4 >/dev/null || exit
check "path verify accepts a true port map" verifies
check "path verify refuses the map of another host" verify_is_at_home
check "path verify names ports that have moved" verify_finds_moved
check "path verify names ports without an answer" verify_unanswered
check "a host with a gateway is made" lone_host
check "an IPv4 answer must quote the probe's random bits" believes_enough 10.3.0.66
host=fd00:3::1 peer=fd00:9::9 \
	check "an IPv6 answer must quote the probe's random bits" believes_enough fd00:3::66
check "two answers to one probe are reported" tells_of_two_answers
ktap_finish
