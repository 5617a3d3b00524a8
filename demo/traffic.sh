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
# permutation and ring are ib_write_bw's. It has one peer per process, and for
# all-to-all that would be hundreds of processes: there it is
# selftests/fabric/writes.c, which also checks what arrives.
#
# All of it begins at one time. Hosts hold what ib_write_bw sends back behind a gate
# until every one has some; writes.c holds itself back after a message of each
# queue pair, which does not count.

declare -A client=([permutation]=perftest [ring]=perftest [all-to-all]=writes)
under_way=2	# messages of each flow, half for all-to-all, so that queues stay short
port=18515

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
	bytes=$((bytes / message))
	# ib_write_bw sends no less than five.
	bytes=$(((bytes < 5 ? 5 : bytes) * message))
	pattern_flows "$1" | sed "s/\$/ $bytes/"
}

# Queues of the hosts that hold back what is not TCP nor an acknowledgment.
gates_up()
{
	local i dev devices=()

	modprobe sch_plug
	for ((i = 0; i < leaves * hosts; i++)); do
		dev=$(host_dev $i)
		host_exec $i tc -batch - <<-E
		qdisc replace dev $dev parent 2:2 handle 3: plug limit 8388608
		qdisc add dev $dev clsact
		E
		devices+=("$(host_netns $i)/$dev")
	done
	coproc gates { nice -n -20 demo/gates.py "${devices[@]#/}"; }
	gates open
	host_rate=0
}

# gates open|close
gates()
{
	local answer=''

	echo "$1" >&"${gates[1]}"
	read -r -u "${gates[0]}" answer || :
	[[ $answer == "done" ]] || die "gates do not $1"
}

# Their process ends with its input.
gates_down()
{
	local fd=${gates[1]}

	exec {fd}>&-
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

# Sets sent to the packets that each host has sent.
sent_read()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		read -r "sent[i]" <"/sys/class/infiniband/rxe$i/ports/1/hw_counters/sent_pkts"
	done
}

# What each host will have sent when every queue pair has a packet at the gate.
begun_plan()
{
	local from to bytes

	sent_read
	begun=("${sent[@]}")
	while read -r from to bytes; do
		begun[from]=$((begun[from] + qps))
	done <"$dir/flows"
}

all_begun()
{
	local i

	sent_read
	for ((i = 0; i < leaves * hosts; i++)); do
		((sent[i] >= begun[i])) || return
	done
}

# Run a command as part of the host's job.
in_job()
{
	local host=$1
	shift

	echo $BASHPID >"/sys/fs/cgroup/host$host/cgroup.procs"
	host_exec "$host" "$@"
}

listening()
{
	local from to bytes

	while read -r from to bytes; do
		[[ $(host_exec "$to" ss -Hltn "sport = :$((port + to))") ]] ||
			return
	done <"$dir/flows"
}

# perftest HOST PORT BYTES [SERVER]: nice, because it polls
perftest()
{
	local host=$1

	in_job "$host" timeout "$patience" nice -n 19 ib_write_bw -d "$(host_rdma "$host")" \
		-x "$(host_gid "$host")" -p "$2" -q "$qps" -s "$size" \
		-n $(($3 / size / qps)) -t $under_way -Q 1 -u "$(policy_ack_timeout "$policy")" \
		-F -m 4096 ${4:+"$4"}
}

# CLIENT_start: start the traffic of $dir/flows and return when all queue pairs
# have begun and wait. What is counted begins in it. CLIENT_go: let them go on.
perftest_start()
{
	local from to bytes

	gates close
	begun_plan
	count_begin
	clients=()
	while read -r from to bytes; do
		perftest "$to" $((port + to)) "$bytes" >"$dir/log-server$to" 2>&1 &
		clients+=($!)
	done <"$dir/flows"
	busywait 60000 listening || die "no server listens" "$dir"/log*
	while read -r from to bytes; do
		perftest "$from" $((port + to)) "$bytes" "$(host_ip "$to")" \
			>"$dir/log-client$from" 2>&1 &
		clients+=($!)
	done <"$dir/flows"
	busywait 60000 all_begun || die "not all hosts send" "$dir"/log*
}

perftest_go()
{
	gates open
}

writes_start()
{
	local i netns

	for ((i = 0; i < leaves * hosts; i++)); do
		netns=$(host_netns $i)
		echo "host /sys/fs/cgroup/host$i ${netns:+/run/netns/}${netns:--}" \
			"$(host_rdma $i) $(host_gid $i)"
	done >"$dir/writes"
	sed 's/^/flow /' "$dir/flows" >>"$dir/writes"
	echo ready >>"$dir/writes"
	mkfifo /run/writes
	timeout "$patience" build/guest/selftests/writes "$qps" "$size" \
		$((under_way / 2)) "$(policy_ack_timeout "$policy")" \
		</run/writes >"$dir/log" 2>&1 &
	clients=($!)
	exec {input}>/run/writes
	rm /run/writes
	count_begin
	cat "$dir/writes" >&"$input"
	busywait 60000 writes_settled || die "not all hosts send" "$dir/log"
	! writes_ready || count_begin
}

writes_ready()
{
	grep -q ready "$dir/log"
}

# Sprayed, the first messages may take for ever, too.
writes_settled()
{
	writes_ready || ! kill -0 "${clients[0]}" 2>/dev/null
}

writes_go()
{
	exec {input}>&-
}

# Wait for all of them. Sets stopped to when one ran out of patience: then what is
# still under way has to be off the links before the next run. Fails when one does.
clients_wait()
{
	local pid status failed=0

	stopped=''
	for pid in "${clients[@]}"; do
		status=0
		wait "$pid" || status=$?
		case $status in
		0)	;;
		124)	stopped=${stopped:-$SECONDS} ;;
		*)	failed=1 ;;
		esac
	done
	if [[ $stopped ]]; then
		links=''
		busywait 60000 links_idle || die "links are still busy"
	else
		return $failed
	fi
}

links_idle()
{
	local before=$links

	links=$(fabric_links)
	[[ $links == "$before" ]]
}
