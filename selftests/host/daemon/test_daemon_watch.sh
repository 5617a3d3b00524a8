#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The daemon notices by few probes that switches hash otherwise, and learns the ports of all peers
# again

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/daemon/health.sh
spines=8
peers=(10.1.1.{1..8})

peers_send()
{
	local peer

	for peer in "${peers[@]}"; do
		sends "$peer" || return
	done
}

# send_some PEER PORT..: twenty packets from the first port, forty from the second ..
send_some()
{
	in_ns h0 python3 -c 'import socket, sys
for i, port in enumerate(map(int, sys.argv[2:])):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("10.1.0.1", port))
    for _ in range(20 * i + 20):
        s.sendto(b"x" * 32, (sys.argv[1], 4791))' "$@"
}

# right PEER: each port takes the path of the job, of those that are up
right()
{
	local ports paths i
	local -a grown

	on_h0 "$rocesteer" --json job show --job 1 >"$dir/job"
	mapfile -t ports < <(jq --arg peer "$1" '.groups[0].down as $down | .peers[] |
		select(.address == $peer).ports | to_entries[] |
		select(.key | IN($down[]) | not).value' "$dir/job")
	mapfile -t paths < <(jq -r '.groups[0] | .down as $down | .routers | to_entries[] |
		select(.key | IN($down[]) | not).value | split(".")[3] | (tonumber - 2) / 4' \
		"$dir/job")
	((${#ports[@]} && ${#ports[@]} == ${#paths[@]})) || return
	fabric_grown packets send_some "$1" "${ports[@]}" >/dev/null
	for i in "${!paths[@]}"; do
		((grown[paths[i]] / 20 == i + 1)) || return
	done
}

all_right()
{
	local peer

	for peer in "${peers[@]}"; do
		right "$peer" || return
	done
}

# The leaf has one address for all of its answers.
ready_linear()
{
	local peer

	# shellcheck disable=SC2046 # words
	fabric_create "$spines" && fabric_hash on linear_hash &&
		ip -n "${prefix}leaf1" route replace $(ip -n "${prefix}leaf1" route show 10.1.0.0/24 |
			sed '1s/$/ src 10.1.1.254/') || return
	for peer in "${peers[@]:2}" 10.1.1.9; do
		ip -n "${prefix}h1" addr add "$peer/24" dev eth0 || return
	done
	on_h0 "$rocesteer" job load --job 1 --all --dev eth0 && daemon_start &&
		busywait 30000 peers_send && all_right
}

# hash_by SEED
hash_by()
{
	on leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed="$1" &&
		router_hash_seed "${prefix}leaf0"
}

# One port in five seconds
few_probes()
{
	local before n

	before=$(answers)
	sleep 9
	n=$(($(answers) - before))
	echo "$n probes in 9 s"
	((n >= 1 && n <= 2))
}

is_told()
{
	peers_send
	events "any(.[]; .event == \"$1\")"
}

# notices SEED MOST: the leaf hashes by another seed: so many probes find all ports again
notices()
{
	local before n start

	before=$(answers)
	start=$(date +%s%N)
	hash_by "$1" && ! all_right && busywait 15000 is_told path-moved || return
	echo "noticed after $((($(date +%s%N) - start) / 1000000)) ms"
	busywait 60000 is_told remapped || return
	n=$(($(answers) - before))
	echo "remapped after $((($(date +%s%N) - start) / 1000000)) ms, $n probes"
	all_right && events 'all(.[]; .event != "error")' && ((n <= $2))
}

# One peer has 14 bits, 5 further next hops and 6 tests. All of them have a port at first, one for
# the leaf, and the others up to three. Five are watched meanwhile. A walk would take 16 of
# each peer at least.
learns()
{
	notices 4711 $((14 + 5 + 6 + 8 * 2 + 7 * 3 + 5))
}

# The store has the new ports, and a model by which a further peer takes some probes.
next_job()
{
	local before n

	daemon_stop && on_h0 "$rocesteer" job unload --job 1 &&
		on_h0 "$rocesteer" job load --job 1 --all --dev eth0 2>"$dir/said"
	cat "$dir/said"
	! grep -q "found again" "$dir/said" && daemon_start && peers_send && all_right || return
	before=$(answers)
	! sends 10.1.1.9 && busywait 20000 sends 10.1.1.9 && right 10.1.1.9 || return
	n=$(($(answers) - before))
	echo "$n probes"
	((n <= 7))
}

# The port of the path that is down is the one without an answer.
learnt_once()
{
	events '[.[] | select(.event == "remapped")] | length == 1'
}

went_back()
{
	peers_send
	is_down && all_right
}

# Four of the eight paths, one of which is down
some_paths()
{
	local spine

	jq '.peers[].paths |= .[:4]' /var/lib/rocesteer/paths/*.json \
		>"$dir/ports.json" && daemon_stop && on_h0 "$rocesteer" job unload --job 1 &&
		load && daemon_start && peers_send || return
	spine=$(spine_of 2)
	vanish "$spine"
	lose 2
	busywait 20000 went down 2 router && notices 4712 1000 && is_down 2 || return
	appear "$spine"
	busywait 20000 went_back && learnt_once
}

ends()
{
	daemon_stop && on_h0 "$rocesteer" job unload --job 1
}

mount -t tmpfs tmpfs /var/lib || exit
defer fabric_destroy
defer daemon_kill
ktap_plan 6
check "a job of a device, and flows to eight peers" ready_linear
check "the daemon asks for one port in five seconds" few_probes
check "another hash is noticed in 15 s, and learnt" learns
check "the next job has what was learnt" next_job
check "a job with some of the paths, one of them down, learns the others" some_paths
check "all ends" ends
ktap_finish
