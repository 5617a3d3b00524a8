#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path discover against Linux routers: paths, ports, and the file of the port map

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/path/path.sh
remote6=fd00:1:1::1,fd00:1:1::2

# By packets: the first port of each IPv6 path to the first peer
agrees6()
{
	local port router spine count=0

	while read -r port router; do
		spine=$(fabric_uplink fd00:1::1 fd00:1:1::1 "$port") || return
		# fd00:9:0:SPINE::2, without a group of 0
		echo "$port $router spine$spine"
		((spine)) || spine=''
		[[ $router == "fd00:9:${spine:+0:$spine:}:2" ]] || return
		count=$((count + 1))
	done < <(jq -r '.peers[0].paths[] | "\(.ports[0]) \(.router)"' "$dir/ports.json")
	((count == spines))
}

found4()
{
	found "$remote" "$1" && agrees
}

found6()
{
	found "$remote6" "$1" && agrees6
}

counts_generations()
{
	discover --peer "$remote" --out "$dir/ports.json" >/dev/null &&
		jq -e '.generation == 2' "$dir/ports.json"
}

keeps_other_files()
{
	local status

	echo precious >"$dir/other"
	discover --peer "$remote" --out "$dir/other"
	status=$?
	((status == 2)) && [[ $(<"$dir/other") == precious ]]
}

extra_ports()
{
	local map=$dir/ports.json library

	rm -f "$map"
	discover --peer "$remote" --for json --out "$map" &&
		has_ports "$map" 49152 512 && has_ports "$map" 65024 512 && agrees &&
		jq -e 'all(.peers[]; .probed == ([.paths[].ports[]] | length))' "$map" || return
	for library in ucx uccl; do
		path export "$map" --for "$library" || return
	done
	rm -f "$map"
	discover --peer "$remote" --for ucx --out "$map" &&
		has_ports "$map" 65024 512 && ! has_ports "$map" 49152 512
}

reports_missing()
{
	local json status before

	before=$(<"$dir/ports.json")
	json=$(discover --peer "$remote" --paths 5 --out "$dir/ports.json" --json)
	status=$?
	jq -c '.peers[0] | {probed, missing}' <<<"$json"
	((status == 1)) && [[ $(<"$dir/ports.json") == "$before" ]] &&
		jq -e '.incomplete and all(.peers[]; .missing == 1 and
			(.paths | length) == 4)' <<<"$json" >/dev/null
}

# Probes go one after the other, so the first ports are taken.
stops_when_found()
{
	discover --peer "$remote" --paths 4 --json |
		jq -e '(.incomplete | not) and
			all(.peers[]; (.paths | length) == 4)' >/dev/null &&
		discover --peer 10.1.1.1 --paths 2 --rate 5 --json |
		jq -ce '(.incomplete | not) and (.peers[0] |
			(.paths | length) == 2 and .probed < 10)'
}

# Answers are slow, so all probes are sent before two paths are known.
more_paths()
{
	local status

	tc -n "${prefix}leaf0" qdisc add dev dn0 root tbf rate 8kbit burst 120 \
		latency 60s || return
	doubts more --peer 10.1.1.1 --paths 2 --rate 10000 --probe-timeout 10000
	status=$?
	tc -n "${prefix}leaf0" qdisc del dev dn0 root
	return "$status"
}

# The peer is on the link, under our leaf, whether it listens or not.
is_local()
{
	local link

	link=$(ip -n "${prefix}leaf0" -6 -j addr show dev br1-0 scope link |
		jq -r '.[].addr_info[].local | values')
	discover --peer "10.1.0.254,10.2.0.1,fd00:2::1,$link" --json |
		jq -ce '[.peers[].local] == [true, true, true, true] and
			(.incomplete | not)'
}

is_local_listening()
{
	local status

	listen h3 &&
		discover --peer 10.2.0.1 --probe-timeout 50 --retries 1 --json |
		jq -e '.peers[0].local' >/dev/null
	status=$?
	kill "$listener"
	wait "$listener" 2>/dev/null
	return "$status"
}

incomplete()
{
	local before

	doubts few-ports --peer 10.1.1.1 --ports 4 &&
		doubts hop --peer 10.1.1.1 --hop 3 &&
		doubts near --peer 10.1.1.1 --hop 4 &&
		doubts peer-silent --peer 10.1.0.77 &&
		doubts one-path --peer 10.1.1.1 --hop 1 &&
		doubts peer-silent --peer 10.1.1.77 --paths 4 &&
		discover --peer 10.1.1.1 --ports 4 --out "$dir/few.json" --json \
			--accept-incomplete | jq -e '.incomplete' &&
		jq -e '.peers[0].probed == 4' "$dir/few.json" || return
	discover --peer 10.1.1.1 --ports 4 --out "$dir/none.json" 2>"$dir/stderr"
	(($? == 1)) && grep "none.json is not written" "$dir/stderr" || return
	before=$(<"$dir/few.json")
	discover --peer 10.1.1.1 --ports 4 --out "$dir/few.json" 2>"$dir/stderr"
	(($? == 1)) && grep "few.json is left as it was" "$dir/stderr" &&
		[[ $(<"$dir/few.json") == "$before" ]]
}

# The file keeps the peers that are not probed again, also when two commands add.
adds()
{
	local one two _

	rm -f "$dir/sum.json"
	ln -s sum.json "$dir/link.json"
	discover --peer 10.1.1.1 --paths 4 --out "$dir/sum.json" >/dev/null || return
	for _ in 1 2 3; do
		printf '# peers\n10.1.1.%s, # one\n\n' 2 | path discover --dev eth0 \
			--peer-file - --paths 4 --out "$dir/link.json" >/dev/null &
		one=$!
		discover --peer fd00:1:1::1 --paths 4 --out "$dir/sum.json" >/dev/null &
		two=$!
		wait "$one" && wait "$two" || return
	done
	[[ -L $dir/link.json ]] && jq -e '.generation == 7 and
		([.peers[].address] | sort) ==
			["10.1.1.1", "10.1.1.2", "fd00:1:1::1"]' "$dir/sum.json" &&
		! compgen -G "$dir/*.new" && path show "$dir/sum.json" >/dev/null
}

# Also where it is a guess that is too large
each_its_hop()
{
	cp "$dir/sum.json" "$dir/hops.json" &&
		discover --peer 10.1.1.1 --hop 3 --accept-incomplete --out "$dir/hops.json" &&
		jq -e '([.peers[] | [.address, .hop, .leaf_hop]] | sort) == [["10.1.1.1", 3, 4],
			["10.1.1.2", 2, 3], ["fd00:1:1::1", 2, 3]]' "$dir/hops.json"
}

# A map of h1 with our device, and our map by IPv6
keeps_other_hosts()
{
	jq '.peers[].source |= if contains(":") then . else "10.1.1.1" end' \
		"$dir/sum.json" >"$dir/h1.json" && cp "$dir/h1.json" "$dir/h1.before" || return
	fails 2 other-map '' discover --peer 10.1.1.2 --paths 4 --out "$dir/h1.json" --json &&
		cmp "$dir/h1.json" "$dir/h1.before"
}

# The lock belongs to the owner of the map, who alone may open it.
locks()
{
	[[ $(stat -c %a "$dir/sum.json.lock") == 600 ]] || return
	cp "$dir/sum.json" "$dir/sum.before"
	ROCESTEER_LOCK_WAIT=0 while_locked "$dir/sum.json.lock" fails 4 locked '' discover \
		--peer 10.1.1.1 --paths 4 --out "$dir/sum.json" --json &&
		cmp "$dir/sum.json" "$dir/sum.before" || return
	rm "$dir/sum.json.lock"
	chown 65534:65534 "$dir/sum.json" && discover --peer 10.1.1.1 --paths 4 \
		--out "$dir/link.json" >/dev/null &&
		[[ $(stat -c '%u %g %a' "$dir/sum.json.lock") == '65534 65534 600' ]]
}

peer_files()
{
	local json

	json=$(path discover --dev eth0 --json --peer-file <(printf '10.1.1.1\n\n10.1\n'))
	(($? == 2)) && jq -e '.error.message |
		test(": line 3: .10.1. is not an address of a host$")' <<<"$json" || return
	json=$(path discover --dev eth0 --json --peer-file - <<<'# none')
	(($? == 2)) && jq -e '.error.message == "standard input: contains no address"' <<<"$json"
}

no_device()
{
	refused no-device "no network device nope0" path discover --dev nope0 --peer 10.1.1.1
}

no_route()
{
	ip -n "${prefix}h0" route del default via 10.1.0.254 || return
	refused no-route "no route to 10.1.1.1 by eth0" discover --peer 10.1.1.1
	local status=$?

	ip -n "${prefix}h0" route add default via 10.1.0.254
	return "$status"
}

own_address()
{
	local addr

	for addr in 10.1.0.1 127.0.0.1 127.9.9.9 ::1; do
		refused no-route "$addr is an address of this host" \
			discover --peer "$addr" || return
	done
}

no_source()
{
	refused no-route "from 10.1.0.99" discover --peer 10.1.1.1 --source 10.1.0.99 &&
		discover --peer 10.1.1.1 --source 10.1.0.99 2>&1 |
		grep "ip route get 10.1.1.1 from 10.1.0.99 oif eth0"
}

no_privilege()
{
	refused permission "CAP_NET_RAW" in_ns h0 setpriv \
		--bounding-set=-net_raw --inh-caps=-all \
		"$rocesteer" path discover --dev eth0 --peer 10.1.1.1
}

ktap_plan 25
check "a fabric of 2 spines is made" fabric_create 2
check "path discover finds 2 spines, and ports as ip route get says" found4 2
check "the fabric of 2 spines is removed" world_is_empty
check "a fabric of 4 spines is made" fabric_create 4
check "path discover finds 4 spines, and ports as ip route get says" found4 4
check "path discover finds 4 spines by IPv6, and ports as packets go" found6 4
check "--for adds the ports that libraries derive by a rule" extra_ports
found "$remote" 4 >/dev/null
check "writing a port map increments its generation" counts_generations
check "a file that is no port map is not overwritten" keeps_other_files
check "missing paths are reported, and the file is kept" reports_missing
check "probing ends early when --paths are found" stops_when_found
check "more paths than --paths are reported" more_paths
check "peers under the host's own leaf are local" is_local
check "a local peer that listens on the RoCE port is local" is_local_listening
check "a map that may be incomplete is refused, unless it is accepted" incomplete
check "two commands at once can add to one map" adds
check "each peer of a map has its own hop" each_its_hop
check "a map of another host is not added to" keeps_other_hosts
check "a command waits for the lock of a map, and names its holder" locks
check "peers are read from a file" peer_files
check "a missing device is refused" no_device
check "a peer without a route is refused" no_route
check "the host's own address is refused as a peer" own_address
check "a source address of another host is refused" no_source
check "probing without CAP_NET_RAW is refused" no_privilege
ktap_finish
