#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs of Debian's Open MPI and MPICH, over UCX, whose Allreduces librocesteer-mpi.so gives
# to a switch. They know nothing of it. One rank runs on each of four hosts.
#
# shellcheck disable=SC2317 # functions are called through check

set -uo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
# shellcheck source=selftests/guest/reduce/reduce.sh
. selftests/guest/reduce/reduce.sh

agent=$PWD/selftests/guest/steer/mpi_agent
scalapack=/usr/lib/x86_64-linux-gnu/scalapack
ranks=4
counters=''	# file of the last run, a line for each rank
preload=1	# programs are run with the library
settings=()	# of the library, beside those of run

up()
{
	reduce_load && leaf_up "$ranks" "$fast" && short_wait
}

# Do not let short packets overtake others: MPI and UCX have short messages, too.
short_wait()
{
	hosts_tc "filter del dev DEV parent 2:"
}

# environment MPI: NAME=VALUE lines for ranks.
#
# UCX assumes that a RoCE NIC reports by the SL whether a datagram is IPv4, which rxe does not,
# and would drop the datagrams that set up its connections.
environment()
{
	printf '%s\n' UCX_TLS=rc_v,self UCX_RC_TIMEOUT=8s UCX_UD_VERBS_ETH_DGID_CHECK=n
	[[ ! $preload ]] || printf '%s\n' "LD_PRELOAD=$PWD/build/guest/librocesteer-mpi-$1.so" \
		"ROCESTEER_MPI_SWITCH=nsenter --net=/run/netns/$switch rocesteer" \
		ROCESTEER_MPI_GROUPS=100-999 ROCESTEER_MPI_MIN=4096 ROCESTEER_MPI_PACKETS=8 \
		ROCESTEER_MPI_TIMEOUT=$((10000 * TIME_SCALE)) "ROCESTEER_MPI_COUNTERS=$dir/counters" \
		"${settings[@]}"
}

# start MPI COMMAND...: a rank on each host, in $dir. Ranks that wait must leave the CPU to rxe.
start()
{
	local mpi=$1 names env=() values=()
	shift

	names=$(seq -s , -f 'host%g' 0 $((ranks - 1)))
	rm -f "$dir/counters"
	mapfile -t values < <(environment "$mpi")
	case $mpi in
	openmpi)
		mapfile -t env < <(printf -- '-x\n%s\n' "${values[@]}")
		set -- mpirun.openmpi --allow-run-as-root --host "$names" --bind-to none \
			--prtemca plm_ssh_agent "$agent" --mca pml ucx \
			--mca mpi_yield_when_idle 1 "${env[@]}" "$@"
		;;
	mpich)
		for value in "${values[@]}"; do
			env+=(-genv "${value%%=*}" "${value#*=}")
		done
		set -- mpiexec.hydra -launcher rsh -launcher-exec "$agent" -hosts "$names" \
			-iface eth0 -n "$ranks" "${env[@]}" "$@"
		;;
	esac
	(cd "$dir" && TMPDIR=$dir exec timeout -k 10 $((600 * TIME_SCALE)) "$agent" host0 \
		"${@@Q}") >"$dir/out" 2>"$dir/log" </dev/null &
	program=$!
}

# ended STATUS: of the program that was started
ended()
{
	local status=0

	wait "$program" || status=$?
	cat "$dir/out"
	grep -v '^Warning' "$dir/log" | tail -n 20
	[[ ! -e $dir/counters ]] || cat "$dir/counters"
	((status == $1))
}

# runs MPI COMMAND...
runs()
{
	start "$@" && ended 0
}

# calls MPI OPTION...: of mpi_calls.c
calls()
{
	local mpi=$1
	shift

	runs "$mpi" "$PWD/build/guest/selftests/mpi-calls-$mpi" "$@"
}

# said FIELD: of the program's last line
said()
{
	sed -n "s/.*\\b$1=\\([0-9a-f]*\\).*/\\1/p" "$dir/out"
}

# count JQ: true of the counters of each rank
count()
{
	jq -s -e "length == $ranks and all($1)" "$dir/counters" >/dev/null || {
		echo "wrong: $1"
		return 1
	}
}

no_groups()
{
	[[ $(stat_get .groups) == 0 ]] && nothing_held
}

at_random()
{
	calls "$1" calls "$(few 100 1000)" 1 && count '.taken > 20 and .failed == 0' && no_groups
}

reduce_prepare
ktap_plan 3
defer reduce_down
check "four hosts at a switch are made" up
((!ktap_failed)) || exit
for mpi in ${MPIS:-openmpi mpich}; do
	check "$mpi: random calls have the bits that they should have" at_random "$mpi"
done
check "no group, module or namespace is left" reduce_down
ktap_finish
