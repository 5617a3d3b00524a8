# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Linux routers as ECMP switches, by addresses and ports, or as qpn_hash.bpf.c at the ingress
# of their devices hashes. To be sourced.

router_hash_pins=/sys/fs/bpf/router-hash

# router_settings SEED: for "sysctl -p -"
router_settings()
{
	cat <<-E
	net.ipv4.ip_forward = 1
	net.ipv4.fib_multipath_hash_policy = 3
	net.ipv4.fib_multipath_hash_fields = 0x37
	net.ipv4.fib_multipath_hash_seed = $1
	net.ipv4.icmp_ratelimit = 0
	net.ipv6.conf.all.forwarding = 1
	net.ipv6.conf.default.accept_dad = 0
	net.ipv6.fib_multipath_hash_policy = 3
	net.ipv6.fib_multipath_hash_fields = 0x37
	net.ipv6.icmp.ratelimit = 0
	E
}

# router_hash_all on|off PROGRAM OBJECT NETNS...
router_hash_all()
{
	local netns

	for netns in "${@:4}"; do
		"router_hash_$1" "$netns" "$2" "$3" || return
	done
}

# router_hash_on NETNS qpn_hash|packet_hash OBJECT: with the seed that the router has
router_hash_on()
{
	local netns=$1 program=$2 object=$3 pins=$router_hash_pins/$1

	router_hash_off "$netns"
	mkdir -p "$pins" &&
		bpftool prog loadall "$object" "$pins" pinmaps "$pins" 2>/dev/null &&
		router_hash_seed "$netns" &&
		nsenter --net="/run/netns/$netns" sysctl -q -w \
			net.ipv4.fib_multipath_hash_policy=1 \
			net.ipv6.fib_multipath_hash_policy=1 &&
		router_hash_batch "$netns" "$pins/$program" |
		nsenter --net="/run/netns/$netns" tc -batch -
}

# The callers enter the namespace themselves, as "tc -n" has another /sys/fs/bpf.
router_hash_batch()
{
	ip -n "$1" -j link show type veth | jq -r --arg program "$2" '.[].ifname |
		"qdisc replace dev \(.) clsact",
		"filter add dev \(.) ingress pref 4791 bpf direct-action " +
			"object-pinned \($program)"'
}

# router_hash_seed NETNS: again, when net.ipv4.fib_multipath_hash_seed is another one
router_hash_seed()
{
	local seed

	seed=$(nsenter --net="/run/netns/$1" sysctl -n \
		net.ipv4.fib_multipath_hash_seed) && router_hash_set "$1" 0 "$seed"
}

# router_hash_rotate NETNS BITS: a linear hash is of the CRC rotated to the left
router_hash_rotate()
{
	router_hash_set "$1" 1 "$2"
}

# router_hash_set NETNS KEY VALUE: an entry of hash_settings, which no other hash has
router_hash_set()
{
	local pin=$router_hash_pins/$1/hash_settings

	[[ ! -e $pin ]] || bpftool map update pinned "$pin" key "$2" 0 0 0 value \
		$(($3 & 255)) $(($3 >> 8 & 255)) $(($3 >> 16 & 255)) $(($3 >> 24 & 255))
}

# router_hash_off NETNS: does nothing where it is not on
router_hash_off()
{
	local netns=$1

	[[ -e $router_hash_pins/$netns ]] || return 0
	ip -n "$netns" -j link show type veth |
		jq -r '.[] | "filter del dev \(.ifname) ingress pref 4791"' |
		tc -n "$netns" -force -batch - 2>/dev/null
	nsenter --net="/run/netns/$netns" sysctl -q -w \
		net.ipv4.fib_multipath_hash_policy=3 \
		net.ipv6.fib_multipath_hash_policy=3
	router_hash_forget "$netns"
}

# router_hash_forget NETNS: the router is gone
router_hash_forget()
{
	rm -rf "${router_hash_pins:?}/$1"
	rmdir "$router_hash_pins" 2>/dev/null || :
}
