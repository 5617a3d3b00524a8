# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the tests of the module. Sourced at the top of the tree, after selftests/lib.sh.
#
#	rsa 10.77.0.1 --- rsb 10.77.0.2
#	 |                 |
#	rxea              rxeb

release=$(uname -r)
build=$PWD/build/guest
module=$build/$release/rocesteer.ko
genl=$build/selftests/genl
cgroot=/sys/fs/cgroup
# shellcheck disable=SC2034 # for tests
tracing=/sys/kernel/tracing
dir=$(mktemp -d)
defer rm -rf "$dir"

((EUID == 0)) || skip_all "needs root"
[[ -e $module ]] || skip_all "no module for $release: $module"
modprobe rdma_rxe || skip_all "no rxe in kernel $release"
modprobe -a ib_uverbs rdma_cm veth dummy bridge crc32 2>/dev/null

export PATH=$PATH:$build/selftests
. selftests/qps.sh

load()
{
	insmod "$module" "$@"
}

unload()
{
	rmmod rocesteer
}

# answers_start DEVICE [COMMAND...]: tell the module which packets the device's queue pairs
# will receive, as rocesteer_egress does. COMMAND enters its network namespace. Holds the module
answers_start()
{
	local dev=$1 prog=/sys/fs/bpf/answers result
	shift
	bpftool prog load "$build/bpf/answers.bpf.o" "$prog" || return
	"$@" tc qdisc replace dev "$dev" clsact &&
		"$@" tc filter add dev "$dev" egress pref 1 bpf direct-action \
			object-pinned "$prog"
	result=$?
	rm "$prog"
	return "$result"
}

# answers_end DEVICE [COMMAND...]
answers_end()
{
	local dev=$1
	shift
	"$@" tc filter del dev "$dev" egress pref 1
}

# rxe works in namespaces from 7.1 on
rxe_has_netns()
{
	[[ $(printf '%s\n' 7.1 "$release" | sort -V | head -n 1) == 7.1 ]]
}

world_make()
{
	local end
	ip link add rsa mtu 4200 type veth peer name rsb mtu 4200
	ip address add 10.77.0.1/24 dev rsa
	ip address add 10.77.0.2/24 dev rsb
	ip link set lo up
	# Between two devices of one host, over the wire
	for end in rsa rsb all; do
		sysctl -q "net.ipv4.conf.$end.accept_local=1" \
			"net.ipv4.conf.$end.rp_filter=0"
	done
	ip link set rsa up
	ip link set rsb up
	ip route add 10.77.0.2 dev rsa src 10.77.0.1 table 71
	ip route add 10.77.0.1 dev rsb src 10.77.0.2 table 72
	ip route add 10.77.0.9 dev rsa src 10.77.0.1 table 71
	ip rule add pref 10 iif lo from 10.77.0.1 lookup 71
	ip rule add pref 10 iif lo from 10.77.0.2 lookup 72
	ip rule add pref 32000 lookup local
	ip rule del pref 0
	ip neighbour replace 10.77.0.9 lladdr 02:00:00:00:00:09 dev rsa
	for end in a b; do
		rdma link add "rxe$end" type rxe netdev "rs$end" || return
	done
}

world_end()
{
	rdma link del rxea
	rdma link del rxeb
	ip link del rsa
	ip rule add pref 0 lookup local
	ip rule del pref 32000
	ip rule del pref 10
	ip rule del pref 10
}

# With a cgroup, and another below
groups_make()
{
	world_make || return
	mkdir -p "$cgroot/rs/inner"
}

groups_end()
{
	world_end
	rmdir "$cgroot/rs/inner" "$cgroot/rs"
}

# expect TEXT COMMAND...: the output contains TEXT
expect()
{
	local text=$1 out
	shift
	out=$("$@" 2>&1)
	[[ $out == *"$text"* ]] && return
	echo "$*: expected \"$text\", got \"$out\""
	return 1
}

# refused TEXT COMMAND...: the command fails, and its output contains TEXT
refused()
{
	local text=$1 out
	shift
	if out=$("$@" 2>&1); then
		echo "$*: not refused"
		return 1
	fi
	[[ $out == *"$text"* ]] && return
	echo "$*: expected \"$text\", got \"$out\""
	return 1
}

# field NAME COMMAND...: the value of a field of the reply
field()
{
	local name=$1 word
	shift
	for word in $("$@"); do
		[[ $word != "$name="* ]] || echo "${word#*=}"
	done
}

stat()
{
	field "$1" "$genl" stats-get
}

stat_is()
{
	[[ $(stat "$1") == "$2" ]]
}

# Fails if a device is removed while devices are listed.
no_device()
{
	local links

	links=$(rdma link show) && [[ ! $links ]]
}

is()
{
	[[ $1 == "$2" ]] && return
	echo "expected \"$2\", got \"$1\""
	return 1
}

ifindex()
{
	cat "/sys/class/net/$1/ifindex"
}

# Number of flows of a job
flows_of()
{
	"$genl" flow-dump | grep -c " job=$1 "
}

flows_are()
{
	is "$(flows_of "$1")" "$2"
}

# Memory that must be free after rmmod
memory()
{
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^(SUnreclaim|Percpu):/ { sum += $2 } END { print sum }' \
		/proc/meminfo
}

# The kernel has not complained since this was sourced
kernel_quiet()
{
	dmesg | sed "1,/${0##*/} begins/d" | selftests/vm/reports
}
echo "${0##*/} begins" >/dev/kmsg
