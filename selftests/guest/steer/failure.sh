# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # what callers have
#
# Split flows from host 0 to $far while routers go silent. To be sourced. Callers set $paths, the
# number of these, and $first, which says in jq by which links packets of host 0 take the paths.
#
# A ROUTER is silent as a whole, and so is a link, as agg0-core1.

. selftests/guest/steer/steer.sh
. selftests/net/observe.sh

pins=/sys/fs/bpf/test_failure
qps=3
timeout=17	# of a queue pair: 4.096 us * 2^17
limit=$((3 * 4096 * (1 << timeout) / 1000000))	# ms

# failure_up: all that watches and steers, on a fabric with its port maps
failure_up()
{
	module_load && defer module_unload && observe_up && daemons_up &&
		job_load_cgroup 0 --split all --resequence on &&
		job_load_cgroup "$far" --split all --resequence on
}

# One daemon for each network namespace. The events of host 0's go to $dir/events.
daemons_up()
{
	local host n=0

	defer daemons_down
	for host in 0 "$far"; do
		((!n)) || [[ $(host_netns "$host") ]] || continue
		host_exec "$host" rocesteer --json daemon --probe-timeout 10 \
			>"$dir/daemon$host" 2>&1 &
		busywait 30000 daemons_run $((++n)) || return
	done
	host_exec 0 rocesteer --json monitor >"$dir/events" &
}

daemons_run()
{
	(($(find /run/rocesteer -name '*.sock' | wc -l) == $1))
}

# seen WHERE FILTER: jq of the packets on links, which jq chooses as well
seen()
{
	bpftool --json map dump pinned "$pins/seen" |
		jq "[.[].formatted | .key + .value | select($1)] | $2"
}

# links_of ROUTER: the links to it, or both directions of this link, for seen()
links_of()
{
	local sender=3

	[[ $1 != *core* ]] || sender=5
	case $1 in
	*-*)	echo "(.sender == $sender or .sender == $((sender + 1))) and" \
			".leaf == $(tr -cd 0-9 <<<"${1%-*}") and .index == ${1##*[a-z]}" ;;
	*)	echo ".sender == $sender and .index == ${1##*[a-z]}" ;;
	esac
}

all_carry()
{
	seen "$first" 'map(select(.ack == 0)) | group_by(.index) | length == '"$paths"' and
		all(.[]; map(.packets) | add > 20)' | grep -qx true
}

# All paths are used from now on.
are_used()
{
	observe_forget && busywait 60000 all_carry
}

# path_by ROUTER: the path in host 0's port map
path_by()
{
	local tier n below above self self6 near6

	router_of "${1##*-}"
	loopback "$tier" "$n"
	jq --arg router "$self" '.peers[0].paths[] | select(.router == $router).path' \
		"$dir/ports0.json"
}

# vanish ROUTER [RULE]: by default it loses all packets
vanish()
{
	local rule=("${@:2}")

	case $1 in
	*-*)	fabric_cut add "${1%-*}" "${1#*-}" ;;
	*)	ip -n "$1" rule add pref 1 "${rule[@]:-blackhole}" ;;
	esac
}

appear()
{
	case $1 in
	*-*)	fabric_cut del "${1%-*}" "${1#*-}" ;;
	*)	ip -n "$1" rule del pref 1 ;;
	esac
}

# told FILTER: of the events of job 1, which is host 0's
told()
{
	jq -s -e "[.[] | select(.job == 1)] | $1" "$dir/events"
}

daemon_told()
{
	told "$@" >/dev/null
}

# last_is up|down ROUTER
last_is()
{
	daemon_told "map(select(.path == $(path_by "$2") and .event != \"detour\")) |
		last.event == \"path-$1\""
}

all_up()
{
	local host

	for host in 0 "$far"; do
		host_exec "$host" rocesteer --json job show \
			--job $((host + 1)) |
			jq -e 'all(.groups[]; .down == [])' >/dev/null || return
	done
}

plan()
{
	flows_of 0 | jq -c '[.flows[] | select(.share and .job == 1) |
		{dqpn, on: [.pieces[].path] | sort}] | sort_by(.dqpn)'
}

# Set now, in ms.
look()
{
	local s ms _

	IFS='. ' read -r s ms _ </proc/uptime
	now=$((s * 1000 + 10#$ms * 10))
}

is_after()
{
	look
	((now > $1))
}

# off_since ROUTER TIME: the last packet of either direction to the router came within the limit
# after TIME
off_since()
{
	local where

	where=$(links_of "$1")
	took=$(($(seen "$where" 'map(.last) | max // 0') / 1000000 - $2))
	echo "$1: off it after $took ms, at most $limit ms"
	((took <= limit)) && return
	echo "since $2 ms:"
	seen "$where" 'map({leaf, dqpn, ack, packets, last})[]' | jq -c .
	return 1
}

# dies ROUTER [RULE]: sets $before and $after to the plans.
dies()
{
	local router=$1

	are_used || return
	before=$(plan)
	look
	start=$now
	vanish "$@"
	busywait 60000 last_is down "$router" || return
	busywait 60000 is_after $((start + 2 * limit))
	after=$(plan)
	off_since "$router" "$start"
}

# moved_least ROUTER: behind dies(), each flow keeps its paths but the dead one.
moved_least()
{
	echo "$before"
	echo "$after"
	jq -n -e --argjson before "$before" --argjson after "$after" \
		--argjson dead "$(path_by "$1")" '
		($after | length) == 3 and
		$after == ($before | map(.on -= [$dead]))'
}

# returns ROUTER: when it is back, it is used again, after its hold-down.
returns()
{
	appear "$1"
	busywait 60000 last_is up "$1" && busywait 60000 all_up && are_used &&
		told "map(select(.path == $(path_by "$1") and
			(.event | startswith(\"path-\")))) | map((.time[:19] + \"Z\" |
			fromdate) + (.time[19:-1] | tonumber)) |
			\"held down for \(.[-1] - .[-2]) s\", .[-1] - .[-2] >= 0.1"
}

# attempt COMMAND...: a failure shows the last events, and repairs the routers.
attempt()
{
	local router

	"$@" && return
	tail -n 30 "$dir/events"
	tail -n 30 "$dir/daemon"*
	plan
	write_end 2>/dev/null
	for router in $(routers 1) $(routers 2); do
		appear "$router" 2>/dev/null
	done
	return 1
}
