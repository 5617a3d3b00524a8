# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A leaf-spine network of Linux routers in network namespaces, to be sourced:
#
#	h0, h3 --- leaf0 === spine0 .. spine(N-1) === leaf1 --- h1, h2
#
# h0 10.1.0.1, h3 10.2.0.1 (another subnet under the same leaf), h1 10.1.1.1,
# h2 10.1.1.2; IPv6 the same way: fd00:1:0::1, ... Each name has a prefix, by
# default one that belongs to this process. Link k between leaf l and spine s is s<s>
# at the leaf, l<l> at the spine, with -<k> behind from the second on.

prefix=rs$$-
spines=4
links=1

# shellcheck source=selftests/net/router_hash.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../../net/router_hash.sh"

in_ns()
{
	local ns=$prefix$1

	shift
	ip netns exec "$ns" "$@"
}

# on HOST COMMAND...: "ip netns exec" would hide the BPF file system.
on()
{
	local host=$1
	shift

	nsenter --net="/run/netns/$prefix$host" "$@"
}

on_h0()
{
	on h0 timeout 60 "$@"
}

# Namespaces that this process made, without the prefix
fabric_made=()

# fabric_netns NAME: fabric_destroy removes it, also if this is interrupted
fabric_netns()
{
	fabric_made+=("$1")
	ip netns add "$prefix$1"
}

# fabric_claim: make the first namespace. Of those who try at once one succeeds; the others
# make nothing. It is removed last, thus who has made it has all names of this prefix.
fabric_claim()
{
	ip netns add "${prefix}leaf0" && fabric_made=(leaf0)
}

# fabric_names SPINES: all namespaces, in the order in which they are made
fabric_names()
{
	printf '%s\n' leaf{0,1}
	seq -f spine%g 0 $(($1 - 1))
	printf '%s\n' h{0,3,1,2}
}

# fabric_is_whole: the last step of fabric_make was taken, and no step of fabric_destroy
fabric_is_whole()
{
	[[ $(in_ns h2 cat /sys/class/net/lo/ifalias 2>/dev/null) == whole ]]
}

# IPv6 uses the same seed. A random seed would hide a path from discovery once in a thousand
# times.
fabric_seed=10
# fabric_router NAME: the namespace becomes a router
fabric_router()
{
	ip -n "$prefix$1" link set lo up
	fabric_seed=$((fabric_seed + 1))
	{
		router_settings "$fabric_seed"
		printf '%s\n' net.ipv4.icmp_msgs_{per_sec,burst}=100000
	} | in_ns "$1" sysctl -q -p -
}

# fabric_link NS0 DEV0 NS1 DEV1
fabric_link()
{
	ip link add name "$2" netns "$prefix$1" mtu 4200 type veth \
		peer name "$4" netns "$prefix$3" mtu 4200
	ip -n "$prefix$1" link set "$2" up
	ip -n "$prefix$3" link set "$4" up
}

# fabric_host NAME LEAF DEV SUBNET HOST
fabric_host()
{
	fabric_netns "$1"
	in_ns "$1" sysctl -qw net.ipv6.conf.default.accept_dad=0
	ip -n "$prefix$1" link set lo up
	fabric_link "$1" eth0 "$2" "$3"
	ip -n "$prefix$1" addr add "10.$4.$5/24" dev eth0
	ip -n "$prefix$1" addr add "fd00:${4/./:}::$5/64" dev eth0 nodad
	ip -n "$prefix$2" link set "$3" master "br${4/./-}"
	ip -n "$prefix$1" route add default via "10.$4.254"
	ip -n "$prefix$1" route add default via "fd00:${4/./:}::fe"
}

# fabric_subnet LEAF SUBNET
fabric_subnet()
{
	local br=br${2/./-}

	ip -n "$prefix$1" link add "$br" mtu 4200 type bridge
	ip -n "$prefix$1" link set "$br" up
	ip -n "$prefix$1" addr add "10.$2.254/24" dev "$br"
	ip -n "$prefix$1" addr add "fd00:${2/./:}::fe/64" dev "$br" nodad
}

# fabric_uplinks LEAF REMOTE-SUBNETS.. : equal-cost routes by all spines
fabric_uplinks()
{
	local l=${1#leaf} leaf=$prefix$1 s k nh4=() nh6=() net

	shift
	for ((s = 0; s < spines; s++)); do
		for ((k = l; k < 2 * links; k += 2)); do
			nh4+=(nexthop via "10.9.$k.$((s * 4 + 2))")
			nh6+=(nexthop via "fd00:9:$k:$s::2")
		done
	done
	for net; do
		ip -n "$leaf" route add "10.$net.0/24" "${nh4[@]}"
		ip -n "$leaf" route add "fd00:${net/./:}::/64" "${nh6[@]}"
	done
}

# fabric_spine_link SPINE LEAF LINK: subnets are numbered by leaf + 2 * link
fabric_spine_link()
{
	local s=$1 l=$2 n=$(($2 + 2 * $3)) k=''

	(($3 == 0)) || k=-$3
	fabric_link "leaf$l" "s$s$k" "spine$s" "l$l$k"
	ip -n "${prefix}leaf$l" addr add "10.9.$n.$((s * 4 + 1))/30" dev "s$s$k"
	ip -n "${prefix}spine$s" addr add "10.9.$n.$((s * 4 + 2))/30" dev "l$l$k"
	ip -n "${prefix}leaf$l" addr add "fd00:9:$n:$s::1/64" dev "s$s$k" nodad
	ip -n "${prefix}spine$s" addr add "fd00:9:$n:$s::2/64" dev "l$l$k" nodad
}

# fabric_downlinks SPINE LEAF LINK.. : equal-cost routes by these links
fabric_downlinks()
{
	local s=$1 l=$2 k net nh4=() nh6=()
	local -A nets=([0]="1.0 2.0" [1]="1.1")

	shift 2
	for k; do
		nh4+=(nexthop via "10.9.$((l + 2 * k)).$((s * 4 + 1))")
		nh6+=(nexthop via "fd00:9:$((l + 2 * k)):$s::1")
	done
	for net in ${nets[$l]}; do
		ip -n "${prefix}spine$s" route replace "10.$net.0/24" "${nh4[@]}"
		ip -n "${prefix}spine$s" route replace "fd00:${net/./:}::/64" "${nh6[@]}"
	done
}

# fabric_spine NUMBER
fabric_spine()
{
	local l k

	fabric_netns "spine$1"
	fabric_router "spine$1"
	for l in 0 1; do
		for ((k = 0; k < links; k++)); do
			fabric_spine_link "$1" $l $k
		done
		# shellcheck disable=SC2046 # words
		fabric_downlinks "$1" $l $(seq 0 $((links - 1)))
	done
}

# fabric_make SPINES [LINKS]: all that comes after fabric_claim
fabric_make()
{
	local s

	spines=$1 links=${2:-1}
	fabric_router leaf0
	fabric_netns leaf1
	fabric_router leaf1
	for ((s = 0; s < spines; s++)); do
		fabric_spine "$s"
	done
	fabric_subnet leaf0 1.0
	fabric_subnet leaf0 2.0
	fabric_subnet leaf1 1.1
	fabric_uplinks leaf0 1.1
	fabric_uplinks leaf1 1.0 2.0
	fabric_host h0 leaf0 dn0 1.0 1
	fabric_host h3 leaf0 dn3 2.0 1
	fabric_host h1 leaf1 dn1 1.1 1
	fabric_host h2 leaf1 dn2 1.1 2
	ip -n "${prefix}h2" link set lo alias whole
}

# fabric_create SPINES [LINKS]: LINKS are between each leaf and spine
fabric_create()
{
	fabric_claim && fabric_make "$@"
}

# fabric_hash on|off qpn_hash|packet_hash: how all routers hash RoCE packets
fabric_hash()
{
	# shellcheck disable=SC2046 # words
	router_hash_all "$1" "$2" build/bpf/qpn_hash.bpf.o "$prefix"leaf{0,1} \
		$(seq -f "${prefix}spine%g" 0 $((spines - 1)))
}

# fabric_sysctl SETTING...: of all routers but leaf0
fabric_sysctl()
{
	local router

	for router in $(seq -f spine%g 0 $((spines - 1))) leaf1; do
		in_ns "$router" sysctl -qw "$@"
	done
}

# fabric_silence add|del ROUTER...: these send no packets of their own, or send them again
fabric_silence()
{
	local router

	for router in "${@:2}"; do
		ip -n "$prefix$router" rule "$1" pref 1 iif lo blackhole
	done
}

# fabric_destroy: remove the namespaces of fabric_made, the last one first
fabric_destroy()
{
	local i ns

	for ((i = ${#fabric_made[@]} - 1; i >= 0; i--)); do
		ns=$prefix${fabric_made[i]}
		[[ ! -e /run/netns/$ns ]] || ip netns del "$ns" || :
		router_hash_forget "$ns"
	done
	fabric_made=()
}

# answers: ICMP "time exceeded" that h0 has got
answers()
{
	# shellcheck disable=SC2016 # awk expands them
	in_ns h0 awk '$1 == "Icmp:" && seen { print $6 } $1 == "Icmp:" { seen = 1 }' /proc/net/snmp
}

# fabric_oracle SOURCE PEER: the gateway to which leaf0 routes each flow, by its source port
# on standard input. IPv4 only: for IPv6 "ip route get" hashes without ports.
fabric_oracle()
{
	local port

	while read -r port; do
		echo "route get $2 from $1 iif br1-0 ipproto udp" "sport $port dport 4791"
	done | ip -n "${prefix}leaf0" -batch - | sed -n 's/.* via \([^ ]*\) .*/\1/p'
}

# fabric_uplinks_sent packets|bytes: what leaf0 has sent to each spine
fabric_uplinks_sent()
{
	local s

	for ((s = 0; s < spines; s++)); do
		ip -n "${prefix}leaf0" -s -j link show "s$s" |
			jq --arg what "$1" '.[0].stats64.tx[$what]'
	done
}

# fabric_grown packets|bytes COMMAND...: what leaf0 sends to each spine meanwhile, in ${grown[]}
fabric_grown()
{
	local before after s

	mapfile -t before < <(fabric_uplinks_sent "$1")
	"${@:2}" || return
	mapfile -t after < <(fabric_uplinks_sent "$1")
	for ((s = 0; s < spines; s++)); do
		grown[s]=$((after[s] - before[s]))
	done
	echo "# by spine: ${grown[*]}"
}

# fabric_send HOST PEER QPN,.. PSN,..: from h0 or h1
fabric_send()
{
	local leaf=leaf0 address=10.1.0.1

	[[ $1 == h0 ]] || { leaf=leaf1 address=10.1.1.1; }
	on "$1" selftests/host/lib/flows.py \
		--gateway "$(in_ns "$leaf" cat "/sys/class/net/br1-${leaf#leaf}/address")" \
		eth0 "$address" "${@:2}"
}

# fabric_packets SOURCE PEER PORT: h0 sends fifty packets of the flow
fabric_packets()
{
	in_ns h0 python3 -c 'import socket, sys
source, peer, port = sys.argv[1:]
s = socket.socket(socket.AF_INET6 if ":" in peer else socket.AF_INET, socket.SOCK_DGRAM)
s.bind((source, int(port)))
for i in range(50):
    s.sendto(b"x" * 32, (peer, 4791))' "$@"
}

# fabric_uplink SOURCE PEER PORT: the spine that packets of the flow take
fabric_uplink()
{
	local before after s best=0

	mapfile -t before < <(fabric_uplinks_sent packets)
	fabric_packets "$@"
	mapfile -t after < <(fabric_uplinks_sent packets)
	for ((s = 0; s < spines; s++)); do
		((after[s] - before[s] < after[best] - before[best])) || best=$s
	done
	((after[best] - before[best] >= 50)) && echo "$best"
}
