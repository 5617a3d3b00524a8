#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The rendezvous of the ranks of rocesteer-perf: addresses, ports and files of rank 0, and strangers
# that connect

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/perf/perf.sh
perf=build/rocesteer-perf

# The rank's local port is the port to which it connects.
itself()
{
	local via

	begin
	limit=1
	via=(unshare -rn bash -c "ip link set lo up &&
		sysctl -qw net.ipv4.ip_local_port_range='$port $port' &&
		exec \"\$@\"" bash)
	rank 1 "${common[@]}"
	all_end 1 "rank 0 does not listen on localhost port $port: Connection refused"
}

strangers()
{
	local i fd status talker mute=()

	begin
	rank 0 "${common[@]}"
	busywait 10000 listens || return
	exec {talker}<>"/dev/tcp/localhost/$port" &&
		echo "GET / HTTP/1.0" >&"$talker"
	for ((i = 0; i < 100; i++)); do
		exec {fd}<>"/dev/tcp/localhost/$port"
		mute+=("$fd")
	done
	for i in 1 2 3; do
		rank "$i" "${common[@]}"
	done
	all_end 1 ": dimension 0: there is no RDMA device none0"
	status=$?
	for fd in "$talker" "${mute[@]}"; do
		exec {fd}>&-
	done
	return "$status"
}

# attack WHAT ARGUMENT...: see attack_rendezvous.py
attack()
{
	python3 selftests/host/perf/attack_rendezvous.py "$1" "$port" "${@:2}"
}

# More connections come than may stay, and ranks come after these.
bounded()
{
	local grown kept i

	begin
	rank 0 "${common[@]}"
	busywait 10000 listens || return
	read -r grown kept < <(attack fill "${pid[0]}") &&
		[[ $(attack knock) == "let go" ]] || return
	echo "grown by $grown KiB, $kept are kept"
	((grown < 2048 && kept > 32 && kept <= 4 + 64)) || return
	for i in 1 2 3; do
		rank "$i" "${common[@]}"
	done
	all_end 1 ": dimension 0: there is no RDMA device none0"
}

other_version()
{
	begin
	limit=4
	rank 0 "${common[@]}"
	busywait 10000 listens && [[ $(attack knock) == "let go" ]] || return
	all_end 1 "rank 1 and 2 more have not connected in 3 s; 127.0.0.1 does not follow the" &&
		all_end_has "Rank 0 listens on 127.0.0.1 port $port, which the others have to reach"
}

# A rank of another job has found the port of this job.
other_job()
{
	local i attacker

	begin
	rank 0 "${common[@]}"
	busywait 10000 listens || return
	attack differ &
	attacker=$!
	for i in 2 3; do
		rank "$i" "${common[@]}"
	done
	all_end 2 "rank 1 (127.0.0.1) differs: dims is ?]0;owned? there, 2,2 on rank 0" &&
		wait "$attacker"
}

# says fail|fail_at_once: a rank's message does not control the terminal, and its failure is
# never success
says()
{
	begin
	rank 0 "${one_dim[@]}" --dims 2
	busywait 10000 listens && attack "$1" "$perf" "${one_dim[@]}" --dims 2 --rank 1
	all_end 1 "nothing ?[2Jto?see"
}

second_first()
{
	begin
	rank 0 "${one_dim[@]}" --dims 2
	busywait 10000 listens &&
		attack usurp "$perf" "${one_dim[@]}" --dims 2 --rank 1
	all_end 2 "127.0.0.1 says that it is rank 0 of 2, which is here already"
}

flooded()
{
	local ms

	begin
	limit=12
	rank 0 "${one_dim[@]}" --dims 3
	busywait 10000 listens &&
		ms=$(attack flood "${pid[0]}" "$perf" "${one_dim[@]}" --dims 3 --rank 1) ||
		return
	echo "$ms ms of CPU"
	all_end 1 "rank 1 (127.0.0.1) does not follow the protocol" && ((ms < 500))
}

listening_address()
{
	ss -Hltn "sport = :$port" | awk '{ print $4 }'
}

# listens_on ADDRESS OPTION...: rank 0 listens there, and nowhere else
listens_on()
{
	local want=$1 text
	shift

	begin
	rank 0 "${common[@]}" "$@"
	busywait 10000 listens || return
	text=$(listening_address)
	kill "${pid[0]}"
	wait "${pid[0]}"
	echo "$text"
	[[ $text == "$want:$port" ]]
}

one_address()
{
	listens_on 127.0.0.1 && listens_on 127.0.0.2 --listen 127.0.0.2 || return
	begin
	rank 0 "${common[@]}" --listen 192.0.2.1
	all_end 1 "rendezvous: cannot listen on 192.0.2.1 port $port: Cannot" &&
		all_end_has "Rank 0 runs on the host of --rendezvous; --listen names"
}

busy_port()
{
	local first status

	begin
	rank 0 "${common[@]}"
	first=${pid[0]}
	busywait 10000 listens && rank 0 "${common[@]}" &&
		all_end 1 "cannot listen on localhost port $port: Address already in use" &&
		all_end_has "--rendezvous HOST:PORT names another port."
	status=$?
	kill "$first"
	wait "$first"
	return "$status"
}

# Nobody accepts at the first address of rank 0's host. The nearest address comes first. Rank 0
# does not pass over an address whose port is taken, unless --listen says so.
dead_address()
{
	begin
	printf '%s first\n' 127.0.0.1 127.0.0.2 >"$dir/hosts"
	unshare -rnm bash -s "$dir" "$port" "$perf" "${one_dim[@]}" --dims 2 <<-'E'
	ip link set lo up && mount --bind "$1/hosts" /etc/hosts || exit
	out=$1 port=$2
	shift 2
	exec {silent}< <(exec python3 selftests/host/perf/attack_rendezvous.py silent "$port")
	silent_pid=$!
	read -r -u "$silent" || exit
	"$@" --rank 0 --rendezvous "first:$port" >"$out/taken" 2>&1
	"$@" --rank 0 --rendezvous "first:$port" --listen 127.0.0.2 >"$out/out0" 2>&1 &
	"$@" --rank 1 --rendezvous "first:$port" >"$out/out1" 2>&1
	wait "$!"
	kill "$silent_pid"
	E
	cat "$dir/taken" "$dir"/out*
	grep -q "cannot listen on first port $port: Address already in use" "$dir/taken" &&
		all_end_has ": dimension 0: there is no RDMA device none0"
}

# files SOFT:HARD: rank 0's limits of open files
files()
{
	local i via

	begin
	via=(prlimit "--nofile=$1")
	rank 0 "${common[@]}"
	via=()
	for i in 1 2 3; do
		rank "$i" "${common[@]}"
	done
}

few_files()
{
	files 7:100 && all_end 1 ": dimension 0: there is no RDMA device" &&
		files 7:7 && all_end 1 "rank 0 " &&
		grep "cannot take 3 connections: Too many open files" \
			"$dir/out0"
}

listens()
{
	[[ $(ss -Hltn "sport = :$port") ]]
}

# The first of two failures is the cause, as rank 1 never comes, either. A rank that is killed
# before it has told its rank counts as one that has not come.
killed()
{
	begin
	limit=8
	rank 0 "${common[@]}"
	busywait 10000 listens || return
	rank 1 "${common[@]}"
	rank 2 "${common[@]}"
	busywait 10000 connected 2 || return
	kill -KILL "${pid[1]}"
	wait "${pid[1]}" 2>/dev/null
	unset 'pid[1]'
	all_end 1 "rocesteer-perf: rank 1 "
}

connected()
{
	(($(ss -Htn state established "sport = :$port" | wc -l) >= $1))
}

ktap_plan 14
if unshare -rn true 2>/dev/null; then
	check "a rank that connects to itself does not take itself for rank 0" itself
	check "a rank tries the next address of rank 0 when one does not answer" dead_address
else
	skip "a rank that connects to itself does not take itself for rank 0" \
		"no network namespaces"
	skip "a rank tries the next address of rank 0 when one does not answer" \
		"no network namespaces"
fi
check "connections that never speak do not hold up the ranks" strangers
check "connections that say no rank take bounded memory and are let go" bounded
check "a process of another version is named if a rank does not come" other_version
check "a rank of another job is named, with the setting that differs" other_job
check "a message from a rank is printed without control characters" says fail
check "a rank that gives up as soon as it connects is reported" says fail_at_once
check "a second rank 0 is refused" second_first
check "a rank that floods rank 0 ends the run and costs little CPU" flooded
check "rank 0 listens on the address of --rendezvous or --listen only" one_address
check "a port that another process has is refused" busy_port
check "rank 0 raises its limit of open files, or says that it is too low" few_files
check "ranks end when one of them is killed" killed
ktap_finish
