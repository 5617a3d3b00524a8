#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path discover and path verify against Linux routers, also where routers limit their ICMP or
# do not answer.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
. selftests/host/command.sh
. selftests/host/routers.sh

remote=10.1.1.1,10.1.1.2
remote6=fd00:1:1::1,fd00:1:1::2

# path VERB...: on host h0
path()
{
	in_ns h0 timeout 120 "$rocesteer" path "$@"
}

discover()
{
	path discover --dev eth0 "$@"
}

# refused CODE TEXT COMMAND...: exit status 1, and the message has the text
refused()
{
	fails 1 "$1" "$2" "${@:3}" --json
}

has_all_paths()
{
	jq -e --argjson spines "$1" 'all(.peers[]; (.paths | length) == $spines
		and .local == false)' "$dir/ports.json" >/dev/null
}

one_leaf()
{
	jq -e '[.peers[].leaf] | unique | length == 1' "$dir/ports.json"
}

# Each port of the map takes the spine that leaf0's routing names.
agrees()
{
	local source peer count=0

	while read -r source peer; do
		jq -r --arg peer "$peer" '.peers[] | select(.address == $peer)
			| .paths[].ports[]' "$dir/ports.json" >"$dir/ports"
		jq -r --arg peer "$peer" '.peers[] | select(.address == $peer)
			| .paths[] | .router as $r | .ports[] | $r' \
			"$dir/ports.json" >"$dir/found"
		fabric_oracle "$source" "$peer" <"$dir/ports" >"$dir/oracle"
		diff "$dir/oracle" "$dir/found" || return
		count=$((count + $(wc -l <"$dir/found")))
	done < <(jq -r '.peers[] | "\(.source) \(.address)"' "$dir/ports.json")
	echo "$count ports"
	((count > 0))
}

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
	done < <(jq -r '.peers[0].paths[] | "\(.ports[0]) \(.router)"' \
		"$dir/ports.json")
	((count == spines))
}

# found PEERS SPINES
found()
{
	rm -f "$dir/ports.json"
	discover --peer "$1" --out "$dir/ports.json" &&
		has_all_paths "$2" && one_leaf
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

# has_ports FILE FROM COUNT: it has all of these ports, and each port of a peer once
has_ports()
{
	jq -e --argjson from "$2" --argjson count "$3" 'all(.peers[];
		[.paths[].ports[]] as $all |
		($all | length) == ($all | unique | length) and
		([range($from; $from + $count)] - $all) == [])' "$1"
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

verifies()
{
	path verify "$dir/ports.json" --all
}

# Change the order of leaf0's next hops.
leaf0_order()
{
	local s nexthops=()

	for s; do
		nexthops+=(nexthop via "10.9.0.$((s * 4 + 2))")
	done
	ip -n "${prefix}leaf0" route replace 10.1.1.0/24 "${nexthops[@]}"
}

# Make the map of h1.
verify_is_at_home()
{
	fails 2 other-host '' path verify --json \
		<(jq '.peers[].source = "10.1.1.1"' "$dir/ports.json")
}

verify_finds_moved()
{
	local json status before

	before=$(<"$dir/ports.json")
	leaf0_order 1 2 3 0
	json=$(path verify "$dir/ports.json" --all --json)
	status=$?
	leaf0_order 0 1 2 3
	jq -c '.moved[0]' <<<"$json"
	# All ports have moved, none is lost, and the file is as it was.
	((status == 1)) && jq -e '(.moved | length) == .checked and
		all(.moved[]; .actual != null and .actual != .expected)' \
		<<<"$json" >/dev/null && [[ $(<"$dir/ports.json") == "$before" ]]
}

# verify_quick OPTION...
verify_quick()
{
	path verify "$dir/ports.json" --probe-timeout 50 --retries 0 "$@"
}

# A port without an answer has not moved.
verify_unanswered()
{
	local json text status

	silence spine1
	json=$(verify_quick --json)
	status=$?
	text=$(verify_quick)
	unsilence spine1
	echo "$json" "$text"
	((status == 1)) && [[ $text == *"No answer:"* && $text != *"every port"* ]] &&
		jq -e '.moved == [] and [.unanswered[].expected] ==
			["10.9.0.6", "10.9.0.6"]' <<<"$json" || return
	ip -n "${prefix}leaf0" link set dn0 down || return
	refused no-carrier "the device eth0 is down, or has no carrier" verify_quick
	status=$?
	ip -n "${prefix}leaf0" link set dn0 up && busywait 20000 verify_quick &&
		return "$status"
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
	local status listener

	in_ns h3 python3 -c 'import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 4791))
print("ready", flush=True)
time.sleep(60)' >"$dir/listener" &
	listener=$!
	busywait 10000 grep -q ready "$dir/listener" &&
		discover --peer 10.2.0.1 --probe-timeout 50 --retries 1 --json |
		jq -e '.peers[0].local' >/dev/null
	status=$?
	kill "$listener"
	wait "$listener" 2>/dev/null
	return "$status"
}

# sysctl_each SETTING...: on each router but our leaf
sysctl_each()
{
	local s

	for ((s = 0; s < 4; s++)); do
		in_ns "spine$s" sysctl -qw "$@"
	done
	in_ns leaf1 sysctl -qw "$@"
}

# Linux's default is one ICMP error a second to each host. That takes 50 s.
survives_rate_limit()
{
	local status start=$SECONDS

	sysctl_each net.ipv4.icmp_ratelimit="$(few 200 1000)"
	rm -f "$dir/ports.json"
	discover --peer 10.1.1.1 --paths 4 --out "$dir/ports.json" &&
		has_all_paths 4 && agrees
	status=$?
	echo "with --paths: $((SECONDS - start)) s"
	start=$SECONDS
	rm -f "$dir/ports.json"
	((!status)) && discover --peer "$remote" --out "$dir/ports.json" \
		2>"$dir/stderr" && has_all_paths 4 && agrees &&
		grep 'slowing down' "$dir/stderr"
	status=$?
	echo "without: $((SECONDS - start)) s"
	sysctl_each net.ipv4.icmp_ratelimit=0
	return "$status"
}

# silence ROUTER...: they send no packets of their own
silence()
{
	local router

	for router; do
		ip -n "$prefix$router" rule add pref 1 iif lo blackhole
	done
}

unsilence()
{
	local router

	for router; do
		ip -n "$prefix$router" rule del pref 1
	done
}

silent_spine()
{
	local json status

	silence spine2
	json=$(discover --peer 10.1.1.1 --probe-timeout 20 --json \
		--out "$dir/silent.json")
	status=$?
	unsilence spine2
	jq -c '.peers[0] | {probed, unanswered, paths: [.paths[].path]}' \
		<<<"$json"
	((status == 1)) && [[ ! -e $dir/silent.json ]] &&
		jq -e '.peers[0] | .unanswered > 0 and (.paths | length) == 3 and
			.reasons == ["silent"]' <<<"$json" >/dev/null
}

# doubts REASON ARGUMENT...: exit status 1 with this reason, and the file is not written
doubts()
{
	local want=$1 json status
	shift

	json=$(discover --out "$dir/doubted.json" --json "$@")
	status=$?
	jq -c '.peers[0] | {peer: .address, probed, reasons}' <<<"$json"
	((status == 1)) && jq -e --arg want "$want" '.incomplete and
		(.peers[0].reasons | index($want))' <<<"$json" >/dev/null &&
		[[ ! -e $dir/doubted.json ]]
}

# Linux hashes addresses only by default.
hashes_addresses()
{
	local status

	in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_policy=0
	doubts one-path --peer 10.1.1.1
	status=$?
	in_ns leaf0 sysctl -qw net.ipv4.fib_multipath_hash_policy=1
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
		! compgen -G "$dir/*.new" && path show "$dir/sum.json" >/dev/null &&
		! discover --peer 10.1.1.1 --hop 3 --accept-incomplete \
			--out "$dir/sum.json" --json | jq -e '.error == null'
}

# A map of h1 with our device and hop, and our map by IPv6
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

silent_spines()
{
	local status

	silence spine0 spine1 spine2 spine3
	refused no-reply "hop 2 on the way to 10.1.1.1" \
		discover --peer "$remote" --probe-timeout 20 --retries 1
	status=$?
	unsilence spine0 spine1 spine2 spine3
	return "$status"
}

silent_leaf()
{
	local status

	silence leaf1
	refused no-reply "hop 3 on the way to 10.1.1.1" \
		discover --peer "$remote" --probe-timeout 20
	status=$?
	unsilence leaf1
	return "$status"
}

unreachable()
{
	refused unreachable "says that 10.7.0.1 is unreachable" \
		discover --peer 10.7.0.1 --probe-timeout 100
}

no_device()
{
	refused no-device "no network device nope0" \
		path discover --dev nope0 --peer 10.1.1.1
}

no_route()
{
	ip -n "${prefix}h0" route del default via 10.1.0.254 || return
	refused no-route "no route to 10.1.1.1 by eth0" \
		discover --peer 10.1.1.1
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
	refused no-route "from 10.1.0.99" \
		discover --peer 10.1.1.1 --source 10.1.0.99 &&
		discover --peer 10.1.1.1 --source 10.1.0.99 2>&1 |
		grep "ip route get 10.1.1.1 from 10.1.0.99 oif eth0"
}

no_privilege()
{
	refused permission "CAP_NET_RAW" in_ns h0 setpriv \
		--bounding-set=-net_raw --inh-caps=-all \
		"$rocesteer" path discover --dev eth0 --peer 10.1.1.1
}

# inbound 0|1: whether routers answer from the interface on which a probe arrived
inbound()
{
	local s

	in_ns leaf1 sysctl -qw "net.ipv4.icmp_errors_use_inbound_ifaddr=$1"
	for ((s = 0; s < spines; s++)); do
		in_ns "spine$s" sysctl -qw "net.ipv4.icmp_errors_use_inbound_ifaddr=$1"
	done
}

# Packets that arrived at leaf1, by the address of the link
arrived()
{
	in_ns leaf1 ip -s -j addr show | jq -c '[.[] | select(.ifname | test("^s[0-9]")) |
		{(.addr_info[] | select(.family == "inet").local): .stats64.rx.packets}] |
		add'
}

# The first port of each path enters leaf1 by the interface of the map.
enters()
{
	local port leaf before after

	while read -r port leaf; do
		before=$(arrived)
		in_ns h0 python3 -c 'import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.1.0.1", int(sys.argv[1])))
for i in range(50):
    s.sendto(b"x" * 32, ("10.1.1.1", 4791))' "$port" || return
		after=$(arrived)
		echo "$port $leaf: $before $after"
		jq -ne --arg leaf "$leaf" --argjson before "$before" \
			--argjson after "$after" '[$after | keys[] |
				select($after[.] - $before[.] >= 50)] == [$leaf]' ||
			return
	done < <(jq -r '.peers[0].paths[] | "\(.ports[0]) \(.leaf)"' "$dir/ports.json")
}

# Two spines with two links to each leaf
finds_links()
{
	rm -f "$dir/ports.json"
	inbound 1
	discover --peer "$remote" --out "$dir/ports.json" && has_all_paths 8 &&
		one_leaf && agrees && enters &&
		jq -e 'all(.peers[]; [.paths[] | [.router, .leaf]] ==
			[("10.9.0.2", "10.9.0.6", "10.9.2.2", "10.9.2.6") as $r |
			 ("1", "3") as $l | [$r, "10.9.\($l).\(($r | split(".")[3] |
				tonumber) - 1)"]])' "$dir/ports.json" &&
		path show "$dir/ports.json" | grep 'PATH  ROUTER    LEAF  ' &&
		verifies && discover --peer 10.1.1.1 --paths 8 &&
		doubts missing --peer 10.1.1.1 --paths 9 &&
		doubts few-ports --peer 10.1.1.1 --ports 30
}

# The search goes on after the ports for libraries, and repeats none of them.
extra_links()
{
	discover --peer "$remote" --for json --json >"$dir/extra.json" &&
		jq -e 'all(.peers[]; (.paths | length) == 8 and
			all(.paths[]; .leaf != null))' "$dir/extra.json" &&
		has_ports "$dir/extra.json" 49152 512 && has_ports "$dir/extra.json" 65024 512
}

finds_links_slowly()
{
	local status

	in_ns leaf1 sysctl -qw net.ipv4.icmp_ratelimit=100
	discover --peer 10.1.1.1 --paths 8 --json | jq -ce '(.incomplete | not) and
		(.peers[0].paths | length) == 8'
	status=$?
	in_ns leaf1 sysctl -qw net.ipv4.icmp_ratelimit=0
	return "$status"
}

# The ports keep their routers, and the links behind these change.
verify_finds_moved_links()
{
	local json status s

	for s in 0 1; do
		fabric_downlinks "$s" 1 1 0
	done
	json=$(path verify "$dir/ports.json" --all --json)
	status=$?
	path verify "$dir/ports.json" | grep 'HOP  EXPECTED' || status=3
	for s in 0 1; do
		fabric_downlinks "$s" 1 0 1
	done
	jq -c '.moved[0]' <<<"$json"
	((status == 1)) && jq -e '(.moved | length) == .checked and
		all(.moved[]; .hop == 3 and .actual != .expected)' <<<"$json" >/dev/null
}

# Routers answer by any interface, or from one address.
links_look_alike()
{
	inbound 0
	discover --peer "$remote" --json >"$dir/alike" &&
		jq -e 'all(.peers[].paths[]; .leaf == null)' "$dir/alike" || return
	inbound 1
	in_ns leaf1 ip addr add 10.255.0.2/32 dev lo
	in_ns leaf1 ip route replace 10.1.0.0/24 src 10.255.0.2 \
		nexthop via 10.9.1.2 nexthop via 10.9.1.6
	in_ns leaf1 sysctl -qw net.ipv4.icmp_errors_use_inbound_ifaddr=0
	discover --peer 10.1.1.1 --json >"$dir/alike" &&
		jq -ce '.peers[0] | .leaf == "10.255.0.2" and
			[.paths[].router] == ["10.9.0.2", "10.9.0.6", "10.9.2.2", "10.9.2.6"]
			and all(.paths[]; .leaf == null)' "$dir/alike"
}

world_is_empty()
{
	fabric_destroy
	! ip netns list | grep "^$prefix"
}

# icmp.py answers in place of the gateway, which forwards nothing.
lone_host()
{
	local host

	fabric_netns lone && fabric_netns gate &&
		fabric_link lone eth0 gate e0 &&
		ip -n "${prefix}lone" addr add 10.3.0.1/24 dev eth0 &&
		ip -n "${prefix}lone" route add 10.9.9.0/24 via 10.3.0.254 &&
		in_ns gate sysctl -qw net.ipv4.ip_forward=0 \
			net.ipv6.conf.all.forwarding=0 || return
	for host in 254 66 67; do
		ip -n "${prefix}gate" addr add "10.3.0.$host/24" dev e0
		ip -n "${prefix}gate" addr add "fd00:3::$host/64" dev e0 nodad
	done
	# Without this route the gateway would send an ICMP error itself.
	ip -n "${prefix}gate" route add fd00:9::/64 dev e0 &&
		ip -n "${prefix}lone" addr add fd00:3::1/64 dev eth0 nodad &&
		ip -n "${prefix}lone" route add fd00:9::/64 via fd00:3::254
}

# answered QUOTE ROUTER,.. OPTION..: discover with such answers; host= asks, for peer=
answered()
{
	local quote=$1 routers=$2 pid status
	shift 2

	: >"$dir/ready"
	# shellcheck disable=SC2086 # words
	ip netns exec "${prefix}gate" selftests/host/icmp.py e0 "${host:-10.3.0.1}" "$quote" \
		${routers//,/ } >"$dir/ready" &
	pid=$!
	busywait 20000 test -s "$dir/ready" &&
		in_ns lone timeout 120 "$rocesteer" path discover --dev eth0 \
			--peer "${peer:-10.9.9.9}" --ports 1 --paths 1 --probe-timeout 100 \
			--retries 1 --accept-incomplete "$@" \
			>"$dir/out" 2>"$dir/said"
	status=$?
	kill "$pid"
	wait "$pid"
	cat "$dir/said" "$dir/out"
	return "$status"
}

# A sender who sees no probe can guess 16 unknown bits of a UDP header.
believes_enough()
{
	answered all "$1" && grep "$1" "$dir/out" &&
		! answered else "$1" &&
		! answered else "$1" --short-quotes &&
		! answered header "$1" &&
		grep -e "$1 .* --short-quotes" "$dir/said" &&
		answered header "$1" --short-quotes &&
		grep "$1" "$dir/out"
}

tells_of_two_answers()
{
	answered all 10.3.0.66,10.3.0.67 &&
		grep "10.3.0.66 and 10.3.0.67 .* one probe" "$dir/said" &&
		answered all 10.3.0.66,10.3.0.66 &&
		! grep "one probe" "$dir/said"
}

if ! ip netns add "$prefix" 2>/dev/null; then
	skip_all "no network namespaces: not root, or not allowed"
fi
ip netns del "$prefix"
defer fabric_destroy

ktap_plan 45
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
check "path verify accepts a true port map" verifies
check "path verify refuses the map of another host" verify_is_at_home
check "path verify names ports that have moved" verify_finds_moved
check "path verify names ports without an answer" verify_unanswered
check "missing paths are reported, and the file is kept" reports_missing
check "probing ends early when --paths are found" stops_when_found
check "more paths than --paths are reported" more_paths
check "peers under the host's own leaf are local" is_local
check "a local peer that listens on the RoCE port is local" is_local_listening
check "all paths are found by routers that limit their ICMP" survives_rate_limit
check "a silent spine is reported, and no map is written" silent_spine
check "a fabric of silent spines is reported" silent_spines
check "a leaf that hashes addresses only is reported" hashes_addresses
check "a map that may be incomplete is refused, unless it is accepted" incomplete
check "two commands at once can add to one map" adds
check "a map of another host is not added to" keeps_other_hosts
check "a command waits for the lock of a map, and names its holder" locks
check "peers are read from a file" peer_files
check "a silent leaf is reported" silent_leaf
check "an unreachable peer is reported" unreachable
check "a missing device is refused" no_device
check "a peer without a route is refused" no_route
check "the host's own address is refused as a peer" own_address
check "a source address of another host is refused" no_source
check "probing without CAP_NET_RAW is refused" no_privilege
check "a host with a gateway is made" lone_host
check "an IPv4 answer must quote the probe's random bits" believes_enough 10.3.0.66
host=fd00:3::1 peer=fd00:9::9 \
	check "an IPv6 answer must quote the probe's random bits" believes_enough fd00:3::66
check "two answers to one probe are reported" tells_of_two_answers
fabric_destroy
check "a fabric of 2 spines with 2 links to each leaf is made" fabric_create 2 2
check "parallel links are different paths" finds_links
check "parallel links are different paths for the ports of libraries" extra_links
check "parallel links are different paths where a leaf limits its ICMP" finds_links_slowly
check "path verify names ports that take another link" verify_finds_moved_links
check "links that routers do not tell apart are one path" links_look_alike
check "no namespace of the fabric is left" world_is_empty
ktap_finish
