#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The module and what nobody should send it: test_fuzz.sh [MODULE], as root in the
# guest. PACKETS=N and MESSAGES=N: how many.
#
#	rsa 10.77.0.1 ------------- rsb 10.77.0.2, fd00:77::2, rsb.7
#	 |  sends, for 10.77.0.9     |  rxeb: queue pairs connected to .9, resequenced
#	rxea     and fd00:77::9      |

set -u
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=selftests/lib.sh
. "$here/../lib.sh"
# shellcheck source=selftests/kmod/lib.sh
. "$here/lib.sh"
# shellcheck source=selftests/kmod/split.sh
. "$here/split.sh"

packets=${PACKETS:-6000}
messages=${MESSAGES:-4000}
v4=10.77.0.9 v6=fd00:77::9
number=4	# queue pairs of each family

up()
{
	world_make && mkdir "$cgroup" || return
	modprobe 8021q 2>/dev/null
	ethtool -K rsb gro on rx-udp-gro-forwarding on
	ip address add fd00:77::2/64 dev rsb nodad
	ip link add link rsb name rsb.7 type vlan id 7
	ip address add 10.77.7.2/24 dev rsb.7
	sysctl -q net.ipv6.conf.rsb/7.disable_ipv6=1	# packets.c: kills_rxe()
	ip link set rsb.7 up
	ip route add "$v4" dev rsb src 10.77.0.2 table 72
	ip neighbour replace "$v4" lladdr 02:00:00:00:00:09 dev rsb
	ip neighbour replace "$v6" lladdr 02:00:00:00:00:09 dev rsb
}

down()
{
	ip link del rsb.7
	rmdir "$cgroup"
	world_end
}

# Queue pairs of a family, all of job 1; and how the PSNs go on
prey_start()
{
	local name=$1 local=$2 peer=$3 dqpn=$4 i
	for ((i = 0; i < number; i++)); do
		"$genl" flow-add "ifindex=$(ifindex rsb)" "peer=$peer" \
			"dqpn=$((dqpn + i))" job=1 || return
	done
	qps_start "$name" rxeb "$local" "$peer" "$dqpn" "$number" 1000
}

prey()
{
	"$genl" job-add id=1 resequence=1 &&
		prey_start four 10.77.0.2 "$v4" 100 &&
		prey_start six fd00:77::2 "$v6" 200 &&
		[[ $(field sqpn "$genl" flow-dump | wc -l) == $((2 * number)) ]]
}

prey_end()
{
	qps_end four
	qps_end six
	"$genl" job-del id=1
}

nothing_waits()
{
	! "$genl" flow-dump | grep -q 'reseq-depth=[1-9]'
}

# sum FIELD: over all flows
sum()
{
	local value total=0
	for value in $(field "$1" "$genl" flow-dump); do
		((total += value))
	done
	echo "$total"
}

# grown COUNTER: since the flood began
declare -A before
grown()
{
	echo $(($(stat "$1") - before[$1]))
}

flood()
{
	local first name
	for name in reseq-held reseq-lost reseq-timeout reseq-foreign; do
		before[$name]=$(stat "$name")
	done
	first=$(field sqpn "$genl" flow-dump | sort -n | head -n 1)
	"$build/selftests/kmod-packets" "$packets" "${1:-1}" rsa \
		"$(cat /sys/class/net/rsb/address)" "$first" $((2 * number)) 900 \
		"$v4" 10.77.0.2 "$v6" fd00:77::2
}

# They did reach it, and what waited does so no more
flood_counts()
{
	local name
	busywait 60000 nothing_waits || return
	(($(grown reseq-held) && $(grown reseq-foreign))) || return
	for name in held lost timeout; do
		is "$(sum "reseq-$name")" "$(grown "reseq-$name")" || return
	done
}

memory_back()
{
	prey_end
	busywait 20000 stat_is flows 0 && is "$(stat reseq-bytes)" 0
}

stat_is()
{
	[[ $(stat "$1") == "$2" ]]
}

traffic()
{
	"$genl" job-add id=2 resequence=1 \
		"cgroup-id=$(command stat -c %i "$cgroup")" || return
	timeout 120 "$writes" 1 65536 4 18 <<-E
		host $cgroup - rxea $(gid_index rxea 10.77.0.1)
		host $cgroup - rxeb $(gid_index rxeb 10.77.0.2)
		flow 0 1 2097152
	E
	local result=$?
	"$genl" job-del id=2
	return "$result"
}

# Without CAP_NET_ADMIN: the counters can be read, by anybody
unprivileged()
{
	local was out
	"$genl" job-add id=1 resequence=1 &&
		"$genl" flow-add ifindex=1 peer=10.0.0.1 dqpn=7 job=1 || return
	was=$("$genl" job-dump && "$genl" flow-dump)
	out=$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps=-all "$dir/messages" "$messages" 1) && echo "$out" &&
		[[ $out == "changes=0 denied="[1-9]* ]] &&
		is "$("$genl" job-dump && "$genl" flow-dump)" "$was"
}

privileged()
{
	local out
	out=$("$build/selftests/kmod-messages" "$messages" 2) && echo "$out" &&
		[[ $out == "changes="[1-9]*" denied=0" ]]
}

jobs_end()
{
	local id
	for id in $(field id "$genl" job-dump); do
		"$genl" job-del "id=$id" || return
	done
	is "$(stat jobs)" 0 && busywait 5000 stat_is flows 0
}

ktap_plan 11
chmod 755 "$dir"
cp "$build/selftests/kmod-messages" "$dir/messages"
check "a wire, a VLAN, GRO" up
check "the module loads" load
defer down
check "queue pairs of both families, resequenced" prey
check "$packets packets come, some of them mutated" flood
check "each that waited is counted, and waits no more" flood_counts
check "the memory is given back with the job" memory_back
check "a genuine queue pair works as ever" traffic
check "$messages messages without privileges change nothing" unprivileged
check "$messages messages with them are answered" privileged
check "what they made can be deleted, and the module goes" \
	eval "jobs_end && busywait 20000 unload"
check "the kernel did not complain" kernel_quiet
ktap_finish
