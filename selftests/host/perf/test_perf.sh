#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer-perf before it opens a NIC: options, launchers, and ranks that differ or fail. If one
# rank fails, all ranks end with the same message.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/perf/perf.sh
perf=build/rocesteer-perf

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
		refused "--rdma-dev DEV[,DEV..] is missing" "${net[@]}" &&
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

ktap_plan 16
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
ktap_finish
