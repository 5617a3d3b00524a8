#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The daemon without the module: its start and end, what stops it and what does not, and events

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/daemon/daemon.sh

starts_and_ends()
{
	daemon_start && daemon_ends
}

is_alone()
{
	daemon_start &&
		"$rocesteer" --json daemon | jq -e '.error.code == "running"' &&
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
		setpriv "--bounding-set=-$cap" --inh-caps=-all "$rocesteer" --json daemon |
			jq -e '.error.code == "permission"' || return
	done
}

# Six flows on four paths make s - gcd(n, s) more pieces than flows, and four flows are whole.
splits_fewest()
{
	load fewest && flows 10.1.1.1 16,17,18,19,20,21 && is_planned 6 8 &&
		jq -e '[.flows[].pieces | select(length == 1)] | length >= 4' "$dir/flows"
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
	((!status)) && "$rocesteer" top --count 1 --interval 10 | grep 'STATE.*ROUNDS/S'
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
	daemon_ends && is_planned 6 8 && unload
}

ktap_plan 21
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
check "the daemon follows tables that are removed and loaded again" unloads
check "top shows the rates of paths" tops
check "flow show prints jobs, actuators and bytes by path" shows
check "a client that does not read does not stop the daemon" is_silent
check "a process that holds the lock of the tables does not stop the daemon" is_not_stopped
check "SIGTERM ends the daemon and leaves the tables" leaves
check "a full table of flows is reported as an event" table_is_full
check "no socket of the daemon is left" test -z "$(socket | grep -v '\*')"
check "nothing is pinned in the end" test -z "$(find /sys/fs/bpf -name 'rs_*')"
ktap_finish
