#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs of Debian's Open MPI and MPICH, over UCX, whose Allreduces librocesteer-mpi.so gives
# to a switch. They know nothing of it. One rank runs on each of four hosts.
#
# shellcheck disable=SC2317 # functions are called through check

set -uo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/reduce/reduce.sh
. selftests/guest/blacs.sh

agent=$PWD/selftests/guest/steer/mpi_agent
scalapack=/usr/lib/x86_64-linux-gnu/scalapack
ranks=4
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
# and would drop the datagrams that set up its connections. An event of a queue pair that is gone
# would end UCX. MPICH's own messages go by TCP, for which UCX looks the device up in sysfs: over
# rxe it now and then waits for ever at its end.
#
# A group waits for longer than UCX takes to send a lost message of MPI again: 8 s, or twice that.
# The timers of its connections, 1.07 s then, do not fire when the machine pauses for a moment: a
# timer that fires may make rxe lose count of its PSNs, and the switch poisons the group.
environment()
{
	case $1 in
	openmpi)
		printf '%s\n' UCX_TLS=rc_v,self UCX_RC_TIMEOUT=8s UCX_UD_VERBS_ETH_DGID_CHECK=n \
			UCX_IB_ASYNC_EVENTS=n
		;;
	mpich)
		printf '%s\n' UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 MPIR_CVAR_POLLS_BEFORE_YIELD=1
		;;
	esac
	[[ ! $preload ]] || printf '%s\n' "LD_PRELOAD=$PWD/build/guest/librocesteer-mpi-$1.so" \
		"ROCESTEER_MPI_SWITCH=nsenter --net=/run/netns/$switch rocesteer" \
		ROCESTEER_MPI_GROUPS=100-999 ROCESTEER_MPI_MIN=4096 ROCESTEER_MPI_PACKETS=8 \
		ROCESTEER_MPI_TIMEOUT=$((40000 * TIME_SCALE)) "ROCESTEER_MPI_COUNTERS=$dir/counters" \
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
		# shellcheck disable=SC2016 # for the other shell
		set -- mpiexec.hydra -launcher rsh -launcher-exec "$agent" -hosts "$names" \
			-iface eth0 -n "$ranks" "${env[@]}" unshare --mount \
			sh -c 'mount -t sysfs sysfs /sys && exec "$0" "$@"' "$@"
		;;
	esac
	(cd "$dir" && TMPDIR=$dir host_exec 0 timeout -k 10 $((600 * TIME_SCALE)) "$@") \
		>"$dir/out" 2>"$dir/log" </dev/null &
	program=$!
}

# ended STATUS: of the program that was started
ended()
{
	local status=0

	wait "$program" || status=$?
	cat "$dir/out"
	grep -v '^BLACS WARNING\|^from\|^Note: \|^$' "$dir/log" | head -n 40
	[[ ! -e $dir/counters ]] ||
		jq -c 'with_entries(select(.value > 0 or .key == "rank"))' "$dir/counters"
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
	calls "$1" calls "$(few 60 1000)" 1 && count '.taken > 20 and .failed == 0' && no_groups
}

# The same by a box beside the switch
by_box()
{
	local settings=("ROCESTEER_MPI_BOX=$box_ip")

	fabric_down && box_up "$ranks" "$fast" && short_wait && at_random openmpi
}

# The tester of ScaLAPACK's BLACS, whose sums are Allreduces, prints the same with the library.
# It has an operation of its own for complex numbers.
tester()
{
	local tester=$scalapack/$1-tests/xFbtest status=0

	tester_input "$ranks" -1 16 200
	preload='' runs "$1" "$tester" && cp "$dir/out" "$dir/without" &&
		grep -q "THERE WERE NO FAILURES IN THIS TEST RUN" "$dir/without" || return
	runs "$1" "$tester" || status=1
	diff "$dir/without" "$dir/out" && count '.taken == 2 and .failed == 0' && no_groups &&
		return "$status"
}

# The switch has reduced that much for the groups that it has.
has_done()
{
	(($(in_switch rocesteer --json reduce show | jq '[.groups[].done] | add // 0') >= $1))
}

unload_groups()
{
	local number

	for number in $(in_switch rocesteer --json reduce show | jq '.groups[].group'); do
		echo "group $number is unloaded"
		in_switch rocesteer reduce unload "$number" || return
	done
}

# The group goes in mid-run, and comes back; it goes again, and MPI has the rest.
goes()
{
	local settings=("ROCESTEER_MPI_TIMEOUT=$((10000 * TIME_SCALE))") status=0

	start "$1" "$PWD/build/guest/selftests/mpi-calls-$1" stream "$(few 60 300)" 400000
	busywait 120000 has_done 200 && unload_groups || status=1
	busywait 120000 has_done 200 && unload_groups || status=1
	ended 0 || status=1
	count '.taken > 3 and .failed == 2 and .given_up > 0' && (($(said by_mpi) > 0)) &&
		no_groups && return "$status"
}

# Groups go at any time, of calls at random.
goes_at_random()
{
	local settings=("ROCESTEER_MPI_TIMEOUT=$((2000 * TIME_SCALE))") status=0

	start "$1" "$PWD/build/guest/selftests/mpi-calls-$1" calls "$(few 80 1000)" 2
	busywait 120000 has_done 100 && unload_groups || status=1
	ended 0 || status=1
	count '.taken > 3 and .failed > 0' && no_groups && return "$status"
}

never_there()
{
	local settings=(ROCESTEER_MPI_SWITCH=false)

	calls "$1" calls "$(few 30 100)" 3 && count '.taken == 0 and .switch > 3' &&
		grep -q 'ROCESTEER_MPI_SWITCH' "$dir/log"
}

wrong_value()
{
	local settings=(ROCESTEER_MPI_MIN=4k)

	calls "$1" calls 10 4 && count '.taken == 0 and .off == 10' &&
		(($(grep -c "ROCESTEER_MPI_MIN: '4k' is no number" "$dir/log") == 1))
}

# Bytes that hosts have sent
host_bytes()
{
	local i

	for ((i = 0; i < ranks; i++)); do
		ip -n "host$i" -j -s link show eth0
	done | jq -s '[.[][].stats64.tx.bytes] | add'
}

# bytes_of COMMAND...: bytes that hosts send meanwhile
bytes_of()
{
	local before

	before=$(host_bytes)
	"$@" || return
	bytes=$(($(host_bytes) - before))
}

# A ring sends 1.5 times the buffer here. A slow machine sends some packets again.
fewer_bytes()
{
	local bytes with

	bytes_of calls "$1" plain 16 1048576 && count '.taken == 16' || return
	with=$bytes
	preload='' bytes_of calls "$1" plain 16 1048576 || return
	echo "hosts send $with bytes with the library, $bytes without"
	((with * 10 < bytes * 8))
}

# despite_losses MPI RUN: packets are lost, others in each run. rxe may lose count of its PSNs then,
# as Documentation/reduce.rst says, and the switch poisons the group: others are lost in the next
# attempt.
despite_losses()
{
	local try poisoned

	for try in 1 2 3; do
		poisoned=$(stat_get .poisoned)
		disturbed "behind loss 1% seed $((3 * $2 + try))" some_lost 1 calls "$1" sizes &&
			count '.taken == 6' && return
		poisoned=$(($(stat_get .poisoned) - poisoned))
		echo "$poisoned packets came when the group was poisoned"
		((poisoned)) || return
	done
	return 1
}

one_hash()
{
	local packets hashes=() run settings

	for ((run = 0; run < $(few 1 10); run++)); do
		for packets in $(few "1 40" "1 7 40"); do
			settings=("ROCESTEER_MPI_PACKETS=$packets")
			calls "$1" sizes && count '.taken == 6' || return
			hashes+=("$(said hash | sort | uniq -c)")
			despite_losses "$1" "$run" || return
			hashes+=("$(said hash | sort | uniq -c)")
		done
	done
	printf '%s\n' "${hashes[@]}" | sort | uniq -c
	(($(printf '%s\n' "${hashes[@]}" | sort -u | wc -l) == 1)) &&
		[[ ${hashes[0]} =~ ^\ *$ranks\ [0-9a-f]{16}$ ]]
}

# A round of these calls is shorter than a time slice of the scheduler.
cheap()
{
	calls "$1" cost 200 && (($(sed -n 's/.*more_ns=\(-*[0-9]*\).*/\1/p' "$dir/out") <= 1000))
}

reduce_prepare
every="tester at_random goes goes_at_random never_there wrong_value fewer_bytes one_hash cheap"
tests=${TESTS:-$(few "at_random wrong_value fewer_bytes cheap" "$every")}
mpis=${MPIS:-$(few openmpi "openmpi mpich")}
pairs=()	# MPI and test
for mpi in $mpis; do
	for test in $tests; do
		pairs+=("$mpi $test")
	done
done
declare -A names=(
	[tester]="ScaLAPACK's tester, unchanged, prints what it prints without the library"
	[at_random]="random calls have the bits that they should have"
	[goes]="a group that goes in mid-run costs time, and no bits"
	[goes_at_random]="groups that go while calls are made at random change no result"
	[never_there]="without a switch MPI reduces, and the log names the variable"
	[wrong_value]="a wrong value is named by rank 0, and MPI reduces"
	[fewer_bytes]="hosts send fewer bytes than without the library"
	[one_hash]="sums have the same bits for all lengths, packets of a message, and losses"
	[cheap]="a call that is not taken costs at most 1 us more"
)
fabric_has_host_netns || skip_all "UCX needs hosts in namespaces of their own"
ktap_plan $((${#pairs[@]} + $(few 2 3)))
defer reduce_down
check "four hosts at a switch are made" up
((!ktap_failed)) || exit
for pair in "${pairs[@]}"; do
	read -r mpi test <<<"$pair"
	check "$mpi: ${names[$test]}" "$test" "$mpi"
done
[[ ! ${CHECK_ALL:-} ]] || check "a box beside the switch reduces random calls" by_box
check "no group, module or namespace is left" reduce_down
ktap_finish
