# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # shared with demo/guest
#
# Traffic of the demonstration. A pattern says who sends to whom, and when. An ideal network
# takes about the same time for all patterns.
#
# permutation   each host to the one in its place under the next leaf, or in the next pod
# all-to-all    each host to every other, the next one first
# ring          each host to the next: one flow leaves each leaf. The control:
#               NICs as fast as a link have nothing to gain from other links.
#
# With steps, in which all hosts wait for the last:
#
# pairwise      all-to-all, with each step to a host one further
# halving       all-reduce of 2^k hosts: half of the data to the partner at half of the
#               hosts' distance, and so on, then back. Hosts beyond 2^k give all they have
#               to one of those first, and get the sum last.
# hierarchical  all-to-all: to hosts of the same leaf what is for their places, then to
#               those of the same place, with each step one leaf further
#
# The traffic is that of selftests/net/writes.c: a process for each host, which sleeps until
# it has work, and checks every byte that arrives. It stops after a message of each queue
# pair, which does not count; then all hosts begin at one time.

# Bytes of a message: some packets of 4 KiB for each queue pair of any policy.
pattern_message()
{
	local packets=8

	while ((packets % paths)); do
		packets=$((packets + 8))
	done
	case $1 in
	permutation | ring)	packets=$((packets * 4)) ;;
	esac
	echo $((packets * 4096))
}

# pattern_flows PATTERN: lines "from to share step", in the order hosts begin them
pattern_flows()
{
	local count=$((leaves * hosts)) k step=0

	case $1 in
	permutation)	shift_flows $((cores ? count / pods : hosts)) 1 0 ;;
	ring)		shift_flows 1 1 0 ;;
	all-to-all)
		for ((k = 1; k < count; k++)); do
			shift_flows $k 1 0
		done
		;;
	pairwise)
		for ((k = 1; k < count; k++)); do
			shift_flows $k 1 $((step++))
		done
		;;
	halving)	halving_flows ;;
	hierarchical)
		for ((k = 1; k < hosts; k++)); do
			shift_flows $k "$leaves" $((step++)) "$hosts"
		done
		for ((k = 1; k < leaves; k++)); do
			shift_flows $((k * hosts)) "$hosts" $((step++))
		done
		;;
	esac
}

# shift_flows DISTANCE SHARE STEP [GROUP]: each host to the one at a distance, counted in a
# circle of GROUP hosts
shift_flows()
{
	local group=${4:-$((leaves * hosts))} i

	for ((i = 0; i < leaves * hosts; i++)); do
		echo $i $((i - i % group + (i + $1) % group)) "$2" "$3"
	done
}

halving_flows()
{
	local count=$((leaves * hosts)) power=1 rest k step=0

	while ((2 * power <= count)); do
		power=$((2 * power))
	done
	rest=$((count - power))
	((!rest)) || fold_flows 1 0 $((step++))
	for ((k = power / 2; k; k /= 2)); do
		partner_flows $k $((step++))
	done
	for ((k = 1; k < power; k *= 2)); do
		partner_flows $k $((step++))
	done
	((!rest)) || fold_flows 0 1 $step
}

# fold_flows FROM TO STEP: all the data, within the first pairs of hosts
fold_flows()
{
	local i

	for ((i = 0; i < rest; i++)); do
		echo $((2 * i + $1)) $((2 * i + $2)) "$power" "$3"
	done
}

# partner_flows DISTANCE STEP: so many parts of the data, without the hosts that have given
# theirs away
partner_flows()
{
	local i

	for ((i = 0; i < power; i++)); do
		echo "$(folded_host $i) $(folded_host $((i ^ $1))) $1 $2"
	done
}

folded_host()
{
	echo $(($1 < rest ? 2 * $1 : $1 + rest))
}

# Mbit/s of the hosts' NICs. Except for ring each NIC can fill all uplinks of its leaf, so
# links between switches are the bottleneck.
pattern_host_rate()
{
	if [[ $1 == ring ]]; then
		echo "$rate"
	else
		echo $((rate * aggs))
	fi
}

# flows_plan PATTERN: lines "from to bytes step"
flows_plan()
{
	pattern_flows "$1" | demo/ideal.py "$seconds" "$(pattern_message "$1")" "$leaves" \
		"$pods" "$aggs" "$cores" "$hosts" "$rate" "$(pattern_host_rate "$1")"
}

# host_rate_set MBIT
host_rate_set()
{
	local i

	(($1 != host_rate)) || return 0
	host_rate=$1
	for ((i = 0; i < leaves * hosts; i++)); do
		host_exec $i tc qdisc change dev "$(host_dev $i)" root \
			handle 1: tbf rate "${1}mbit" burst 20k limit 8m
	done
}

# Messages of each flow under way: few, so queues stay short; but in steps, where a host may
# have one flow only, enough for all links
pattern_window()
{
	case $1 in
	all-to-all)		echo 1 ;;
	permutation | ring)	echo 2 ;;
	*)			echo 4 ;;
	esac
}

# Start the traffic of $dir/flows, and return when all queue pairs have begun and wait.
# Counting begins here.
traffic_start()
{
	local i status=0

	for ((i = 0; i < leaves * hosts; i++)); do
		host_line $i "/sys/fs/cgroup/host$i"
	done >"$dir/writes"
	sed 's/^/flow /' "$dir/flows" >>"$dir/writes"
	echo steps >>"$dir/writes"
	count_begin
	coproc traffic {
		exec timeout "$patience" build/guest/selftests/writes "$qps" "$size" \
			"$(pattern_window "$pattern")" "$(policy_ack_timeout "$policy")" \
			2>"$dir/log"
	}
	# bash closes its own descriptors when it notices the end.
	writes=$traffic_PID go=${traffic[1]}
	exec {said}<&"${traffic[0]}"
	cat "$dir/writes" >&"$go"
	read -r -t 60 -u "$said" _ || status=$?
	((status <= 128)) || die "not all hosts send" "$dir/log"
	# With spraying the first messages may never end, so all of it counts.
	((status)) || count_begin
}

# Let the hosts go on, at the end of their input.
traffic_go()
{
	exec {go}>&-
}

# Wait for the end. Set stopped if the time was up, or the run failed on a broken link. Leave
# the times of the steps.
traffic_wait()
{
	local status=0

	stopped=''
	wait "$writes" || status=$?
	cat <&"$said" >"$dir/steps"
	exec {said}<&-
	((status)) || return 0
	((status == 124)) || [[ $links != healthy ]] || return $status
	stopped=$SECONDS
}

# After a stopped run: wait until the links are idle.
traffic_drain()
{
	sent=''
	busywait 60000 links_idle || die "links are still busy"
}

links_idle()
{
	local before=$sent

	sent=$(selftests/net/fabric.sh links)
	[[ $sent == "$before" ]]
}
