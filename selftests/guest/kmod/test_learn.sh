#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Queue pairs that rocesteer.ko learns.
#
#	init_net: kmod.sh        (7.2 only)  namespace rs-host
#	rsa --- rsb                          rsc 10.78.0.1 --- rsd
#	 |       |                            |
#	rxea    rxeb                         rxec
#
# Queue pairs are connected to 10.77.0.9, which does not exist: flows are learnt at RTR, no
# packet is needed.

set -u
cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/guest/kmod/kmod.sh

test_learn()
{
	local learnt untagged
	learnt=$(stat learnt) untagged=$(stat untagged)
	qps_start one rxea 10.77.0.1 10.77.0.9 100 3 &&
	expect "ifindex=$(ifindex rsa) peer=::ffff:10.77.0.9 dqpn=101 job=0 origin=1" \
		"$genl" flow-dump &&
	expect "rdma-device=rxea pid=${qp_pid[one]} path-mtu=1024" \
		"$genl" flow-dump &&
	is "$(stat flows)" 3 &&
	is "$(stat learnt)" $((learnt + 3)) &&
	is "$(stat untagged)" $((untagged + 3))
}

test_sqpn()
{
	local rdma kernel
	rdma=$(rdma resource show qp link rxea | grep -o 'lqpn [0-9]*' |
		cut -d ' ' -f 2 | sort)
	kernel=$("$genl" flow-dump | grep -o 'sqpn=[0-9]*' | cut -d = -f 2 |
		sort)
	for kernel in $kernel; do
		[[ $rdma == *"$kernel"* ]] ||
			{ echo "sqpn $kernel not in $rdma"; return 1; }
	done
}

test_job_after_qp()
{
	"$genl" job-add id=3 "pid=${qp_pid[one]}" &&
	flows_are 3 3 && expect flows=3 "$genl" job-get id=3 &&
	"$genl" job-del id=3 && flows_are 0 3
}

test_reset_error_destroy()
{
	qps_tell one error && is "$(stat flows)" 3 &&
	qps_tell one reset && is "$(stat flows)" 0 &&
	qps_tell one connect && is "$(stat flows)" 3 &&
	qps_tell one destroy && is "$(stat flows)" 0 && qps_end one
}

no_flows()
{
	is "$(stat flows)" 0
}

test_exit()
{
	qps_start one rxea 10.77.0.1 10.77.0.9 100 3 && is "$(stat flows)" 3 &&
	kill -9 "${qp_pid[one]}" && { qps_end one 2>/dev/null
	busywait 5000 no_flows; }
}

# A pid is more specific than a cgroup, a deeper cgroup more than its parent. The flows of a
# deleted job go to the next match; a new job only gets flows without a job.
test_owner()
{
	local outer inner
	outer=$(command stat -c %i "$cgroot/rs")
	inner=$(command stat -c %i "$cgroot/rs/inner")
	"$genl" job-add id=1 "cgroup-id=$outer" || return
	echo $$ >"$cgroot/rs/inner/cgroup.procs"
	qps_start one rxea 10.77.0.1 10.77.0.9 100 1 && flows_are 1 1 &&
	"$genl" job-add id=2 "cgroup-id=$inner" && flows_are 1 1 &&
	qps_start two rxea 10.77.0.1 10.77.0.9 200 1 && flows_are 2 1 &&
	"$genl" job-add id=3 "pid=${qp_pid[two]}" && flows_are 3 0 &&
	qps_tell two reset && qps_tell two connect && flows_are 3 1 &&
	flows_are 2 0
	local result=$?
	echo $$ >"$cgroot/cgroup.procs"
	qps_start three rxea 10.77.0.1 10.77.0.9 300 1 && flows_are 0 1 &&
	"$genl" job-del id=3 && flows_are 2 1 &&
	"$genl" job-del id=1 && flows_are 2 2 &&
	"$genl" job-del id=2 && flows_are 0 3 &&
	"$genl" job-add id=2 "cgroup-id=$inner" && flows_are 2 2 &&
	echo "${qp_pid[three]}" >"$cgroot/rs/inner/cgroup.procs" &&
	"$genl" job-add id=3 pid=$$ && flows_are 0 1 &&
	"$genl" job-del id=3 && "$genl" job-del id=2 || result=1
	qps_end one
	qps_end two
	qps_end three
	is "$(stat flows)" 0 && return "$result"
}

test_by_hand()
{
	local key
	key="ifindex=$(ifindex rsa) peer=10.77.0.9 dqpn=100"
	# shellcheck disable=SC2086 # the words of a key
	qps_start one rxea 10.77.0.1 10.77.0.9 100 1 &&
	refused "EBUSY Flow was learnt and goes with its queue pair" \
		"$genl" flow-del $key &&
	"$genl" job-add id=4 && "$genl" flow-add $key job=4 && flows_are 4 1 &&
	refused "EEXIST Flow belongs to a job already" \
		"$genl" flow-add $key job=4 &&
	"$genl" flow-del $key && flows_are 0 1 &&
	"$genl" flow-add $key job=4 && qps_tell one rtr EINVAL &&
	flows_are 4 1 && "$genl" flow-del $key && flows_are 0 1 &&
	"$genl" flow-add $key job=4 && qps_end one && is "$(stat flows)" 0 &&
	"$genl" flow-add $key job=4 &&
	qps_start one rxea 10.77.0.1 10.77.0.9 100 1 &&
	expect "job=4 origin=1" "$genl" flow-get $key &&
	"$genl" job-del id=4 && flows_are 0 1 && qps_end one &&
	is "$(stat flows)" 0
}

ask_start()
{
	bpftool prog load "$build/bpf/ask.bpf.o" /sys/fs/bpf/ask &&
	tc qdisc add dev rsa clsact &&
	tc filter add dev rsa egress bpf direct-action \
		object-pinned /sys/fs/bpf/ask
}

ask_end()
{
	tc qdisc del dev rsa clsact
	rm /sys/fs/bpf/ask
}

# The kfunc returns job $1 for a packet, or that its flow is unknown
says()
{
	local answer=$1
	shift
	: >"$tracing/trace"
	"$@" && busywait 5000 grep -q rs-ask: "$tracing/trace" &&
	expect "rs-ask: $answer." cat "$tracing/trace"
}

# Looks like a WRITE to queue pair 100, without a newline
forge()
{
	printf '\x0b\0\xff\xff\0\0\0\x64\0\0\0\0%020d' 0 \
		>/dev/udp/10.77.0.9/4791
}

# Any process may connect to a peer's queue pair: the sender tells the flows apart.
test_duplicate()
{
	local duplicate result rival=$((1 << 40))
	duplicate=$(stat duplicate)
	ask_start &&
	qps_start two rxea 10.77.0.1 10.77.0.9 100 1 &&
	qps_start one rxea 10.77.0.1 10.77.0.9 100 1 &&
	is "$(stat duplicate)" $((duplicate + 1)) && is "$(stat flows)" 2 &&
	"$genl" job-add id=1 "pid=${qp_pid[one]}" &&
	"$genl" job-add id=2 "pid=${qp_pid[two]}" &&
	flows_are 1 1 && flows_are 2 1 &&
	qps_tell one rts && says $((rival + 1)) qps_tell one write &&
	qps_tell two rts && says 2 qps_tell two write &&
	says -17 forge && qps_end two && is "$(stat flows)" 1 &&
	says $((rival + 1)) qps_tell one write && qps_tell one another &&
	is "$(stat duplicate)" $((duplicate + 1)) && is "$(stat flows)" 1 &&
	says -17 qps_tell one write &&
	qps_tell one destroy && is "$(stat flows)" 1 &&
	qps_end one && is "$(stat flows)" 0 &&
	"$genl" job-del id=1 && "$genl" job-del id=2
	result=$?
	ask_end && return "$result"
}

# A user may have eight flows with one key, below max_flows.
test_rivals()
{
	local i full result
	full=$(stat full)
	for ((i = 1; i <= 9; i++)); do
		qps_start "$i" rxea 10.77.0.1 10.77.0.9 100 1 || return
	done
	is "$(stat flows)" 8 && is "$(stat full)" $((full + 1)) &&
	launch=(setpriv --reuid=1000 --clear-groups) &&
	qps_start other rxea 10.77.0.1 10.77.0.9 100 1 &&
	is "$(stat flows)" 9
	result=$?
	launch=()
	qps_end other
	qps_end 1
	is "$(stat flows)" 7 && qps_tell 9 reset && qps_tell 9 connect &&
	is "$(stat flows)" 8 && is "$(stat full)" $((full + 1)) || result=1
	for ((i = 2; i <= 9; i++)); do
		qps_end "$i"
	done
	is "$(stat flows)" 0 && return "$result"
}

# Two RDMA devices below a bridge share its addresses and queue pair numbers.
test_same_number()
{
	local duplicate end result
	duplicate=$(stat duplicate)
	ip link add rsbr type bridge
	ip address add 10.79.0.1/24 dev rsbr
	ip link set rsbr up
	for end in x y; do
		ip link add "rs$end" master rsbr type dummy
		ip link set "rs$end" up
		rdma link add "rxe$end" type rxe netdev "rs$end"
	done
	# Now: that of a port is the bridge's link address, and forgets neighbours.
	ip neighbour replace 10.79.0.9 lladdr 02:00:00:00:00:09 dev rsbr
	"$genl" job-add id=1 resequence=1 \
		"cgroup-id=$(command stat -c %i "$cgroot")" &&
	qps_start one rxex 10.79.0.1 10.79.0.9 100 1 &&
	qps_start two rxey 10.79.0.1 10.79.0.9 200 1 && flows_are 1 2 &&
	is "$("$genl" flow-dump | grep -o ' sqpn=[0-9]*' | uniq | wc -l)" 1 &&
	is "$(field reseq-depth "$genl" flow-dump)" 0 &&
	is "$(stat duplicate)" $((duplicate + 1))
	result=$?
	for end in "${!qp_pid[@]}"; do
		qps_end "$end"
	done
	"$genl" job-del id=1
	rdma link del rxex
	rdma link del rxey
	ip link del rsx
	ip link del rsy
	ip link del rsbr
	return "$result"
}

test_namespace_qp()
{
	local result in=(ip netns exec rs-host)
	ip netns add rs-host
	"${in[@]}" ip link add rsc type veth peer name rsd
	"${in[@]}" ip address add 10.78.0.1/24 dev rsc
	"${in[@]}" ip link set lo up
	"${in[@]}" ip link set rsc up
	"${in[@]}" ip link set rsd up
	"${in[@]}" ip neighbour replace 10.78.0.9 \
		lladdr 02:00:00:00:00:09 dev rsc
	"${in[@]}" rdma link add rxec type rxe netdev rsc &&
	launch=("${in[@]}") &&
	qps_start one rxec 10.78.0.1 10.78.0.9 100 2 && launch=() &&
	is "$(stat flows)" 0 &&
	expect "dqpn=101 job=0 origin=1" "${in[@]}" "$genl" flow-dump &&
	"${in[@]}" "$genl" job-add id=6 "pid=${qp_pid[one]}" &&
	expect flows=2 "${in[@]}" "$genl" job-get id=6
	result=$?
	launch=()
	qps_end one
	is "$("${in[@]}" "$genl" flow-dump)" "" || result=1
	"${in[@]}" rdma link del rxec
	ip netns del rs-host
	return "$result"
}

test_trace()
{
	echo 1 >"$tracing/events/rocesteer/enable"
	: >"$tracing/trace"
	qps_start one rxea 10.77.0.1 10.77.0.9 100 1 &&
	"$genl" job-add id=1 "pid=${qp_pid[one]}" && "$genl" job-del id=1 &&
	qps_end one
	echo 0 >"$tracing/events/rocesteer/enable"
	grep -o 'rocesteer_flow_.*' "$tracing/trace"
	local want
	want='add 0 del 0 add 1 del 1 add 0 del 0'
	is "$(sed -n 's/.*rocesteer_flow_\(...\):.*peer=::ffff:10.77.0.9 dqpn=0x000064 job=\(.\)/\1 \2/p' \
		"$tracing/trace" | xargs)" "$want"
}

# A queue pair sends, and its flow is known, until the driver has destroyed it.
test_end()
{
	local want result seen
	{
		echo 'r:rs/modified rxe_modify_qp'
		echo 'r:rs/destroyed rxe_destroy_qp'
	} >"$tracing/kprobe_events"
	echo 1 >"$tracing/events/rs/enable"
	echo 1 >"$tracing/events/rocesteer/rocesteer_flow_del/enable"
	: >"$tracing/trace"
	qps_start one rxea 10.77.0.1 10.77.0.9 100 1 &&
	qps_tell one reset && qps_tell one connect && qps_tell one destroy &&
	qps_end one
	result=$?
	seen=$(grep -o -E 'modified:|destroyed:|flow_del:' "$tracing/trace" |
		tr -d : | xargs)
	echo 0 >"$tracing/events/rocesteer/rocesteer_flow_del/enable"
	echo 0 >"$tracing/events/rs/enable"
	: >"$tracing/kprobe_events"
	want='modified modified modified flow_del modified modified destroyed'
	want+=' flow_del'
	is "$seen" "$want" && return "$result"
}

# A kernel that has both functions may call either.
test_end_watched()
{
	local functions='rdma_restrack_(commit_)?del'
	is "$(grep -owE "$functions" /sys/kernel/debug/kprobes/list | sort -u)" \
		"$(grep -owE "$functions" /proc/kallsyms | sort -u)"
}

kprobes_switch()
{
	echo "$1" >/sys/kernel/debug/kprobes/enabled
}

# Without live kprobes, a job that waits for queue pairs is refused.
test_kprobes()
{
	is "$(stat kprobes)" 1 && kprobes_switch 0 && is "$(stat kprobes)" 0 &&
	refused "EOPNOTSUPP Kprobes are switched off" \
		"$genl" job-add id=1 pid=$$ &&
	"$genl" job-add id=1 && "$genl" job-del id=1
	local result=$?
	kprobes_switch 1 && is "$(stat kprobes)" 1 && return "$result"
}

ktap_plan 18
defer groups_end
check "a veth pair with rxe at both ends" groups_make
check "the module loads" load
defer rmmod rocesteer
check "a queue pair is learnt at RTR" test_learn
check "a flow has the queue pair number that rdma shows" test_sqpn
check "a job claims queue pairs that were connected before" test_job_after_qp
check "RESET and destroy remove a flow, ERR does not" test_reset_error_destroy
check "a flow ends with its process" test_exit
check "the most specific owner wins" test_owner
check "flow-add tags a learnt flow" test_by_hand
check "a queue pair does not get the job of another queue pair's flow" test_duplicate
check "a user may have eight flows with one key" test_rivals
check "the first of two queue pairs with one number is resequenced" test_same_number
if rxe_has_netns; then
	check "a queue pair is learnt in its network namespace" test_namespace_qp
else
	skip "a queue pair is learnt in its network namespace" "rxe, $release"
fi
check "changes are traced in order" test_trace
check "a flow ends after the driver has destroyed its queue pair" test_end
check "kprobes that are switched off are detected" test_kprobes
check "all functions that may end a queue pair are probed" test_end_watched
check "the kernel did not complain" kernel_quiet
ktap_finish
