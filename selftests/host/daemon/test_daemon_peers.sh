#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Peers that a job's port map does not have: the daemon finds their ports when a flow begins

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/daemon/health.sh

discover()
{
	on_h0 "$rocesteer" path discover --dev eth0 --peer 10.1.1.1 --out "$dir/ports.json"
}

ready_linear()
{
	fabric_create 4 && fabric_hash on linear_hash && discover &&
		jq -e '.peers[0].linear' "$dir/ports.json" && load && daemon_start
}

# right PEER: its ports take the paths of the job
right()
{
	on_h0 "$rocesteer" --json job show --job 1 | jq -r --arg peer "$1" '.groups[0].routers as $r |
		.peers[] | select(.address == $peer) | .ports | to_entries[] |
		"\(.value) \($r[.key])"' >"$dir/ports" && [[ -s $dir/ports ]] || return
	cut -d ' ' -f 1 "$dir/ports" | while read -r port; do
		spine=$(fabric_uplink 10.1.0.1 "$1" "$port") &&
			echo "$port 10.9.0.$((spine * 4 + 2))"
	done | diff - "$dir/ports"
}

# A peer of the same leaf. Its first packets leave as they came.
same_leaf()
{
	! sends 10.1.1.2 && busywait 20000 sends 10.1.1.2 && right 10.1.1.2 &&
		[[ $(events_of error) == 0 ]]
}

events_of()
{
	jq -s --arg name "$1" '[.[] | select(.event == $name)] | length' "$dir/events"
}

# The peer is under our own leaf: there is nothing to steer, and nothing to say.
own_leaf()
{
	! sends 10.2.0.1 && busywait 5000 is_quiet && ! sends 10.2.0.1
}

is_quiet()
{
	[[ ! $(<"/proc/$daemon/task/$daemon/children") ]]
}

# No router answers on the way there.
no_host()
{
	ip -n "${prefix}h0" route add 10.99.0.0/16 via 10.1.0.254 &&
		! sends 10.99.0.1 && busywait 20000 complains_of 10.99.0.1
}

complains_of()
{
	jq -s -e --arg peer "$1" 'any(.[]; .event == "error" and (.message | test($peer)))' \
		"$dir/events"
}

# is_whole PEER: its ports take all four paths
is_whole()
{
	on_h0 "$rocesteer" --json job show --job 1 | jq -e --arg peer "$1" '.peers[] |
		select(.address == $peer) | (.partial | not) and (.ports | length == 4 and all(. > 0))'
}

# The job has one group, of one path, from which nothing follows: the host is the fourth of its pod.
by_place()
{
	on_h0 "$rocesteer" job unload --job 1 && jq '
		(.peers[0] | .address = "10.1.7.1" | .leaf = "10.9.7.1" | .paths |= .[:1]) as $other |
		.peers = [$other] + [range(3) | {address: "10.0.0.\(. + 1)", source: "10.1.0.1",
			local: true, probed: 0, paths: []}]' "$dir/ports.json" >"$dir/place.json" &&
		on_h0 "$rocesteer" job load --job 1 --all --deal place --no-verify \
			--port-map "$dir/place.json" &&
		! sends 10.1.1.2 && busywait 20000 sends 10.1.1.2 && begins_at 3 4
}

# begins_at PATH PATHS: the group of so many paths does
begins_at()
{
	bpftool -j map dump pinned "$(echo /sys/fs/bpf/rocesteer/netns-*)/rs_groups" | jq -e \
		--argjson first "$1" --argjson nr "$2" 'map(.formatted.value |
			select(.nr_paths == $nr).first) == [$first]'
}

# Without a model the flows take the paths of a few ports, while all ports are walked through.
not_linear()
{
	daemon_stop && on_h0 "$rocesteer" job unload --job 1 && fabric_hash off linear_hash &&
		rm "$dir/ports.json" && discover && load && daemon_start || return
	! sends 10.1.1.2 && busywait 30000 sends 10.1.1.2 &&
		busywait 30000 is_whole 10.1.1.2 && right 10.1.1.2 && steered 10.1.1.2 8
}

# The group has the paths of few ports at first, and then all.
not_linear_alone()
{
	on_h0 "$rocesteer" job unload --job 1 &&
		on_h0 "$rocesteer" job load --job 1 --all --dev eth0 &&
		! sends 10.1.1.1 && busywait 30000 sends 10.1.1.1 &&
		busywait 30000 is_whole 10.1.1.1 && right 10.1.1.1 && steered 10.1.1.1 8
}

# No peer is named: both are found, and the next job has them.
by_device()
{
	on_h0 "$rocesteer" job unload --job 1 && rm /var/lib/rocesteer/paths/* &&
		fabric_hash on linear_hash &&
		on_h0 "$rocesteer" job load --job 1 --all --dev eth0 || return
	fails 1 no-device "--dev: there is no network device none0" on_h0 "$rocesteer" job load \
		--job 2 --all --dev none0 --json || return
	fails 1 no-device "no RDMA device with RoCE v2 has a network device here" on_h0 \
		"$rocesteer" job load --job 2 --all --json || return
	! sends 10.1.1.1 && busywait 20000 sends 10.1.1.1 && right 10.1.1.1 &&
		! sends 10.1.1.2 && busywait 20000 sends 10.1.1.2 && right 10.1.1.2 || return
	busywait 5000 is_quiet && on_h0 "$rocesteer" job unload --job 1 &&
		on_h0 "$rocesteer" job load --job 1 --all --dev eth0 &&
		sends 10.1.1.1 && sends 10.1.1.2 && right 10.1.1.2
}

# What is kept is not right any more.
other_seed()
{
	on_h0 "$rocesteer" job unload --job 1 &&
		on leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed=4711 &&
		router_hash_seed "${prefix}leaf0" || return
	on_h0 "$rocesteer" job load --job 1 --all --dev eth0 2>"$dir/said"
	cat "$dir/said"
	grep -q "found again" "$dir/said" && ! sends 10.1.1.1 &&
		busywait 20000 sends 10.1.1.1 && right 10.1.1.1
}

has_ports()
{
	on_h0 "$rocesteer" --json job show --job 1 |
		jq -e --arg peer "$1" 'any(.peers[]; .address == $peer)' >"$dir/shown"
}

# Of the hosts of a job, one is the host itself, and no router leads to another one.
ahead()
{
	on_h0 "$rocesteer" job unload --job 1 && rm /var/lib/rocesteer/paths/* &&
		printf '%s\n' "10.1.0.1 # own" 10.99.0.7 10.1.1.1,10.1.1.2 10.2.0.1 >"$dir/hosts" &&
		on_h0 "$rocesteer" job load --job 1 --all --dev eth0 --peer-file "$dir/hosts" &&
		busywait 20000 has_ports 10.1.1.1 && busywait 20000 has_ports 10.1.1.2 &&
		sends 10.1.1.1 && sends 10.1.1.2 && right 10.1.1.2 &&
		busywait 20000 complains_of 10.99.0.7
}

# Each flow takes the router of its path.
takes_paths()
{
	on_h0 "$rocesteer" --json job show --job 1 >"$dir/shown"
	show | jq -r '.flows[] | select(.peer == "10.1.1.1") | "\(.dqpn) \(.port) \(.path)"' >"$dir/flows"
	awk '{ print $1, $2 }' "$dir/flows" |
		on_h0 selftests/host/path/qpn_router.py 10.1.0.1 10.1.1.1 2 >"$dir/took"
	awk '{ print $3 }' "$dir/flows" | while read -r path; do
		jq -r --argjson path "$path" '.groups[0].routers[$path]' "$dir/shown"
	done | diff - "$dir/took"
}

# Further queue pairs
more_send()
{
	psn=$((psn + 8))
	flows 10.1.1.1 100,101,102,103,104,105,106,107 "$psn" && steered 10.1.1.1 16
}

# Queue pair numbers are hashed, too: what the daemon learns says the ports of further queue pairs.
by_queue_pair()
{
	local before

	on_h0 "$rocesteer" job unload --job 1 && rm /var/lib/rocesteer/paths/* &&
		fabric_hash off linear_hash && fabric_hash on linear_qpn_hash &&
		on_h0 "$rocesteer" job load --job 1 --all --dev eth0 &&
		! sends 10.1.1.1 && busywait 20000 sends 10.1.1.1 || return
	before=$(answers)
	! more_send && busywait 20000 more_send || return
	echo "$(($(answers) - before)) answers to probes"
	(($(answers) - before <= 8)) && takes_paths && fabric_hash off linear_qpn_hash
}

ends()
{
	daemon_stop && on_h0 "$rocesteer" job unload --job 1
}

mount -t tmpfs tmpfs /var/lib || exit
defer fabric_destroy
defer daemon_kill
ktap_plan 12
check "a job with a port map of one peer" ready_linear
check "flows to another peer are steered soon, by ports that take their paths" same_leaf
check "a peer under our own leaf is left alone" own_leaf
check "a peer that no router leads to is told" no_host
check "a group of a new leaf begins at the host's place" by_place
check "where the hash is not linear, a new peer is found as well" not_linear
check "so is one of a job without a port map, whose paths are those of few ports first" \
	not_linear_alone
check "a job of a device needs no port map, and the next one has what was found" by_device
check "what was found and is out of date is found again" other_seed
check "hosts that are named are found ahead: the first packets to them are steered" ahead
check "where queue pair numbers are hashed, their ports follow from what was learnt" by_queue_pair
check "all ends" ends
ktap_finish
