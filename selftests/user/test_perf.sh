#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer-perf where no NIC is needed: its options, and what ranks learn of
# each other before they open one. Whatever goes wrong on one of them, all end,
# with the same words.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
. selftests/user/perf.sh
perf=build/rocesteer-perf

# The options that most tests use
common=(--dims 2x2 --bandwidth "2,1" --size 64K --chunks 4 --rdma-dev "none0,none1")

# refused TEXT OPTION...: a bad option, before anything is begun
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
	local line=(--dims 3 --bandwidth 1 --chunks 3)

	refused "--dims N0xN1x.. is missing" &&
		refused "--rdma-dev D0[/GID0],.. is missing" "${net[@]}" &&
		refused "--rdma-dev: 1 devices for 2 dimensions" "${net[@]}" --rdma-dev a &&
		refused "--rdma-dev: more than 2 dimensions" "${net[@]}" --rdma-dev a,b,c &&
		refused "--rdma-dev: 'a/x' is not" "${net[@]}" --rdma-dev a/x,b &&
		refused "--size: 1000 bytes in 3 chunks are not elements" \
			"${line[@]}" --size 1000 &&
		refused "--algorithm: A0: halving needs a power of two" \
			"${line[@]}" --size 12K --algorithm halving &&
		refused "--dims: more than 4096 ranks" --dims 65x64 \
			--bandwidth 1,1 --size 64K &&
		refused "--type: 'int8' is not one of int32, float32" \
			"${common[@]}" --type int8 &&
		refused "--rendezvous: ':1' is not HOST or HOST:PORT" \
			"${common[@]}" --rendezvous :1
}

no_launcher()
{
	local text

	text=$(env -i "$perf" "${common[@]}" 2>&1)
	[[ $? == 2 && $text == *"--rank is missing"* ]] || return
	text=$(env -i "$perf" "${common[@]}" --rank 1 2>&1)
	[[ $? == 2 && $text == *"--rendezvous HOST[:PORT] of rank 0 is missing"* ]]
}

# launched VARIABLE=VALUE...: as a launcher would start four ranks
launched()
{
	local i

	begin
	for ((i = 0; i < 4; i++)); do
		env -i "${@//%/$i}" "$perf" "${common[@]}" --timeout 20 \
			>"$dir/out$i" 2>&1 &
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

wrong_number_of_ranks()
{
	local text

	text=$(env -i SLURM_PROCID=0 SLURM_NTASKS=8 "$perf" "${common[@]}" 2>&1)
	[[ $? == 2 && $text == *"SLURM_NTASKS is 8, but --dims makes 4 ranks"* ]]
}

# Whoever comes last: all are told.
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

# One of four devices that does not exist: the others hear of it.
no_device()
{
	local i

	begin
	for i in 0 1 2 3; do
		rank "$i" "${common[@]}"
	done
	all_end 1 ": dimension 0: there is no RDMA device none0"
}

absent()
{
	local i

	begin
	for i in 0 1 3; do
		limit=8
		rank "$i" "${common[@]}"
	done
	all_end 1 "rank 2 has not connected in 6 seconds"
}

no_first()
{
	begin
	limit=1
	rank 1 "${common[@]}"
	all_end 1 "rank 0 does not listen on localhost port $port: Connection refused"
}

# A rank that connects from the port to the port meets itself.
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

# Who speaks something else is not let in, and delays nobody.
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

# files SOFT:HARD: how many rank 0 may have open
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

# Of two failures the first is the cause: rank 1 never comes, either. A rank that
# is killed before it has said who it is counts as one that has not come.
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

ktap_plan 16
check "bad options" bad_options
check "without a launcher" no_launcher
check "mpirun, srun, torchrun" launchers
check "a launcher that started another number of ranks" wrong_number_of_ranks
check "a rank with another size" other_size
check "a rank with another plan" other_plan
check "a rank with another type" other_type
check "a rank in another grid" other_dims
check "two that say they are the same rank" same_rank_twice
check "no such device" no_device
check "a rank that never comes" absent
check "rank 0 that never comes" no_first
if unshare -rn true 2>/dev/null; then
	check "a rank that meets itself" itself
else
	skip "a rank that meets itself" "no network namespaces"
fi
check "strangers" strangers
check "fewer files than ranks" few_files
check "a rank that is killed" killed
ktap_finish
