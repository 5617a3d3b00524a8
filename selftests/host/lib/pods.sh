# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # what routers.sh sets
#
# A fat tree of Linux routers in network namespaces, as selftests/net/tiers.sh lays it out. To be
# sourced behind routers.sh, whose functions for namespaces serve it: fabric_destroy removes the
# fat tree, fabric_silence keeps a router silent.
#
#	K=4	4 pods of 2 leaves and 2 aggs,  4 cores: leaf0..7, agg0..7, core0..3
#	K=8	8 pods of 4 leaves and 4 aggs, 16 cores: leaf0..31, agg0..31, core0..15
#
# Pod p has the leaves and the aggs from p * K/2 on; agg a, of plane a modulo K/2, has links to
# the K/2 cores from plane * K/2 on. Address i of the hosts below leaf l is 10.1.l.i and
# fd00:1:l::i.

# shellcheck source=selftests/net/tiers.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../../net/tiers.sh"

# pods_host NAME LEAF COUNT: a host that has the next COUNT addresses of the leaf
pods_host()
{
	local name=$1 l=$2 i first=$((${pods_addresses[$2]:-0} + 1)) mac bridge

	pods_addresses[l]=$((first + $3 - 1))
	link_mac host "$l" "$first" mac
	link_mac bridge "$l" 0 bridge
	in_ns "$name" sysctl -qw net.ipv6.conf.default.accept_dad=0 \
		net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0 \
		net.ipv4.icmp_msgs_{per_sec,burst}=100000
	ip link add eth0 netns "$prefix$name" mtu "$fabric_mtu" address "$mac" type veth \
		peer name "$name" netns "${prefix}leaf$l" mtu "$fabric_mtu"
	{
		printf 'link set %s up\n' lo eth0
		for ((i = first; i < first + $3; i++)); do
			echo "addr add 10.1.$l.$i/24 dev eth0"
			printf 'addr add fd00:1:%x::%x/64 dev eth0 nodad\n' "$l" "$i"
		done
		echo "neigh add 10.1.$l.254 lladdr $bridge dev eth0"
		printf "neigh add fd00:1:%x::fffe lladdr $bridge dev eth0\n" "$l"
		echo "route add default via 10.1.$l.254 src 10.1.$l.$first"
		printf 'route add default via fd00:1:%x::fffe src fd00:1:%x::%x\n' "$l" "$l" "$first"
	} | ip -n "$prefix$name" -batch -
	{
		echo "link set $name master br0 up"
		for ((i = first; i < first + $3; i++)); do
			echo "neigh add 10.1.$l.$i lladdr $mac dev br0"
			printf "neigh add fd00:1:%x::%x lladdr $mac dev br0\n" "$l" "$i"
		done
	} | ip -n "${prefix}leaf$l" -batch -
}

# pods_make K HOST:LEAF[:COUNT]...: a fat tree, each of whose hosts has COUNT addresses, by
# default one. Linux hashes.
pods_make()
{
	pods_make_of "$1" $(($1 * $1 / 2)) $(($1 / 2)) $(($1 / 2)) "${@:2}"
}

# pods_make_of PODS LEAVES AGGS CORES HOST:LEAF[:COUNT]...: the same with so many leaves of all
# pods, aggs of each pod and cores of each of these
pods_make_of()
{
	pods=$1 leaves=$2 aggs=$3 cores=$4
	pods_routers "${@:5}"
}

# pods_routers HOST:LEAF[:COUNT]...: the same, of the tiers that are set
pods_routers()
{
	local host router name l count pods_addresses=()

	fabric_claim || return
	mapfile -t fabric_made < <(routers && printf '%s\n' "${@%%:*}")
	printf "netns add $prefix%s\n" "${fabric_made[@]:1}" | ip -batch - || return
	for router in $(routers); do
		fabric_router "$router"
	done
	{
		links_batch
		bridges_batch
	} | ip -batch - || return
	for router in $(routers); do
		{
			router_batch "$router"
			[[ $router != leaf* ]] || bridge_batch "${router#leaf}"
		} | ip -n "$prefix$router" -batch - || return
	done
	for host; do
		IFS=: read -r name l count <<<"$host"
		pods_host "$name" "$l" "${count:-1}" || return
	done
}

# pods_cut add|del ROUTER ROUTER: from add on their link loses all packets, with carrier
pods_cut()
{
	local family

	for family in 4 6; do
		ip -$family -n "$prefix$2" rule "$1" pref 1 iif "$3" blackhole &&
			ip -$family -n "$prefix$3" rule "$1" pref 1 iif "$2" blackhole || return
	done
}

# pods_kill add|del ROUTER...: from add on these lose all packets, and send none
pods_kill()
{
	local family router

	for router in "${@:2}"; do
		for family in 4 6; do
			ip -$family -n "$prefix$router" rule "$1" pref 1 blackhole || return
		done
	done
}

# pods_hash_set TIER ROTATION|each [SEED]: the routers of tier 0, leaves, or 1, aggs, hash by a
# CRC of which they take the highest bits behind ROTATION bits. Each router has its own seed, or
# all have this.
pods_hash_set()
{
	local router netns rotation

	for router in $(routers "$1"); do
		netns=$prefix$router rotation=$2
		[[ $2 != each ]] || rotation=$((8 + 5 * ${router##*[a-z]}))
		[[ -e $router_hash_pins/$netns ]] ||
			router_hash_on "$netns" linear_hash build/bpf/qpn_hash.bpf.o || return
		router_hash_rotate "$netns" $((rotation % 32)) || return
		if [[ ${3:-} ]]; then
			router_hash_set "$netns" 0 "$3"
		else
			router_hash_seed "$netns"
		fi || return
	done
}

# pods_hash KIND: how leaves and aggs hash
#	apart	by bits of their own
#	alike	by the same bits: of the cores above an agg most get nothing from a leaf
#	seeds	by the same bits, with a seed of each router, which does not help
#	shared	by bits of which one is the same where an agg has four cores
#	each	each agg by bits of its own
#	linux	as Linux does: by no linear function
pods_hash()
{
	case $1 in
	apart)	pods_hash_set 0 0 && pods_hash_set 1 8 ;;
	alike)	pods_hash_set 0 0 4711 && pods_hash_set 1 0 4711 ;;
	seeds)	pods_hash_set 0 0 && pods_hash_set 1 0 ;;
	shared)	pods_hash_set 0 0 && pods_hash_set 1 1 ;;
	each)	pods_hash_set 0 0 && pods_hash_set 1 each ;;
	linux)
		# shellcheck disable=SC2046 # words
		router_hash_all off '' '' $(printf "$prefix%s\n" $(routers))
		;;
	esac
}
