# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # shared with demo/guest
#
# The traffic of the demonstration. A pattern is who sends to whom. What is sent
# is chosen such that an ideal network takes the same time for all of them.
#
# permutation  each host to the one in its place under the next leaf
# all-to-all   each host to every other, the next one first
# ring         each host to the next: one flow leaves each leaf. The control:
#              NICs as fast as a link have nothing to gain from other links.
#
# It is selftests/fabric/writes.c's, a process for each host, which sleeps until it has
# something to do and checks every byte that arrives. It holds itself back after a
# message of each queue pair, which does not count; then all of it begins at one time.

# Bytes of a message: some packets of 4 KiB for each queue pair of any policy.
pattern_message()
{
	local packets=8

	while ((packets % spines)); do
		packets=$((packets + 8))
	done
	[[ $1 == all-to-all ]] || packets=$((packets * 4))
	echo $((packets * 4096))
}

# pattern_flows PATTERN: lines "from to", in the order hosts begin them
pattern_flows()
{
	local count=$((leaves * hosts)) i step=1 last=1

	case $1 in
	permutation)	step=$hosts last=$hosts ;;
	all-to-all)	last=$((count - 1)) ;;
	esac
	for ((; step <= last; step++)); do
		for ((i = 0; i < count; i++)); do
			echo $i $(((i + step) % count))
		done
	done
}

# Mbit/s of the hosts' NICs. But for ring each can fill all the uplinks of its
# leaf, so that the links between switches decide.
pattern_host_rate()
{
	if [[ $1 == ring ]]; then
		echo "$rate"
	else
		echo $((rate * spines))
	fi
}

# flows_plan PATTERN: lines "from to bytes"
flows_plan()
{
	local bytes=$((seconds * rate * 1000000 / 8)) message

	# Over what of it the fullest link carries.
	case $1 in
	permutation)	bytes=$((bytes * spines / hosts)) ;;
	all-to-all)	bytes=$((bytes * spines / (hosts * hosts * (leaves - 1)))) ;;
	esac
	message=$(pattern_message "$1")
	((bytes > message)) || bytes=$message
	bytes=$((bytes / message * message))
	pattern_flows "$1" | sed "s/\$/ $bytes/"
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

# Messages of each flow under way: few, so that queues stay short
pattern_window()
{
	case $1 in
	all-to-all)	echo 1 ;;
	*)		echo 2 ;;
	esac
}

# Start the traffic of $dir/flows and return when all queue pairs have begun and wait.
# What is counted begins in it.
traffic_start()
{
	local i netns status=0

	for ((i = 0; i < leaves * hosts; i++)); do
		netns=$(host_netns $i)
		echo "host /sys/fs/cgroup/host$i ${netns:+/run/netns/}${netns:--}" \
			"$(host_rdma $i) $(host_gid $i)"
	done >"$dir/writes"
	sed 's/^/flow /' "$dir/flows" >>"$dir/writes"
	echo ready >>"$dir/writes"
	count_begin
	coproc traffic {
		exec timeout "$patience" build/guest/selftests/writes "$qps" "$size" \
			"$(pattern_window "$pattern")" "$(policy_ack_timeout "$policy")" \
			2>"$dir/log"
	}
	writes=$traffic_PID said=${traffic[0]} go=${traffic[1]}
	cat "$dir/writes" >&"$go"
	read -r -t 60 -u "$said" _ || status=$?
	((status <= 128)) || die "not all hosts send" "$dir/log"
	# Sprayed, the first messages may take for ever: then all of it counts.
	((status)) || count_begin
}

# Let them go on, at the end of their input.
traffic_go()
{
	exec {go}>&-
}

# Wait for the end. Sets stopped to when the run was out of patience: then what is
# still under way has to be off the links before the next run.
traffic_wait()
{
	local status=0

	stopped=''
	wait "$writes" || status=$?
	((status == 124)) || return $status
	stopped=$SECONDS
	links=''
	busywait 60000 links_idle || die "links are still busy"
}

links_idle()
{
	local before=$links

	links=$(fabric_links)
	[[ $links == "$before" ]]
}
