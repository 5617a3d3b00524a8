#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The fabric works: RDMA crosses the spines, routers choose by source port as they say, and
# nothing is left behind.
#
# shellcheck disable=SC2317 # functions are called through check

set -uo pipefail

dir=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
# shellcheck source=selftests/net/fabric.sh
. "$dir/fabric.sh"

fabric=$dir/fabric.sh
ports=16
first_port=49152
chunk=65536
rounds=16
work=$(mktemp -d)

# All state of the initial namespace that the fabric could change
world()
{
	ip netns list
	ip -br link
	ip -4 rule
	ip -6 rule
	ip -4 route show table all
	ip -6 route show table all
	rdma link
	sysctl net.ipv4.conf.all.accept_local net.core.rps_default_mask
}

# sum JQ_PATH FILE: bytes on the links that the path selects
sum()
{
	jq "[$1] | flatten | add" "$2"
}

server_listens()
{
	[[ $(host_exec "$1" ss -ltnH "sport = :18515") ]]
}

# write HOST HOST: four queue pairs of perftest
write()
{
	local from=$1 to=$2 server status=0
	local options=(-F -q 4 -s "$chunk" -n "$rounds" -m 4096 -u 20 -p 18515)

	host_exec "$to" timeout $((60 * TIME_SCALE)) ib_write_bw -d "$(host_rdma "$to")" \
		-x "$(host_gid "$to")" "${options[@]}" >"$work/server" 2>&1 &
	server=$!
	busywait 20000 server_listens "$to" || return
	host_exec "$from" timeout $((60 * TIME_SCALE)) ib_write_bw -d "$(host_rdma "$from")" \
		-x "$(host_gid "$from")" "${options[@]}" "$(host_ip "$to")" || status=$?
	wait "$server" || status=$?
	return "$status"
}

rdma_crosses_spines()
{
	local last=$((leaves - 1)) sent=$((4 * chunk * rounds))
	local before after counters path

	"$fabric" links --json >"$work/before"
	write 0 $((leaves * hosts - 1)) || return
	"$fabric" links --json >"$work/after"
	for path in ".uplinks[0]" ".downlinks[][$last]"; do
		before=$(sum "$path" "$work/before")
		after=$(sum "$path" "$work/after")
		echo "$path carried $((after - before)) bytes for $sent"
		((after - before >= sent && after - before < sent * 5 / 4)) || return
	done
	# Routers keep the order of a flow.
	counters=/sys/class/infiniband/$(host_rdma $((leaves * hosts - 1)))/ports/1
	grep -H -x 0 "$counters/hw_counters/out_of_seq_request"
}

# The program checks what arrives. The links must have carried the flows between leaves, and
# no others.
all_write_to_all()
{
	local i j count=$((leaves * hosts)) before after
	local want=$((leaves * hosts * (leaves - 1) * hosts * chunk))

	for ((i = 0; i < count; i++)); do
		host_line "$i" /sys/fs/cgroup
	done >"$work/traffic"
	for ((i = 1; i < count; i++)); do
		for ((j = 0; j < count; j++)); do
			echo "flow $j $(((i + j) % count)) $chunk"
		done
	done >>"$work/traffic"
	"$fabric" links --json >"$work/before"
	timeout $((60 * TIME_SCALE)) "$dir/../../build/guest/selftests/writes" 2 $((chunk / 4)) 2 20 \
		<"$work/traffic" || return
	"$fabric" links --json >"$work/after"
	before=$(sum .uplinks "$work/before")
	after=$(sum .uplinks "$work/after")
	echo "uplinks carried $((after - before)) bytes for $want"
	((after - before >= want && after - before < want * 5 / 4))
}

# probe FAMILY TTL: from the first host to the last
probe()
{
	local address=host_ip

	[[ $1 == 4 ]] || address=host_ip6
	host_exec 0 "$dir/probe.py" "$($address 0)" \
		"$($address $((leaves * hosts - 1)))" "$2" "$first_port" "$ports"
}

first_hop_is_leaf()
{
	probe "$1" 1 >"$work/probe" || return
	cat "$work/probe"
	[[ $(cut -d ' ' -f 2 "$work/probe" | sort -u) == "$2" ]]
}

# The same from leaf0's routing. IPv4 only: for IPv6 "ip route get" does not hash as
# forwarding does (6.12, 7.2).
oracle()
{
	local port=$first_port spine

	for ((port = first_port; port < first_port + ports; port++)); do
		echo "route get $(host_ip $((leaves * hosts - 1)))" \
			"from $(host_ip 0) iif br0 ipproto udp sport $port dport 4791"
	done | ip -n leaf0 -o -batch - |
		sed -n 's/.* dev spine\([0-9]*\) .*/\1/p' | {
			port=$first_port
			while read -r spine; do
				echo "$((port++)) 10.255.1.$((spine + 1))"
			done
		}
}

oracle_agrees()
{
	probe 4 2 >"$work/probe" && oracle >"$work/oracle" || return
	diff "$work/oracle" "$work/probe"
}

# counters_agree FAMILY ROUTER_PREFIX FRAME_BYTES: each uplink carried as many probes as its
# spine answered
counters_agree()
{
	local spine want

	"$fabric" links --json >"$work/before"
	probe "$1" 2 >"$work/probe" || return
	"$fabric" links --json >"$work/after"
	for ((spine = 0; spine < spines; spine++)); do
		want=$(grep -c -F -x -f <(
			for ((port = first_port; port < first_port + ports; port++)); do
				echo "$port $2$((spine + 1))"
			done) "$work/probe")
		echo "spine$spine answered $want probes"
		jq -n -e --argjson want "$want" --argjson spine "$spine" \
			--argjson frame "$3" --slurpfile before "$work/before" \
			--slurpfile after "$work/after" '
			def bytes: .[0].uplinks[0][$spine];
			(($after | bytes) - ($before | bytes)) / $frame | floor | . == $want
			' || return
	done
}

seed_changes_paths()
{
	oracle >"$work/seed1"
	"$fabric" seed 2 && oracle >"$work/seed2" || return
	"$fabric" seed 1 && oracle >"$work/again" || return
	! cmp -s "$work/seed1" "$work/seed2" && cmp "$work/seed1" "$work/again"
}

all_spines_used()
{
	[[ $(cut -d ' ' -f 2 "$work/seed1" | sort -u | wc -l) == "$spines" ]]
}

# answers PORT ROUTER: it answers a probe from that port; "-" is no router
answers()
{
	host_exec 0 "$dir/probe.py" "$(host_ip 0)" "$(host_ip $((leaves * hosts - 1)))" 2 \
		"$1" 1 >"$work/answer" || return
	cat "$work/answer"
	[[ $(<"$work/answer") == "$1 $2" ]]
}

# port_by SPINE: a port whose path is by the spine
port_by()
{
	sed -n "s/ 10.255.1.$(($1 + 1))\$//p" "$work/seed1" | head -n 1
}

has_carrier()
{
	ip -n "$1" -j link show "$2" | jq -e '.[0].operstate == "UP"' >/dev/null
}

cut_link_is_silent()
{
	local first second status

	first=$(port_by 0) second=$(port_by 1)
	"$fabric" cut 0 0 || return
	answers "$first" - && answers "$second" 10.255.1.2 &&
		has_carrier leaf0 spine0 && has_carrier spine0 leaf0
	status=$?
	"$fabric" join 0 0 && ((!status)) && answers "$first" 10.255.1.1
}

# burst TOS: send half a MiB over uplinks that are much slower than the host. Sets arrived,
# marked, took.
burst()
{
	host_exec 0 "$dir/burst.py" "$(host_netns 0)/$(host_ip 0)" \
		"$(host_netns "$far")/$(host_ip "$far")" "$1" 128 >"$work/burst" || return
	read -r arrived marked took <"$work/burst"
	echo "$arrived of 128 packets arrived in $took ms, $marked are marked"
}

# A burst takes one second at 4 Mbit/s; 2 is ECT. On links as fast as the hosts queues stay
# short, unless the machine is busy.
slow_link_marks()
{
	local far=$((leaves * hosts - 1)) arrived marked took status s slow_marked=0

	for ((s = 0; s < spines; s++)); do
		"$fabric" rate 0 "$s" 4mbit || return
	done
	burst 2 && ((arrived == 128 && marked > 8 && marked < 128 && took > 900)) &&
		slow_marked=$marked &&
		burst 0 && ((arrived == 128 && !marked && took > 900))
	status=$?
	for ((s = 0; s < spines; s++)); do
		"$fabric" rate 0 "$s" || return
	done
	burst 2 && ((!status && arrived == 128 && marked < slow_marked && took < 900))
}

refused()
{
	! "$@"
}

down_leaves_nothing()
{
	"$fabric" down || return
	# The kernel's own routes may take a moment to go.
	busywait 5000 same_world || diff "$work/world" <(world)
}

same_world()
{
	cmp -s "$work/world" <(world)
}

((EUID == 0)) || skip_all "needs root"
modinfo rdma_rxe >/dev/null 2>&1 || skip_all "the kernel has no rdma_rxe"

ktap_plan 14
defer rm -r "$work"
world >"$work/world"
check "a fabric of 4 leaves, 4 spines and 8 hosts goes up" "$fabric" up
fabric_load
defer eval "[[ ! -e $fabric_state ]] || $fabric down"
check "RDMA writes cross the spines" rdma_crosses_spines
check "all hosts write to all others" all_write_to_all
check "the first hop answers IPv4 probes by the leaf's address" first_hop_is_leaf 4 10.255.0.1
check "the first hop answers IPv6 probes by the leaf's address" first_hop_is_leaf 6 fd00:255::1
check "IPv4 probes pass the spine that ip route get names" oracle_agrees
check "IPv4 probes pass the spine that answers" counters_agree 4 10.255.1. 1042
check "IPv6 probes pass the spine that answers" counters_agree 6 fd00:255:1:: 1062
check "a seed determines all paths" seed_changes_paths
check "every spine is on some port's path" all_spines_used
check "a link that is cut is silent, with carrier" cut_link_is_silent
check "a slow link marks packets that may be marked, and drops none" slow_link_marks
check "a second fabric is refused" refused "$fabric" up
check "fabric.sh down leaves no namespace or device" down_leaves_nothing
ktap_finish
