#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer.ko: jobs, flows, namespaces, events, loading and unloading.
#
# Queue pairs are connected to 10.77.0.9, which does not exist. Real traffic goes from rsa to
# rsb.

set -u
cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/guest/kmod/kmod.sh

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

ktap_plan 18
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
check "flows are removed with their device" test_device
check "namespaces see only their own jobs and flows" test_namespace
check "root of a container changes only its own namespace" test_container
check "changes are announced in order" test_events
check "no change waits for listeners" test_events_queued
check "max_flows limits a namespace, and half of it a user" test_max_flows
check "impossible bits of the BTH are refused" test_bits
check "the module loads and unloads 8 times" test_reload
check "the module loads and unloads under load" test_unload_under_load
check "the kernel did not complain" kernel_quiet
ktap_finish
