# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # what fabric.sh sets
#
# Hosts of the fabric: their names and addresses, and how they come and go. Sourced by
# fabric.sh.

# Each host has a network namespace of its own.
fabric_has_host_netns()
{
	local release major minor

	read -r release </proc/sys/kernel/osrelease
	IFS=.- read -r major minor _ <<<"$release"
	((major > 7 || (major == 7 && minor >= 1)))
}

host_count()
{
	echo $((leaves * hosts))
}

host_leaf()
{
	echo $(($1 / hosts))
}

host_ip()
{
	echo 10.1.$(($1 / hosts)).$(($1 % hosts + 1))
}

host_ip6()
{
	local leaf=$(($1 / hosts))

	# The kernel writes the address without the 0 of the first leaf.
	if ((leaf)); then
		printf 'fd00:1:%x::%x\n' $leaf $(($1 % hosts + 1))
	else
		printf 'fd00:1::%x\n' $(($1 % hosts + 1))
	fi
}

host_netns()
{
	! fabric_has_host_netns || echo "host$1"
}

host_dev()
{
	if fabric_has_host_netns; then
		echo eth0
	else
		echo "eth$1"
	fi
}

host_rdma()
{
	echo "rxe$1"
}

# The index of the host's RoCE v2 GID that holds its IPv4 address.
host_gid()
{
	local port=/sys/class/infiniband/rxe$1/ports/1 want file gid type

	printf -v want '0000:0000:0000:0000:0000:ffff:0a01:%02x%02x' \
		$(($1 / hosts)) $(($1 % hosts + 1))
	for file in "$port"/gids/*; do
		read -r gid <"$file" || continue
		[[ $gid == "$want" ]] || continue
		# Entries that are in use have a type.
		read -r type <"$port/gid_attrs/types/${file##*/}" || continue
		if [[ $type == "RoCE v2" ]]; then
			echo "${file##*/}"
			return
		fi
	done 2>/dev/null
	return 1
}

# host_line HOST CGROUP: the line that names a host to selftests/net/writes.c
host_line()
{
	local netns

	netns=$(host_netns "$1")
	echo "host $2 ${netns:+/run/netns/}${netns:--} $(host_rdma "$1") $(host_gid "$1")"
}

# host_exec HOST COMMAND...
host_exec()
{
	local host=$1
	shift

	if fabric_has_host_netns; then
		netns_exec "host$host" "$@"
	else
		"$@"
	fi
}

host_sysctl()
{
	cat <<-E
	net.core.rps_default_mask = $cpus
	net.ipv6.conf.default.accept_dad = 0
	net.ipv6.conf.default.addr_gen_mode = 1
	E
}

# host_link HOST: the command for "ip -batch" that makes its link to its leaf
host_link()
{
	local leaf=$(($1 / hosts)) netns mac

	link_mac host "$leaf" $(($1 % hosts)) mac
	netns=$(host_netns "$1")
	echo "link add host$1 netns leaf$leaf mtu $fabric_mtu" \
		"type veth peer name $(host_dev "$1")" \
		"${netns:+netns $netns} mtu $fabric_mtu address $mac"
}

# Traffic between hosts that share a namespace has to leave it: host i has table 100 + i,
# which is consulted before the local table.
host_batch()
{
	local i=$1 l=$(($1 / hosts)) h a dev ip ip6 prefix6 table=

	dev=$(host_dev "$i")
	ip=$(host_ip "$i")
	ip6=$(host_ip6 "$i")
	printf -v prefix6 'fd00:1:%x::' "$l"
	if ! fabric_has_host_netns; then
		table="table $((100 + i))"
	fi
	cat <<-E
	link set lo up
	link set $dev up
	addr add $ip/24 dev $dev
	addr add $ip6/64 dev $dev nodad
	E
	link_mac bridge "$l" 0 a
	echo "neigh add 10.1.$l.254 lladdr $a dev $dev"
	echo "neigh add ${prefix6}fffe lladdr $a dev $dev"
	for ((h = 0; h < hosts; h++)); do
		((h != i % hosts)) || continue
		link_mac host "$l" $h a
		echo "neigh add 10.1.$l.$((h + 1)) lladdr $a dev $dev"
		echo "neigh add $(host_ip6 $((l * hosts + h))) lladdr $a dev $dev"
	done
	if [[ $table ]]; then
		echo "route add 10.1.$l.0/24 dev $dev src $ip $table"
		echo "route add $prefix6/64 dev $dev src $ip6 $table"
		echo "route add local $ip dev lo $table"
		echo "route add local $ip6 dev lo $table"
	fi
	echo "route add 10.1.0.0/16 via 10.1.$l.254 dev $dev src $ip $table"
	echo "route add fd00:1::/32 via ${prefix6}fffe dev $dev src $ip6 $table"
}

# Namespaces of hosts
host_namespaces()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		host_netns $i
	done
}

# Rules of hosts that share a namespace, for "ip -4" or "ip -6".
shared_rules_batch()
{
	local i address=host_ip to=10.1.0.0/16

	if [[ $1 == 6 ]]; then
		address=host_ip6 to=fd00:1::/32
	fi
	# The local table comes after those of the hosts.
	echo "rule add pref 32000 lookup local"
	echo "rule del pref 0"
	for ((i = 0; i < leaves * hosts; i++)); do
		echo "rule add pref 10 iif lo from $($address $i) to $to" \
			"lookup $((100 + i))"
	done
}

shared_hosts_up()
{
	local i devices=() settings=(
		net.ipv4.conf.all.accept_local=1
		net.ipv4.conf.all.rp_filter=0
	)

	for ((i = 0; i < leaves * hosts; i++)); do
		devices+=("eth$i")
		settings+=(
			"net.ipv4.conf.eth$i.accept_local=1"
			"net.ipv4.conf.eth$i.rp_filter=0"
			"net.ipv6.conf.eth$i.accept_dad=0"
			"net.ipv6.conf.eth$i.addr_gen_mode=1"
		)
	done
	sysctl -q -w "${settings[@]}"
	for ((i = 0; i < leaves * hosts; i++)); do
		host_batch $i
	done | ip -batch -
	shared_rules_batch 4 | ip -4 -batch -
	shared_rules_batch 6 | ip -6 -batch -
	tbf_batch "$host_rate" "${devices[@]}" | tc -batch -
	for ((i = 0; i < leaves * hosts; i++)); do
		echo "link add rxe$i type rxe netdev eth$i"
	done | rdma -b -
}

shared_hosts_down()
{
	local i family

	for family in 4 6; do
		[[ $(ip -$family rule show pref 32000) ]] || continue
		{
			echo "rule add pref 0 lookup local"
			echo "rule del pref 32000"
			for ((i = 0; i < leaves * hosts; i++)); do
				echo "rule del pref 10"
			done
		} | ip -$family -force -batch - 2>/dev/null || :
	done
	# The RDMA device, routes and neighbours go with the device.
	for ((i = 0; i < leaves * hosts; i++)); do
		echo "link del eth$i"
		echo "route del local $(host_ip $i) dev lo table $((100 + i))"
		echo "route del local $(host_ip6 $i) dev lo table $((100 + i))"
	done | ip -force -batch - 2>/dev/null || :
	sysctl -q -w net.ipv4.conf.all.accept_local=0 net.core.rps_default_mask=0
}

namespaced_host_up()
{
	local i=$1

	host_batch "$i" | ip -n "host$i" -batch -
	tbf_batch "$host_rate" eth0 | tc -n "host$i" -batch -
	netns_exec "host$i" rdma link add "rxe$i" type rxe netdev eth0
}

# host_unplug HOST: remove its device, and the RDMA device with it. As host_plug, for a host
# with a namespace.
host_unplug()
{
	ip -n "leaf$(host_leaf "$1")" link del "host$1"
}

# host_plug HOST: make another device of the same name
host_plug()
{
	host_link "$1" | ip -batch - &&
		ip -n "leaf$(host_leaf "$1")" link set "host$1" master br0 up &&
		namespaced_host_up "$1"
}
