#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer simulate --recording: fabric and flows of running hosts. Recordings that the test makes
# have closed forms; those of hosts on a fabric of routers have what the report says of them.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/lib/command.sh
. selftests/host/lib/routers.sh
. selftests/host/report/recorders.sh

# host LEAF NUMBER [FILTER]: host 10.1.LEAF.NUMBER sends by four queue pairs to the host of its
# number below the other leaf, all of them on path 0. The spines have an address for each leaf.
host()
{
	jq -n --argjson l "$1" --argjson h "$2" '(1 - $l) as $other | {
		format: 1, host: "h\($l)\($h)", version: "0", kernel: "0",
		begin: "2026-11-27T01:00:00Z", ms: 1000, probed: true, naks: 0, cnps: 0, events: [],
		groups: [{job: 1, device: "eth0", leaf: "10.9.\($other).1", via: "10.1.\($l).254",
			source: "10.1.\($l).\($h)", observed: true,
			paths: [range(4) | {router: "10.9.\($l).\(4 * . + 2)",
				entry: "10.9.\($other).\(4 * . + 1)", up: true}]}],
		flows: [range(4) | {group: 0, peer: "10.1.\($other).\($h)", dqpn: (17 + .),
			port: 49152, share: true, observed: true, cnps: 0,
			sent: [{path: 0, packets: 1000, bytes: 1250000, rounds: 0}]}]} |
		'"${3:-.}" >"$dir/$1$2"
}

four()
{
	host 0 1 "$@" && host 0 2 "$@" && host 1 1 "$@" && host 1 2 "$@"
}

# simulate FILES POLICIES [OPTION...]: links of 10 Gbit/s carry 1.25 GB/s
simulate()
{
	"$rocesteer" --json simulate --recording "$(printf "%s\n" "$1" | sed "s|[^,]*|$dir/&|g")" \
		--rate 10 --policy "$2" "${@:3}"
}

# Two hosts of four queue pairs each send 10 MB by one link, which four could share.
meets()
{
	four && simulate 01,02,11,12 recorded,all,place,fewest,ecmp-16qp >"$dir/json" &&
		jq -e '.fabric == {leaves: 2, spines: 4, hosts: 2, rate: 10, host_rate: 10} and
			.pattern == "recording" and .hosts == 4 and .steps == 1 and
			.completion_s == 0.008 and .bound_s == 0.004 and .max_link_over_ideal == 4 and
			(.policies | map({(.policy): .}) | add |
				.all.completion_s == 0.004 and .all.max_link_over_ideal == 1 and
				.place.max_link_over_ideal == 1 and .fewest.max_link_over_ideal == 1 and
				.ecmp.max_link_over_ideal < 4)' "$dir/json"
}

# Without the other leaf's recordings its hosts are known as peers.
peers()
{
	simulate 01,02 recorded,all >"$dir/json" &&
		jq -e '.hosts == 4 and .fabric.spines == 4 and .completion_s == 0.008 and
			.policies[1].completion_s == 0.004' "$dir/json" &&
		simulate 01 recorded | jq -e '.hosts == 2 and .completion_s == 0.004'
}

# Each queue pair on a path of its own, and one of them with half of its bytes on another
paths()
{
	four '.flows |= (to_entries | map(.value.sent[0].path = .key | .value))' &&
		simulate 01,02,11,12 recorded | jq -e '.completion_s == 0.004 and
			.max_link_over_ideal == 1' &&
		four '.flows |= (to_entries | map(.value.sent[0].path = .key | .value)) |
			.flows[0].sent[0].bytes = 625000 |
			.flows[0].sent[1] = (.flows[0].sent[0] | .path = 3)' &&
		simulate 01,02,11,12 recorded | jq -e '.max_link_over_ideal == 1.5'
}

# Bytes on unknown paths count, and acknowledgments do not.
unknown()
{
	four '.flows[0].sent += [{packets: 1, bytes: 1250000, rounds: 0}] | .flows[3].share = false' &&
		simulate 01,02,11,12 recorded | jq -e '.completion_s == 0.008 and .bound_s == 0.004' &&
		four 'del(.flows[0].sent[0].path)' &&
		simulate 01,02,11,12 all | jq -e '.completion_s == 0.004' &&
		fails 2 usage "--policy recorded: the flow from" simulate 01,02 recorded
}

refuses()
{
	local option

	for option in --leaves --spines --hosts --pods --flows --step; do
		fails 2 usage "$option" simulate 01 all "$option" 2 || return
	done
	four && host 0 1 '.groups[0].cores = true' &&
		fails 2 recording "h01 has paths by cores" simulate 01,02 all &&
		host 0 1 '.begin = "2026-11-27T02:00:00Z"' &&
		fails 2 periods "different periods" simulate 01,02 all &&
		fails 2 periods "another recording" simulate 02,02 all &&
		host 0 1 '.flows[].share = false' &&
		fails 2 recording "no flow sent more" simulate 01 all &&
		host 0 1 '.groups[0].paths[1] = .groups[0].paths[0]' &&
		fails 2 recording "parallel links" simulate 01 all &&
		host 0 1 '.groups[1] = (.groups[0] | .leaf = "10.9.2.1" |
			.paths |= map(del(.entry))) | .flows[1].group = 1' &&
		fails 2 recording "10.1.1.1 is below leaf" simulate 01 all
}

# Some of the flows between two hosts on a fabric of routers send more than others.
recorded()
{
	fabric_create 4 && defer fabric_destroy || return
	on h0 "$rocesteer" path discover --dev eth0 --peer 10.1.1.1 --out "$map" &&
		on h0 "$rocesteer" job load --job 1 --all --split none --no-verify --port-map "$map" &&
		begin h0 live && busywait 5000 recording &&
		fabric_send h0 10.1.1.1 "$(seq -s , 17 24)" "$(seq -s , 0 99)" &&
		fabric_send h0 10.1.1.1 17,19 "$(seq -s , 100 249)" && finish
}

as_reported()
{
	simulate live recorded,all >"$dir/json" && show "$dir/live" |
		jq -e --slurpfile simulated "$dir/json" '.groups[0].imbalance as $reported |
			$simulated[0] | .fabric.leaves == 2 and .fabric.spines == 4 and
			.max_link_over_ideal > 1.2 and
			(.max_link_over_ideal - $reported | fabs) < 0.01 and
			.policies[1].max_link_over_ideal == 1'
}

ktap_plan 7
check "flows that met on one link are played as recorded, and as each policy has them" meets
check "hosts without a recording are known as peers" peers
check "each queue pair is on the paths that it took" paths
check "bytes on unknown paths count, but for policy recorded a path has to be known" unknown
check "recordings that are no fabric of two tiers are refused" refuses
check "hosts on a fabric of routers record uneven traffic" recorded
check "the fullest link of a live recording is as uneven as its report says" as_reported
ktap_finish
