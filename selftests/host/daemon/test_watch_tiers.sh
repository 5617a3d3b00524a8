#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The daemon in a fat tree: it finds the paths of flows that are observed, in the pod and across,
# and the ports of all peers again when a leaf or aggs hash otherwise

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/daemon/health.sh
. selftests/host/lib/pods.sh

near=10.1.1.1	# in our pod
peers=("$near" 10.1.5.1 10.1.7.1)

ready()
{
	pods_make 4 h0:0 h1:1 h2:5 h3:7 && pods_hash apart && maps
}

maps()
{
	rm -f "$map"
	on_h0 "$rocesteer" path discover --dev eth0 --peer "$(IFS=,; echo "${peers[*]}")" \
		--out "$map"
}

# load [OPTION...]
load()
{
	on_h0 "$rocesteer" job load --job 1 --all --port-map "$map" "$@" && daemon_start
}

steered()
{
	daemon_stop && on_h0 "$rocesteer" job unload --job 1 && maps && load && peers_send &&
		all_right
}

peers_send()
{
	local peer

	psn=$((psn + 8))
	for peer in "${peers[@]}"; do
		flows "$peer" "$qpns" "$psn" || return
	done
}

# passes PEER ROUTER PORT: a packet by this port does, our agg or a core
passes()
{
	local ttl=3

	[[ $1 != "$near" ]] || ttl=2
	[[ $(on h0 selftests/net/probe.py 10.1.0.1 "$1" "$ttl" "$3" 1) == "$3 $2" ]]
}

# pass NUMBER: so many lines on standard input say what passes
pass()
{
	local line n=0

	while read -ra line; do
		passes "${line[@]}" || return
		n=$((n + 1))
	done
	((n == $1))
}

# Each port of the job takes its path.
all_right()
{
	on_h0 "$rocesteer" --json job show --job 1 | jq -r '.groups as $groups | .peers[] |
		. as $peer | $groups[] | select(.leaf == $peer.leaf).routers | to_entries[] |
		"\($peer.address) \(.value) \($peer.ports[.key])"' | pass 10
}

# Each flow has the path that its own port takes.
flows_right()
{
	show | jq -r --slurpfile map "$map" '.flows[] | select(has("path")) | . as $flow |
		$map[0].peers[] | select(.address == $flow.peer) |
		"\(.address) \(.paths[$flow.path].router) \($flow.port)"' | pass $((8 * ${#peers[@]}))
}

observes()
{
	load --observe && peers_send && busywait 20000 flows_right
}

observes_again()
{
	router_hash_rotate "${prefix}leaf0" 20 && ! flows_right && busywait 60000 flows_right
}

is_told()
{
	peers_send
	events "any(.[]; .event == \"$1\")"
}

# notices COMMAND...: after that all ports are found again
notices()
{
	local before start

	before=$(answers)
	start=$(date +%s%N)
	"$@" || return
	if all_right; then
		echo "no port has moved"
		return 1
	fi
	busywait 30000 is_told path-moved || return
	echo "noticed after $((($(date +%s%N) - start) / 1000000)) ms"
	busywait 60000 is_told remapped || return
	echo "remapped after $((($(date +%s%N) - start) / 1000000)) ms," \
		"$(($(answers) - before)) answers"
	all_right && events 'all(.[]; .event != "error")' && daemon_stop && daemon_start
}

# hashes ROUTER BITS
hashes()
{
	router_hash_rotate "$prefix$1" "$2"
}

mount -t tmpfs tmpfs /var/lib || exit
defer fabric_destroy
defer daemon_kill
ktap_plan 8
check "a fat tree, and a port map" ready
check "the paths of flows that are observed are found" observes
check "so they are again when the leaf hashes otherwise" observes_again
check "a job is steered in its place" steered
check "ports are found again when the leaf hashes otherwise" notices hashes leaf0 25
check "so they are when an agg hashes otherwise than the others" notices hashes agg0 16
check "so they are when all aggs hash alike again" notices pods_hash shared
check "so they are when no hash is linear" notices pods_hash linux
ktap_finish
