#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Reports of a fat tree: the load of each link, by tier, is what its router sent

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/lib/command.sh
. selftests/host/lib/routers.sh
. selftests/host/lib/pods.sh
. selftests/host/report/recorders.sh
psn=1

# Receivers answer that nobody listens, by links on which no sender's packets go.
ready()
{
	pods_make 4 h0:0 h1:1 h2:2 h7:7 && pods_hash apart &&
		load h0 10.1.1.1,10.1.7.1 && load h2 10.1.7.1
}

# load HOST PEERS: a job with all flows to these
load()
{
	on "$1" "$rocesteer" path discover --dev eth0 --peer "$2" --out "$dir/map.$1" &&
		on "$1" "$rocesteer" job load --job 1 --all --split none --no-verify \
			--port-map "$dir/map.$1"
}

# send HOST PEER QPN,.. PACKETS: flows from the next PSN on
send()
{
	local mac l=${1#h}

	link_mac bridge "$l" 0 mac
	on "$1" selftests/host/lib/flows.py --gateway "$mac" eth0 "10.1.$l.1" "$2" "$3" \
		"$(seq -s , "$psn" $((psn + $4 - 1)))"
	psn=$((psn + $4))
}

# Some flows send more than others: the load is uneven.
traffic()
{
	send h0 10.1.7.1 "$(seq -s , 17 24)" 100 && send h0 10.1.7.1 17,18,20 300 &&
		send h0 10.1.1.1 "$(seq -s , 33 36)" 150 && send h0 10.1.1.1 33 200 &&
		send h2 10.1.7.1 "$(seq -s , 49 54)" 120 && send h2 10.1.7.1 50,51 100
}

# counters: {"leaf0 agg1": bytes, ..} that each router has sent to its neighbours
counters()
{
	local router

	for router in $(routers); do
		ip -n "$prefix$router" -s -j link show | jq --arg router "$router" '.[] |
			select(.ifname | test("^(leaf|agg|core)")) |
			{"\($router) \(.ifname)": .stats64.tx.bytes}'
	done | jq -s add
}

# recorded NAME [OPTION...]: recordings $dir/NAME.h0 and .h2 of the traffic, what the links carried
# in $dir/carried, and the report in $dir/json
recorded()
{
	local h

	for h in h0 h2; do
		begin "$h" "$1.$h" "${@:2}" || return
	done
	busywait 5000 recording && counters >"$dir/before" && traffic &&
		counters >"$dir/after" && finish || return
	jq -s '.[0] as $before | .[1] | with_entries(.value -= $before[.key] | select(.key |
		test("^leaf[02] |^agg[0-3] core|^core. agg[67]|leaf[17]$")))' \
		"$dir/before" "$dir/after" >"$dir/carried"
	show "$dir/$1.h0" --hosts "$dir/$1.h2" >"$dir/json"
}

# carries TIER...: the report has the links of these tiers that carried traffic of the senders, no
# others, and their load. What receivers answer is on other links.
carries()
{
	# shellcheck disable=SC2016 # jq expands them
	jq -e --slurpfile carried "$dir/carried" --arg tiers "$*" '
		def name: (split(".")[2:] | map(tonumber)) as [$tier, $n] |
			"\(["leaf", "agg", "core"][$tier])\($n - 1)";
		[.links[] | (.tier / "-") as [$from, $to] | [.[$from], .[$to] | name] as [$from, $to] |
			{key: "\($from) \($to)", value: .bytes}] as $links |
		($links | from_entries) as $said | ([.links[].tier] | unique) == ($tiers / " ") and
		([$links[].key] | sort) == ($carried[0] | keys) and
		all($carried[0] | to_entries[]; (.value - $said[.key] | fabs) <=
			0.01 * .value + 3000)' "$dir/json" && return
	cat "$dir/json" "$dir/carried"
	return 1
}

records()
{
	recorded probed && carries agg-core agg-leaf core-agg leaf-agg &&
		jq -e '.notes == []' "$dir/json"
}

# The text has a line for each link, with the load that --json has.
prints()
{
	"$rocesteer" report show "$dir/probed.h0" --hosts "$dir/probed.h2" >"$dir/text" &&
		jq -r '.links[] | "\(.tier) \(.leaf // "-") \(.agg // "-") \(.core // "-")
			\(.flows) \(.bytes) \(.load) \(.loss)" | gsub("\\s+"; " ")' "$dir/json" |
		diff - <(awk '/^Links:/ { on = 1; getline; next } !NF { on = 0 }
			on { $7 += 0; $8 += 0; print }' "$dir/text")
}

# Nobody asked for the aggs behind cores: what cores sent to leaf7 has no link of theirs.
without_probes()
{
	# shellcheck disable=SC2016 # jq expands them
	recorded blind --no-probe && jq -e --slurpfile carried "$dir/carried" '
		([.links[].tier] | unique) == ["agg-core", "agg-leaf", "core-leaf", "leaf-agg"] and
		([.links[] | select(.tier == "core-leaf") | .leaf] | unique) == ["10.255.0.8"] and
		([.links[] | select(.tier == "core-leaf") | .bytes] | add) as $said |
		([$carried[0] | to_entries[] | select(.key | endswith("leaf7")) | .value] | add) as $is |
		($said - $is | fabs) <= 0.01 * $is + 3000 and
		any(.notes[]; startswith("h0: some aggs are not known"))' "$dir/json"
}

# The paths by one agg of the other pod end behind their cores; the other agg is known.
silent_agg()
{
	local status

	fabric_silence add agg6
	recorded silent
	status=$?
	fabric_silence del agg6
	# shellcheck disable=SC2016 # jq expands them
	((!status)) && jq -e '(.links | group_by(.tier) | map({(.[0].tier): .}) | add) as $of |
		[$of["core-leaf"][] | .core, .leaf] == ["10.255.2.1", "10.255.0.8", "10.255.2.2",
			"10.255.0.8"] and
		([$of["core-agg"][] | .core, .agg] | unique) == ["10.255.1.8", "10.255.2.3",
			"10.255.2.4"]' "$dir/json"
}

# by_interfaces HOST LEAF PEER_LEAF...: a recording, where routers answer from the address of the
# interface that a packet enters: 10.TIER.ROUTER.FROM, of aggs behind cores 10.9.ROUTER.FROM.
# Each of four pods has two leaves and two aggs, of which each has links to two of four cores.
by_interfaces()
{
	# shellcheck disable=SC2016 # jq expands them
	jq -n --arg host "$1" --argjson leaf "$2" '
		($leaf / 2 | floor) as $pod | [$ARGS.positional[] | tonumber] as $to |
		def group($peer): ($peer / 2 | floor) as $far | {job: 1, device: "eth0",
			leaf: "10.0.\($peer).\(2 * $far)", via: "10.0.\($leaf).100",
			source: "10.8.\($leaf).1", observed: false, cores: ($pod != $far),
			paths: [if $pod == $far then range(2) | (2 * $pod + .) as $agg |
				{router: "10.1.\($agg).\($leaf)", entry: "10.0.\($peer).\($agg)"}
			else range(4) | . as $core | (. / 2 | floor) as $plane |
				(2 * $pod + $plane) as $up | (2 * $far + $plane) as $down |
				{router: "10.2.\($core).\($up)", via: "10.1.\($up).\($leaf)",
				behind: "10.9.\($down).\($core)", entry: "10.0.\($peer).\($down)"}
			end | .up = true]};
		{format: 1, host: $host, version: "1", kernel: "6", ms: 1000, probed: true,
		begin: "2026-01-01T00:00:00.000Z", naks: 0, cnps: 0, events: [],
		groups: [$to[] | group(.)], flows: [$to | to_entries[] | {group: .key,
			peer: "10.8.\(.value).1", dqpn: 17, port: 50000, share: true,
			observed: false, cnps: 0, sent: [range(if ($pod == (.value / 2 | floor))
				then 2 else 4 end) | {path: ., packets: 10, bytes: 1000, rounds: 0}]}]}' \
		--args "${@:3}" >"$dir/$1"
}

# Hosts in two pods know a core by two addresses, but enter the same agg. Two hosts of the third
# pod know its aggs from below.
joins()
{
	by_interfaces a 0 2 3 && by_interfaces b 4 2 && by_interfaces c 2 3 && by_interfaces d 3 2 &&
		show "$dir/a" --hosts "$dir/b,$dir/c,$dir/d" >"$dir/json" &&
		jq -e '(.cores | length) == 4 and (.aggs | length) == 6 and
			(.leaves | length) == 4 and (.links | group_by(.tier) |
			map({(.[0].tier): [length, (map(.bytes) | unique | length)]}) | add) ==
			{"leaf-agg": [8, 3], "agg-core": [8, 2], "core-agg": [4, 1],
			"agg-leaf": [4, 2]}' "$dir/json" && return
	jq . "$dir/json"
	return 1
}

# A port map without aggs
without_vias()
{
	jq 'del(.groups[].paths[].via)' "$dir/a" >"$dir/no-via" && show "$dir/no-via" |
		jq -e '(.links | map(.tier) | unique) == ["agg-leaf", "core-agg", "leaf-core"] and
			(.uplinks | map(.tier)) == ["leaf-core"] and (.notes | length > 0)'
}

ktap_plan 7
check "two pods of a fat tree have a job each" ready
defer fabric_destroy
check "each link of four tiers carried what the report says" records
check "the text has the load of each link as well" prints
check "without probes a link is from a core to the leaf" without_probes
check "so are those by an agg that does not answer" silent_agg
check "routers that answer from their interfaces are joined by what they enter" joins
check "a link leads to the core where the port map has no agg" without_vias
ktap_finish
