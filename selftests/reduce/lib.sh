# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # what fabric_load sets
#
# What the tests of NetReduce share: a fabric with a switch that sums, All-Reduces of
# selftests/reduce/ranks.c on its hosts, and the observer of that switch. Sourced at the
# top of the tree.

. selftests/fabric/fabric.sh

reduce_ko=build/guest/$(uname -r)/rocesteer_reduce.ko
pins=/sys/fs/bpf/test_reduce
group=5		# unless a test says other
fast=100mbit	# links that do not limit much, on one CPU under TCG

reduce_load()
{
	insmod "$reduce_ko"
}

reduce_unload()
{
	busywait 10000 rmmod rocesteer_reduce
}

# reduce_prepare: what needs the kernel, and a directory
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

# leaf_up HOSTS RATE: hosts below a leaf, which sums
leaf_up()
{
	fabric_up --leaves 1 --spines 1 --hosts "$1" --rate "$2" --host-rate "$2"
	fabric_load
	switch=leaf0
	mapfile -t ports < <(printf 'host%d\n' $(seq 0 $(($1 - 1))))
}

# spine_up HOSTS RATE: each host below a leaf of its own; the spine sums
spine_up()
{
	fabric_up --leaves "$1" --spines 1 --hosts 1 --rate "$2" --host-rate "$2"
	fabric_load
	switch=spine0
	mapfile -t ports < <(printf 'leaf%d\n' $(seq 0 $(($1 - 1))))
}

# All that was made
reduce_down()
{
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

# observe PROGRAM: at all ports of the switch, with the one that knows inputs (comes), or
# the one that takes all for inputs (comes_all)
observe()
{
	local port

	for port in "${ports[@]}"; do
		cat <<-E
		qdisc add dev $port clsact
		filter add dev $port ingress bpf direct-action object-pinned $pins/$1
		filter add dev $port egress bpf direct-action object-pinned $pins/leaves
		E
	done | in_switch tc -batch - && seen_mark
}

observe_end()
{
	printf 'qdisc del dev %s clsact\n' "${ports[@]}" | in_switch tc -batch -
}

# Sets seen: inputs that came, outputs, what left for a virtual queue pair, inputs among
# the outputs
seen_get()
{
	mapfile -t seen < <(bpftool -j map dump pinned "$pins/seen" | jq '.[].formatted.value')
}

# From here on it counts.
seen_mark()
{
	seen_get
	marked=("${seen[@]}")
	passes=''
}

# Inputs came and none went, since seen_mark. Without the module inputs pass,
# for nobody: then it is for the test to set "passes".
no_input_forwarded()
{
	local i

	seen_get
	for i in 0 1 2 3; do
		seen[i]=$((seen[i] - marked[i]))
	done
	echo "the switch saw ${seen[0]} inputs, and let ${seen[1]} outputs leave, among them" \
		"${seen[2]} to virtual queue pairs, ${seen[3]} inputs"
	[[ $passes ]] || ((!seen[2])) || return
	((seen[0] && !seen[3]))
}

#
# All-Reduces
#

# members COUNT [FIRST [FAMILY]]: so many ranks, one a host from the first one on; behind
# the last host comes the first one again
members()
{
	local i host address=host_ip${3:-} netns

	for ((i = 0; i < $1; i++)); do
		host=$(((${2:-0} + i) % (leaves * hosts)))
		netns=$(host_netns $host)
		echo "$netns,$(host_rdma $host),$($address $host)"
	done
}

# ranks_start NAME "RANKS [FIRST [FAMILY]]" OPTION...: in the background; for a group, which
# is left. Its file is $dir/NAME.json
declare -A ranks_pid ranks_in
ranks_start()
{
	local name=$1 who in
	# shellcheck disable=SC2086 # words
	mapfile -t who < <(members $2)
	shift 2

	rm -f "$dir/$name.in"
	mkfifo "$dir/$name.in"
	timeout -k 10 $((400 * PATIENCE)) ranks group=$group file="$dir/$name.json" \
		load="nsenter --net=/run/netns/$switch rocesteer reduce load" "$@" "${who[@]}" \
		<"$dir/$name.in" >"$dir/$name.out" 2>&1 &
	ranks_pid[$name]=$!
	exec {in}>"$dir/$name.in"
	ranks_in[$name]=$in
}

# ranks_end NAME STATUS...: it exits with one of these
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

# Let a rank go on that is held, if it is there.
ranks_release()
(
	trap '' PIPE
	echo >&"${ranks_in[$1]}"
)

# result NAME FIELD: of the line that says what has come of it
result()
{
	sed -n "s/^right=.*\\b$2=\\([0-9]*\\).*/\\1/p; s/^$2=\\([0-9]*\\).*/\\1/p" "$dir/$1.out"
}

group_unload()
{
	in_switch rocesteer reduce unload "$group"
}

# group_get JQ
group_get()
{
	in_switch rocesteer --json reduce show "$group" | jq -r "$1"
}

# group_is JQ: true of the group
group_is()
{
	[[ $(group_get "$1") == true ]]
} 2>/dev/null

# stat_get JQ
stat_get()
{
	in_switch rocesteer --json reduce stat | jq -r "$1"
}

# reduces "RANKS [FIRST [FAMILY]]" OPTION...: an All-Reduce, by a group that is loaded for
# it and unloaded; each element is right
reduces()
{
	local status=0

	ranks_start run "$@" || return
	ranks_end run 0 || status=1
	group_unload || status=1
	return "$status"
}

# sums: the same, and the switch has forwarded no input
sums()
{
	local status=0

	seen_mark
	reduces "$@" || status=1
	no_input_forwarded && ((seen[1])) || status=1
	return "$status"
}

#
# What happens to packets
#

# hosts_tc LINE...: for tc, with DEV for the device of each host
hosts_tc()
{
	local i

	if fabric_has_host_netns; then
		for ((i = 0; i < leaves * hosts; i++)); do
			printf '%s\n' "${@//DEV/eth0}" | tc -n "host$i" -force -batch -
		done
		return
	fi
	for ((i = 0; i < leaves * hosts; i++)); do
		printf '%s\n' "${@//DEV/eth$i}"
	done | tc -force -batch -
}

# ports_tc LINE: the same for the ports of the switch
ports_tc()
{
	local port

	for port in "${ports[@]}"; do
		echo "${1//DEV/$port}"
	done | in_switch tc -force -batch -
}

# disturb PLACE NETEM...: to what hosts send, behind their rate limit: data (before), or
# acknowledgments in IPv4 (acks), as fabric.sh has them; to what the switch sends (behind);
# or to all
disturb()
{
	local place=$1 lines=()
	shift

	[[ $place == acks || $place == behind ]] ||
		lines+=("qdisc replace dev DEV parent 2:2 netem limit 10000 $*")
	[[ $place == before || $place == behind ]] ||
		lines+=("qdisc replace dev DEV parent 2:1 netem limit 10000 $*")
	((!${#lines[@]})) || hosts_tc "${lines[@]}" || return
	[[ $place == before || $place == acks ]] ||
		ports_tc "qdisc replace dev DEV root netem limit 10000 $*"
}

# As leaf_up or spine_up made it.
undisturbed()
{
	local rate=$fast

	hosts_tc "qdisc replace dev DEV parent 2:2 bfifo limit 8m" "qdisc del dev DEV parent 2:1"
	ports_tc "qdisc del dev DEV root"
	[[ $switch == leaf* ]] || tbf_batch "$rate" "${ports[@]}" | in_switch tc -batch -
	return 0
} 2>/dev/null

# disturbed "PLACE NETEM..." COMMAND...
disturbed()
{
	local status=0 how=$1
	shift

	# shellcheck disable=SC2086 # words
	disturb $how || return
	"$@" || status=1
	undisturbed
	return "$status"
}
