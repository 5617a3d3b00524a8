#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer-perf before it opens a NIC: options, and the rendezvous of the ranks. If one rank
# fails, all ranks end with the same message.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
. selftests/host/perf.sh
perf=build/rocesteer-perf

# The options that most tests use
common=(--dims 2x2 --bandwidth "2,1" --size 64K --chunks 4 --rdma-dev "none0,none1")
one_dim=(--bandwidth 1 --size 64K --chunks 4 --rdma-dev none0)

# refused TEXT OPTION...: a wrong option is refused before the rendezvous
refused()
{
	local want=$1 text status
	shift

	[[ $* == *--rendezvous* ]] || set -- "$@" --rendezvous localhost
	text=$("$perf" --rank 0 "$@" 2>&1)
	status=$?
	echo "$text"
	[[ $status == 2 && $text == "rocesteer-perf: $want"* ]]
}

bad_options()
{
	local net=(--dims 4x2 --bandwidth "2,1" --size 64K)
	local line=(--dims 3 --bandwidth 1 --chunks 3 --rdma-dev a)
	local reduce=("${one_dim[@]}" --algorithm netreduce) sums=netreduce,ring

	refused "--dims N0xN1x.. is missing" &&
		refused "--rdma-dev D0[/GID0],.. is missing" "${net[@]}" &&
		refused "--rdma-dev: needs a device for each dimension: 2, not 1" "${net[@]}" --rdma-dev a &&
		refused "--rdma-dev: more than 2 dimensions" "${net[@]}" --rdma-dev a,b,c &&
		refused "--rdma-dev: 'a/x' is not" "${net[@]}" --rdma-dev a/x,b &&
		refused "--size: 1000 bytes in 3 chunks are not elements" \
			"${line[@]}" --size 1000 &&
		refused "--algorithm: A0: halving needs a power of two" \
			"${line[@]}" --size 12K --algorithm halving &&
		refused "--dims: more than 4096 ranks" --dims 65x64 \
			--bandwidth 1,1 --size 64K --rdma-dev a,b &&
		refused "--type: 'int8' is not one of int32, float32" \
			"${common[@]}" --type int8 &&
		refused "--rendezvous: ':1' is not HOST or HOST:PORT" \
			"${common[@]}" --rendezvous :1 &&
		refused "--rendezvous: '[::1' is not HOST or HOST:PORT" \
			"${common[@]}" --rendezvous '[::1' &&
		refused "--rendezvous: '::1]:7' is not HOST or HOST:PORT" \
			"${common[@]}" --rendezvous '::1]:7' &&
		refused "--rendezvous: '99999' is not a port from 1 to 65535" \
			"${common[@]}" --rendezvous localhost:99999 &&
		refused "--timeout: '30' is not a number from 1000 to" \
			"${common[@]}" --timeout 30 &&
		refused "--switch COMMAND is missing" --dims 2 "${reduce[@]}" &&
		refused "--group needs --algorithm netreduce" --dims 2 "${one_dim[@]}" --group 1 &&
		refused "--group: '16384' is not a number from 0 to 16383" \
			--dims 2 "${reduce[@]}" --switch true --group 16384 &&
		refused "--packets: '2049' is not a number from 1 to 2048" \
			--dims 2 "${reduce[@]}" --switch true --packets 2049 &&
		refused "--algorithm: netreduce is for an all-reduce in one dimension" \
			--dims 2 "${reduce[@]}" --collective all-gather --switch true &&
		refused "--algorithm: netreduce is for an all-reduce in one dimension" \
			--dims 65 "${reduce[@]}" --switch true &&
		refused "--algorithm: netreduce is for an all-reduce in one dimension" \
			"${common[@]}" --algorithm netreduce --switch true &&
		refused "--algorithm: A0: netreduce is for an all-reduce, not for all-gather" \
			"${common[@]}" --algorithm "$sums" --switch true \
			--collective all-gather &&
		refused "--algorithm: A1: netreduce is for one dimension of several, and A0 has it" \
			"${common[@]}" --algorithm netreduce,netreduce --switch true &&
		refused "--switch COMMAND is missing" "${common[@]}" --algorithm "$sums" &&
		refused "--groups is for one dimension: --group has the first number of 2 groups" \
			"${common[@]}" --algorithm "$sums" --switch true --groups x &&
		refused "--group: '16383' is not a number from 0 to 16382" \
			"${common[@]}" --algorithm "$sums" --switch true --group 16383 &&
		refused "--chunks: with netreduce a chunk has an element for each of 2 groups" \
			"${net[@]}" --rdma-dev a,b --algorithm "$sums" --switch true \
			--chunks 16384 || return
	reduce+=(--dims 2 --switch true)
	plan 10.255.1.1
	refused "--groups needs --algorithm netreduce" --dims 2 "${one_dim[@]}" \
		--groups "$dir/plan" &&
		refused "--port-map: only with --groups" "${reduce[@]}" --port-map x &&
		refused "--groups and --group, --packets or --box exclude each other" "${reduce[@]}" \
			--groups "$dir/plan" --packets 9 &&
		refused "$dir/none: No such file" "${reduce[@]}" --groups "$dir/none" &&
		refused "--port-map FILE is missing: $dir/plan has routers" "${reduce[@]}" \
			--groups "$dir/plan"
}

# plan ROUTER [FILE]: the plan of a group of two ranks; the first rank has this router
plan()
{
	echo '{"format":1,"groups":[{"group":7,"root":1,"mtu":4096,"packets":40,"window":2,
		"ranks":[{"address":"10.0.0.1","leaf":0,"router":"'"$1"'"},
		{"address":"10.0.0.2","leaf":1}]}]}' >"${2:-$dir/plan}"
}

no_launcher()
{
	local text i

	text=$(env -i "$perf" "${common[@]}" 2>&1)
	[[ $? == 2 && $text == *"--rank is missing"* ]] || return
	for i in 0 1; do
		text=$(env -i "$perf" "${common[@]}" --rank "$i" 2>&1)
		[[ $? == 2 && $text == *"--rendezvous HOST[:PORT] of rank 0 is missing"* ]] ||
			return
	done
}

# launched VARIABLE=VALUE...: start four ranks as a launcher does
launched()
{
	local i

	begin
	for ((i = 0; i < 4; i++)); do
		env -i "${@//%/$i}" "$perf" "${common[@]}" --timeout 20000 >"$dir/out$i" 2>&1 &
		pid[i]=$!
	done
	all_end 1 "dimension 0: there is no RDMA device none0"
}

launchers()
{
	launched OMPI_COMM_WORLD_RANK=% OMPI_COMM_WORLD_SIZE=4 \
		OMPI_COMM_WORLD_LOCAL_SIZE=4 MASTER_PORT="$next_port" &&
		launched SLURM_PROCID=% SLURM_NTASKS=4 MASTER_PORT="$next_port" \
			SLURM_STEP_NODELIST=localhost &&
		launched PMIX_RANK=% MASTER_ADDR=127.0.0.1 \
			MASTER_PORT="$next_port" &&
		launched RANK=% WORLD_SIZE=4 MASTER_ADDR=::1 \
			MASTER_PORT="$next_port"
}

# node_list LIST HOST: rank 1 looks for rank 0 there, or "" if nowhere
node_list()
{
	local text want="rank 0 does not listen on $2 port 1:"

	[[ $2 ]] || want="--rendezvous HOST[:PORT] of rank 0 is missing"
	text=$(env -i SLURM_PROCID=1 SLURM_STEP_NODELIST="$1" MASTER_PORT=1 \
		"$perf" "${common[@]}" --timeout 1000 2>&1)
	echo "$1: $text"
	[[ $text == *"$want"* ]]
}

# Addresses in brackets need no name service.
node_lists()
{
	node_list 127.0.0.1,127.0.0.2 127.0.0.1 &&
		node_list '127.0.0.[1-3,9]' 127.0.0.1 &&
		node_list '127.0.[0-1].[2,7]' 127.0.0.2 &&
		node_list 'a]b[1' '' && node_list 'a[1' '' && node_list '' '' &&
		node_list "$(printf '%0300d' 0)" ''
}

version()
{
	[[ $("$perf" --version) == "${perf##*/} "[0-9]* &&
		$("$perf" --json --version | jq -r .version) == [0-9]* ]]
}

wrong_number_of_ranks()
{
	local text

	text=$(env -i SLURM_PROCID=0 SLURM_NTASKS=8 "$perf" "${common[@]}" 2>&1)
	[[ $? == 2 && $text == *"SLURM_NTASKS is 8, but --dims makes 4 ranks"* ]]
}

# All ranks are told, whichever comes last.
differs()
{
	local odd=$1 want=$2 i
	shift 2

	begin
	for i in 0 1 2 3; do
		if ((i == odd)); then
			rank "$i" "${common[@]}" "$@"
		else
			rank "$i" "${common[@]}"
		fi
	done
	all_end 2 "$want"
}

other_size()
{
	local odd i

	for odd in 1 3; do
		begin
		for i in 0 1 2 3; do
			rank "$i" "${common[@]/64K/$((i == odd ? 128 : 64))K}"
		done
		all_end 2 "rank $odd (" && all_end_has "size is 131072 there, 65536 on rank 0" ||
			return
	done
}

other_plan()
{
	differs 2 "differs: plan hash is" --policy baseline &&
		all_end_has "rank 2 ("
}

other_type()
{
	differs 3 "differs: type is float32 there, int32 on rank 0" --type float32
}

other_group()
{
	local i

	begin
	for i in 0 1; do
		rank "$i" --dims 2 "${one_dim[@]}" --algorithm netreduce --switch true --group "$i"
	done
	all_end 2 "netreduce is group 1 with 40 packets there, group 0 with 40 packets on rank 0" ||
		return
	begin
	rank 0 --dims 2 "${one_dim[@]}"
	rank 1 --dims 2 "${one_dim[@]}" --algorithm netreduce --switch true
	all_end 2 "netreduce is group 0 with 40 packets there, off on rank 0" || return
	begin
	for i in 0 1; do
		plan "10.255.1.$((i + 1))" "$dir/plan$i"
		rank "$i" --dims 2 "${one_dim[@]}" --algorithm netreduce --switch true \
			--groups "$dir/plan$i" --port-map "$dir/map"
	done
	all_end 2 "rank 1 (" && all_end_has "netreduce is 1 groups of a plan "
}

other_dims()
{
	local i

	begin
	for i in 0 1 3; do
		rank "$i" "${common[@]}"
	done
	rank 2 "${common[@]/2x2/4x1}"
	all_end 2 "differs: dims is 4,1 there, 2,2 on rank 0"
}

same_rank_twice()
{
	begin
	rank 0 "${common[@]}"
	rank 1 "${common[@]}"
	rank 2 "${common[@]}"
	pid[3]=${pid[2]}
	mv "$dir/out2" "$dir/out3"
	rank 2 "${common[@]}"
	all_end 2 "says that it is rank 2 of 4, which is here already"
}

# One of four devices does not exist, and all ranks are told.
no_device()
{
	local i

	begin
	for i in 0 1 2 3; do
		rank "$i" "${common[@]}"
	done
	all_end 1 ": dimension 0: there is no RDMA device none0"
}

will_fail()
{
	[[ $(<"$dir/out0") == *"dimension 0: there is no RDMA device none0: this run will fail"* &&
		$(<"$dir/out0") == *"$dir/none/ranges: No such file or directory: this run will fail"* ]]
}

would_lose()
{
	[[ $(<"$dir/out0") == *"$dir/plan: exists, and is not a file of ranges: this run will fail"* ]]
}

# forewarned CHECK FILE: a rank says what CHECK looks for before the others come
forewarned()
{
	local status

	begin
	rank 0 "${common[@]}" --ranges-out "$2"
	busywait 10000 "$1"
	status=$?
	kill "${pid[0]}"
	wait "${pid[0]}"
	(($? == 128 + 15)) && return "$status"
}

forewarns()
{
	echo plan >"$dir/plan"
	forewarned will_fail "$dir/none/ranges" && forewarned would_lose "$dir/plan" &&
		[[ $(<"$dir/plan") == plan ]]
}

absent()
{
	local i

	begin
	for i in 0 1 3; do
		limit=8
		rank "$i" "${common[@]}"
	done
	all_end 1 "rank 2 has not connected in 6 s"
}

no_first()
{
	begin
	limit=1
	rank 1 "${common[@]}"
	all_end 1 "rank 0 does not listen on localhost port $port: Connection refused" &&
		all_end_has "Rank 0 says at its end where it listens: see --listen."
}

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
	python3 selftests/host/attack_rendezvous.py "$1" "$port" "${@:2}"
}

# They are more than may stay, and ranks come after them.
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

# It has found the port of this job in place of its own.
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
	exec {silent}< <(exec python3 selftests/host/attack_rendezvous.py silent "$port")
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

# Of two failures the first is the cause: rank 1 never comes, either. A rank that is killed
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

ktap_plan 30
check "wrong options are refused" bad_options
check "--rank and --rendezvous are required without a launcher" no_launcher
check "ranks are read from mpirun, srun and torchrun" launchers
check "Slurm's lists of nodes are read" node_lists
check "--version prints the version" version
check "a launcher that started another number of ranks is refused" wrong_number_of_ranks
check "a rank with another size is refused and named" other_size
check "a rank with another plan is refused and named" other_plan
check "a rank with another type is refused and named" other_type
check "a rank in another grid is refused and named" other_dims
check "a rank with another group of the switch is refused and named" other_group
check "two processes with one rank are refused" same_rank_twice
check "a missing RDMA device is named" no_device
check "a rank that will fail says so before it waits for others" forewarns
check "a rank that never comes is named" absent
check "ranks end when rank 0 never comes" no_first
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
