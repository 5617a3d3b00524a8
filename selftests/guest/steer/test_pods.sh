#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A fat tree of 4 pods whose tiers hash by a CRC: path discover of all 15 other hosts, and queue
# pairs of host 0 to a host of its pod and to two of others, split over all paths of each

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/split.sh

peers=(2 4 15)		# below leaves 1, 2 and 7, of pods 0, 1 and 3
bytes=$(($(few 4 16) << 20))	# to each
# Links that the data may take, by its ways to each of these leaves
ways='{
	leaf_agg: [.leaf_agg[0]],
	agg_core: [[.agg_core[0, 1][]]],
	core_agg: [[.core_agg[][1]], [.core_agg[][3]]],
	agg_leaf: [[.agg_leaf[0, 1][1]], [.agg_leaf[2, 3][0]], [.agg_leaf[6, 7][1]]]}'

pods_up()
{
	steer_fabric --pods 4 --hosts 2 --rate 8mbit --host-rate 32mbit &&
		fabric_hash linear_hash on && module_load && defer module_unload &&
		selftests/net/fabric.sh hosts --json | jq -e 'map([.leaf, .pod]) ==
			[range(16) | [(. / 2 | floor), (. / 4 | floor)]]'
}

# all_but HOST: addresses of all others
all_but()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		((i == $1)) || host_ip "$i"
	done | paste -sd,
}

# Host 1 has the leaf of host 0.
finds_all()
{
	host_exec 0 rocesteer path discover --dev eth0 --source "$(host_ip 0)" \
		--peer "$(all_but 0)" --out "$dir/ports0.json" >"$dir/discovered" || return
	jq -c '.peers[] | [.address, .hop, .leaf_hop, .linear, .probed, (.paths | length)]' \
		"$dir/ports0.json"
	jq -e '(.peers | length) == 15 and all(.peers[];
		(.address | split(".")[2] | tonumber) as $leaf |
		if $leaf == 0 then .local
		else .linear and .leaf == "10.255.0.\($leaf + 1)" and
			[.hop, .leaf_hop, (.paths | length)] ==
				if $leaf == 1 then [2, 3, 2] else [3, 5, 4] end end)' \
		"$dir/ports0.json"
}

holds()
{
	host_exec 0 rocesteer path verify "$dir/ports0.json" --all &&
		host_exec 0 rocesteer path prove --rdma-dev rxe0 --port-map "$dir/ports0.json"
}

# grown BEFORE AFTER: of the bytes on all links
grown()
{
	jq -cn --argjson a "$1" --argjson b "$2" 'reduce ($b | paths(numbers)) as $p
		($b; setpath($p; getpath($p) - ($a | getpath($p))))'
}

# write_all: to all peers at the same time, by a queue pair each. Sets the NAKs and duplicates
# that came of it, and what each of the links carried.
write_all()
{
	local i before after sent

	{
		for i in 0 "${peers[@]}"; do
			host_line "$i" "/sys/fs/cgroup/test$i"
		done
		printf 'flow 0 %d '"$bytes"'\n' 1 2 3
	} >"$dir/traffic"
	mapfile -t before < <(counts)
	sent=$(fabric_links)
	timeout $((200 * TIME_SCALE)) build/guest/selftests/writes 1 "$message" 2 20 \
		<"$dir/traffic" || return
	carried=$(grown "$sent" "$(fabric_links)" | jq -c "$ways")
	mapfile -t after < <(counts)
	naks=$((after[0] - before[0])) duplicates=$((after[1] - before[1]))
	echo "$naks NAKs, $duplicates duplicates"
	jq -r 'to_entries[] | "\(.key) \(.value)"' <<<"$carried"
}

# Data has one way by hash: of the links to a leaf one has it all.
by_hash()
{
	write_all && ((!naks)) && jq -e --argjson bytes "$bytes" \
		'all((.core_agg, .agg_leaf)[]; max > $bytes and (sort | .[-2]) < $bytes / 20)' \
		<<<"$carried"
}

jobs_up()
{
	local peer

	for peer in "${peers[@]}"; do
		discover "$peer" 0 >/dev/null && job "$peer" on || return
	done
	job 0 on && daemon_up
}

# Each of the links has an equal share of the data, to 1 %.
evenly()
{
	write_all && jq -e --argjson bytes "$bytes" '[.[][] | (max - min) * length / add * 100] as $spread |
		"differ by % \($spread | map(. * 100 | round / 100))",
		(([.[][] | add] | min) > $bytes and ($spread | max) <= 1)' <<<"$carried"
}

in_order()
{
	((!naks && !duplicates))
}

fabric_has_host_netns || skip_all "hosts have no namespaces"
ktap_plan 8
check "a fat tree of 4 pods with 16 hosts" pods_up
check "path discover finds 2 paths in the pod and 4 across, with their hops" finds_all
check "all ports keep their paths, also for the NIC's own packets" holds
check "by hash each queue pair has one way" by_hash
check "jobs of host 0 and of its peers, and the daemon" jobs_up
check "split data to hosts in the pod and across loads all links of each tier alike" evenly
check "no packet is out of order" in_order
check "jobs leave nothing behind" jobs_unload 0 "${peers[@]}"
ktap_finish
