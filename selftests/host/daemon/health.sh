# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of the daemon in a fabric of Linux routers, without the module: routers answer to
# probes or do not, and flows repeat packets when the test says so. Sourced behind own_namespaces.

. selftests/host/lib/command.sh
. selftests/host/lib/routers.sh
routers=(spine{0..3} leaf1)
qpns=16,17,18,19,20,21,22,23	# two of them on each path
more=''	# to the other peer
psn=0
start=0	# of what took() measures, ns

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
	on_h0 selftests/host/lib/flows.py eth0 10.1.0.1 "$@"
}

# steered PEER FLOWS: so many flows to the peer have paths
steered()
{
	[[ $(show | jq --arg peer "$1" '[.flows[] | select(.peer == $peer and .path != null)] |
		length') == "$2" ]]
}

# sends PEER: eight flows, whose packets go on until they are steered
sends()
{
	psn=$((psn + 8))
	flows "$1" "$qpns" "$psn" && steered "$1" 8
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
	fabric_sysctl net.ipv4.icmp_ratelimit=0
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

# Wait until the daemon has moved the flows, as these would lose packets of their new path. A path
# that is down by its lost data alone, because all routers are at their limit, is used again soon.
loses_until_down()
{
	lose "$@"
	busywait 2000 went down "$1" "router|leaf"
}

ports()
{
	on_h0 "$rocesteer" --json job show --job 1 | jq -S -c \
		'[.peers[] | {address, ports}] | sort_by(.address)'
}
