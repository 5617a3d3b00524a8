#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A job that is observed: its packets leave as they came, are counted on the path that their
# port takes, and are steered from one moment to the next.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/lib/command.sh
. selftests/host/lib/routers.sh

ready()
{
	fabric_create 4 && defer fabric_destroy &&
		on_h0 "$rocesteer" path discover --dev eth0 --peer 10.1.1.1,10.1.1.2 --out "$map"
}

load()
{
	on_h0 "$rocesteer" job load --job 1 --all --port-map "$map" --no-verify "$@"
}

steer()
{
	on_h0 "$rocesteer" --json job steer "$@"
}

unload()
{
	on_h0 "$rocesteer" job unload --all
}

flows()
{
	on_h0 "$rocesteer" --json flow show
}

# The path of each flow is known.
found()
{
	flows | jq -e '.flows | length > 0 and all(has("path"))' >/dev/null
}

# Packets of each path, as the flows have them
predicted()
{
	flows | jq -c '[.flows[].sent[]] | [range(4) as $p |
		[.[] | select(.path == $p) | .packets] | add // 0]'
}

# equals: the bytes of each path, as flows have them, are those of the uplinks, within 1 %
equals()
{
	flows | jq -c '[.flows[].sent[]] | [range(4) as $p |
		[.[] | select(.path == $p) | .bytes] | add // 0]' >"$dir/bytes"
	cat "$dir/bytes"
	echo "${grown[@]}"
	jq -e --arg grown "${grown[*]}" '. as $paths | [$grown | splits(" ") | tonumber] as $links |
		all(range(4); ($paths[.] - $links[.] | fabs) <= 0.01 * ($links | add / 4))' \
		"$dir/bytes" >/dev/null
}

# Each time other queue pairs, on other paths
predicts()
{
	local round first grown=()

	for ((round = 0; round < $(few 5 50); round++)); do
		first=$((17 + 100 * round))
		load --observe >/dev/null && daemon_start &&
			fabric_grown bytes fabric_send h0 10.1.1.1 "$(seq -s , "$first" $((first + 11)))" \
				"$(seq -s , 0 199)" &&
			busywait 2000 found && equals
		status=$?
		daemon_stop && unload || return
		((!status)) || return
	done
}

# own_ports: each flow has the port that its queue pair has in flows.py
own_ports()
{
	flows | jq -e '.flows | length > 0 and all(.port ==
		49152 + ((.dqpn * 1640531527 % 4294967296 / 262144) | floor))'
}

changes_nothing()
{
	load --observe && fabric_send h0 10.1.1.1 17,18,19,20 0,1,2 && own_ports &&
		on_h0 "$rocesteer" --json stat |
			jq -e '.verdicts.observed == 12 and .verdicts.steered == 0' &&
		on_h0 "$rocesteer" --json job list | jq -e '.jobs[0].steering == "off"'
}

# Until the daemon has found the path, packets are counted, and on none.
unknown_first()
{
	flows | jq -e '.flows | length == 4 and all((has("path") | not) and .packets == 3 and
			(.sent | length == 1 and (.[0] | has("path") | not)))' &&
		on_h0 "$rocesteer" flow show && daemon_start && busywait 2000 found &&
		flows | jq -e '.flows | all(.packets == 3 and (.sent | length == 1) and
			.sent[0].path == .path)'
}

# spread_evenly PACKETS: of each path
spread_evenly()
{
	[[ $(predicted) == "$1" ]] || { flows; return 1; }
}

steers_and_observes()
{
	local list

	list=$(seq -s , 17 32)
	steer on --job 1 | jq -e '.steering == "on" and .steered == 1 and .observed == 0 and
			.changed == 4' &&
		fabric_send h0 10.1.1.1 "$list" "$(seq -s , 10 19)" &&
		spread_evenly '[40,40,40,40]' &&
		on_h0 "$rocesteer" --json job show --job 1 | jq -e '.steering == "on"' &&
		steer off --job 1 | jq -e '.steering == "off" and .changed == 16' &&
		fabric_send h0 10.1.1.1 "$list" "$(seq -s , 20 29)" && busywait 2000 found &&
		own_ports &&
		! spread_evenly '[40,40,40,40]'
}

# Two groups, of which one is steered: leaf 1, and h2 as if it were under another leaf
by_share()
{
	unload && jq '.peers |= map(if .address == "10.1.1.2" then .leaf = "10.9.1.5" else . end)' \
			"$map" >"$dir/two.json" &&
		on_h0 "$rocesteer" job load --job 1 --all --port-map "$dir/two.json" --no-verify &&
		steer off --job 1 --share 50 |
			jq -e '.steering == "some" and .steered == 1 and .observed == 1' &&
		fabric_send h0 10.1.1.1 17,18,19,20 0 && fabric_send h0 10.1.1.2 17,18,19,20 0 &&
		flows | jq -e '[.flows[] | select(.peer == "10.1.1.1") | .actuator] | unique == ["none"]' &&
		flows | jq -e '[.flows[] | select(.peer == "10.1.1.2") | .actuator] | unique == ["packet"]' &&
		steer off --job 1 --to 10.9.1.5 | jq -e '.steering == "off" and .changed == 4' &&
		steer on --job 1 --to 10.9.1.1,10.9.1.5 | jq -e '.steering == "on"'
}

# The flow is in the table before its first packet, and stays there.
listed()
{
	unload && on_h0 "$rocesteer" job load --job 1 --port-map "$map" --no-verify --observe \
			--flow 10.1.1.1/17,10.1.1.1/18 &&
		fabric_send h0 10.1.1.1 17,18,19 0 && own_ports &&
		steer on --job 1 | jq -e '.changed == 2' &&
		fabric_send h0 10.1.1.1 17,18,19 1 &&
		flows | jq -e '.flows | length == 2 and all(.actuator == "packet") and
			([.[].path] | unique | length == 2)' &&
		steer off --job 1 && fabric_send h0 10.1.1.1 17,18,19 2 && own_ports
}

# Other seeds on leaf0 only: the daemon sees it, and looks for the paths again.
finds_again()
{
	local before

	unload && load --observe && fabric_send h0 10.1.1.1 "$(seq -s , 17 32)" 0 &&
		busywait 2000 found || return
	before=$(flows | jq -c '[.flows[].path]')
	in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed=4711
	changed() { found && [[ $(flows | jq -c '[.flows[].path]') != "$before" ]]; }
	busywait 60000 changed
}

# refused CODE STATUS ARGUMENT...
refused()
{
	fails "$2" "$1" '' on_h0 "$rocesteer" --json "${@:3}"
}

refuses()
{
	refused usage 2 job steer on && refused usage 2 job steer --job 1 &&
		refused usage 2 job steer perhaps --job 1 &&
		refused usage 2 job steer on --job 1 --share 101 &&
		refused usage 2 job steer on --job 1 --share 10 --to 10.9.1.1 &&
		refused no-leaf 2 job steer on --job 1 --to 10.9.9.9 &&
		refused usage 2 job steer on --job 1 --to leaf1 &&
		refused usage 2 job steer on --job 1 --to , &&
		refused no-job 1 job steer on --job 2 &&
		refused usage 2 job load --job 2 --all --port-map "$map" --observe --actuator qp &&
		refused usage 2 job load --job 2 --all --port-map "$map" --observe \
			--chunk-plan "$map" --ranges "$map"
}

check "a fabric and a port map are made" ready
check "a packet of a job that is observed leaves as it came" changes_nothing
check "the path of a flow is unknown until the daemon has found it, and so is what it sent" \
	unknown_first
check "a job is steered, and observed again, while its flows go on" steers_and_observes
check "groups of a job are steered by share or leaf, and the others are observed" by_share
check "a flow that its job lists is observed, steered, and observed again" listed
check "the paths of flows are found again when a switch hashes otherwise" finds_again
check "requests that make no sense are refused with a reason" refuses
daemon_stop
unload >/dev/null
check "bytes of each path, as observed, are within 1 % of what the switch sends there" predicts
ktap_finish
