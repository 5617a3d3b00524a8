#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The daemon's plans, without the module: flows are frames that a veth sends. The test has a
# network namespace and a BPF file system of its own.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/command.sh

ready()
{
	local ports=(50000 50001 50002 50003)

	veth rs0 rs1 && ip link set lo up && ip address add 10.1.0.1/32 dev lo || return
	port_map rs0 "$(peer 10.1.1.1 "${ports[@]}")" "$(peer 10.1.1.2 "${ports[@]:0:3}")" \
		"$(peer 10.1.1.3 "${ports[@]}")" >"$map"
}

socket()
{
	echo /run/rocesteer/netns-*.sock
}

is_serving()
{
	[[ -S $(socket) ]]
}

daemon_ends()
{
	daemon_stop && ! is_serving && return
	cat "$dir/errors"
	return 1
}

flows()
{
	selftests/host/flows.py rs0 10.1.0.1 "$@"
}

# poke BYTE VALUE: set a byte of job 1
poke()
{
	set_entry jobs '.key[0] == "0x01"' "$1" "$2" && touch /sys/fs/bpf/rocesteer/netns-*
}

# set_down BITS: paths that are down
set_down()
{
	set_entry groups true 8 "$1" && kill -HUP "$daemon"
}

# All peers of this job resequence.
resequence()
{
	poke 19 1
}

# splits none|fewest|all: the rule of the job
splits()
{
	local -A rules=([none]=0 [fewest]=1 [all]=2)

	poke 17 "${rules[$1]}"
}

# by_place PATH: deal the flows of each peer from this path on
by_place()
{
	set_entry groups true 4 "$1" && poke 18 1
}

# load RULE
load()
{
	"$rocesteer" job load --job 1 --all --port-map "$map" && splits "$1" &&
		resequence
}

unload()
{
	"$rocesteer" job unload --job 1
}

show()
{
	"$rocesteer" --json flow show
}

# planned FLOWS PIECES [PATHS]: so many, with equal loads on paths, and groups count the flows
# that are at home there
planned()
{
	show >"$dir/flows" &&
		jq -e --argjson flows "$1" --argjson pieces "$2" \
			--argjson paths "${3:-4}" '
			[.flows[].pieces | .[-1].to as $period | .[] |
				{path, share: ((.to - .from) / $period)}] |
			(length == $pieces) and
			([group_by(.path)[] | map(.share) | add] |
				length == $paths and all(.[];
				. - $flows / $paths | fabs < 0.000001))' \
			"$dir/flows" >/dev/null &&
		counted
}

counted()
{
	"$rocesteer" --json job show --job 1 |
		jq -e --slurpfile show "$dir/flows" '.groups[0].flows ==
			[range(4) as $p | [$show[0].flows[] |
				select(.path == $p)] | length]' >/dev/null
}

is_planned()
{
	busywait 20000 planned "$@" && return
	jq -c '.flows[] | [.peer, .dqpn, .pieces]' "$dir/flows" | head
	return 1
}

starts_and_ends()
{
	daemon_start && daemon_ends
}

is_alone()
{
	daemon_start &&
		"$rocesteer" --json daemon |
			jq -e '.error.code == "running"' &&
		[[ $(stat -c %a "$(socket)") == 600 ]] && is_serving || return
	cp "$rocesteer" "$dir/rocesteer" && chmod 755 "$dir" &&
		setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$dir/rocesteer" --json monitor |
		jq -e '.error | .code == "permission" and .hint == "Run it as root."'
}

is_delayed()
{
	local pid

	ROCESTEER_LOCK_WAIT=0 fails 4 locked '' "$rocesteer" --json daemon || return
	"$rocesteer" daemon 2>"$dir/said" &
	pid=$!
	busywait 10000 grep -s "waiting for /run/rocesteer" "$dir/said"
	kill "$pid"
	wait "$pid"
	(($? == 128 + 15))
}

# Only root can open the locked directory, and a lock stops neither the daemon nor its end.
waits_no_longer()
{
	[[ $(stat -c %a /run/rocesteer) == 700 ]] && while_locked /run/rocesteer is_delayed
}

# The message has the reason, not its consequence.
cannot_create()
{
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount bash -c 'mount -t tmpfs -o ro run /run &&
		"$1" --json daemon' - "$rocesteer" >"$dir/said"
	cat "$dir/said"
	grep "cannot create /run/rocesteer: Read-only file system" "$dir/said"
}

tops_nothing()
{
	[[ $("$rocesteer" top --interval 10 --count 5) == "no job is loaded" ]] &&
		(($("$rocesteer" --json top --interval 10 --count 5 | wc -l) == 5))
}

unprivileged()
{
	local cap

	for cap in net_admin bpf,-sys_admin net_raw; do
		setpriv "--bounding-set=-$cap" --inh-caps=-all \
			"$rocesteer" --json daemon |
			jq -e '.error.code == "permission"' || return
	done
}

# Six flows on four paths make s - gcd(n, s) more pieces than flows, and four flows are whole.
splits_fewest()
{
	load fewest && flows 10.1.1.1 16,17,18,19,20,21 && is_planned 6 8 &&
		jq -e '[.flows[].pieces | select(length == 1)] | length >= 4' \
			"$dir/flows"
}

events()
{
	jq -s "$1" "$dir/events"
}

# No whole flow moves for another flow.
adds()
{
	local before

	before=$(jq -c '[.flows[] | select(.pieces | length == 1) |
		[.dqpn, .path]]' "$dir/flows")
	flows 10.1.1.1 22 && is_planned 7 10 &&
		jq -e --argjson before "$before" '[.flows[] | [.dqpn, .path]] as
			$now | ($before | length) == 4 and ($before - $now | length) <= 1' \
			"$dir/flows"
}

restarts()
{
	local before after

	before=$(show | jq -c '[.flows[].pieces]')
	daemon_ends && daemon_start || return
	after=$(show | jq -c '[.flows[].pieces]')
	[[ $before == "$after" ]] && events 'map(select(.event == "replan"))' |
		jq -e 'length == 0'
}

# The socket of the killed daemon is still there.
crashes()
{
	kill -KILL "$daemon"
	wait "$daemon"
	is_serving && flows 10.1.1.1 23 && daemon_start && is_planned 8 8
}

# The buffer has room for 4,095 events.
loses_events()
{
	local qpns

	kill -STOP "$daemon"
	qpns=$(seq -s , 1000 6000)
	flows 10.1.1.1 "$qpns"
	kill -CONT "$daemon"
	is_planned 5009 5012
}

# No flow of the group uses a path to which one peer has no port.
lacks_a_port()
{
	unload && load fewest && flows 10.1.1.1 16,17,18 && is_planned 3 6 &&
		flows 10.1.1.2 19 && is_planned 4 6 3 &&
		jq -e 'all(.flows[].pieces[]; .path != 3 and .port != 0)' \
			"$dir/flows"
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

# Also flows that begin meanwhile do not take a path that is down, nor a path for which their
# peer has no port.
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

has_read()
{
	[[ $(events '[.[] | select(.event == "replan")] | last.flows') == "$1" ]]
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

unloads()
{
	unload && [[ ! $(find /sys/fs/bpf -name 'rs_*') ]] &&
		load fewest && flows 10.1.1.1 16,17,18,19,20,21 &&
		is_planned 6 8
}

# pieces_of FLOWS: the fewest pieces of that many flows over four paths
pieces_of()
{
	local common=1

	(($1 % 2)) || common=2
	(($1 % 4)) || common=4
	echo $(($1 + 4 - common))
}

# The pipe has no room for the events, and nobody reads. All flows send, because silent flows
# would expire if that takes long.
plans_on()
{
	local n

	for n in {7..52}; do
		flows 10.1.1.1 "16,17,18,19,20,21,$(seq -s , 107 $((n + 100)))" "$n" &&
			is_planned "$n" "$(pieces_of "$n")" || return
	done
}

# A late reader is told of lost events.
tells_lost()
{
	local line

	flows 10.1.1.1 "$((dqpn++))" || return
	while read -r -t 0.02 -u "$pipe" line; do
		[[ $line != *'"event":"lost"'* ]] || return 0
	done
	return 1
}

# Each flow adds an event.
fills()
{
	flows 10.1.1.1 "$((dqpn++))" && ! /usr/bin/python3 -c 'import select, sys
poll = select.poll()
poll.register(0, select.POLLOUT)
sys.exit(not poll.poll(0))' <&"$pipe"
}

# Nobody reads while the daemon ends.
plans_unread()
{
	local dqpn=200

	plans_on && busywait 20000 tells_lost && busywait 20000 fills
}

is_silent()
{
	unload && daemon_ends && load fewest &&
		flows 10.1.1.1 16,17,18,19,20,21 &&
		unread plans_unread "$rocesteer" --json daemon && daemon_start
}

says_locked()
{
	events 'any(.[]; .event == "error" and
		(.message | test("process [0-9]+ .sleep. has .* locked")))' |
		jq -e .
}

reads_and_ends()
{
	touch /sys/fs/bpf/rocesteer/netns-* && flows 10.1.1.1 21 && busywait 20000 has_read 6 &&
		busywait 20000 says_locked && daemon_ends
}

# A command that keeps the tables locked stops neither the daemon nor its end.
is_not_stopped()
{
	unload && load fewest && flows 10.1.1.1 16,17,18,19,20 && is_planned 5 8 &&
		while_locked /sys/fs/bpf/rocesteer reads_and_ends && daemon_start && is_planned 6 8
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

# told EVENT: the last event of the device
told()
{
	events '[.[] | select(.event | startswith("device-"))] | last' |
		jq -e --arg event "$1" '.event == $event and .job == 1 and
			.device == "rs0"'
}

served()
{
	"$rocesteer" --json job list >"$dir/list" &&
		"$rocesteer" --json top --count 1 --interval 10 >"$dir/top" &&
		jq -e --argjson served "$1" 'all(.jobs[]; .device == "rs0" and
			.served == $served)' "$dir/list" &&
		jq -e --arg state "$2" '.groups | length >= 1 and
			all(.[].paths[]; .state == $state)' "$dir/top"
}

# A path of a device without programs is not up, with a daemon and without.
device_goes()
{
	local monitor

	unload && load fewest && flows 10.1.1.1 16,17,18,19,20 && is_planned 5 8 &&
		served true up && ip link del rs0 &&
		busywait 20000 told device-gone && served false unserved &&
		show | jq -e '.flows == []' || return
	"$rocesteer" --json monitor >"$dir/monitor" &
	monitor=$!
	busywait 20000 grep -s '"device-gone".*"rs0"' "$dir/monitor"
	kill "$monitor" && wait "$monitor"
	grep '"device-gone"' "$dir/monitor"
}

# The new device has another number, and no programs.
device_comes()
{
	veth rs0 rs1 && busywait 20000 told device-back && served true up &&
		flows 10.1.1.1 30,31,32,33,34,35 && is_planned 6 8 &&
		(($(programs rs0) == 2))
}

# programs DEVICE [COMMAND..]: print how many are attached, as COMMAND.. sees it
programs()
{
	"${@:2}" bpftool net show dev "$1" | grep -c 'rocesteer'
}

# The new device has the same number, and no daemon has seen the old one go.
device_comes_later()
{
	local ifindex

	ifindex=$(ip -j link show rs0 | jq '.[0].ifindex')
	"$rocesteer" job load --job 2 --port-map "$map" --flow 10.1.1.1/99 &&
		daemon_ends && ip link del rs0 && served false unserved &&
		veth rs0 rs1 index "$ifindex" && served false unserved &&
		show | jq -e '(.flows | length) == 7 and
			all(.flows[]; has("actuator") | not)' &&
		daemon_start && busywait 20000 served true up &&
		events 'map(select(.event == "device-back").job) | sort' |
			jq -e '. == [1, 2]' &&
		show | jq -e '.flows == []' &&
		"$rocesteer" --json job show --job 2 |
			jq -e '.served and all(.groups[]; .flows | add == 0)' &&
		"$rocesteer" job unload --job 2 && flows 10.1.1.1 40,41,42,43,44,45 &&
		busywait 20000 counts_six
}

counts_six()
{
	"$rocesteer" --json job show --job 1 |
		jq -e '.groups[0].flows | add == 6'
}

# A name may have any character but blanks, colons and slashes.
is_shown()
{
	ip link set rs9 name $'rs\e9' && "$rocesteer" job list >"$dir/list" &&
		cat -v "$dir/list" && grep 'rs?9' "$dir/list" &&
		! grep $'\e' "$dir/list" && ip link set $'rs\e9' name rs9 &&
		ip link set rs9 up && busywait 20000 is_named rs9
}

device_is_renamed()
{
	ip link set rs0 name rs9 && ip link set rs9 up &&
		busywait 20000 is_named rs9 && is_shown && ip netns add "rs$$" &&
		ip link set rs9 netns "rs$$" &&
		busywait 20000 gone_by_name rs9 &&
		(($(programs rs9 ip netns exec "rs$$") == 0)) &&
		ip link del rs1 && ip netns del "rs$$" && veth rs9 rs1 &&
		busywait 20000 is_served rs9 && ip link set rs9 name rs0 &&
		ip link set rs0 up && busywait 20000 is_served rs0
}

is_served()
{
	"$rocesteer" --json job list | jq -e --arg name "$1" \
		'.jobs[0] | .device == $name and .served'
}

# The job keeps the old name, and the daemon has the new one.
is_named()
{
	bpftool -j map dump pinned \
		"$(echo /sys/fs/bpf/rocesteer/netns-*)/rs_jobs" |
		jq -e --arg name "$1" \
			'.[0].formatted.value.device | startswith($name)'
}

gone_by_name()
{
	"$rocesteer" --json job list | jq -e --arg name "$1" \
		'.jobs[0] | .device == $name and (.served | not)'
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
	show | jq -c --argjson dqpn "$1" \
		'.flows[] | select(.dqpn == $dqpn) | [.pieces[].path]'
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

# A period is 2 or 4 packets, and each flow sends a hundred.
sends_exactly()
{
	flows 10.1.1.1 16,17,18,19,20,21 "$(seq -s , "$psn" $((psn + 99)))"
	psn=$((psn + 100))
	jq -s -e 'any(.[]; .groups[].paths | length == 4 and
		(map(.packets_per_s) | unique | length == 1) and all(.[];
		.packets_per_s > 0 and .bytes_per_s > 300 * .packets_per_s and
		.rounds_per_s == 0 and .state == "up" and .pieces == 2))' \
		"$dir/top" >/dev/null
}

# Print top's output of an interval in which all of that was sent.
tops()
{
	local top psn=100 status

	"$rocesteer" --json top --interval 500 >"$dir/top" &
	top=$!
	busywait 20000 sends_exactly
	status=$?
	kill "$top"
	wait "$top"
	((!status)) && "$rocesteer" top --count 1 --interval 10 |
		grep 'STATE.*ROUNDS/S'
}

# Each flow sends 100 packets at a time, over two paths if it is cut.
shows()
{
	show | jq -e 'all(.flows[]; .job == 1 and .actuator == "packet" and
		([.pieces[].path] - [.sent[].path] == []) and
		([.sent[].bytes] | add) == .bytes and
		([.sent[].packets] | add) == .packets and
		.packets % 100 == 1) and any(.flows[];
		.pieces | length == 2)' &&
		"$rocesteer" flow show | grep -E ' [0-3]:[0-9]+,[0-3]:[0-9]+ '
}

is_told_full()
{
	(($(grep -c '"table-full","job":1,"device":"rs0"' "$dir/events") == 1))
}

# Each packet of a flow without an entry is refused.
refused_is_told()
{
	flows 10.1.1.1 70000 && is_told_full
}

has_tables()
{
	[[ $(readlink "/proc/$daemon/fd/"*) == *bpf-map* ]]
}

# A table of 65,536 flows is full. The event comes once, also after more events than their
# buffer has room for.
table_is_full()
{
	local i

	# The daemon has read the tables, and no longer locks them.
	load none && daemon_start && busywait 20000 has_tables &&
		flock /sys/fs/bpf/rocesteer kill -STOP "$daemon" || return
	for ((i = 16; i < 16 + 65536; i += 8192)); do
		flows 10.1.1.1 "$(seq -s , "$i" $((i + 8191)))" || return
	done
	"$rocesteer" --json stat | jq -e '.verdicts |
		.steered == 65536 and .table_full == 0' &&
		flows 10.1.1.1 70000,70001 && ! is_told_full &&
		"$rocesteer" --json stat | jq -e '.verdicts.table_full == 2' &&
		kill -CONT "$daemon" && busywait 20000 refused_is_told &&
		daemon_ends && is_told_full && unload
}

leaves()
{
	daemon_ends && is_planned 5 8 && unload
}

ktap_plan 34
check "a device and a port map are made" ready
defer daemon_kill
check "the daemon starts and ends without a job" starts_and_ends
check "the daemon's directory is root's, and a lock on it delays the daemon for a bounded time" \
	waits_no_longer
check "the daemon names the file that is in its way" cannot_create
check "top without a job says so once" tops_nothing
check "a second daemon is refused, and the socket is for root" is_alone
check "the daemon without privileges is refused" unprivileged
check "flows are split into the fewest pieces" splits_fewest
check "a new flow gets its part of the paths" adds
check "a restart of the daemon changes no plan" restarts
check "a daemon starts after another was killed" crashes
check "the daemon reads the tables again when events were lost" loses_events
check "a peer without a port for a path gets the other paths" lacks_a_port
check "flows of --split all take all usable paths in turn" splits_all
check "flows of --split all take paths by weight" splits_by_weight
check "whole flows take the path of their host's place" deals_by_place
check "whole flows that began elsewhere are moved to the path of their host's place" \
	returns_to_place
check "flows that may not be split stay whole" stays_whole
check "the daemon follows tables that are removed and loaded again" unloads
check "top shows the rates of paths" tops
check "flow show prints jobs, actuators and bytes by path" shows
check "a client that does not read does not stop the daemon" is_silent
check "a process that holds the lock of the tables does not stop the daemon" is_not_stopped
check "the daemon reads tables again on a change and on SIGHUP" notices_changes
check "a device that goes away is reported, and its job is no longer served" device_goes
check "a device that comes back is steered again" device_comes
check "a device that came back while no daemon ran is steered again" device_comes_later
check "the daemon follows a device's new name, and drops one that leaves the namespace" \
	device_is_renamed
check "a queue pair with the port of an unknown path is planned around" plans_around_unknown_paths
check "a queue pair with a steered label stays on its path" goes_around
check "SIGTERM ends the daemon and leaves the tables" leaves
check "a full table of flows is reported as an event" table_is_full
check "no socket of the daemon is left" test -z "$(socket | grep -v '\*')"
check "nothing is pinned in the end" test -z "$(find /sys/fs/bpf -name 'rs_*')"
ktap_finish
