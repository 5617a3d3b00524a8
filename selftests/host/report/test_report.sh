#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Recordings of hosts on a fabric of routers, and what a report says of them.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/lib/command.sh
. selftests/host/lib/routers.sh
. selftests/host/report/recorders.sh

# Each has a port map to the other, and a job with all flows.
ready()
{
	fabric_create 4 && defer fabric_destroy &&
		on h0 "$rocesteer" path discover --dev eth0 --peer 10.1.1.1 --out "$dir/map.h0" &&
		on h1 "$rocesteer" path discover --dev eth0 --peer 10.1.0.1 --out "$dir/map.h1"
}

load()
{
	local h

	for h in h0 h1; do
		on "$h" "$rocesteer" job load --job 1 --name '<script>' --all --no-verify \
			--port-map "$dir/map.$h" "$@" || return
	done
}

# The bytes of paths in the recording are those that leaf0 sent, but for probes and ARP.
records()
{
	local grown s

	begin h0 a.h0 && begin h1 a.h1 && busywait 5000 recording &&
		fabric_grown bytes fabric_send h0 10.1.1.1 "$(seq -s , 17 28)" "$(seq -s , 0 199)" &&
		fabric_send h1 10.1.0.1 17,18,19,20 0,1,2 && finish || return
	for ((s = 0; s < spines; s++)); do
		jq -e --argjson path "$s" --argjson sent "${grown[s]}" '
			([.flows[].sent[] | select(.path == $path) | .bytes] | add) as $b |
			($b - $sent | fabs) <= 0.01 * $sent + 500' "$dir/a.h0" || return
	done
	jq -e '.host == "h0" and (.flows | length == 12) and .format == 1 and
		(.groups[0] | .via == "10.1.0.254" and (.paths | all(has("entry"))))' "$dir/a.h0"
}

balanced()
{
	show "$dir/a.h0" --hosts "$dir/a.h1" >"$dir/balanced" &&
		jq -e '(.hosts | map(.host) == ["h0", "h1"]) and (.leaves | length == 2) and
			(.links | length == 16) and .collisions == [] and .gray == [] and
			all(.groups[]; .imbalance == 1)' "$dir/balanced" &&
		"$rocesteer" report show "$dir/a.h0" --hosts "$dir/a.h1"
}

# Three flows of one path, of which each is sent again from one packet back, again and again
loses()
{
	local qpns psns i

	qpns=$(on h0 "$rocesteer" --json flow show |
		jq -r '[.flows[] | select(.path == 2) | .dqpn | tostring] | join(",")') &&
		psns=$(for ((i = 300; i < 340; i++)); do printf '%d,%d,%d,' "$i" $((i + 1)) "$i"; done) &&
		begin h0 lossy && busywait 5000 recording &&
		fabric_send h0 10.1.1.1 "$(seq -s , 17 28)" "$(seq -s , 200 299)" &&
		fabric_send h0 10.1.1.1 "$qpns" "${psns%,}" && finish &&
		show "$dir/lossy" >"$dir/json" &&
		jq -e '.gray | length == 1 and .[0].cause == "loss" and
			.[0].spine == "10.9.0.10" and .[0].other.spine == "10.9.0.10"' "$dir/json" &&
		return
	jq '.gray, .groups' "$dir/json"
	return 1
}

# The daemon finds the paths of flows that are observed. ECMP has them meet.
meets()
{
	on h0 "$rocesteer" job steer off --job 1 && on h1 "$rocesteer" job steer off --job 1 || return
	daemon_start &&
		fabric_send h0 10.1.1.1 "$(seq -s , 17 28)" 300 && busywait 5000 found 17 12 &&
		begin h0 ecmp --no-probe && busywait 5000 recording &&
		fabric_send h0 10.1.1.1 "$(seq -s , 17 28)" "$(seq -s , 301 349)" && finish
	status=$?
	daemon_stop
	((!status)) && show "$dir/ecmp" >"$dir/json" &&
		jq -e '(.groups[0] | .imbalance > 1 and .mode == "observed") and
			(.collisions | length > 0 and all(.flows_on == (.flows | length) and
				.flows_on > .fair)) and
			any(.notes[]; test("no probes"))' "$dir/json" && return
	cat "$dir/json"
	return 1
}

# spread FIRST: ${on[]} gets the numbers of 64 new queue pairs whose flows are observed, by path.
spread()
{
	local first=$1 p

	fabric_send h0 10.1.1.1 "$(seq -s , "$first" $((first + 63)))" 0 &&
		busywait 5000 found "$first" 64 || return
	for p in 0 1 2 3; do
		on[p]=$(on h0 "$rocesteer" --json flow show | jq -r --argjson p "$p" --argjson first "$first" '
			[.flows[] | select(.dqpn >= $first and .path == $p) | .dqpn] | join(" ")')
	done
}

# found FIRST NR: the daemon has found the paths of so many flows of queue pairs from FIRST on
found()
{
	on h0 "$rocesteer" --json flow show | jq -e --argjson first "$1" --argjson nr "$2" '[.flows[] |
		select(.dqpn >= $first)] | length == $nr and all(has("path"))' >/dev/null
}

# named QPN,..: these flows send while a recording runs; the report is in $dir/json not later than
# two seconds after they began
named()
{
	local began

	begin h0 named --no-probe && busywait 5000 recording || return
	began=${EPOCHREALTIME/./}
	fabric_send h0 10.1.1.1 "$1" "$(seq -s , "$psn" $((psn + 20)))" && finish &&
		show "$dir/named" >"$dir/json" || return
	psn=$((psn + 21))
	echo "$(((${EPOCHREALTIME/./} - began) / 1000)) ms"
	((${EPOCHREALTIME/./} - began <= 2000000))
}

# Four flows on four paths, of which then two meet; other ones each time
names_collisions()
{
	local -a on a b c d
	local round psn=1 one two

	daemon_start && spread 1000
	status=$?
	read -ra a <<<"${on[0]}" && read -ra b <<<"${on[1]}" && read -ra c <<<"${on[2]}" &&
		read -ra d <<<"${on[3]}"
	for ((round = 0; !status && round < $(few 5 50); round++)); do
		one=${a[round % ${#a[@]}]} two=${a[(round + 1) % ${#a[@]}]}
		named "$one,${b[round % ${#b[@]}]},${c[round % ${#c[@]}]},${d[round % ${#d[@]}]}" &&
			jq -e '(.groups[0].flows == 4) and .collisions == []' "$dir/json" &&
			named "$one,$two,${b[round % ${#b[@]}]},${c[round % ${#c[@]}]}" &&
			jq -e --argjson qpns "[$one, $two]" '[.collisions[] | select(.direction == "up") |
				.spine, (.flows | map(.dqpn) | sort)] == ["10.9.0.2", ($qpns | sort)]' \
				"$dir/json" || status=1
	done
	daemon_stop
	((!status)) || { echo "${on[@]}"; cat "$dir/json"; }
	return "$status"
}

compares()
{
	show "$dir/a.h0" --against "$dir/ecmp" --html "$dir/page.html" >"$dir/json" &&
		jq -e '.comparison | map({(.measure): .difference}) | add |
			.imbalance < 0 and .rounds == 0 and .bytes > 0' "$dir/json" &&
		! grep -qF '"<script>"' "$dir/page.html" &&
		grep -qF '"name":"\u003cscript>"' "$dir/page.html"
}

# refused CODE FILE OPTION...
refused()
{
	fails 2 "$1" '' show "${@:2}"
}

# spoilt FILTER: a.h0 with a change is refused
spoilt()
{
	jq "$1" "$dir/a.h0" >"$dir/bad" && ! show "$dir/bad" >"$dir/json" &&
		jq -e --arg file "$dir/bad" '.error.message | startswith($file)' "$dir/json" &&
		return
	echo "$1"
	cat "$dir/json"
	return 1
}

refuses()
{
	refused periods "$dir/a.h0" --hosts "$dir/a.h0" &&
		jq '.groups[].job = 7' "$dir/a.h0" >"$dir/other" &&
		refused periods "$dir/a.h0" --against "$dir/other" &&
		jq '.begin = "2020-01-01T00:00:00Z"' "$dir/a.h1" >"$dir/other" &&
		refused periods "$dir/a.h0" --hosts "$dir/other" &&
		spoilt '.format = 2' && spoilt 'del(.groups)' && spoilt '.flows[0].dqpn = -1' &&
		spoilt '.groups[0].paths[0].router = "x"' && spoilt '.groups[0].paths[1] = 3' &&
		spoilt '.groups[0].paths = [range(65)]' && spoilt '.begin = "yesterday"' &&
		spoilt '.flows[0].sent[0].bytes = 1e30' && spoilt '.events = [{}]' &&
		spoilt '.flows[0].group = 1' && spoilt '.flows[0].sent[0].path = 4' &&
		spoilt '[.]' && ! "$rocesteer" report show "$dir/map.h0"
}

# at_once STATUS CODE OPTION...: record is refused before the period
at_once()
{
	fails "$1" "$2" '' on h0 timeout 60 "$rocesteer" --json report record --seconds 600 "${@:3}"
}

finds_out_first()
{
	cp "$dir/map.h0" "$dir/kept" &&
		at_once 2 usage --out "$dir/new" --host '' &&
		at_once 1 no-job --out "$dir/new" --job 99 &&
		at_once 1 write --out "$dir" &&
		at_once 1 write --out /dev/full &&
		at_once 1 write --out "$dir/none/new" &&
		at_once 2 bad-file --out "$dir/map.h0" &&
		cmp "$dir/kept" "$dir/map.h0" && [[ ! -e $dir/new ]]
}

# finds_out_first, of a file system without room, which takes files without contents
no_room()
{
	mkdir -p "$dir/full" && mount -t tmpfs -o size=4k full "$dir/full" || return
	head -c 4096 /dev/zero >"$dir/full/all"
	at_once 1 write --out "$dir/full/new"
	status=$?
	umount "$dir/full"
	return "$status"
}

# An old recording, and an empty file, are replaced.
replaces_its_own()
{
	jq . "$dir/a.h0" >"$dir/old" && : >"$dir/empty" &&
		on h0 "$rocesteer" report record --no-probe --seconds 1 --out "$dir/old" &&
		on h0 "$rocesteer" report record --no-probe --seconds 1 --out "$dir/empty" &&
		show "$dir/old" --html "$dir/page.html" && show "$dir/empty" --html "$dir/page.html"
}

page_spares_inputs()
{
	cp "$dir/a.h0" "$dir/kept" && cp "$dir/a.h1" "$dir/hosts" &&
		refused bad-file "$dir/a.h0" --html "$dir/a.h0" &&
		refused bad-file "$dir/a.h0" --hosts "$dir/hosts" --html "$dir/hosts" &&
		refused bad-file "$dir/a.h0" --html "$dir/map.h0" &&
		cmp "$dir/kept" "$dir/a.h0" && cmp "$dir/a.h1" "$dir/hosts"
}

empty_names()
{
	refused usage "$dir/a.h0" --hosts , && refused usage "$dir/a.h0" --against "$dir/ecmp,"
}

# A recording without flows has no imbalance, and no rounds of a million packets.
without_traffic()
{
	jq '.flows = []' "$dir/a.h0" >"$dir/idle" &&
		show "$dir/ecmp" --against "$dir/idle" | jq -e '.comparison |
			map(select(.measure == "imbalance" or (.measure | test("per_million"))) |
				.now != null and .before == null and .difference == null) == [true, true]' &&
		"$rocesteer" report show "$dir/ecmp" --against "$dir/idle" |
		grep -E '^imbalance  +-  +1\.[0-9]+  +-$'
}

# The event is 0.7 s behind the beginning, which is 0.6 s behind a second.
event_times()
{
	jq '.begin = "2026-01-01T00:00:00.600Z" | .events = [{ms: 700, event: "start"}]' "$dir/a.h0" \
		>"$dir/late" && show "$dir/late" | jq -e '.timeline == [{seconds: 0.7, host: "h0",
			time: "2026-01-01T00:00:01.300Z", event: "start"}]' &&
		jq -e '.begin | test("[.][0-9]{3}Z$")' "$dir/a.h0" &&
		spoilt '.begin = "2026-01-01T00:00:00.6Z"' && spoilt '.ms = 4294967296'
}

no_job()
{
	on h0 "$rocesteer" job unload --all && on h1 "$rocesteer" job unload --all &&
		at_once 1 no-job --out "$dir/none" && [[ ! -e $dir/none ]]
}

check "a fabric and port maps of two hosts are made" ready
check "both hosts load a job" load
check "a recording has the bytes that the switch sent on each path" records
check "recordings of two hosts make one fabric, on which balanced flows do not meet" balanced
check "a path whose packets are sent again is told by its two links" loses
check "flows that are observed meet on links, which are named" meets
check "flows that meet are named within two seconds, and balanced flows do not meet" \
	names_collisions
check "two periods are compared, and the page escapes names" compares
check "files that do not fit together, or are no recordings, are refused" refuses
check "record finds out before the period what would lose it" finds_out_first
check "record finds out before the period that there is no room" no_room
check "record replaces recordings and empty files" replaces_its_own
check "a page replaces no recording, and no other file than a page" page_spares_inputs
check "an empty name in a list of recordings is refused" empty_names
check "where nothing was sent there is no imbalance to compare with" without_traffic
check "events have the time of the daemon to the millisecond" event_times
check "without a job there is nothing to record" no_job
ktap_finish
