#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer.ko, as root in the guest: test_kmod.sh [MODULE]
#
#	init_net: lib.sh         (7.2 only)  namespace rs-host
#	rsa --- rsb                          rsc 10.78.0.1 --- rsd
#	 |       |                            |
#	rxea    rxeb                         rxec
#
# Most queue pairs are connected to 10.77.0.9, which does not exist: flows are
# learnt at RTR, no packet is needed. Real traffic goes from rsa to rsb.

set -u
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=selftests/lib.sh
. "$here/../../lib.sh"

# shellcheck source=selftests/guest/kmod/kmod.sh
. "$here/kmod.sh"

cgroot=/sys/fs/cgroup
tracing=/sys/kernel/tracing

groups_make()
{
	world_make || return
	mountpoint -q "$cgroot" || mount -t cgroup2 none "$cgroot"
	mkdir -p "$cgroot/rs/inner"
}

groups_end()
{
	world_end
	rmdir "$cgroot/rs/inner" "$cgroot/rs"
}

#
# Tests
#

test_load()
{
	load || return
	[[ -e /sys/kernel/btf/rocesteer ]] || { echo "no BTF"; return 1; }
	is "$(cat /sys/module/rocesteer/parameters/max_flows)" 65536
}

test_job()
{
	local id
	id=$(command stat -c %i "$cgroot/rs")
	expect "" "$genl" job-add id=7 name=train "cgroup-id=$id" &&
	expect "id=7 name=train cgroup-id=$id flows=0" "$genl" job-get id=7 &&
	refused "EEXIST Job exists already" "$genl" job-add id=7 &&
	refused "EEXIST Cgroup belongs to job 7 already" \
		"$genl" job-add id=8 "cgroup-id=$id" &&
	"$genl" job-add id=9 pid=$$ &&
	expect "id=9 pid=$$ flows=0" "$genl" job-get id=9 &&
	refused "EEXIST Process belongs to job 9 already" \
		"$genl" job-add id=8 pid=$$ &&
	"$genl" job-add id=4294967295 &&
	is "$("$genl" job-dump | wc -l)" 3 &&
	is "$(stat jobs)" 3 &&
	"$genl" job-del id=7 && "$genl" job-del id=9 &&
	"$genl" job-del id=4294967295 &&
	is "$("$genl" job-dump)" ""
}

test_job_refusals()
{
	sleep 60 &
	local thread
	refused "EINVAL Job id is missing" "$genl" job-add name=x &&
	refused "ERANGE" "$genl" job-add id=0 &&
	refused "EINVAL" "$genl" job-add id=1 \
		name=01234567890123456789012345678901 &&
	refused "ENOENT No such cgroup" "$genl" job-add id=1 cgroup-id=99999999 &&
	refused "ERANGE" "$genl" job-add id=1 cgroup-id=0 &&
	refused "ESRCH No such process" "$genl" job-add id=1 pid=4194303 &&
	refused "EINVAL Owner is a cgroup or a process, not both" \
		"$genl" job-add id=1 "cgroup-id=$(command stat -c %i "$cgroot")" pid=1 &&
	refused "EINVAL Job id is missing" "$genl" job-del &&
	refused "ENOENT No such job" "$genl" job-del id=1 &&
	refused "EINVAL Job id is missing" "$genl" job-get &&
	refused "ENOENT No such job" "$genl" job-get id=1 &&
	is "$(stat jobs)" 0
	thread=$?
	kill $!
	wait $! 2>/dev/null
	return "$thread"
}

test_flow()
{
	local rsa key peer=fd00::1:2
	rsa=$(ifindex rsa)
	key="ifindex=$rsa peer=$peer dqpn=17"
	# shellcheck disable=SC2086 # the words of a key
	"$genl" job-add id=5 && "$genl" flow-add $key job=5 &&
	expect "ifindex=$rsa peer=$peer dqpn=17 job=5 origin=0" \
		"$genl" flow-get $key &&
	refused "EEXIST Flow belongs to a job already" \
		"$genl" flow-add $key job=5 &&
	expect "flows=1" "$genl" job-get id=5 &&
	"$genl" flow-add "ifindex=$rsa" peer=10.77.0.2 dqpn=0xffffff job=5 &&
	expect "peer=::ffff:10.77.0.2 dqpn=16777215" "$genl" flow-dump &&
	is "$(stat flows)" 2 &&
	"$genl" flow-del $key &&
	refused "ENOENT No such flow" "$genl" flow-get $key &&
	refused "ENOENT No such flow" "$genl" flow-del $key &&
	"$genl" job-del id=5 &&
	is "$("$genl" flow-dump)" ""
}

test_flow_refusals()
{
	local rsa
	rsa=$(ifindex rsa)
	"$genl" job-add id=5
	refused "EINVAL Device is missing" \
		"$genl" flow-add peer=1.2.3.4 dqpn=1 job=5 &&
	refused "EINVAL Peer address is missing" \
		"$genl" flow-add "ifindex=$rsa" dqpn=1 job=5 &&
	refused "EINVAL Destination queue pair number is missing" \
		"$genl" flow-add "ifindex=$rsa" peer=1.2.3.4 job=5 &&
	refused "EINVAL Job is missing" \
		"$genl" flow-add "ifindex=$rsa" peer=1.2.3.4 dqpn=1 &&
	refused "ENOENT No such job" \
		"$genl" flow-add "ifindex=$rsa" peer=1.2.3.4 dqpn=1 job=6 &&
	refused "ENOENT No such job" \
		"$genl" flow-add "ifindex=$rsa" peer=1.2.3.4 dqpn=1 job=0 &&
	refused "ENODEV No such device" \
		"$genl" flow-add ifindex=99999 peer=1.2.3.4 dqpn=1 job=5 &&
	refused "ERANGE" \
		"$genl" flow-add "ifindex=$rsa" peer=1.2.3.4 dqpn=0x1000000 job=5 &&
	refused "ERANGE" \
		"$genl" flow-add ifindex=0 peer=1.2.3.4 dqpn=1 job=5 &&
	refused "EINVAL Device is missing" "$genl" flow-del &&
	refused "EINVAL Device is missing" "$genl" flow-get &&
	refused "EINVAL Device is missing" "$genl" flow-adopt sqpn=17 &&
	refused "EINVAL Queue pair number is missing" \
		"$genl" flow-adopt "ifindex=$rsa" &&
	refused "ENODEV No such device" "$genl" flow-adopt ifindex=99999 sqpn=17 &&
	refused "ENODEV Device has no RDMA device" "$genl" flow-adopt ifindex=1 sqpn=17 &&
	refused "ENOENT No such queue pair" \
		"$genl" flow-adopt "ifindex=$rsa" sqpn=0xfffff0 &&
	is "$(stat flows)" 0 && "$genl" job-del id=5
}

test_permission()
{
	local as=(setpriv --reuid=1000 --clear-groups) rsa
	rsa=$(ifindex rsa)
	refused EPERM "${as[@]}" "$genl" job-add id=1 &&
	refused EPERM "${as[@]}" "$genl" job-del id=1 &&
	refused EPERM "${as[@]}" "$genl" flow-add "ifindex=$rsa" \
		peer=1.2.3.4 dqpn=1 job=1 &&
	refused EPERM "${as[@]}" "$genl" flow-del "ifindex=$rsa" \
		peer=1.2.3.4 dqpn=1 &&
	refused EPERM "${as[@]}" "$genl" flow-adopt "ifindex=$rsa" sqpn=17 &&
	refused EPERM "${as[@]}" "$genl" job-dump &&
	refused EPERM "${as[@]}" "$genl" flow-dump &&
	refused EPERM "${as[@]}" "$genl" job-get id=1 &&
	refused "Operation not permitted" "${as[@]}" timeout 5 "$genl" monitor &&
	is "$("${as[@]}" "$genl" stats-get | grep -o '^jobs=[0-9]*')" jobs=0
}

# Larger than any message: complete, in order, without duplicates
test_dump()
{
	local rsa i
	rsa=$(ifindex rsa)
	for ((i = 1; i <= 1024; i++)); do
		echo "job-add id=$i name=job-$i"
	done >"$dir/batch"
	for ((i = 0; i < 3000; i++)); do
		echo "flow-add ifindex=$rsa peer=10.77.0.9 dqpn=$i job=1"
	done >>"$dir/batch"
	expect "" "$genl" - <"$dir/batch" &&
	refused "ENOSPC Namespace has 1024 jobs already" \
		"$genl" job-add id=2000 &&
	is "$("$genl" job-dump | grep -o '^id=[0-9]*' | uniq | wc -l)" 1024 &&
	is "$("$genl" flow-dump | grep -o 'dqpn=[0-9]*' | sort -u | wc -l)" 3000 &&
	is "$("$genl" flow-dump | wc -l)" 3000 &&
	expect flows=3000 "$genl" job-get id=1 &&
	for ((i = 1; i <= 1024; i++)); do
		echo "job-del id=$i"
	done | "$genl" - &&
	is "$(stat flows)" 0
}

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
	mountpoint -q "$tracing" || mount -t tracefs none "$tracing"
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

test_device()
{
	ip netns add rs-host
	ip link add rsx type dummy
	ip link add rsy type dummy
	"$genl" job-add id=1 &&
	"$genl" flow-add "ifindex=$(ifindex rsx)" peer=1.2.3.4 dqpn=1 job=1 &&
	"$genl" flow-add "ifindex=$(ifindex rsy)" peer=1.2.3.4 dqpn=1 job=1 &&
	ip link del rsx && is "$(stat flows)" 1 &&
	ip link set rsy netns rs-host && is "$(stat flows)" 0 &&
	expect flows=0 "$genl" job-get id=1 && "$genl" job-del id=1
	local result=$?
	ip netns del rs-host
	return "$result"
}

test_namespace()
{
	local in=(ip netns exec rs-host) result
	ip netns add rs-host
	"$genl" job-add id=1 &&
	"$genl" flow-add "ifindex=$(ifindex rsa)" peer=1.2.3.4 dqpn=1 job=1 &&
	is "$("${in[@]}" "$genl" job-dump)" "" &&
	is "$("${in[@]}" "$genl" flow-dump)" "" &&
	refused "ENOENT No such job" "${in[@]}" "$genl" job-del id=1 &&
	"${in[@]}" "$genl" job-add id=1 name=other &&
	refused "ENODEV No such device" "${in[@]}" "$genl" flow-add \
		"ifindex=$(ifindex rsa)" peer=1.2.3.4 dqpn=1 job=1 &&
	"${in[@]}" "$genl" flow-add ifindex=1 peer=1.2.3.4 dqpn=1 job=1 &&
	"$genl" job-del id=1 && is "$(stat flows)" 0 &&
	expect flows=1 "${in[@]}" "$genl" job-get id=1
	result=$?
	ip netns del rs-host
	return "$result"
}

# Root of a user namespace has CAP_NET_ADMIN in network namespaces of its own only.
test_container()
{
	local root=(unshare --user --map-root-user) out
	# shellcheck disable=SC2016 # the inner shell expands it
	"$genl" job-add id=1 &&
	refused EPERM "${root[@]}" "$genl" job-add id=2 &&
	refused EPERM "${root[@]}" "$genl" job-del id=1 &&
	out=$("${root[@]}" --net bash -c '"$0" job-dump && "$0" job-add id=2 &&
		"$0" job-dump' "$genl") && echo "$out" &&
	is "$(grep -o '^id=[0-9]*' <<<"$out")" id=2 &&
	is "$("$genl" job-dump | grep -o '^id=[0-9]*')" id=1 &&
	"$genl" job-del id=1
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

test_events()
{
	local key events want
	key="ifindex=$(ifindex rsa) peer=10.77.0.9 dqpn=100"
	"$genl" monitor >"$dir/events" &
	events=$!
	busywait 5000 grep -q listening "$dir/events" &&
	qps_start one rxea 10.77.0.1 10.77.0.9 100 1 &&
	"$genl" job-add id=1 "pid=${qp_pid[one]}" && "$genl" job-del id=1 &&
	qps_end one
	# shellcheck disable=SC2086 # the words of a key
	"$genl" job-add id=2 && "$genl" flow-add $key job=2 &&
	"$genl" flow-del $key && "$genl" job-del id=2
	busywait 5000 grep -q "job-del-ntf id=2" "$dir/events"
	kill "$events"
	wait "$events" 2>/dev/null
	want='flow-add-ntf job=0 job-add-ntf flow-add-ntf job=1'
	want+=' flow-add-ntf job=0 job-del-ntf flow-del-ntf job=0 job-add-ntf'
	want+=' flow-add-ntf job=2 flow-del-ntf job=2 job-del-ntf'
	is "$(grep -o -E '[a-z-]*-ntf|job=[0-9]' "$dir/events" | xargs)" "$want"
}

# A change of a flow does not wait for the listeners of the host.
test_events_queued()
{
	local events senders
	mountpoint -q "$tracing" || mount -t tracefs none "$tracing"
	"$genl" monitor >"$dir/events" &
	events=$!
	echo 'p:rs/sends netlink_broadcast_filtered' >"$tracing/kprobe_events"
	echo 1 >"$tracing/events/rs/enable"
	: >"$tracing/trace"
	busywait 5000 grep -q listening "$dir/events" &&
	"$genl" job-add id=2 && qps_start one rxea 10.77.0.1 10.77.0.9 100 1 &&
	qps_end one
	"$genl" job-del id=2 && busywait 5000 grep -q "job-del-ntf" "$dir/events"
	echo 0 >"$tracing/events/rs/enable"
	senders=$(awk '/: sends:/ { print $1 }' "$tracing/trace" | sort -u | xargs)
	: >"$tracing/kprobe_events"
	kill "$events"
	wait "$events" 2>/dev/null
	[[ $senders == kworker* && $senders != *genl* && $senders != *qps* ]] ||
		{ echo "sent by: $senders"; return 1; }
}

test_trace()
{
	mountpoint -q "$tracing" || mount -t tracefs none "$tracing"
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
	local debug=/sys/kernel/debug
	mountpoint -q "$debug" || mount -t debugfs none "$debug"
	echo "$1" >"$debug/kprobes/enabled"
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

test_max_flows()
{
	local rsa result
	rsa=$(ifindex rsa)
	unload && load max_flows=4 && "$genl" job-add id=1 &&
	"$genl" flow-add "ifindex=$rsa" peer=1.2.3.4 dqpn=1 job=1 &&
	qps_start one rxea 10.77.0.1 10.77.0.9 100 5 &&
	is "$(stat flows)" 4 && is "$(stat full)" 2 &&
	refused "ENOSPC Namespace has max_flows flows already" \
		"$genl" flow-add "ifindex=$rsa" peer=1.2.3.4 dqpn=2 job=1 &&
	qps_end one && is "$(stat flows)" 1 &&
	"$genl" flow-add "ifindex=$rsa" peer=1.2.3.4 dqpn=2 job=1 &&
	"$genl" job-del id=1 && is "$(stat flows)" 0
	result=$?
	launch=(setpriv --reuid=1000 --clear-groups)
	qps_start one rxea 10.77.0.1 10.77.0.9 100 5
	launch=()
	is "$(stat flows)" 2 && is "$(stat full)" 5 &&
	qps_start two rxea 10.77.0.1 10.77.0.9 200 3 &&
	is "$(stat flows)" 4 && is "$(stat full)" 6 || result=1
	qps_end one && qps_start one rxea 10.77.0.1 10.77.0.9 100 2 &&
	is "$(stat flows)" 4 || result=1
	qps_end one
	qps_end two
	return "$result"
}

test_bits()
{
	local bad result=0
	unload || return
	for bad in bth_paths=0x0 bth_paths=0x40 bth_paths=0x2c bth_paths=0x70 \
		bth_reseq=0x0 bth_reseq=0x80 bth_reseq=0x41; do
		refused "Invalid parameters" load "$bad" &&
			expect "rocesteer: $bad: not " dmesg || result=1
	done
	load && return "$result"
}

# Detects a leak of 32 KiB in each round; other changes of free memory are smaller. kmemleak
# keeps freed memory for a while.
test_reload()
{
	local i before after
	unload
	for ((i = 0; i < 2; i++)); do
		load && unload || return
	done
	before=$(memory)
	for ((i = 0; i < 8; i++)); do
		load && unload || return
	done
	after=$(memory)
	load
	echo "unreclaimable memory: $before KiB before, $after KiB after"
	[[ -e /sys/kernel/debug/kmemleak ]] || ((after - before < 256))
}

# The module is loaded and unloaded during queue pairs, jobs, dumps and traffic.
test_unload_under_load()
{
	local churn client i pid failed=
	(
		while [[ ! -e $dir/stop ]]; do
			qps rxea 10.77.0.1 10.77.0.9 500 40 </dev/null
		done
	) >/dev/null 2>&1 &
	churn=$!
	(
		while [[ ! -e $dir/stop ]]; do
			"$genl" job-add id=1 "cgroup-id=$(command stat -c %i "$cgroot")"
			"$genl" flow-add "ifindex=$(ifindex rsa)" \
				peer=1.2.3.4 dqpn=1 job=1
			"$genl" flow-dump
			"$genl" job-del id=1
		done
	) >/dev/null 2>&1 &
	churn+=" $!"
	ib_write_bw -d rxeb -D 60 -s 4096 -u 20 -F --report_gbits \
		>"$dir/server" 2>&1 &
	pid=$!
	busywait 10000 eval "ss -ltn | grep -q :18515"
	ib_write_bw -d rxea --bind_source_ip 10.77.0.1 -D "$(few 4 15)" -s 4096 -u 20 -F \
		10.77.0.2 >"$dir/client" 2>&1 &
	client=$!
	# A dump that is under way holds the module.
	for ((i = 0; i < ${UNLOADS:-$(few 3 20)}; i++)); do
		busywait 10000 unload 2>/dev/null && load || failed=1
	done
	if ! wait "$client"; then
		echo "traffic stopped: $(tail -n 3 "$dir/client")"
		failed=1
	fi
	touch "$dir/stop"
	kill "$pid" 2>/dev/null
	for pid in $churn; do
		wait "$pid"
	done
	busywait 5000 flows_are 0 0 && [[ ! $failed ]]
}

ktap_plan 33
defer groups_end
check "a veth pair with rxe at both ends" groups_make
check "the module loads and has BTF" test_load
defer rmmod rocesteer
check "jobs are added, read, dumped and deleted" test_job
check "jobs are refused with a reason" test_job_refusals
check "flows are added, read, dumped and deleted" test_flow
check "flows are refused with a reason" test_flow_refusals
check "without CAP_NET_ADMIN only the counters are seen" test_permission
check "long dumps are complete" test_dump
check "a queue pair is learnt at RTR" test_learn
check "a flow has the queue pair number that rdma shows" test_sqpn
check "a job claims queue pairs that were connected before" test_job_after_qp
check "RESET and destroy remove a flow, ERR does not" test_reset_error_destroy
check "a flow ends with its process" test_exit
check "the most specific owner wins" test_owner
check "flow-add tags a learnt flow" test_by_hand
check "a queue pair does not get the job of another queue pair's flow" test_duplicate
check "a user may have eight flows with one key" test_rivals
check "of two queue pairs with one number the first is resequenced" test_same_number
check "flows are removed with their device" test_device
check "namespaces see only their own jobs and flows" test_namespace
check "root of a container changes only its own namespace" test_container
if rxe_has_netns; then
	check "a queue pair is learnt in its network namespace" test_namespace_qp
else
	skip "a queue pair is learnt in its network namespace" "rxe, $release"
fi
check "changes are announced in order" test_events
check "no change waits for listeners" test_events_queued
check "changes are traced in order" test_trace
check "a flow ends after the driver has destroyed its queue pair" test_end
check "kprobes that are switched off are detected" test_kprobes
check "all functions that may end a queue pair are probed" test_end_watched
check "max_flows limits a namespace, and half of it a user" test_max_flows
check "impossible bits of the BTH are refused" test_bits
check "the module loads and unloads 8 times" test_reload
check "the module loads and unloads under load" test_unload_under_load
check "the kernel did not complain" kernel_quiet
ktap_finish
