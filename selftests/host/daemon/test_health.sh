#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Paths that die, lose packets and come back under the daemon: flows leave a path that is dead, and
# no other

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/daemon/health.sh

# topped STATE PATH: top has shown this state
topped()
{
	jq -s -e "any(.[]; .groups[0].paths[$2].state == \"$1\")" "$dir/top" >/dev/null
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
	nsenter --net="/run/netns/${prefix}h0" "$rocesteer" --json top --interval 10 >"$dir/top" &
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

# The daemon checks one port in five seconds, so that none of them would do.
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
	jq -s -c '[.[] | select(.event == "path-down") | [.path, .hold_ms]]' "$dir/events"
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

# is_asked RECEIVED...: a probe has come to a spine since, which is $asked
is_asked()
{
	for asked in 0 1 2 3; do
		shift "$((asked > 0))"
		(($(received "spine$asked") <= $1)) || return 0
	done
	return 1
}

# The daemon does not judge a path that it is watching, so it has to examine the path again.
while_watched()
{
	local asked spine path
	local -a before=()

	restarts --probe-timeout 200 || return
	for spine in 0 1 2 3; do
		vanish "spine$spine"
		before+=("$(received "spine$spine")")
	done
	busywait 20000 is_asked "${before[@]}" || return
	for spine in 0 1 2 3; do
		((spine == asked)) || appear "spine$spine"
	done
	for path in 0 1 2 3; do
		[[ $(spine_of "$path") != "spine$asked" ]] || break
	done
	lose "$path"
	busywait 20000 went down "$path" router && appear "spine$asked" &&
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

ktap_plan 14
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
check "a path that dies right after its answers is taken down" attempt was_alive
check "a path that flaps is held down longer" attempt backs_off
check "a path is not down because answers come back by a dead path" attempt way_back
check "a path that loses data while it is watched is taken down" attempt while_watched
check "when the last path dies the paths that are held down are used again" attempt last_path
check "flows leave a spine that says that it has no route, before they repeat a packet" \
	attempt refused
ktap_finish
