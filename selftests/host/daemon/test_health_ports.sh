#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ports that the daemon finds again when routers hash otherwise

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/daemon/health.sh
more=30,31,32,33,34,35

# All flows take their planned path, by the kernel's own choice.
lands_as_planned()
{
	local peer

	for peer in 10.1.1.1 10.1.1.2; do
		show | jq -r --arg peer "$peer" \
			--slurpfile map "$dir/ports.json" '.flows[] |
			select(.peer == $peer) | .pieces[] | "\(.port) " +
			$map[0].peers[0].paths[.path].router' |
			sort -u >"$dir/planned"
		[[ -s $dir/planned ]] && cmp -s <(cut -d ' ' -f 2 "$dir/planned") \
			<(cut -d ' ' -f 1 "$dir/planned" |
			fabric_oracle 10.1.0.1 "$peer") || return
	done
}

# The address of the job is gone, so its device can send nothing.
cannot_send()
{
	fabric_link h0 rs0 h0 rs1 && ip -n "${prefix}h0" addr add 10.77.0.1/32 dev rs0 &&
		jq '.device = "rs0" | .peers |= [first |
			.source = "10.77.0.1" | .paths |= [first]]' \
			"$dir/ports.json" >"$dir/unsent.json" &&
		on_h0 "$rocesteer" job load --job 2 --all --port-map "$dir/unsent.json" &&
		ip -n "${prefix}h0" addr del 10.77.0.1/32 dev rs0 &&
		busywait 20000 events 'any(.[]; .event == "error")'
}

# The event comes once, and paths of other jobs are watched.
hashes_otherwise()
{
	restarts && cannot_send && lands_as_planned || return
	kill -STOP "$daemon"
	in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed=7
	! lands_as_planned && kill -CONT "$daemon" &&
		busywait 60000 lands_as_planned && is_down &&
		busywait 20000 used 0 1 2 3 &&
		events 'any(.[]; .event == "path-moved" and .router) and
			any(.[]; .event == "remapped" and .job == 1) and
			all(.[]; .event != "path-down") and
			[.[] | select(.event == "error").device] == ["rs0"]'
}

# The pid of the process that looks for ports
stop_search()
{
	read -r search <"/proc/$daemon/task/$daemon/children"
	[[ $search ]] && kill -STOP "$search"
}

# Another job has got the number before the search ends. This job has one path less, so all
# path numbers differ. The leaf does not answer, which holds the search up. Job 2 keeps the
# tables.
job_is_replaced()
{
	local seed search='' result

	restarts && on_h0 "$rocesteer" path discover --dev eth0 \
		--peer 10.1.1.1,10.1.1.2 --paths 4 --out "$dir/all.json" &&
		jq '.peers[].paths |= [.[1:][] | .path -= 1]' "$dir/all.json" \
			>"$dir/fewer.json" && vanish leaf1 iif lo || return
	for seed in 11 12 13; do
		in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed="$seed"
		busywait 20000 stop_search && break
	done
	in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed=7
	on_h0 "$rocesteer" job unload --job 1 &&
		on_h0 "$rocesteer" job load --job 1 --all \
			--port-map "$dir/fewer.json" && appear leaf1
	result=$?
	kill -CONT "$search"
	((!result)) && busywait 20000 events 'any(.[]; .event == "remapped")' &&
		ports && [[ $(ports) == "$(jq -S -c '[.peers[] |
			{address, ports: .paths | map(.ports[0])}] |
			sort_by(.address)' "$dir/fewer.json")" ]]
}

# finds PEER: each of its ports takes the path that fewer.json says
finds()
{
	on_h0 "$rocesteer" --json job show --job 1 | jq -r --arg peer "$1" \
		'.peers[] | select(.address == $peer).ports[]' >"$dir/planned"
	cmp -s <(jq -r --arg peer "$1" '.peers[] |
			select(.address == $peer).paths[].router' \
			"$dir/fewer.json") <(fabric_oracle 10.1.0.1 "$1" <"$dir/planned")
}

finds_all()
{
	finds 10.1.1.1 && finds 10.1.1.2
}

hashes_otherwise_again()
{
	kill -STOP "$daemon"
	finds_all && in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_seed=8
	! finds_all && kill -CONT "$daemon" && busywait 60000 finds_all
}

# loads_slice HOST ADDRESS ROUTER PEER: load it by the address that the host's leaf uses for
# the spine
loads_slice()
{
	on "$1" "$rocesteer" path discover --dev eth0 --source "$2" --peer "$4" \
		--paths 4 --out "$dir/$1.json" &&
		on "$1" "$rocesteer" job load --job 3 --flow "$4/99" \
			--port-map "$dir/$1.json" --cluster "$dir/cluster.json" \
			--slice-job one || return
	on "$1" "$rocesteer" --json job show --job 3 >"$dir/shown"
	on "$1" "$rocesteer" job unload --job 3 &&
		jq -ce --arg router "$3" '.groups[0].routers == [$router]' "$dir/shown"
}

# A spine answers from the interface on which a probe arrives, so each leaf knows another
# address of the spine.
both_load_a_slice()
{
	jq -n '{leaves: 2, spines: 4, gpus_per_leaf: 1, gpus_per_server: 1,
		routers: [range(2) as $l | [range(4) | "10.9.\($l).\(4 * . + 2)"]],
		nics: [[["10.1.0.1"]], [["10.1.1.1"]]]}' >"$dir/cluster.json" &&
		"$rocesteer" slice alloc --cluster "$dir/cluster.json" --gpus 2 --job one &&
		loads_slice h0 10.1.0.1 10.9.0.2 10.1.1.1 &&
		loads_slice h1 10.1.1.1 10.9.1.2 10.1.0.1
}

# Two spines with two links to each leaf, which routers tell apart
has_links()
{
	on_h0 "$rocesteer" job unload --all && daemon_stop && fabric_destroy &&
		fabric_create 2 2 || return
	fabric_sysctl net.ipv4.icmp_errors_use_inbound_ifaddr=1
	rm "$dir/ports.json"
	on_h0 "$rocesteer" path discover --dev eth0 --peer 10.1.1.1 \
		--out "$dir/ports.json" && load && daemon_start &&
		on_h0 "$rocesteer" --json job show --job 1 | jq -ce --slurpfile map \
			"$dir/ports.json" '$map[0].peers[0].paths as $paths |
			.groups[0] | (.routers | length) == 8 and
			.routers == [$paths[].router] and .path_leaves == [$paths[].leaf]'
}

# Discovery finds the ports of the job on the job's paths.
ports_take_their_paths()
{
	on_h0 "$rocesteer" path discover --dev eth0 --peer 10.1.1.1 --json >"$dir/now" &&
		on_h0 "$rocesteer" --json job show --job 1 | jq -e --slurpfile now \
			"$dir/now" '.peers[] | select(.address == "10.1.1.1") | .ports as $ports |
			$now[0].peers[0].paths | length == 8 and
			all(.[]; any(.ports[] == $ports[.path]; .))'
}

links_hash_otherwise()
{
	ports_take_their_paths || return
	kill -STOP "$daemon"
	fabric_downlinks 0 1 1 0
	fabric_downlinks 1 1 1 0
	! ports_take_their_paths && kill -CONT "$daemon" &&
		busywait 60000 ports_take_their_paths &&
		events 'any(.[]; .event == "path-moved" and .router and .path_leaf) and
			any(.[]; .event == "remapped" and .job == 1) and
			all(.[]; .event != "path-down")'
}

world_is_empty()
{
	on_h0 "$rocesteer" job unload --all && daemon_stop &&
		fabric_destroy && ! ip netns list | grep "^$prefix" &&
		[[ ! $(find /sys/fs/bpf -name 'rs_*') ]]
}

ktap_plan 7
defer fabric_destroy
ready && defer daemon_kill && starts || exit
check "ports are found again when the fabric hashes otherwise" attempt hashes_otherwise
check "ports that are found late are not given to the next job" attempt job_is_replaced
check "a job with some of the paths finds these paths again" attempt hashes_otherwise_again
check "both hosts of a slice load it, whatever their leaf calls the spines" both_load_a_slice
check "a job uses parallel links that the leaf tells apart" has_links
check "ports of parallel links are found again when spines hash otherwise" links_hash_otherwise
check "no namespace or device is left" world_is_empty
ktap_finish
