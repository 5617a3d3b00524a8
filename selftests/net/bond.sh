# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # what tiers.sh sets
#
# Hosts with a port to each of two leaves, of routers as tiers.sh lays them out. To be sourced
# behind it. Both leaves have one MAC address towards such a host, and one address of its subnet.

# bond_prefix LEAF [TO]: routers above send what is for the hosts of the leaf there, or to both
bond_prefix()
{
	local router tier n below above l self self6 near6 prefix6 dev hops hops6

	printf -v prefix6 'fd00:1:%x::' "$1"
	for router in $(routers 1); do
		router_of "$router"
		[[ " ${below[*]} " == *" $1 "* ]] || continue
		hops='' hops6=''
		for l; do
			loopback 0 "$l"
			dev=${tier_names[0]}$l
			hops+=" nexthop via $self dev $dev onlink"
			hops6+=" nexthop via $near6 dev $dev"
		done
		loopback 1 "$n"
		{
			echo "route replace 10.1.$1.0/24 src $self$hops"
			echo "route replace $prefix6/64 src $self6$hops6"
		} | ip -n "$prefix$router" -batch - || return
	done
}

# bond_port NAME DEV MAC LEAF TO: a device of a host below LEAF becomes one to leaf TO as well,
# which has the MAC address of LEAF towards it. Addresses are those of LEAF.
bond_port()
{
	local name=$1 dev=$2 mac=$3 l=$4 bridge self self6 near6 prefix6 i

	printf -v prefix6 'fd00:1:%x::' "$l"
	link_mac bridge "$l" 0 bridge
	loopback 0 "$5"
	ip link add "$dev" netns "$prefix$name" mtu "$fabric_mtu" address "$mac" type veth \
		peer name "$name" netns "${prefix}leaf$5" mtu "$fabric_mtu" address "$bridge" &&
		ip -n "$prefix$name" link set "$dev" up || return
	{
		echo "link set $name up"
		echo "addr add 10.1.$l.254/24 dev $name noprefixroute"
		echo "addr add ${prefix6}fffe/64 dev $name noprefixroute nodad"
		echo "route replace 10.1.$l.0/24 dev $name src $self"
		echo "route replace $prefix6/64 dev $name src $self6"
		for i in {1..8}; do
			echo "neigh add 10.1.$l.$i lladdr $mac dev $name"
			printf 'neigh add fd00:1:%x::%x lladdr %s dev %s\n' "$l" "$i" "$mac" "$name"
		done
	} | ip -n "${prefix}leaf$5" -batch -
}
