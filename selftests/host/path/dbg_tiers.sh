#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path discover in a fat tree: 3 peers in our pod, 28 in others

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/path/path.sh
. selftests/host/lib/pods.sh

map=$dir/ports.json
own=(10.1.1.{1..3})
far=(10.1.{2,3,4,5,6}.{1..5} 10.1.7.{1..3})

# learn [OPTION...]: of all peers; $asked routers have answered
learn()
{
	local before status

	rm -f "$map"
	before=$(answers)
	discover --peer-file - --out "$map" "$@" < <(printf '%s\n' "${own[@]}" "${far[@]}") >/dev/null
	status=$?
	asked=$(($(answers) - before))
	echo "$asked answers"
	jq -c '[.peers[] | [.hop, .leaf_hop, .linear, .probed, (.paths | length)]] | group_by(.) |
		map([length] + .[0])[]' "$map"
	return "$status"
}

# has_paths AGGS CORES: a path by each agg in the pod, and by each core across
has_paths()
{
	jq -e --argjson aggs "$1" --argjson cores "$2" '
		all(.peers[]; (.address | split(".")[2] | tonumber) as $leaf |
			.leaf == "10.255.0.\($leaf + 1)" and
			[.hop, .leaf_hop, (.paths | length)] ==
				if $leaf < 2 then [2, 3, $aggs] else [3, 5, $cores] end)' "$map"
}

# The agg of each path is the one that a probe of its port meets; aggs take turns.
names_aggs()
{
	local port via peer=${far[-1]} n=0

	while read -r port via; do
		[[ $(on h0 selftests/net/probe.py 10.1.0.1 "$peer" 2 "$port" 1) == "$port $via" ]] ||
			return
		n=$((n + 1))
	done < <(jq -r --arg peer "$peer" '.peers[] | select(.address == $peer) | .paths[] |
		"\(.ports[0]) \(.via)"' "$map")
	echo "$n ports"
	((n)) && jq -e '([.peers[] | select(.hop == 2)][0].paths | length) as $aggs |
		all(.peers[] | select(.hop == 3); [.paths[].via] as $via |
			all(range($via | length); $via[.] == $via[. % $aggs]))' "$map"
}

# right AGGS CORES: all ports, all leaves and all aggs
right()
{
	has_paths "$@" && names_aggs && path verify "$map" --all
}

is_linear()
{
	jq -e 'all(.peers[]; .linear)' "$map"
}

# linear KIND AGGS CORES
linear()
{
	pods_hash "$1" && learn && is_linear && ((asked <= 160)) && right "${@:2}"
}

# aggs_differ: those of our pod do, so cores are walked through
aggs_differ()
{
	pods_hash each && learn && right 2 4 &&
		jq -e 'all(.peers[]; .hop == 2 or (.linear | not))' "$map"
}

not_linear()
{
	pods_hash linux && learn && ! is_linear && right 2 4
}

# further_peer: the map has the model, the leaf and the cores.
further_peer()
{
	local before own=(10.1.1.1) far=(10.1.2.1 10.1.7.1)

	pods_hash apart && learn && before=$(answers) &&
		discover --peer 10.1.4.1 --out "$map" && asked=$(($(answers) - before)) &&
		echo "$asked answers" && ((asked <= 9)) && is_linear && right 2 4
}

silent_core()
{
	local status

	fabric_silence add core1
	learn --accept-incomplete
	status=$?
	fabric_silence del core1
	((!status)) && is_linear && has_paths 2 3
}

:
pods_make 4 h0:0 h1:1:3 h2:2:5 h3:3:5 h4:4:5 h5:5:5 h6:6:5 h7:7:3
pods_hash apart
fabric_silence add core1
sleep 0
in_ns h0 "$rocesteer" path discover --dev eth0 --peer 10.1.2.1,10.1.3.1,10.1.7.1,10.1.1.1 --out $map --accept-incomplete --probe-timeout 50
