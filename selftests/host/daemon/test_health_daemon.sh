#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Dead paths of a daemon that starts again, and of routers and devices that say nothing, too little
# or a lie

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/daemon/health.sh

restarts_down()
{
	local spine

	spine=$(spine_of 3)
	vanish "$spine" && lose 3 && busywait 20000 went down 3 router &&
		daemon_stop && is_down 3 && daemon_start && used 0 1 2 &&
		is_down 3 && appear "$spine" && busywait 20000 went up 3 &&
		is_down && busywait 20000 used 0 1 2 3
}

restarts_up()
{
	local spine

	spine=$(spine_of 3)
	vanish "$spine" && lose 3 && busywait 20000 went down 3 &&
		daemon_stop && appear "$spine" && daemon_start &&
		busywait 20000 went up 3 && busywait 20000 used 0 1 2 3
}

silent_routers()
{
	restarts || return
	fabric_silence add "${routers[@]}"
	lose 0 && busywait 20000 went up 0 &&
		events 'any(.[]; .event == "path-down") and all(.[];
			.event != "path-down" or .cause == "data")' || return
	fabric_silence del "${routers[@]}"
}

# Anybody can say that a peer is unreachable. All paths answer, or none.
forged_errors()
{
	local port status=0

	restarts || return
	fabric_silence add "${routers[@]}"
	port=$(jq '.peers[0].paths[2].ports[0]' "$dir/ports.json")
	for _ in 1 2 3 4 5 6; do
		in_ns h1 selftests/host/daemon/refuse.py 10.1.0.1 10.1.1.1 "$port"
		sleep 0.3	# an examination in between
	done
	events 'all(.[]; .event != "path-down")' && is_down || status=1
	fabric_silence del "${routers[@]}"
	return "$status"
}

operstate()
{
	[[ $(ip -n "${prefix}h0" -j link show eth0 | jq -r '.[0].operstate') == "$1" ]]
}

no_carrier()
{
	restarts || return
	ip -n "${prefix}leaf0" link set dn0 down
	busywait 20000 operstate DOWN || return
	lose 0 && lose 1
	ip -n "${prefix}leaf0" link set dn0 up
	busywait 20000 on_h0 "$rocesteer" path verify "$dir/ports.json" \
		--probe-timeout 50 --retries 1 >"$dir/verify" && is_down &&
		events 'all(.[]; .event != "path-down")'
}

# Linux sends one ICMP error a second to each host by default, after six. A router at its limit may
# be taken for dead, but answers again.
rate_limits()
{
	local spine

	restarts && fabric_sysctl net.ipv4.icmp_ratelimit=1000 || return
	spine=$(spine_of 2)
	lose 0 && lose 1 && lose 2 && vanish "$spine" &&
		busywait 20000 loses_until_down 2 &&
		busywait 20000 is_down 2 &&
		appear "$spine" && busywait 20000 went up 2 &&
		busywait 20000 is_down && fabric_sysctl net.ipv4.icmp_ratelimit=0
}

# monitor FILE: run it in the background
monitor()
{
	nsenter --net="/run/netns/${prefix}h0" "$rocesteer" --json monitor >"$1" &
	monitor=$!
}

heard()
{
	jq -s -e "any(.[]; $2)" "$1" >/dev/null
}

# The daemon knows that the client listens.
hears_detour()
{
	lose 3
	heard "$1" '.event == "detour" and .path == 3 and .peer and .dqpn and
		.router'
}

# A client hears the present state first. It ends when it is told to, not with the daemon.
is_monitored()
{
	local spine

	spine=$(spine_of 3)
	monitor "$dir/first"
	busywait 20000 hears_detour "$dir/first" && vanish "$spine" &&
		busywait 20000 loses_until_down 3 && is_down 3 &&
		busywait 20000 heard "$dir/first" '.event == "path-down" and
			.path == 3' &&
		busywait 20000 heard "$dir/first" '.event == "replan"' &&
		kill "$monitor" && wait "$monitor" || return
	monitor "$dir/second"
	busywait 20000 heard "$dir/second" '.event == "path-down"' &&
		jq -s -e 'first | .event == "path-down" and .path == 3' \
			"$dir/second" && appear "$spine" &&
		busywait 20000 heard "$dir/second" '.event == "path-up"' &&
		daemon_stop &&
		busywait 20000 heard "$dir/second" '.event == "daemon-down"' &&
		daemon_start &&
		busywait 20000 heard "$dir/second" '.event == "daemon-up"' &&
		busywait 20000 hears_detour "$dir/second" &&
		kill "$monitor" && wait "$monitor"
}

ktap_plan 7
defer fabric_destroy
ready && defer daemon_kill && starts || exit
check "a daemon that restarts while a path is dead keeps flows off the path" attempt restarts_down
check "a restarted daemon uses a path that came back in the meantime" attempt restarts_up
check "where routers answer no probe a path is down by its lost data alone" attempt silent_routers
check "forged ICMP errors take no path down, where routers answer no probe" attempt forged_errors
check "a device without carrier takes no path down" attempt no_carrier
check "a dead path is found by routers that limit their ICMP" attempt rate_limits
check "monitor prints events, the state at first, and a new daemon" attempt is_monitored
ktap_finish
