#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Plans of the daemon, without the module: by rules of splitting, by place and by weight, around
# flows that cannot move, and when tables change

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/daemon/daemon.sh

# set_down BITS: paths that are down
set_down()
{
	set_entry groups true 8 "$1" && kill -HUP "$daemon"
}

# by_place PATH: deal the flows of each peer from this path on
by_place()
{
	set_entry groups true 4 "$1" && poke 18 1
}

# No flow of the group uses a path to which one peer has no port.
lacks_a_port()
{
	unload && load fewest && flows 10.1.1.1 16,17,18 && is_planned 3 6 &&
		flows 10.1.1.2 19 && is_planned 4 6 3 &&
		jq -e 'all(.flows[].pieces[]; .path != 3 and .port != 0)' "$dir/flows"
}

# in_turn RUNS [PEER]: each flow to the peer sends so many packets in a row on each path,
# beginning with its home
in_turn()
{
	show >"$dir/flows" && jq -e --argjson runs "$1" --arg peer "${2:-10.1.1.1}" '
		[.flows[] | select(.peer == $peer)] | . != [] and all(.[]; .path as $home |
		[.pieces[] | [.path, .to - .from]] == [range(4) | (. + $home) % 4 |
			select($runs[.] > 0) | [., $runs[.]]])' "$dir/flows" &&
		counted
}

# keeps: a new daemon finds nothing to change. It waits long for answers to probes, so paths
# that are down stay down.
keeps()
{
	local before

	before=$(show | jq -c '[.flows[].pieces]') &&
		daemon_start --probe-timeout 10000 &&
		[[ $(show | jq -c '[.flows[].pieces]') == "$before" ]] &&
		events 'map(select(.event == "replan"))' | jq -e '. == []'
}

# Flows that begin meanwhile take neither a path that is down, nor a path for which their peer has
# no port.
splits_all()
{
	unload && daemon_ends && load all && flows 10.1.1.1 16,17,18 &&
		in_turn '[1,1,1,1]' && keeps && set_down 2 &&
		busywait 20000 in_turn '[1,0,1,1]' && flows 10.1.1.1 19,20,21 &&
		in_turn '[1,0,1,1]' && daemon_ends && keeps && set_down 0 &&
		busywait 20000 in_turn '[1,1,1,1]' && flows 10.1.1.2 22 &&
		in_turn '[1,1,1,0]' 10.1.1.2 && in_turn '[1,1,1,1]'
}

# The heaviest path has two packets in a row. Without this path all have one.
splits_by_weight()
{
	local map=$dir/weights.json

	jq '.peers[].paths |= map(.weight = if .path == 0 then 1 else 2 end)' \
		"$dir/map.json" >"$map"
	unload && daemon_ends && load all && flows 10.1.1.1 16,17,18,19 &&
		in_turn '[1,2,2,2]' && keeps && set_down 4 &&
		busywait 20000 in_turn '[1,2,0,2]' && set_down 14 &&
		busywait 20000 in_turn '[1,0,0,0]' && set_down 0 &&
		busywait 20000 in_turn '[1,2,2,2]'
}

# placed PATHS PATHS: flows to 10.1.1.1 and to 10.1.1.3 are on these paths
placed()
{
	show >"$dir/flows" && jq -e --argjson want "[$1,$2]" '
		[.flows | group_by(.peer)[] | map(.path) | sort] == $want' "$dir/flows" &&
		counted
}

# Whole flows are at their place from the beginning, and when a path goes and comes.
deals_by_place()
{
	unload && daemon_ends && load none && by_place 2 &&
		flows 10.1.1.1 16,17,18 && flows 10.1.1.3 19,20 &&
		placed '[0,2,3]' '[2,3]' && keeps && set_down 4 &&
		busywait 20000 placed '[0,1,3]' '[0,3]' && flows 10.1.1.1 21 &&
		placed '[0,1,3,3]' '[0,3]' && daemon_ends && keeps && set_down 0 &&
		busywait 20000 placed '[0,1,2,3]' '[2,3]'
}

# The flows began on the least loaded path of the group.
returns_to_place()
{
	unload && daemon_ends && load none && flows 10.1.1.3 16,17,18 &&
		flows 10.1.1.1 19,20,21 && ! placed '[0,1,3]' '[0,1,3]' &&
		by_place 3 && daemon_start && placed '[0,1,3]' '[0,1,3]'
}

whole()
{
	show >"$dir/flows" && jq -e '(.flows | length) == 6 and
		all(.flows[]; .pieces | length == 1)' "$dir/flows" && counted
}

# Flows stay whole without a rule, or where nobody resequences. The daemon plans flows of the
# other job later, so it has seen these flows.
stays_whole()
{
	unload && load none && flows 10.1.1.1 16,17,18,19,20,21 && whole &&
		unload && "$rocesteer" job load --job 1 --all --port-map "$map" &&
		splits fewest && flows 10.1.1.1 16,17,18,19,20,21 &&
		whole && flows 10.1.1.1 22,23 && resequence &&
		is_planned 8 8
}

# set_paths NUMBER: change the group's paths, without the daemon's knowledge
set_paths()
{
	set_entry groups true 0 "$1"
}

uses()
{
	show | jq -e --argjson paths "$1" --argjson flows "$2" '
		(.flows | length) == $flows and
		([.flows[].pieces[].path] | unique) == $paths' >/dev/null
}

# set_ports FIRST: change the peer's ports, without the daemon's knowledge
set_ports()
{
	local bytes=() p

	for p in 0 1 2 3; do
		bytes+=($((24 + 2 * p)) "($1 + $p) >> 8" $((25 + 2 * p)) "($1 + $p) & 255")
	done
	set_entry peers '.key[20:24] == ["0x0a", "0x01", "0x01", "0x01"]' "${bytes[@]}"
}

# ports FIRST [DQPN,..]: the ports of these flows, or of all
ports()
{
	show | jq -e --argjson first "$1" --argjson of "[${2:-}]" 'all(.flows[] |
		select($of == [] or (.dqpn | IN($of[]))).pieces[];
		.port == $first + .path)'
}

# Plans use the ports of the tables. Flows that only acknowledge get these ports when the
# tables are read.
notices_ports()
{
	only_acks 17 && kill -HUP "$daemon" && busywait 20000 has_read 5 &&
		set_ports 51000 && flows 10.1.1.1 22 &&
		busywait 20000 ports 51000 16,18,19,20,21,22 &&
		kill -HUP "$daemon" &&
		busywait 20000 ports 51000 && kill -0 "$daemon"
}

# The tables have changed, so a plan is refused, and the daemon reads them again.
notices_changes()
{
	unload && load fewest && flows 10.1.1.1 16,17,18,19,20 && is_planned 5 8 &&
		set_paths 2 && flows 10.1.1.1 21 &&
		busywait 20000 uses '[0,1]' 6 && kill -0 "$daemon" &&
		set_paths 4 && kill -HUP "$daemon" &&
		busywait 20000 uses '[0,1,2,3]' 6 && kill -0 "$daemon" &&
		notices_ports
}

replanned()
{
	events 'any(.[]; .event == "replan" and .flows == 9)' | grep -q true
}

# The flows have the port of their queue pair, by paths that the daemon has not read yet.
plans_around_unknown_paths()
{
	local dqpn

	unload && load fewest && flows 10.1.1.1 16,17,18,19 && is_planned 4 4 &&
		set_paths 2 && kill -HUP "$daemon" &&
		busywait 20000 uses '[0,1]' 4 && kill -STOP "$daemon" &&
		set_paths 4 && flows 10.1.1.1 20,21,22,23 || return
	for dqpn in 20 21 22 23; do
		has_port "$dqpn" || return
	done
	[[ $(path_of 20)$(path_of 21) == *[23]* ]] && kill -CONT "$daemon" &&
		flows 10.1.1.1 24 && busywait 20000 replanned
}

# set_flags DQPN FLAGS: change flags in rs_flows, and make the flow whole
set_flags()
{
	set_entry flows ".formatted.key.dqpn == $1" "$(flow_byte flags)" "$2" \
		"$(flow_byte nr_pieces)" 1
}

# The flow is like one whose queue pair has its port for good.
has_port()
{
	set_flags "$1" 'old | 16'
}

# The flow is like one that has sent no data yet, and has no share of a path.
only_acks()
{
	set_flags "$1" 'old & ~1'
}

path_of()
{
	show | jq -c --argjson dqpn "$1" '.flows[] | select(.dqpn == $dqpn) | [.pieces[].path]'
}

# Another flow is cut instead of the one that would be.
goes_around()
{
	local cut before

	unload && load fewest && flows 10.1.1.1 16,17,18,19,20 &&
		is_planned 5 8 && cut=$(jq '.flows[] |
			select(.pieces | length > 1).dqpn' "$dir/flows") &&
		unload && daemon_ends && load fewest &&
		flows 10.1.1.1 16,17,18,19,20 && has_port "$cut" &&
		before=$(path_of "$cut") && daemon_start && is_planned 5 8 &&
		[[ $(path_of "$cut") == "$before" && $before != *,* ]]
}

ktap_plan 9
defer daemon_kill
ready && load none && daemon_start || exit
check "a peer without a port for a path gets the other paths" lacks_a_port
check "flows of --split all take all usable paths in turn" splits_all
check "flows of --split all take paths by weight" splits_by_weight
check "whole flows take the path of their host's place" deals_by_place
check "whole flows that began elsewhere are moved to the path of their host's place" \
	returns_to_place
check "flows that may not be split stay whole" stays_whole
check "the daemon reads tables again on a change and on SIGHUP" notices_changes
check "a queue pair with the port of an unknown path is planned around" plans_around_unknown_paths
check "a queue pair with a steered label stays on its path" goes_around
ktap_finish
