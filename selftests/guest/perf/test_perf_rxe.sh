#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer-perf on eight hosts with two NICs each: every element of a result is right, and if
# one host fails, all ranks end.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/perf/grid.sh

dir=$(mktemp -d)
defer rm -rf "$dir"
pid=()
common=(--dims 4x2 --bandwidth "2,1")
limit=40

up()
{
	defer grid_down && grid_up 8 1gbit 1gbit
}

# start OPTION...: start all ranks
start()
{
	local i

	for ((i = 7; i >= 0; i--)); do
		rank "$i" "${common[@]}" --timeout "${limit}000" "$@"
	done
}

# Each device has a queue pair for management, with its PD and CQ.
nothing_left()
{
	! rdma resource show | grep -v 'pd 1 cq 1 qp 1 cm_id 0 mr 0 ctx 0'
}

# right OPTION...: the collective runs, and no element is wrong
right()
{
	start --json --warmup 1 --iters 2 "$@"
	finish || return
	jq -c '{collective, policy, dimensions, results}' "$dir/out0"
	jq -e '.results[0].wrong == 0 and .results[0].time_us > 0 and
		(.stages | length) > 0' "$dir/out0" >/dev/null
}

all_reduce()
{
	right --size 256K --chunks 8 --type int32 &&
		right --size 256K --chunks 8 --type float32 --policy baseline \
			--algorithm halving,direct
}

halves()
{
	right --size 128K --chunks 4 --collective reduce-scatter --type float32 \
		--algorithm direct,ring --queue fifo &&
		right --size 128K --chunks 4 --collective all-gather \
			--algorithm halving,halving --in-flight 1
}

all_to_all()
{
	right --size 256K --chunks 4 --collective all-to-all &&
		right --size 96 --chunks 3 --collective all-to-all --algorithm direct,ring \
			--in-flight 1 --type float32
}

# Where a dimension is the last one of a chunk's order
tree()
{
	right --size 256K --chunks 8 --algorithm tree,direct &&
		right --size 156 --chunks 3 --algorithm ring,tree --policy baseline --type float32
}

# 52 bytes are 13 elements, for 8 ranks.
uneven()
{
	right --size 156 --chunks 3 --algorithm ring,direct
}

# The file of ranges is written first, and all writes go into ranges.
ranges()
{
	local k i status

	capture_begin host3 'udp dst port 4791 and ip[28] != 17' || return
	for ((i = 7; i >= 0; i--)); do
		rank "$i" "${common[@]}" --size 256K --chunks 8 --warmup 1 \
			--iters 1 --ranges-out "$dir/ranges$i"
	done
	finish
	status=$?
	capture_end && ((!status)) || return
	for k in 0 1; do
		selftests/guest/perf/reth.py "$dir/ranges3" "10.$((k + 1)).0.4" 2 \
			<"$dir/capture$k" || return
	done
	jq -c '.dimensions' "$dir/ranges3"
	jq -e '.dimensions[1].netdev == "eth1" and
		(.ranges | map(.rank) | unique) == [0, 7]' "$dir/ranges3"
}

table()
{
	cat "$dir/out0"
	[[ $(grep '(B)' "$dir/out0" | tr -s ' ' | sed 's/^ //') == \
		"size (B) count type redop time (us) algbw (GB/s) busbw (GB/s) #wrong" ]] &&
		[[ $(tail -n 1 "$dir/out0" | tr -s ' ') =~ \
			^\ *262144\ 65536\ int32\ sum\ [0-9.]+\ [0-9.]+\ [0-9.]+\ 0$ ]]
}

running()
{
	(($(cat /sys/class/infiniband/rxe5_*/ports/1/hw_counters/sent_pkts |
		awk '{ n += $1 } END { print n }') > $1))
}

# begin_long: start a run that ends only by a failure
begin_long()
{
	local before

	before=$(cat /sys/class/infiniband/rxe5_*/ports/1/hw_counters/sent_pkts |
		awk '{ n += $1 } END { print n }')
	start --size 256K --chunks 8 --warmup 0 --iters 300
	busywait 30000 running $((before + 50))
}

# victim RANK SIGNAL
victim()
{
	kill "-$2" "${pid[$1]}"
}

killed()
{
	local who=$1 want=$2

	begin_long || return
	victim "$who" KILL
	wait "${pid[who]}" 2>/dev/null
	unset "pid[$who]"
	rm "$dir/out$who"
	finish 1 && all_say "$want"
}

# The NICs of the stopped rank go on acknowledging.
stopped()
{
	local limit=32 stopped status

	begin_long || return
	stopped=${pid[5]}
	victim 5 STOP
	unset 'pid[5]'
	finish 1
	status=$?
	kill -KILL "$stopped"
	wait "$stopped" 2>/dev/null
	rm "$dir/out5"
	((!status)) && all_say "rank 5 (10.1.0.6) does not answer"
}

# The rendezvous uses the other dimension. Either the sender fails after some tries, or the
# receiver's time is up.
cut_off()
{
	local status

	begin_long || return
	ip -n grid link set host6_1 down
	finish 1
	status=$?
	ip -n grid link set host6_1 up
	((!status)) && all_say "dimension 1" && all_say "rank 6" &&
		! grep Flushed "$dir"/out*
}

one_differs()
{
	local i

	for ((i = 7; i >= 0; i--)); do
		rank "$i" "${common[@]}" --size "$((i == 4 ? 128 : 256))K"
	done
	finish 2 && all_say "rank 4 (10.1.0.5) differs: size is 131072 there, 262144 on rank 0" ||
		return
	for ((i = 7; i >= 0; i--)); do
		rank "$i" "${common[@]}" --size 256K --policy \
			"$( ((i == 4)) && echo best || echo themis)"
	done
	finish 2 && all_say "rank 4 (10.1.0.5) differs: plan hash is "
}

no_nic()
{
	local status

	rdma link del rxe2_1 || return
	start --size 256K
	finish 1
	status=$?
	netns_exec host2 rdma link add rxe2_1 type rxe netdev eth1
	((!status)) && all_say "rank 2: dimension 1: there is no RDMA device rxe2_1"
}

absent()
{
	local i

	rm "$dir"/out*
	for i in 7 6 4 3 2 1 0; do
		rank "$i" "${common[@]}" --size 256K --timeout 16000
	done
	finish 1 && all_say "rank 5 has not connected"
}

down()
{
	grid_down && [[ ! $(ip netns list) ]]
}

fabric_has_host_netns || skip_all "rxe knows no namespaces here"
ktap_plan 16
check "eight hosts with two NICs are made" up
check "an all-reduce is right in int32 and float32" all_reduce
check "reduce-scatter and all-gather are right" halves
check "an All-to-All brings every block to its rank" all_to_all
check "sums by trees are right" tree
check "chunks with few elements are reduced right" uneven
check "writes go where the ranges say" ranges
check "the table has the columns of nccl-tests" table
check "ranks end and name a rank that was killed" killed 5 "rank 5 (10.1.0.6) has ended"
check "ranks end and name rank 0 when it was killed" killed 0 "rank 0 (10.1.0.1) has ended"
check "ranks end and name a rank that stops" stopped
check "ranks end and name the dimension of a NIC that is cut off" cut_off
check "a rank with another size or plan is named" one_differs
check "a missing NIC is named" no_nic
check "a rank that does not come is named" absent
check "no queue pair, memory or namespace is left" \
	eval "nothing_left && down"
ktap_finish
