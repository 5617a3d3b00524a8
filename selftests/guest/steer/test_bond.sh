#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host 0 behind a bond to two leaves, with the policy layer3+4: path discover finds the leaf of each
# port, and a queue pair is split over both leaves and both spines behind each.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/split.sh
. selftests/net/bond.sh

peer=2			# below leaf 2
bytes=$(($(few 4 16) << 20))

# bond_up: bond0 of host 0 takes the place of eth0, with another member to leaf 1
bond_up()
{
	local mac

	modprobe bonding max_bonds=0 || return
	link_mac host 0 0 mac
	bond_port host0 eth1 "$mac" 0 1 && bond_prefix 0 1 || return
	rdma link del rxe0
	ip -n host0 -batch - <<-E || return
	link set eth0 down
	addr flush dev eth0
	link set eth1 down
	link add bond0 mtu $fabric_mtu address $mac type bond mode balance-xor xmit_hash_policy layer3+4 miimon 100
	link set eth0 master bond0
	link set eth1 master bond0
	E
	host_dev() { echo bond0; }
	host_batch 0 | ip -n host0 -batch - || return
	tbf_batch "$host_rate" eth1 | tc -n host0 -batch - &&
		host_exec 0 rdma link add rxe0 type rxe netdev bond0 &&
		busywait 10000 members_up
}

members_up()
{
	! ip netns exec host0 grep -qv up /sys/class/net/eth{0,1}/bonding_slave/mii_status
}

up()
{
	steer_fabric --leaves 3 --spines 2 --hosts 1 --rate 8mbit --host-rate 32mbit &&
		bond_up && fabric_hash linear_hash on && module_load && defer module_unload
}

# "ip netns exec" shows the sysfs of the namespace, which says that the device is a bond.
finds_all()
{
	ip netns exec host0 rocesteer path discover --json --dev bond0 \
		--peer "$(host_ip "$peer")" --out "$dir/ports0.json" >"$dir/discovered" || return
	jq -c '.bond, (.peers[] | [.linear, .probed]), (.peers[].paths[] | [.via, .router])' \
		"$dir/discovered"
	jq -e '.bond == {device: "bond0", mode: "balance-xor", policy: "layer3+4", members: 2,
			select: ""} and
		[.peers[0].paths[] | [.via, .router]] == [
			["10.255.0.1", "10.255.1.1"], ["10.255.0.2", "10.255.1.1"],
			["10.255.0.1", "10.255.1.2"], ["10.255.0.2", "10.255.1.2"]] and
		.peers[0].linear' "$dir/discovered"
}

# sent DEVICE: packets that a member of the bond has sent
sent()
{
	ip -n host0 -s -j link show "$1" | jq '.[0].stats64.tx.packets'
}

# Packets of each port leave by the member to the leaf of its path.
members()
{
	local via port dev before n=0

	while read -r via port; do
		dev=eth$((${via##*.} - 1))
		before=$(sent "$dev")
		host_exec 0 python3 -c 'import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], int(sys.argv[3])))
for i in range(50):
    s.sendto(b"x" * 32, (sys.argv[2], 4791))' "$(host_ip 0)" "$(host_ip "$peer")" "$port" || return
		echo "port $port, $dev: $(($(sent "$dev") - before)) packets"
		(($(sent "$dev") - before >= 50)) && n=$((n + 1)) || return
	done < <(jq -r '.peers[].paths[] | "\(.via) \(.ports[0])"' "$dir/ports0.json")
	((n == 4))
}

holds()
{
	host_exec 0 rocesteer path verify "$dir/ports0.json" --all
}

jobs_up()
{
	host_exec "$peer" rocesteer path discover --dev eth0 --peer "$(host_ip 0)" \
		--out "$dir/ports$peer.json" && job "$peer" on && job 0 on && daemon_up
}

# carried: bytes that the members have sent, and what leaves 0 and 1 have sent to each spine
carried()
{
	jq -cn --argjson members "$(ip -n host0 -s -j link show type veth | jq -c \
		'[.[] | .stats64.tx.bytes]')" --argjson links "$(fabric_links)" \
		'[$members, [$links.uplinks[0, 1][]]]'
}

write_all()
{
	{
		host_line 0 /sys/fs/cgroup/test0
		host_line "$peer" "/sys/fs/cgroup/test$peer"
		echo "flow 0 1 $bytes"
	} >"$dir/traffic"
	timeout $((200 * TIME_SCALE)) build/guest/selftests/writes 1 "$message" 2 20 \
		<"$dir/traffic"
}

# Each member, and each link from there to a spine, has an equal share of the data, to 1 %.
evenly()
{
	local before

	before=$(carried)
	write_all || return
	jq -e --argjson before "$before" --argjson bytes "$bytes" '[., $before] | transpose |
		map(transpose | map(.[0] - .[1])) | (., all(.[];
			add > $bytes and (max - min) * length / add * 100 <= 1))' < <(carried)
}

told()
{
	jq -se "any(.[]; .event == \"$1\")" "$dir/daemon" >/dev/null
}

# The bond sends all by the other member: ports of half of the paths take another leaf than theirs.
member_down()
{
	local writer status

	write_all &
	writer=$!
	ip -n host0 link set eth1 down && bond_prefix 0 &&
		busywait 60000 told path-moved && busywait 60000 told remapped
	status=$?
	jq -c 'select(.event | test("path|remapped"))' "$dir/daemon"
	wait "$writer" && return "$status"
}

fabric_has_host_netns || skip_all "hosts have no namespaces"
ktap_plan 8
check "a host with a bond to two leaves, below two spines" up
check "path discover finds the leaf and the spine of four paths" finds_all
check "all ports keep their paths" holds
check "packets of a port leave by the member to its leaf" members
check "jobs of both hosts, and the daemon" jobs_up
check "a split queue pair loads members and uplinks alike" evenly
check "a member that goes down is noticed, and ports are found again" member_down
check "jobs leave nothing behind" jobs_unload 0 "$peer"
ktap_finish
