#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The daemon and paths that die, lose packets and come back, without the module: a fabric of
# Linux routers, which answer to probes or do not, and flows that repeat packets when the test
# says so.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/command.sh
. selftests/host/routers.sh
routers=(spine{0..3} leaf1)
qpns=16,17,18,19,20,21,22,23	# two of them on each path
more=''	# to the other peer
psn=0

ready()
{
	fabric_create 4 &&
		on_h0 "$rocesteer" path discover --dev eth0 \
			--peer 10.1.1.1,10.1.1.2 --paths 4 --out "$dir/ports.json" &&
		load
}

load()
{
	on_h0 "$rocesteer" job load --job 1 --all --port-map "$dir/ports.json" &&
		flows 10.1.1.1 "$qpns"
}

flows()
{
	on_h0 selftests/host/flows.py eth0 10.1.0.1 "$@"
}

is_ready()
{
	[[ -e $dir/ready ]]
}

# The daemon reports its start to systemd's socket.
daemon_start()
{
	rm -f "$dir/notify" "$dir/ready"
	python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
open(sys.argv[1] + ".bound", "w")
if s.recv(64) == b"READY=1":
    open(sys.argv[2], "w")' "$dir/notify" "$dir/ready" &
	busywait 20000 test -S "$dir/notify" || return
	NOTIFY_SOCKET=$dir/notify nsenter --net="/run/netns/${prefix}h0" \
		"$rocesteer" --json daemon "$@" >"$dir/events" &
	daemon=$!
	busywait 20000 is_ready
}

# events FILTER: whether it holds for the array of events
events()
{
	jq -s -e "$1" "$dir/events" >/dev/null
}

show()
{
	on_h0 "$rocesteer" --json flow show
}

# on_path PATH [PEER]: numbers of the flows on it
on_path()
{
	show | jq -c --argjson p "$1" --arg peer "${2:-}" '[.flows[] |
		select(.path == $p and (.peer == $peer or $peer == "")) | .dqpn]'
}

# used PATH...: each has two flows or more, and other paths have none
used()
{
	local p

	for p in 0 1 2 3; do
		if [[ " $* " == *" $p "* ]]; then
			(($(on_path "$p" | jq length) >= 2)) || return
		else
			[[ $(on_path "$p") == "[]" ]] || return
		fi
	done
}

# lose PATH: each flow on the path repeats one packet twice.
lose()
{
	local peer qpns

	psn=$((psn + 8))
	for peer in 10.1.1.1 10.1.1.2; do
		qpns=$(on_path "$1" "$peer" | jq -r 'map(tostring) | join(",")')
		[[ ! $qpns ]] || flows "$peer" "$qpns" "$psn,$psn,$psn"
	done
}

# Packets vanish silently, and the link keeps its carrier.
vanish()
{
	ip -n "$prefix$1" rule add pref 1 "${@:2}" blackhole
}

appear()
{
	ip -n "$prefix$1" rule del pref 1
}

# Linux's default is one ICMP error a second to each host, after six.
limit()
{
	local router

	for router in "${routers[@]}"; do
		in_ns "$router" sysctl -qw net.ipv4.icmp_ratelimit="$1"
	done
}

# Flows that are silent for a minute are forgotten.
all_send()
{
	psn=$((psn + 8))
	flows 10.1.1.1 "$qpns" "$psn" && { [[ ! $more ]] || flows 10.1.1.2 "$more" "$psn"; }
}

# A failed check shows the events, and repairs the fabric for the next check.
attempt()
{
	local router

	all_send && "$@" && return
	tail -n 20 "$dir/events"
	for router in "${routers[@]}"; do
		appear "$router" 2>/dev/null
	done
	limit 0
	return 1
}

# went STATE PATH [CAUSE]: the last event of the path; CAUSE is a regular expression
went()
{
	events "[.[] | select(.path == $2)] | last | .event == \"path-$1\" and
		.job == 1 and .device == \"eth0\" ${3:+and (.cause | test(\"$3\"))}"
}

is_down()
{
	[[ $(on_h0 "$rocesteer" --json job show --job 1 |
		jq -c '.groups[0].down') == "[${1:-}]" ]]
}

# The spine of a path, by its router's address 10.9.0.(4s + 2)
spine_of()
{
	jq -r ".peers[0].paths[$1].router" "$dir/ports.json" |
		awk -F . '{ print "spine" ($4 - 2) / 4 }'
}

# topped STATE PATH: top has shown this state
topped()
{
	jq -s -e "any(.[]; .groups[0].paths[$2].state == \"$1\")" "$dir/top" \
		>/dev/null
}

# milliseconds from the test's $start to the last event
took()
{
	jq -s -r 'last.time' "$dir/events" | { read -r t; date -d "$t" +%s%N; } |
		{ read -r ns; echo "$(((ns - start) / 1000000)) ms"; }
}

starts()
{
	daemon_start "$@" && busywait 20000 used 0 1 2 3 && is_down
}

# Start with an empty list of events.
restarts()
{
	busywait 20000 is_down && daemon_stop && starts "$@"
}

# sent_on QPN PATH: print how many packets the flow has sent there
sent_on()
{
	show | jq --argjson qpn "$1" --argjson p "$2" '[.flows[] |
		select(.dqpn == $qpn and .peer == "10.1.1.1").sent[] |
		select(.path == $p).packets] | add // 0'
}

# The flow has no detour any more.
takes_path()
{
	local before

	before=$(sent_on "$@")
	psn=$((psn + 8))
	flows 10.1.1.1 "$1" "$psn"
	(($(sent_on "$@") > before))
}

# loses_some QPN PATH: the flow loses ten packets once, and one twice
loses_some()
{
	local psns='' top

	busywait 5000 takes_path "$@" || return
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		psn=$((psn + 8))
		psns+=$psn,$psn,
	done
	psn=$((psn + 8))
	nsenter --net="/run/netns/${prefix}h0" \
		"$rocesteer" --json top --interval 10 >"$dir/top" &
	top=$!
	flows 10.1.1.1 "$1" "$psns$psn,$psn,$psn"
	busywait 2000 topped suspected "$2"
	kill "$top"
	wait "$top"
	went lossy "$2"
}

lossy()
{
	local qpn

	qpn=$(on_path 3 | jq '.[0]')
	busywait 20000 loses_some "$qpn" 3 && topped suspected 3 &&
		is_down && used 0 1 2 3 &&
		events 'last | .loss > 0 and .probes >= 2 and .answers >= 2'
}

# Path 3 is lossy, the daemon has probed it just now, and then its spine dies.
was_lossy()
{
	local spine

	spine=$(spine_of 3)
	lose 3
	vanish "$spine" && lose 3 && busywait 9000 went down 3 router && appear "$spine" &&
		busywait 20000 went up 3 && busywait 20000 used 0 1 2 3 && restarts
}

# The spine forwards nothing and answers nothing.
dead_spine()
{
	local spine

	spine=$(spine_of 2)
	vanish "$spine"
	start=$(date +%s%N)
	lose 2
	busywait 20000 went down 2 router && took && is_down 2 &&
		busywait 20000 used 0 1 3 &&
		on_h0 "$rocesteer" --json top --count 1 >"$dir/top" &&
		topped down 2 && topped up 1
}

# New flows do not get the path, and flows that only acknowledge do not.
is_avoided()
{
	more=30,31,32,33,34,35
	flows 10.1.1.2 "$more" "$psn" && busywait 20000 used 0 1 3
}

back()
{
	appear "$(spine_of 2)"
	busywait 20000 went up 2 && is_down && busywait 20000 used 0 1 2 3
}

# The spine answers, but its packets to the leaf get lost.
dead_downlink()
{
	local spine

	spine=$(spine_of 1)
	vanish leaf1 iif "s${spine#spine}"
	lose 1
	busywait 20000 went down 1 leaf && busywait 20000 used 0 2 3 &&
		appear leaf1 && busywait 20000 went up 1 &&
		busywait 20000 used 0 1 2 3
}

# The leaf's answers to probes of good paths may come back by the dead path.
way_back()
{
	local spine

	restarts || return
	spine=$(spine_of 0)
	vanish "$spine" && lose 1 && lose 2 && lose 3 && lose 0 &&
		busywait 20000 went down 0 router &&
		events 'all(.[]; .event != "path-down" or .path == 0)' &&
		appear "$spine" && busywait 20000 went up 0 &&
		busywait 20000 used 0 1 2 3
}

# is_refused PATH: flows send once more, as a router that answered a probe says nothing of data
# for a second
is_refused()
{
	psn=$((psn + 8))
	fabric_send h0 10.1.1.1 "$qpns" "$psn"
	went down "$1" unreachable
}

# refused_by SPINE: the spine has no route to the peers, and says so
refused_by()
{
	local spine=spine$1 path

	for path in 0 1 2 3; do
		[[ $(spine_of "$path") != "$spine" ]] || break
	done
	ip -n "$prefix$spine" route save root 10.1.1.0/24 >"$dir/route" &&
		ip -n "$prefix$spine" route del 10.1.1.0/24 || return
	start=$(date +%s%N)
	busywait 20000 is_refused "$path" && took >>"$dir/took"
	ip -n "$prefix$spine" route restore <"$dir/route" && busywait 20000 went up "$path"
}

# The daemon asks one path a second in the other order, so that each would take three seconds.
refused()
{
	local spine

	restarts && : >"$dir/took" || return
	for spine in 3 2 1 0; do
		refused_by "$spine" && busywait 20000 used 0 1 2 3 || return
	done
	cat "$dir/took"
	(($(sort -n "$dir/took" | sed -n '3s/ ms//p') < 1500))
}

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
	local router

	restarts || return
	for router in "${routers[@]}"; do
		vanish "$router" iif lo
	done
	lose 0 && busywait 20000 went up 0 &&
		events 'any(.[]; .event == "path-down") and all(.[];
			.event != "path-down" or .cause == "data")' || return
	for router in "${routers[@]}"; do
		appear "$router"
	done
}

# Anybody can say that a peer is unreachable. All paths answer, or none.
forged_errors()
{
	local router port status=0

	restarts || return
	for router in "${routers[@]}"; do
		vanish "$router" iif lo
	done
	port=$(jq '.peers[0].paths[2].ports[0]' "$dir/ports.json")
	for _ in 1 2 3 4 5 6; do
		in_ns h1 selftests/host/refuse.py 10.1.0.1 10.1.1.1 "$port"
		sleep 0.3	# an examination in between
	done
	events 'all(.[]; .event != "path-down")' && is_down || status=1
	for router in "${routers[@]}"; do
		appear "$router"
	done
	return "$status"
}

operstate()
{
	[[ $(ip -n "${prefix}h0" -j link show eth0 | jq -r '.[0].operstate') == \
		"$1" ]]
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

# Wait until the daemon has moved the flows, as these would lose packets of their new path. A path
# that is down by its lost data alone, because all routers are at their limit, is used again soon.
loses_until_down()
{
	lose "$@"
	busywait 2000 went down "$1" "router|leaf"
}

# A router at its limit may be taken for dead, but answers again.
rate_limits()
{
	local spine

	restarts && limit 1000 || return
	spine=$(spine_of 2)
	lose 0 && lose 1 && lose 2 && vanish "$spine" &&
		busywait 20000 loses_until_down 2 &&
		busywait 20000 is_down 2 &&
		appear "$spine" && busywait 20000 went up 2 &&
		busywait 20000 is_down && limit 0
}

backs_off()
{
	local spine

	restarts --hold-down 50 || return
	spine=$(spine_of 2)
	for _ in 1 2 3; do
		vanish "$spine" && busywait 20000 loses_until_down 2 &&
			appear "$spine" && busywait 20000 went up 2 &&
			busywait 20000 used 0 1 2 3 || return
	done
	jq -s -c '[.[] | select(.event == "path-down") | [.path, .hold_ms]]' \
		"$dir/events"
	events '[.[] | select(.event == "path-down" and .path == 2) |
		.hold_ms] == [50, 100, 200]'
}

# The daemon does not probe the path for a while, because the path was suspected often and
# answered.
was_alive()
{
	local spine

	restarts || return
	spine=$(spine_of 2)
	for _ in 1 2 3 4 5 6; do
		lose 2
	done
	vanish "$spine" && lose 2 && busywait 20000 went down 2 router &&
		appear "$spine" && busywait 20000 went up 2 &&
		busywait 20000 used 0 1 2 3
}

is_unused()
{
	[[ $(on_path "$1") == "[]" ]]
}

received()
{
	in_ns "$1" cat /proc/net/snmp | awk '/^Ip: [0-9]/ { print $4 }'
}

# is_asked ROUTER RECEIVED: a probe has come since
is_asked()
{
	(($(received "$1") > $2))
}

# The daemon does not judge a path that it is watching, so it has to examine the path again.
while_watched()
{
	local spine before

	restarts --probe-timeout 200 || return
	spine=$(spine_of 1)
	vanish "$spine"
	before=$(received "$spine")
	busywait 20000 is_asked "$spine" "$before" && lose 1 &&
		busywait 20000 went down 1 router && appear "$spine" &&
		busywait 20000 used 0 1 2 3
}

# All other paths answer, but are held down for long.
last_path()
{
	local p

	restarts --hold-down 60000 || return
	for p in 0 1 2; do
		vanish "$(spine_of "$p")" && lose "$p" &&
			busywait 20000 went down "$p" &&
			appear "$(spine_of "$p")" || return
	done
	busywait 20000 used 3 && is_down 0,1,2 &&
		vanish "$(spine_of 3)" && lose 3 &&
		busywait 20000 went down 3 && busywait 5000 is_unused 3 &&
		appear "$(spine_of 3)" && daemon_stop && daemon_start &&
		busywait 20000 is_down && busywait 20000 used 0 1 2 3
}

# monitor FILE: run it in the background
monitor()
{
	nsenter --net="/run/netns/${prefix}h0" \
		"$rocesteer" --json monitor >"$1" &
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

# All flows take their planned path, by the kernel's own choice.
lands_as_planned()
{
	local peer

	for peer in 10.1.1.1 10.1.1.2; do
		show | jq -r --arg peer "$peer" \
			--slurpfile map "$dir/ports.json" '.flows[] |
			select(.peer == $peer) | .pieces[] | "\(.port) " +
			$map[0].peers[0].paths[.path].router' |
			sort -u >"$dir/planned"
		[[ -s $dir/planned ]] && cmp -s <(cut -d ' ' -f 2 "$dir/planned") \
			<(cut -d ' ' -f 1 "$dir/planned" |
			fabric_oracle 10.1.0.1 "$peer") || return
	done
}

# The address of the job is gone, so its device can send nothing.
cannot_send()
{
	fabric_link h0 rs0 h0 rs1 && ip -n "${prefix}h0" addr add 10.77.0.1/32 dev rs0 &&
		jq '.device = "rs0" | .peers |= [first |
			.source = "10.77.0.1" | .paths |= [first]]' \
			"$dir/ports.json" >"$dir/unsent.json" &&
		on_h0 "$rocesteer" job load --job 2 --all \
			--port-map "$dir/unsent.json" &&
		ip -n "${prefix}h0" addr del 10.77.0.1/32 dev rs0 &&
		busywait 20000 events 'any(.[]; .event == "error")'
}

# The event comes once, and paths of other jobs are watched.
hashes_otherwise()
{
	restarts && cannot_send && lands_as_planned || return
	kill -STOP "$daemon"
	in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed=7
	! lands_as_planned && kill -CONT "$daemon" &&
		busywait 20000 lands_as_planned && is_down &&
		busywait 20000 used 0 1 2 3 &&
		events 'any(.[]; .event == "path-moved" and .router) and
			any(.[]; .event == "remapped" and .job == 1) and
			all(.[]; .event != "path-down") and
			[.[] | select(.event == "error").device] == ["rs0"]'
}

# The pid of the process that looks for ports
stop_search()
{
	read -r search <"/proc/$daemon/task/$daemon/children"
	[[ $search ]] && kill -STOP "$search"
}

ports()
{
	on_h0 "$rocesteer" --json job show --job 1 | jq -S -c \
		'[.peers[] | {address, ports}] | sort_by(.address)'
}

# Another job has got the number before the search ends. This job has one path less, so all
# path numbers differ. The leaf does not answer, which holds the search up. Job 2 keeps the
# tables.
job_is_replaced()
{
	local seed search='' result

	restarts && on_h0 "$rocesteer" path discover --dev eth0 \
		--peer 10.1.1.1,10.1.1.2 --paths 4 --out "$dir/all.json" &&
		jq '.peers[].paths |= [.[1:][] | .path -= 1]' "$dir/all.json" \
			>"$dir/fewer.json" && vanish leaf1 iif lo || return
	for seed in 11 12 13; do
		in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed="$seed"
		busywait 8000 stop_search && break
	done
	in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed=7
	on_h0 "$rocesteer" job unload --job 1 &&
		on_h0 "$rocesteer" job load --job 1 --all \
			--port-map "$dir/fewer.json" && appear leaf1
	result=$?
	kill -CONT "$search"
	((!result)) && busywait 20000 events 'any(.[]; .event == "remapped")' &&
		ports && [[ $(ports) == "$(jq -S -c '[.peers[] |
			{address, ports: .paths | map(.ports[0])}] |
			sort_by(.address)' "$dir/fewer.json")" ]]
}

# finds PEER: each of its ports takes the path that fewer.json says
finds()
{
	on_h0 "$rocesteer" --json job show --job 1 | jq -r --arg peer "$1" \
		'.peers[] | select(.address == $peer).ports[]' >"$dir/planned"
	cmp -s <(jq -r --arg peer "$1" '.peers[] |
			select(.address == $peer).paths[].router' \
			"$dir/fewer.json") \
		<(fabric_oracle 10.1.0.1 "$1" <"$dir/planned")
}

finds_all()
{
	finds 10.1.1.1 && finds 10.1.1.2
}

hashes_otherwise_again()
{
	kill -STOP "$daemon"
	finds_all && in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed=8
	! finds_all && kill -CONT "$daemon" && busywait 20000 finds_all
}

# loads_slice HOST ADDRESS ROUTER PEER: load it by the address that the host's leaf uses for
# the spine
loads_slice()
{
	on "$1" "$rocesteer" path discover --dev eth0 --source "$2" --peer "$4" \
		--paths 4 --out "$dir/$1.json" &&
		on "$1" "$rocesteer" job load --job 3 --flow "$4/99" \
			--port-map "$dir/$1.json" --cluster "$dir/cluster.json" \
			--slice-job one || return
	on "$1" "$rocesteer" --json job show --job 3 >"$dir/shown"
	on "$1" "$rocesteer" job unload --job 3 &&
		jq -ce --arg router "$3" '.groups[0].routers == [$router]' "$dir/shown"
}

# A spine answers from the interface on which a probe arrives, so each leaf knows another
# address of the spine.
both_load_a_slice()
{
	jq -n '{leaves: 2, spines: 4, gpus_per_leaf: 1, gpus_per_server: 1,
		routers: [range(2) as $l | [range(4) | "10.9.\($l).\(4 * . + 2)"]],
		nics: [[["10.1.0.1"]], [["10.1.1.1"]]]}' >"$dir/cluster.json" &&
		"$rocesteer" slice alloc --cluster "$dir/cluster.json" --gpus 2 --job one &&
		loads_slice h0 10.1.0.1 10.9.0.2 10.1.1.1 &&
		loads_slice h1 10.1.1.1 10.9.1.2 10.1.0.1
}

# Two spines with two links to each leaf, which routers tell apart
has_links()
{
	local router

	on_h0 "$rocesteer" job unload --all && daemon_stop && fabric_destroy &&
		fabric_create 2 2 || return
	for router in spine0 spine1 leaf1; do
		in_ns "$router" sysctl -qw net.ipv4.icmp_errors_use_inbound_ifaddr=1
	done
	rm "$dir/ports.json"
	on_h0 "$rocesteer" path discover --dev eth0 --peer 10.1.1.1 \
		--out "$dir/ports.json" && load && daemon_start &&
		on_h0 "$rocesteer" --json job show --job 1 | jq -ce --slurpfile map \
			"$dir/ports.json" '$map[0].peers[0].paths as $paths |
			.groups[0] | (.routers | length) == 8 and
			.routers == [$paths[].router] and .path_leaves == [$paths[].leaf]'
}

# Discovery finds the ports of the job on the job's paths.
ports_take_their_paths()
{
	on_h0 "$rocesteer" path discover --dev eth0 --peer 10.1.1.1 --json >"$dir/now" &&
		on_h0 "$rocesteer" --json job show --job 1 | jq -e --slurpfile now \
			"$dir/now" '.peers[0].ports as $ports |
			$now[0].peers[0].paths | length == 8 and
			all(.[]; any(.ports[] == $ports[.path]; .))'
}

links_hash_otherwise()
{
	ports_take_their_paths || return
	kill -STOP "$daemon"
	fabric_downlinks 0 1 1 0
	fabric_downlinks 1 1 1 0
	! ports_take_their_paths && kill -CONT "$daemon" &&
		busywait 30000 ports_take_their_paths &&
		events 'any(.[]; .event == "path-moved" and .router and .path_leaf) and
			any(.[]; .event == "remapped" and .job == 1) and
			all(.[]; .event != "path-down")'
}

world_is_empty()
{
	on_h0 "$rocesteer" job unload --all && daemon_stop &&
		fabric_destroy && ! ip netns list | grep "^$prefix" &&
		[[ ! $(find /sys/fs/bpf -name 'rs_*') ]]
}

ktap_plan 28
defer fabric_destroy
check "a fabric, a job and its flows are made" ready
defer daemon_kill
check "the daemon starts with all paths in use" attempt starts
check "a path that loses some packets stays in use" attempt lossy
check "a lossy path that dies right after its answers is taken down" attempt was_lossy
check "flows leave a dead spine" attempt dead_spine
check "a dead spine gets no new flows" attempt is_avoided
check "flows return to a spine that is back" attempt back
check "flows leave a dead link behind a spine, and return" attempt dead_downlink
check "a daemon that restarts while a path is dead keeps flows off the path" attempt restarts_down
check "a restarted daemon uses a path that came back in the meantime" attempt restarts_up
check "where routers answer no probe a path is down by its lost data alone" attempt silent_routers
check "forged ICMP errors take no path down, where routers answer no probe" attempt forged_errors
check "a device without carrier takes no path down" attempt no_carrier
check "a dead path is found by routers that limit their ICMP" attempt rate_limits
check "a path that dies right after its answers is taken down" attempt was_alive
check "a path that flaps is held down longer" attempt backs_off
check "monitor prints events, the state at first, and a new daemon" attempt is_monitored
check "flows leave a spine that says that it has no route, before they repeat a packet" attempt refused
check "a path is not down because answers come back by a dead path" attempt way_back
check "a path that loses data while it is watched is taken down" attempt while_watched
check "when the last path dies the paths that are held down are used again" attempt last_path
check "ports are found again when the fabric hashes otherwise" attempt hashes_otherwise
check "ports that are found late are not given to the next job" attempt job_is_replaced
check "a job with some of the paths finds these paths again" \
	attempt hashes_otherwise_again
check "both hosts of a slice load it, whatever their leaf calls the spines" \
	both_load_a_slice
check "a job uses parallel links that the leaf tells apart" has_links
check "ports of parallel links are found again when spines hash otherwise" links_hash_otherwise
check "no namespace or device is left" world_is_empty
ktap_finish
