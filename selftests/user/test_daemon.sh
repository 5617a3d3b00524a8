#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The daemon plans what flows there are, on this machine's kernel, without the
# module: flows are frames sent by a veth. In a network namespace and a BPF file
# system of its own.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
rocesteer=$(realpath -- "${ROCESTEER:-build/rocesteer}")

if [[ ! ${ROCESTEER_TEST_DAEMON:-} ]]; then
	unshare --net --mount mount -t bpf bpf /sys/fs/bpf 2>/dev/null ||
		skip_all "no network namespaces or BPF: not root, or not allowed"
	[[ ! -e /sys/module/rocesteer ]] ||
		skip_all "the module is loaded"
	ROCESTEER_TEST_DAEMON=1 exec unshare --net --mount "$0"
fi

dir=$(mktemp -d)
defer rm -rf "$dir"
map=$dir/map.json
daemon=''

ready()
{
	local p paths=()

	mount -t bpf bpf /sys/fs/bpf && mount -t tmpfs run /run &&
		ip link add name rs0 mtu 4200 type veth peer name rs1 &&
		ip link set rs0 up &&
		ip link set rs1 up || return
	for p in 0 1 2 3; do
		paths+=("{\"path\":$p,\"router\":\"10.255.1.$((p + 1))\",
			\"ports\":[$((50000 + p))]}")
	done
	cat >"$map" <<-E
	{"format":1,"generation":1,"created":"2026-01-02T03:04:05Z",
	 "device":"rs0","hop":2,"peers":[
	  {"address":"10.1.1.1","source":"10.1.0.1","local":false,
	   "leaf":"10.255.0.2","probed":4,
	   "paths":[$(IFS=,; echo "${paths[*]}")]},
	  {"address":"10.1.1.2","source":"10.1.0.1","local":false,
	   "leaf":"10.255.0.2","probed":4,
	   "paths":[$(IFS=,; echo "${paths[*]:0:3}")]}]}
	E
}

socket()
{
	echo /run/rocesteer/netns-*.sock
}

is_serving()
{
	[[ -S $(socket) ]]
}

# daemon_start: until it serves; its events are in $dir/events
daemon_start()
{
	"$rocesteer" daemon --json >"$dir/events" 2>"$dir/errors" &
	daemon=$!
	busywait 20000 is_serving
}

daemon_stop()
{
	local status

	kill "$daemon"
	wait "$daemon"
	status=$?
	daemon=''
	cat "$dir/errors"
	((!status)) && ! is_serving
}

daemon_kill()
{
	[[ ! $daemon ]] || kill -KILL "$daemon"
}

flows()
{
	selftests/user/flows.py rs0 10.1.0.1 "$@"
}

# The byte of rs_jobs that says: all peers restore the order of this job.
resequence()
{
	local pin value

	pin=$(echo /sys/fs/bpf/rocesteer/netns-*)
	mapfile -t value < <(bpftool -j map lookup pinned "$pin/rs_jobs" \
		key 1 0 0 0 | jq -r '.value[]')
	value[21]=1
	bpftool map update pinned "$pin/rs_jobs" key 1 0 0 0 \
		value "${value[@]}" && touch "$pin"
}

# load RULE
load()
{
	"$rocesteer" job load --job 1 --all --paths "$map" --split "$1" &&
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

# planned FLOWS PIECES [PATHS]: that many, and all paths carry the same, and the
# groups count the flows that are at home on them
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
		jq -e --slurpfile show "$dir/flows" '.groups[0].load ==
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
	daemon_start && daemon_stop
}

is_alone()
{
	daemon_start &&
		"$rocesteer" --json daemon |
			jq -e '.error.code == "running"' &&
		[[ $(stat -c %a "$(socket)") == 600 ]] && is_serving
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

note()
{
	grep -c 'until the daemon runs' "$1"
}

# job load says what is missing, when it is.
says_what_to_do()
{
	"$rocesteer" job load --job 1 --all --paths "$map" --split wrap \
		2>"$dir/with" && unload && daemon_stop &&
		"$rocesteer" job load --job 1 --all --paths "$map" \
			--split wrap 2>"$dir/without" && unload || return
	[[ $(note "$dir/with") == 0 && $(note "$dir/without") == 1 ]] &&
		daemon_start
}

# Six flows, four paths: s - gcd(n, s) pieces more than flows, four are whole.
splits_wrap()
{
	load wrap && flows 10.1.1.1 16,17,18,19,20,21 && is_planned 6 8 &&
		jq -e '[.flows[].pieces | select(length == 1)] | length >= 4' \
			"$dir/flows"
}

events()
{
	jq -s "$1" "$dir/events"
}

# One more: nobody who is whole moves.
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

# What was planned stays as it is.
restarts()
{
	local before after

	before=$(show | jq -c '[.flows[].pieces]')
	daemon_stop && daemon_start || return
	after=$(show | jq -c '[.flows[].pieces]')
	[[ $before == "$after" ]] && events 'map(select(.event == "replan"))' |
		jq -e 'length == 0'
}

# After a crash its socket is still there.
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

# A flow to a peer that one path has no port to: none of the group uses it.
lacks_a_port()
{
	unload && load wrap && flows 10.1.1.1 16,17,18 && is_planned 3 6 &&
		flows 10.1.1.2 19 && is_planned 4 6 3 &&
		jq -e 'all(.flows[].pieces[]; .path != 3 and .port != 0)' \
			"$dir/flows"
}

splits_equal()
{
	unload && load equal && flows 10.1.1.1 16,17,18,19,20,21 &&
		is_planned 6 8 &&
		jq -e '[.flows[].pieces | map(.to - .from) | unique] |
			unique == [[1]]' "$dir/flows"
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

# Without a rule, or where nobody restores the order, flows stay whole. The
# daemon plans flows of the other job behind them, so it has seen them.
stays_whole()
{
	unload && load none && flows 10.1.1.1 16,17,18,19,20,21 && whole &&
		unload && "$rocesteer" job load --job 1 --all --paths "$map" \
			--split wrap && flows 10.1.1.1 16,17,18,19,20,21 &&
		whole && flows 10.1.1.1 22,23 && resequence &&
		is_planned 8 8
}

unloads()
{
	unload && [[ ! $(find /sys/fs/bpf -name 'rs_*') ]] &&
		load wrap && flows 10.1.1.1 16,17,18,19,20,21 &&
		is_planned 6 8
}

# As a flow is whose queue pair has its port for good: whole, and with a flag
# in rs_flows that says so.
has_port()
{
	local pin entry key value

	pin=$(echo /sys/fs/bpf/rocesteer/netns-*)
	entry=$(bpftool -j map dump pinned "$pin/rs_flows" |
		jq --argjson dqpn "$1" \
			'.[] | select(.formatted.key.dqpn == $dqpn)')
	mapfile -t key < <(jq -r '.key[]' <<<"$entry")
	mapfile -t value < <(jq -r '.value[]' <<<"$entry")
	value[0]=$((value[0] | 16))
	value[12]=1
	bpftool map update pinned "$pin/rs_flows" key "${key[@]}" \
		value "${value[@]}"
}

path_of()
{
	show | jq -c --argjson dqpn "$1" \
		'.flows[] | select(.dqpn == $dqpn) | [.pieces[].path]'
}

# The flow that would be cut stays whole, another is cut instead.
goes_around()
{
	local cut before

	unload && load wrap && flows 10.1.1.1 16,17,18,19,20 &&
		is_planned 5 8 && cut=$(jq '.flows[] |
			select(.pieces | length > 1).dqpn' "$dir/flows") &&
		unload && daemon_stop && load wrap &&
		flows 10.1.1.1 16,17,18,19,20 && has_port "$cut" &&
		before=$(path_of "$cut") && daemon_start && is_planned 5 8 &&
		[[ $(path_of "$cut") == "$before" && $before != *,* ]]
}

# A hundred packets of each flow: a period has 2 or 4.
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

# What top shows of a time in which all of that was sent.
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

# What each flow sent, by path: 100 packets at a time, to two paths where it is cut.
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

# At the end of the daemon everything stays where it is.
leaves()
{
	daemon_stop && is_planned 5 8 && unload
}

ktap_plan 20
check "a device and a port map" ready
defer daemon_kill
check "it starts and ends without a job" starts_and_ends
check "there is one, and its socket is for root" is_alone
check "it needs privileges" unprivileged
check "job load says that it is needed" says_what_to_do
check "flows are split by wrap" splits_wrap
check "one more flow" adds
check "a restart changes nothing" restarts
check "a crash leaves nothing behind that hinders" crashes
check "events were lost" loses_events
check "a peer without a port for a path" lacks_a_port
check "flows are split by equal" splits_equal
check "flows that may not be split are not" stays_whole
check "the tables go and come back" unloads
check "top shows what goes over the paths" tops
check "flow show has jobs, actuators, and bytes by path" shows
check "a steered queue pair stays where it is" goes_around
check "a SIGTERM leaves the tables" leaves
check "nothing is left" test -z "$(socket | grep -v '\*')"
check "nothing is pinned" test -z "$(find /sys/fs/bpf -name 'rs_*')"
ktap_finish
