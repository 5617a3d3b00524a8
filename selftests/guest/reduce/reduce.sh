# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # what fabric_load sets
#
# For tests of NetReduce: a fabric with a switch that sums, All-Reduces of
# selftests/guest/reduce/ranks.c on its hosts, and an observer of the switch. Sourced at the
# top of the tree.

. selftests/net/fabric.sh
. selftests/guest/reduce/reduce_faults.sh

reduce_ko=build/guest/$(uname -r)/rocesteer_reduce.ko
pins=/sys/fs/bpf/test_reduce
group=5		# unless a test says other
root=0		# likewise; the spine
shape=()	# of the ranks' groups, options of selftests/guest/reduce/ranks.c
box=''		# address of a box beside the switch, or nothing
# shellcheck disable=SC2034 # for the tests, where packets are lost: 134 ms
quick=(timeout=15 stall=$((20 * TIME_SCALE)))
held=12		# packets that wait at least where a rank is held
fast=100mbit	# links that do not limit much, on one CPU under TCG

reduce_load()
{
	insmod "$reduce_ko"
}

reduce_unload()
{
	busywait 10000 rmmod rocesteer_reduce
}

# reduce_prepare: check the kernel, and make a directory
reduce_prepare()
{
	((EUID == 0)) || skip_all "needs root"
	[[ -e $reduce_ko ]] || skip_all "no module: $reduce_ko"
	modprobe -a crc32 sch_netem 2>/dev/null
	modprobe rdma_rxe || skip_all "the kernel has no rdma_rxe"
	export PATH=$PATH:$PWD/build/guest/selftests
	dir=$(mktemp -d)
	defer rm -rf "$dir"
	chmod 755 "$dir"
}

# leaf_up HOSTS RATE: hosts below one leaf, which sums
leaf_up()
{
	fabric_up --leaves 1 --spines 1 --hosts "$1" --rate "$2" --host-rate "$2"
	fabric_load
	one_switch leaf0 host "$1"
}

# one_switch NAME PORT COUNT: this switch alone sums, at ports of these names
one_switch()
{
	switch=$1
	switches=("$1")
	shape=()
	box=''
	held=12
	mapfile -t ports < <(printf "%s\n" $(seq -f "$2%g" 0 $(($3 - 1))))
	loads="nsenter --net=/run/netns/$switch rocesteer reduce load"
}

box_ip=10.1.0.200
box_ip6=fd00:1::c8

# The box's address and neighbours, which go with its link. They are permanent, because hosts
# that share a namespace answer for each other.
box_addresses()
{
	local i mac

	{
		printf 'link set %s up\n' lo eth0
		echo "addr replace $box_ip/24 dev eth0"
		echo "addr replace $box_ip6/64 dev eth0 nodad"
		for ((i = 0; i < hosts; i++)); do
			link_mac host 0 "$i" mac
			printf "neigh replace %s lladdr $mac dev eth0\n" "$(host_ip "$i")" \
				"$(host_ip6 "$i")"
		done
	} | ip -n box -batch -
}

# box_up HOSTS RATE: hosts below one leaf, and a box that sums; the leaf is only a bridge
box_up()
{
	local i to_box cpus

	leaf_up "$1" "$2"
	ip netns add box
	cpus=$(cpu_mask)
	host_sysctl | netns_exec box sysctl -q -p -
	link_mac host 0 "$hosts" to_box
	ip link add box netns leaf0 mtu "$fabric_mtu" type veth peer name eth0 netns box \
		mtu "$fabric_mtu" address "$to_box"
	ip -n leaf0 link set box master br0 up
	for ((i = 0; i < hosts; i++)); do
		printf "neigh add %s lladdr $to_box dev $(host_dev "$i")\n" "$box_ip" "$box_ip6" |
			host_exec "$i" ip -batch -
	done
	box_addresses
	one_switch box eth 1
	box=$box_ip
}

# spine_up HOSTS RATE: each host has a leaf of its own, and the spine sums
spine_up()
{
	fabric_up --leaves "$1" --spines 1 --hosts 1 --rate "$2" --host-rate "$2"
	fabric_load
	one_switch spine0 leaf "$1"
}

# tree_up LEAVES HOSTS SPINES RATE: HOSTS below each leaf; the leaves and one spine sum
tree_up()
{
	fabric_up --leaves "$1" --hosts "$2" --spines "$3" --rate "$4" --host-rate "$4"
	fabric_load
	switch=leaf0
	mapfile -t switches < <(printf 'leaf%d\n' $(seq 0 $(($1 - 1))))
	shape=("per_leaf=$2")
	held=4
	cat >"$dir/tree" <<-E
	#!/bin/bash
	# tree VERB FILE: on all switches of a group but \$without
	at()
	{
		[[ " \$without " == *" \$1 "* ]] ||
			nsenter --net="/run/netns/\$1" rocesteer reduce "\$verb" "\$file" "\${@:2}"
	}
	verb=\$1 file=\$2 status=0
	for leaf in \$(jq '[.ranks[].leaf] | unique[]' "\$file"); do
		at "leaf\$leaf" --leaf "\$leaf" || status=1
	done
	root=\$(jq .root "\$file")
	at "spine\$root" --spine "\$root" || status=1
	exit \$status
	E
	chmod +x "$dir/tree"
	loads="$dir/tree load"
}

# Remove all that was made.
reduce_down()
{
	[[ ! -e /run/netns/box ]] || ip netns del box
	[[ ! -e $fabric_state ]] || fabric_down
	[[ ! -e $pins ]] || rm -r "$pins"
	[[ ! -e /sys/module/rocesteer_reduce ]] || reduce_unload
}

in_switch()
{
	netns_exec "$switch" "$@"
}

#
# The observer
#

observer_load()
{
	mkdir "$pins" && bpftool prog loadall build/guest/bpf/inputs.bpf.o "$pins" \
		pinmaps "$pins"
}

# observe PROGRAM: at all ports of the switch; comes knows inputs, comes_all takes all packets
# for inputs
observe()
{
	local port

	for port in "${ports[@]}"; do
		observe_port "$port" "$1" leaves
	done | in_switch tc -batch - && seen_mark
}

# In a tree, observe inputs at hosts, and parts and results at spines. The part of a leaf with
# one host is the host's input.
observe_tree()
{
	local l h s up=goes_up

	((hosts > 1)) || up=''
	for ((l = 0; l < leaves; l++)); do
		{
			for ((h = l * hosts; h < (l + 1) * hosts; h++)); do
				observe_port "host$h" comes leaves
			done
			for ((s = 0; s < spines; s++)); do
				observe_port "spine$s" comes_down $up
			done
		} | netns_exec "leaf$l" tc -batch - || return
	done
	seen_mark
}

# observe_port DEVICE INGRESS [EGRESS]
observe_port()
{
	echo "qdisc add dev $1 clsact"
	echo "filter add dev $1 ingress bpf direct-action object-pinned $pins/$2"
	[[ ! ${3:-} ]] ||
		echo "filter add dev $1 egress bpf direct-action object-pinned $pins/$3"
}

observe_end()
{
	printf 'qdisc del dev %s clsact\n' "${ports[@]}" | in_switch tc -batch -
}

# Set seen: inputs, outputs, outputs to a virtual queue pair, inputs among the outputs; parts
# up, results down, parts among the results and outputs, and other packets between leaves and
# spines.
seen_get()
{
	mapfile -t seen < <(bpftool -j map dump pinned "$pins/seen" | jq '.[].formatted.value')
}

# Counters since this moment
seen_mark()
{
	seen_get
	marked=("${seen[@]}")
	passes=''
}

# Inputs have come since seen_mark, and none was forwarded. Without the module inputs pass, to
# nobody: then the test sets "passes".
no_input_forwarded()
{
	local i

	seen_get
	for i in "${!seen[@]}"; do
		seen[i]=$((seen[i] - marked[i]))
	done
	echo "the switch saw ${seen[0]} inputs, and let ${seen[1]} outputs leave, among them" \
		"${seen[2]} to virtual queue pairs, ${seen[3]} inputs; ${seen[4]} parts went up," \
		"${seen[5]} results came down, ${seen[6]} were parts, ${seen[7]} of another kind"
	[[ $passes ]] || ((!seen[2] && !seen[7])) || return
	((seen[0] && !seen[3] && !seen[6]))
}

#
# All-Reduces
#

# members COUNT [FIRST [FAMILY]]: ranks on hosts from FIRST on, one a host, and round again
members()
{
	local i host address=host_ip${3:-} netns

	for ((i = 0; i < $1; i++)); do
		host=$(((${2:-0} + i) % (leaves * hosts)))
		netns=$(host_netns $host)
		echo "$netns,$(host_rdma $host),$($address $host)"
	done
}

# ranks_start NAME "RANKS [FIRST [FAMILY]]" OPTION...: start ranks and their group in the
# background; the group's file is $dir/NAME.json
declare -A ranks_pid ranks_in
ranks_start()
{
	local name=$1 who in psn
	# shellcheck disable=SC2086 # words
	mapfile -t who < <(members $2)
	shift 2

	rm -f "$dir/$name.in"
	mkfifo "$dir/$name.in"
	# The next run of a group has other PSNs, which wrap soon, too, as numbers with a sign.
	psn=$(($(cat "$dir/psn$group" 2>/dev/null || echo 0x7fffe0) ^ 0x800000))
	[[ " $*" == *" mode="* ]] || echo "$psn" >"$dir/psn$group"
	timeout -k 10 $((400 * TIME_SCALE)) ranks group=$group file="$dir/$name.json" psn=$psn \
		load="$loads" root=$root "${shape[@]}" ${box:+"box=$box"} "$@" "${who[@]}" \
		<"$dir/$name.in" >"$dir/$name.out" 2>&1 &
	ranks_pid[$name]=$!
	exec {in}>"$dir/$name.in"
	ranks_in[$name]=$in
}

# later NAME: another run can have the group of this run's file: its PSNs are far from those used
later()
{
	jq '.ranks[].psn |= (. + 8388608) % 16777216' "$dir/$1.json" >"$dir/later.json" &&
		mv "$dir/later.json" "$dir/$1.json"
}

# ranks_end NAME STATUS...: it ends with one of these
ranks_end()
{
	local name=$1 status=0 in=${ranks_in[$1]}
	shift

	exec {in}>&-
	wait "${ranks_pid[$name]}" || status=$?
	cat "$dir/$name.out"
	[[ " $* " == *" $status "* ]] && return
	echo "$name: exit status $status"
	return 1
}

ranks_held()
{
	grep -qx held "$dir/$1.out"
}

# Let a rank go on that is held, if there is one.
ranks_release()
(
	trap '' PIPE
	echo >&"${ranks_in[$1]}"
)

# result NAME FIELD: of its last line
result()
{
	sed -n "s/^right=.*\\b$2=\\([0-9]*\\).*/\\1/p; s/^$2=\\([0-9]*\\).*/\\1/p" "$dir/$1.out"
}

group_unload()
{
	local at status=0 all=("${switches[@]}")

	[[ ! ${shape[*]} ]] || all+=("spine$root")
	for at in "${all[@]}"; do
		netns_exec "$at" rocesteer reduce unload "$group" || status=1
	done
	return "$status"
}

# group_get JQ
group_get()
{
	in_switch rocesteer --json reduce show "$group" | jq -r "$1"
}

# group_is JQ: the filter is true of the group
group_is()
{
	[[ $(group_get "$1") == true ]]
} 2>/dev/null

# stat_get JQ
stat_get()
{
	in_switch rocesteer --json reduce stat | jq -c -r "$1"
}

# stat_is JQ VALUE
stat_is()
{
	[[ $(stat_get "$1") == "$2" ]]
}

# reduces "RANKS [FIRST [FAMILY]]" OPTION...: load a group, run an All-Reduce, unload the
# group; each element is right
reduces()
{
	local status=0

	ranks_start run "$@" || return
	ranks_end run 0 || status=1
	group_unload || status=1
	return "$status"
}

# sums: reduces, without a forwarded input
sums()
{
	local status=0

	seen_mark
	reduces "$@" || status=1
	no_input_forwarded && ((seen[1])) || status=1
	return "$status"
}

# Bytes that host 0 has sent to its leaf
sent_bytes()
{
	ip -n leaf0 -s -j link show host0 | jq '.[].stats64.rx.bytes'
}

# A ring sends one and a half times the buffer.
sends_once()
{
	local before sent bytes=1048576

	before=$(sent_bytes)
	sums 4 bytes="$bytes" timeout=20 || return
	sent=$(($(sent_bytes) - before))
	echo "a rank has sent $sent bytes for $bytes"
	((sent > bytes && sent < bytes * 103 / 100))
}

# refused CODE COMMAND...: the command says so in JSON
refused()
{
	local code=$1 json
	shift

	json=$("$@")
	echo "$json"
	[[ $(jq -r .error.code <<<"$json") == "$code" ]]
}
