#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Circuits move in the fabric of selftests/net, without its RDMA devices. A job without a
# place gets one, and a running job loses no packet.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/net/fabric.sh

# The names of the fabric's namespaces are fixed, so the test has a mount namespace.
if [[ ! ${OCS_INSIDE:-} ]]; then
	if ((EUID)) || ! unshare --mount --net true 2>/dev/null; then
		skip_all "not root, or no namespaces"
	fi
	OCS_INSIDE=1 exec unshare --mount --net "$0"
fi
mount -t tmpfs tmpfs /run || skip_all "cannot mount"

fabric_has_host_netns()
{
	true
}

. selftests/host/slice/slices.sh
leaves=4 spines=2 hosts=1 link_rate='' seed=1
tiers_of_spines $spines
cpus=$(cpu_mask)

destroy()
{
	local netns

	for netns in $(routers) $(host_namespaces); do
		ip netns del "$netns"
	done
}

up()
{
	local netns n=0

	fabric_save
	{
		routers
		host_namespaces
	} | sed 's/^/netns add /' | ip -batch - || return
	defer destroy
	for netns in $(routers); do
		router_sysctl $((n++)) | netns_exec "$netns" sysctl -q -e -p - || return
	done
	for netns in $(host_namespaces); do
		host_sysctl | netns_exec "$netns" sysctl -q -e -p - || return
	done
	fabric_links_batch | ip -batch - || return
	for netns in $(routers); do
		router_up "$netns" || return
	done
	for ((n = 0; n < leaves; n++)); do
		host_batch "$n" | ip -n "host$n" -batch - || return
	done
	answers 0 1 && answers 2 3
}

# answers HOST HOST: these hosts reach all eight by IPv4 and IPv6
answers()
{
	host_exec "$1" ping -q -c 8 -i 0.01 -W 1 "$(host_ip "$2")" &&
		host_exec "$1" ping -q -c 8 -i 0.01 -W 1 "$(host_ip6 "$2")"
}

# silent HOST HOST: these hosts do not reach each other
silent()
{
	! host_exec "$1" ping -q -c 1 -W 1 "$(host_ip "$2")" &&
		! host_exec "$1" ping -q -c 1 -W 1 "$(host_ip6 "$2")"
}

# Leaves 0 and 1 have both circuits to one spine each, and no spine in common.
tears()
{
	echo '{"leaves":4,"spines":2,"gpus_per_leaf":2,"gpus_per_server":1,
		"oxcs":2,"circuits":[[0,0],[1,1],[0,1],[1,0]]}' >"$file"
	slice wire --driver "$driver" | jq -e '.ports == 8' &&
		silent 0 1 && answers 2 3 &&
		slice wire --driver "$driver" && answers 2 3 &&
		slice alloc --gpus 4 --job running | jq -e '.leaves == [2, 3]' &&
		slice alloc --gpus 4 --job new | jq -e '.error.code == "network"'
}

# Devices of leaves 2 and 3 with their interface indexes, and routes
running_paths()
{
	local n

	for n in 2 3; do
		ip -n "leaf$n" -o link show type veth | cut -d ' ' -f 1,2
		ip -n "leaf$n" route show 10.1.$((5 - n)).0/24
		ip -n "leaf$n" route show fd00:1:$((5 - n))::/64
	done
}

# traffic ADDRESS: send until the circuits have moved, and print lost packets
traffic()
{
	while :; do
		host_exec 2 ping -q -c 500 -i 0.001 -W 5 "$1" || return
		[[ ! -e $dir/moved ]] || return 0
	done
}

lossless()
{
	local before four six status

	before=$(running_paths)
	traffic "$(host_ip 3)" >"$dir/ping4" &
	four=$!
	traffic "$(host_ip6 3)" >"$dir/ping6" &
	six=$!
	slice alloc --gpus 4 --job new --ocs --driver "$driver" >"$dir/new"
	status=$?
	: >"$dir/moved"
	wait "$four" && wait "$six" || return
	cat "$dir/new" "$dir"/ping[46]
	((!status)) && jq -e '.stage == "ocs" and .leaves == [0, 1]' "$dir/new" &&
		! grep -h "packet loss" "$dir"/ping[46] | grep -v " 0% packet loss" &&
		[[ $(running_paths) == "$before" ]] && answers 0 1
}

agrees()
{
	local l s want have

	for ((l = 0; l < leaves; l++)); do
		for ((s = 0; s < spines; s++)); do
			want=$(jq --argjson l "$l" --argjson s "$s" \
				'[.circuits[$l][] | select(. == $s)] | length' "$file")
			have=$(ip -n "spine$s" -o link show up | grep -c ": leaf${l}[.@]")
			((want == have)) || {
				echo "leaf $l, spine $s: $have circuits, not $want"
				return 1
			}
		done
	done
}

gone()
{
	deferred_run
	[[ ! $(ip netns list) ]]
}

driver=$PWD/selftests/net/ocs.sh
ktap_plan 5
check "a fabric with circuits is made" up
check "a job without circuits to a common spine is refused" tears
check "moved circuits cost a running job no packet" lossless
check "the circuits of the fabric are those of the file" agrees
check "no namespace of the fabric is left" gone
ktap_finish
