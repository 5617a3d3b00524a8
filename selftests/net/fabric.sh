#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A fabric of Linux ECMP routers, with soft-RoCE hosts below.
#
#	 spine0      spine1     ..	routers, each a network namespace
#	   |  \      /  |
#	   |   \    /   |		every leaf to every spine
#	   |    \  /    |
#	 leaf0  ..  leafL-1		routers with a bridge for their hosts
#	  / \         / \
#	host0 host1  ..  hostN-1	namespaces from Linux 7.1 on; before,
#					rxe works in the initial one only
#
# leaf l     br0 10.1.l.254/24
# host i     10.1.l.h+1 and fd00:1:l::h+1 with i = l * hosts + h; eth0 in
#            namespace host<i>, or eth<i> in the initial one; rxe<i>
#
# With --pods it is a fat tree of leaves, aggs and cores. tiers.sh has the links between routers,
# their addresses and their routes. Starting a process is slow under TCG, so work is done in
# batches, one process per namespace.
#
# With --links N there are N links between a leaf and a spine; further ones are spine<s>-<k>
# and leaf<l>-<k>. Then each link has an address at both ends, 10.<100+k>.l.2s+1 at the leaf
# and 10.<100+k>.l.2s+2 at the spine, and routers send IPv4 ICMP errors from the address of
# the interface at which a packet arrived.
#
# The usage is below. A script that sources this file has the functions of fabric_hosts.sh and
# tiers.sh, too.

fabric_state=/run/fabric
prefix=''	# of namespaces

fabric_usage()
{
	cat <<-E
	usage: fabric.sh up [--leaves N] [--spines N] [--hosts PER_LEAF]
	                    [--rate RATE] [--host-rate RATE] [--seed N]
	                    [--links N]  between a leaf and a spine
	                    [--pods N --aggs PER_POD --cores PER_AGG]
	                                 instead of spines; --leaves is per pod
	       fabric.sh down
	       fabric.sh seed N         other hash seeds on every router
	       fabric.sh qpn-hash on|off     routers hash the destination queue pair, too
	       fabric.sh linear-hash on|off  routers hash by a CRC, as most switches
	       fabric.sh packet-hash on|off  each packet of RoCE has a path of its own
	       fabric.sh cut|join LEAF SPINE    from cut on their links lose all packets
	       fabric.sh rate LEAF SPINE [RATE]  of their links, by default as the others
	                                LEAF SPINE may be names, as agg1 core2
	       fabric.sh links --json   bytes sent on every link between routers
	       fabric.sh hosts --json
	E
}

fabric_die()
{
	echo "fabric: $*" >&2
	exit 1
}

fabric_save()
{
	declare -p leaves spines hosts links suffixes link_rate host_rate pods aggs cores \
		tier_names | sed 's/^declare -/declare -g -/' >"$fabric_state"
}

# Set leaves, spines, hosts (per leaf), links (between a leaf and a spine), suffixes,
# link_rate, host_rate, pods, aggs, cores and tier_names of the fabric that is up.
fabric_load()
{
	[[ -e $fabric_state ]] || fabric_die "no fabric is up"
	# shellcheck source=/dev/null
	. "$fabric_state"
}

# netns_exec NETNS COMMAND...: unlike "ip netns exec" it leaves /sys alone, and
# with it /sys/fs/bpf.
netns_exec()
{
	local netns=$1
	shift

	nsenter --net="/run/netns/$netns" "$@"
}

# router_seed SEED ROUTER: the seed of a router, counting leaves first; never 0, which means
# random
router_seed()
{
	echo $((($1 * 0x9e3779b1 + ($2 + 1) * 0x85ebca6b) % 0x7fffffff + 1))
}

# A veth packet is received on the CPU that sends it, which changes with every timer of a rate
# limit. RPS gives each flow one CPU, and so keeps its order.
cpu_mask()
{
	printf '%x\n' $(((1 << $(nproc)) - 1))
}

router_sysctl()
{
	router_settings "$(router_seed "$seed" "$1")"
	cat <<-E
	net.core.rps_default_mask = $cpus
	net.ipv4.icmp_errors_use_inbound_ifaddr = $((links > 1))
	net.ipv6.conf.default.addr_gen_mode = 1
	E
}

# All links, made from the initial namespace.
fabric_links_batch()
{
	local i

	links_batch
	bridges_batch
	for ((i = 0; i < leaves * hosts; i++)); do
		host_link $i
	done
}

# ports_batch LEAF: the links to its hosts
ports_batch()
{
	local h i mac

	for ((h = 0; h < hosts; h++)); do
		i=$(($1 * hosts + h))
		link_mac host "$1" $h mac
		echo "link set host$i master br0 up"
		echo "neigh add $(host_ip $i) lladdr $mac dev br0"
		echo "neigh add $(host_ip6 $i) lladdr $mac dev br0"
	done
}

# router_up ROUTER
router_up()
{
	{
		router_batch "$1"
		if [[ $1 == leaf* ]]; then
			bridge_batch "${1#leaf}"
			ports_batch "${1#leaf}"
		fi
	} | ip -n "$1" -batch -
}

# tbf_batch RATE DEVICE...: the limit holds what queue pairs have in flight. IPv4 packets
# below 128 bytes go first: the links are thousands of times slower than real ones, and an
# acknowledgment would wait behind seconds of data while the sender's window is closed.
tbf_batch()
{
	local rate=$1 dev
	shift

	for dev; do
		cat <<-E
		qdisc add dev $dev root handle 1: tbf rate $rate burst 20k limit 8m
		qdisc add dev $dev parent 1: handle 2: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
		qdisc add dev $dev parent 2:2 bfifo limit 8m
		filter add dev $dev parent 2: protocol ip u32 match u16 0 0xff80 at 2 flowid 2:1
		filter add dev $dev parent 2: protocol ip u32 match ip protocol 6 0xff flowid 2:1
		E
	done
}

# mark_batch RATE DEVICE...: mark waiting ECN-capable packets, the more the longer the queue
# is. rxe's packets are not ECN-capable, and see the queue of tbf_batch.
mark_batch()
{
	local rate=$1 dev
	shift

	for dev; do
		echo "qdisc replace dev $dev parent 2:2 red limit 8m min 64k max 512k" \
			"avpkt 4200 burst 16 probability 1 bandwidth $rate ecn nodrop"
	done
}

# devices ROUTER: of its links to other routers
devices()
{
	local tier n below above m suffix

	router_of "$1"
	for suffix in "${suffixes[@]}"; do
		for m in "${below[@]}"; do
			echo "${tier_names[tier - 1]}$m$suffix"
		done
		for m in "${above[@]}"; do
			echo "${tier_names[tier + 1]}$m$suffix"
		done
	done
}

# rates_up ROUTER: of its links to other routers
rates_up()
{
	local list

	mapfile -t list < <(devices "$1")
	{
		tbf_batch "$link_rate" "${list[@]}"
		mark_batch "$link_rate" "${list[@]}"
	} | tc -n "$1" -batch -
}

fabric_up()
{
	local leaves=4 spines=4 hosts=2 link_rate=16mbit host_rate='' seed=1
	local links=1 suffixes=('') pods='' aggs=2 cores=2 tier_names=(leaf agg core)
	local i n netns cpus

	while (($#)); do
		(($# > 1)) || fabric_die "$1 needs a value"
		case $1 in
		--leaves)	leaves=$2 ;;
		--spines)	spines=$2 ;;
		--hosts)	hosts=$2 ;;
		--rate)		link_rate=$2 ;;
		--host-rate)	host_rate=$2 ;;
		--seed)		seed=$2 ;;
		--links)	links=$2 ;;
		--pods)		pods=$2 ;;
		--aggs)		aggs=$2 ;;
		--cores)	cores=$2 ;;
		*)		fabric_die "unknown option $1" ;;
		esac
		shift 2
	done
	for n in "$leaves" "$spines" "$hosts" "$links" "${pods:-1}" "$aggs" "$cores"; do
		[[ $n =~ ^[1-9][0-9]?$ ]] || fabric_die "$n is not within 1..99"
	done
	if [[ $pods ]]; then
		leaves=$((pods * leaves)) spines=0
		((links == 1)) || fabric_die "--links is for spines"
		((leaves < 100 && pods * aggs < 100 && aggs * cores < 100)) ||
			fabric_die "more than 99 routers in a tier"
	else
		tiers_of_spines "$spines"
	fi
	((links < 10)) || fabric_die "more than 9 links"
	for ((n = 1; n < links; n++)); do
		suffixes+=("-$n")
	done
	[[ $seed =~ ^[0-9]{1,9}$ ]] || fabric_die "seed $seed is not a number"
	host_rate=${host_rate:-$link_rate}
	[[ ! -e $fabric_state ]] || fabric_die "a fabric is up already"

	modprobe -a bridge cls_u32 ib_uverbs rdma_rxe rdma_ucm sch_prio sch_red sch_tbf \
		veth
	fabric_save
	trap 'fabric_down >/dev/null 2>&1' EXIT

	cpus=$(cpu_mask)
	{
		routers
		host_namespaces
	} | sed 's/^/netns add /' | ip -batch -
	n=0
	for netns in $(routers); do
		router_sysctl $n | netns_exec "$netns" sysctl -q -e -p -
		n=$((n + 1))
	done
	for netns in $(host_namespaces); do
		host_sysctl | netns_exec "$netns" sysctl -q -p -
	done
	fabric_has_host_netns || sysctl -q -w "net.core.rps_default_mask=$cpus"
	fabric_links_batch | ip -batch -
	for netns in $(routers); do
		router_up "$netns"
		rates_up "$netns"
	done
	if fabric_has_host_netns; then
		for ((i = 0; i < leaves * hosts; i++)); do
			namespaced_host_up $i
		done
	else
		shared_hosts_up
	fi
	trap - EXIT
}

# No device of the fabric is left: the kernel removes namespaces in the background.
fabric_is_gone()
{
	local netns

	for netns in $(routers) $(host_namespaces); do
		[[ ! -e /run/netns/$netns ]] || return 1
	done
	[[ $(rdma link show) != *"link rxe"* ]]
}

fabric_down()
{
	local i

	fabric_load
	# RDMA devices go first: while a namespace with one is being removed, a namespace
	# cannot be created (ENODEV, on Linux 7.2).
	for ((i = 0; i < leaves * hosts; i++)); do
		echo "link del $(host_rdma $i)"
	done | rdma -f -b - 2>/dev/null || :
	fabric_has_host_netns || shared_hosts_down
	{
		host_namespaces
		routers
	} | sed 's/^/netns del /' | ip -force -batch - || :
	busywait 20000 fabric_is_gone || fabric_die "something of it is still there"
	for i in $(routers); do
		router_hash_forget "$i"
	done
	rm -f "$fabric_state"
}

fabric_seed()
{
	local seed=${1:-} n=0 netns

	[[ $seed =~ ^[0-9]{1,9}$ ]] || fabric_die "seed: not a number: $seed"
	fabric_load
	for netns in $(routers); do
		netns_exec "$netns" sysctl -q -w \
			"net.ipv4.fib_multipath_hash_seed=$(router_seed "$seed" $n)"
		router_hash_seed "$netns"
		n=$((n + 1))
	done
}

# fabric_hash qpn_hash|linear_hash|packet_hash on|off: of RoCE packets, on all routers. Aggs
# take other bits of a linear hash than leaves: by the same bits most cores would get nothing.
fabric_hash()
{
	local router

	[[ ${2:-} =~ ^(on|off)$ ]] || fabric_die "on, or off?"
	fabric_load
	modprobe -a cls_bpf sch_ingress
	# shellcheck disable=SC2046 # words
	router_hash_all "$2" "$1" "$fabric_dir/../../build/guest/bpf/qpn_hash.bpf.o" \
		$(routers) || fabric_die "a router has no $1"
	((!cores)) || for router in $(routers 1); do
		router_hash_rotate "$router" 8
	done
}

# pair_of LEAF SPINE: set $a and $b to the names of these, or of two routers that are named
pair_of()
{
	a=$1 b=$2
	[[ $1 == [a-z]* ]] || a=leaf$1 b=spine$2
}

# fabric_cut add|del LEAF SPINE: the far ends of their links, on both sides, drop all packets.
# The links keep their carrier, and routers still choose them.
fabric_cut()
{
	local family k a b

	fabric_load
	pair_of "$2" "$3"
	for family in 4 6; do
		for k in "${suffixes[@]}"; do
			ip -$family -n "$a" rule "$1" pref 1 iif "$b$k" blackhole
			ip -$family -n "$b" rule "$1" pref 1 iif "$a$k" blackhole
		done
	done
}

# fabric_link_rate LEAF SPINE [RATE]: of both directions
fabric_link_rate()
{
	local tbf k a b

	fabric_load
	pair_of "$1" "$2"
	tbf="root handle 1: tbf rate ${3:-$link_rate} burst 20k limit 8m"
	for k in "${suffixes[@]}"; do
		# shellcheck disable=SC2086 # words
		tc -n "$a" qdisc change dev "$b$k" $tbf
		# shellcheck disable=SC2086
		tc -n "$b" qdisc change dev "$a$k" $tbf
	done
}

# {"uplinks":[[bytes to each spine] of each leaf],
#  "downlinks":[[bytes to each leaf] of each spine]}
# With --links there is a list of bytes for each pair. With pods:
# {"leaf_agg":[[bytes to each agg] of each leaf], "agg_core":..,
#  "core_agg":[[bytes to the agg of each pod] of each core], "agg_leaf":..}
fabric_links()
{
	local netns

	fabric_load
	for netns in $(routers); do
		ip -n "$netns" -s -j link show type veth
	done | jq -c -s --argjson leaves "$leaves" --argjson links "$links" \
		--argjson aggs $((pods * aggs)) --argjson cores "$cores" '
		def sent(to): map(select(.ifname | test("^" + to + "[0-9]+(-[0-9])?$")))
			| sort_by(.ifname[(to | length):] | split("-") | map(tonumber))
			| map(.stats64.tx.bytes)
			| if $links == 1 then .
			  else [range(0; length; $links) as $i | .[$i:$i + $links]] end;
		.[:$leaves] as $low | .[$leaves:$leaves + $aggs] as $mid | .[$leaves + $aggs:] as $top |
		if $cores == 0 then
			{uplinks: $low | map(sent("spine")), downlinks: $mid | map(sent("leaf"))}
		else
			{leaf_agg: $low | map(sent("agg")), agg_core: $mid | map(sent("core")),
			 core_agg: $top | map(sent("agg")), agg_leaf: $mid | map(sent("leaf"))}
		end'
}

fabric_hosts()
{
	local i comma='' pod=''

	fabric_load
	printf '['
	for ((i = 0; i < leaves * hosts; i++)); do
		printf '%s{"host":%d,"name":"host%d","netns":"%s","netdev":"%s",' \
			"$comma" $i $i "$(host_netns $i)" "$(host_dev $i)"
		((!cores)) || pod=",\"pod\":$(($(host_leaf $i) * pods / leaves))"
		printf '"rdma":"%s","ipv4":"%s","ipv6":"%s","leaf":%d%s}' \
			"$(host_rdma $i)" "$(host_ip $i)" "$(host_ip6 $i)" \
			"$(host_leaf $i)" "$pod"
		comma=,
	done
	echo ']'
}

fabric_main()
{
	local command=${1:-}

	set -euo pipefail
	(($#)) && shift
	case $command in
	up)	fabric_up "$@" ;;
	down)	fabric_down ;;
	seed)	fabric_seed "$@" ;;
	qpn-hash | linear-hash | packet-hash) fabric_hash "${command/-/_}" "$@" ;;
	cut)	fabric_cut add "$@" ;;
	join)	fabric_cut del "$@" ;;
	rate)	fabric_link_rate "$@" ;;
	links)	fabric_links ;;
	hosts)	fabric_hosts ;;
	--help)	fabric_usage ;;
	*)	fabric_usage >&2; exit 2 ;;
	esac
}

fabric_dir=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
# shellcheck source=selftests/lib.sh
. "$fabric_dir/../lib.sh"
# shellcheck source=selftests/net/router_hash.sh
. "$fabric_dir/router_hash.sh"
# shellcheck source=selftests/net/tiers.sh
. "$fabric_dir/tiers.sh"
# shellcheck source=selftests/net/fabric_hosts.sh
. "$fabric_dir/fabric_hosts.sh"
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
	fabric_main "$@"
fi
