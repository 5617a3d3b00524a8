#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Routers that have no route: what commands and the daemon say of them

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/path/maps.sh

# spine1_route add|del: to the peers' leaf
spine1_route()
{
	ip -n "${prefix}spine1" route "$1" 10.1.1.0/24 ${2:+via 10.9.1.5}
}

# Linux says so five times, and then once a second.
verify_names_unreachable()
{
	local status

	rm -f "$map"
	discover 10.1.1.1 --out "$map" && spine1_route del || return
	on_h0 "$rocesteer" path verify "$map" >"$dir/text"
	status=$?
	on_h0 "$rocesteer" --json path verify "$map" >"$dir/out"
	cat "$dir/text" "$dir/out"
	((status == 1)) && grep "^Unreachable:" "$dir/text" && holds '.moved == [] and
		.unanswered == [] and [.unreachable[] | [.path, .expected, .actual]] ==
			[[1, "10.9.0.6", "10.9.0.6"]]'
}

discover_names_unreachable()
{
	local status

	spine1_route del
	refused unreachable 10.1.1.1 && holds '(.peers[0].paths | length) == 3' &&
		says "10.1.1.1: 10.9.0.6 says that it is unreachable" 10.1.1.1
	status=$?
	spine1_route add via
	return "$status"
}

# Routers limit how often they say so.
status_says_unreachable()
{
	on_h0 "$rocesteer" --json status >"$dir/out"
	(($? == 1)) && holds 'any(.findings[]; .code == "unreachable" and .job == 7 and
		.severity == "error" and (.message |
			test("10.9.0.6 says that 10.1.1.1 is unreachable: path 1 leads nowhere")))'
}

status_names_unreachable()
{
	local status

	load && spine1_route del || return
	busywait 20000 status_says_unreachable
	status=$?
	jq -c '.findings' "$dir/out"
	spine1_route add via && unload && return "$status"
}

# down: paths of the job that are held down
down()
{
	on_h0 "$rocesteer" --json top --count 1 |
		jq -c '[.groups[].paths[] | select(.state == "down") | .path]'
}

flows()
{
	fabric_send h0 10.1.1.1 "$(seq -s , 16 23)" 0,1,2
}

load()
{
	on_h0 "$rocesteer" --json job load --job 7 --all --port-map "$map" >"$dir/out"
}

unload()
{
	on_h0 "$rocesteer" job unload --all >/dev/null
}

# The kernel of a router says so once a second.
loaded_with_path_down()
{
	load || return
	[[ $(down) != "[1]" ]] || return 0
	unload
	return 1
}

load_holds_down()
{
	local grown

	busywait 20000 loaded_with_path_down && fabric_grown packets flows &&
		((grown[1] == 0 && grown[0] > 0 && grown[2] > 0))
}

# event FILTER
event()
{
	jq -s -e "any(.[]; $1)" "$dir/events"
}

daemon_takes_up()
{
	daemon_start && spine1_route add via &&
		busywait 20000 event '.event == "path-up" and .path == 1'
}

# No flow loses a packet: the daemon asks one path in five seconds.
daemon_takes_down()
{
	spine1_route del && busywait 40000 event '.event == "path-down" and .path == 1 and
		.cause == "unreachable"' && spine1_route add via &&
		busywait 20000 event '.event == "path-up" and .path == 1'
}

load_is_refused()
{
	! load || { unload; return 1; }
	holds '.error.code == "unreachable"'
}

load_refuses_unreachable()
{
	local s status

	daemon_stop
	unload || return
	for s in 0 1 2 3; do
		ip -n "${prefix}spine$s" route del 10.1.1.0/24
	done
	busywait 20000 load_is_refused
	status=$?
	cat "$dir/out"
	for s in 0 1 2 3; do
		fabric_downlinks "$s" 1 0
	done
	((status == 0)) && on_h0 "$rocesteer" --json job list | jq -e '.jobs == []'
}

ktap_plan 7
fabric_create 4 || exit
check "path verify names a router without a route" verify_names_unreachable
check "job load holds down the path by a router without a route" load_holds_down
check "the daemon takes the path up when the route is back" daemon_takes_up
check "the daemon takes a path down when its router says unreachable" daemon_takes_down
check "job load refuses a map of which no path leads to the peer" load_refuses_unreachable
check "path discover names a router without a route" discover_names_unreachable
check "status names a router without a route" status_names_unreachable
ktap_finish
