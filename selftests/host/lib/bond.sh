# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # what pods.sh sets
#
# h0 of pods.sh behind a bond of two devices, to leaf0 and leaf1. To be sourced behind pods.sh.
#
#	h0 eth0 --- leaf0 === spines or aggs ...
#	   eth1 --- leaf1 ===
#
# eth0 is what routes name. A program at its egress makes it a bond: it hashes as Linux does with
# the policy layer3+4, and hands packets to eth1. Both devices have one MAC address, as have the
# leaves towards them. The test's machine needs no bonding driver.

# shellcheck source=selftests/net/bond.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../../net/bond.sh"

# bond_on: eth0 of h0 becomes a bond with eth1, to leaf1
bond_on()
{
	local mac pins=$router_hash_pins/${prefix}h0

	link_mac host 0 1 mac
	bond_port h0 eth1 "$mac" 0 1 &&
		bond_prefix 0 1 && mkdir -p "$pins" &&
		bpftool prog loadall build/bpf/qpn_hash.bpf.o "$pins" pinmaps "$pins" 2>/dev/null &&
		router_hash_set "${prefix}h0" 2 "$(in_ns h0 cat /sys/class/net/eth1/ifindex)" &&
		on h0 tc qdisc add dev eth0 clsact &&
		on h0 tc filter add dev eth0 egress bpf direct-action \
			object-pinned "$pins/bond_hash"
}

# bond_member up|down: eth1 takes no part in the bond from down on
bond_member()
{
	if [[ $1 == down ]]; then
		on h0 tc filter del dev eth0 egress
	else
		on h0 tc filter add dev eth0 egress bpf direct-action \
			object-pinned "$router_hash_pins/${prefix}h0/bond_hash"
	fi
}
