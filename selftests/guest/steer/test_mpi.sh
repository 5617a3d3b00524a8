#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Debian's Open MPI and UCX, unchanged: the tester of ScaLAPACK's BLACS, whose sums are
# Allreduces, and which checks every element on every rank. One rank runs on each of four
# hosts under four leaves, started by mpirun through an agent in place of ssh. Only their
# cgroup makes these ranks the job's.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh
. selftests/net/observe.sh
. selftests/guest/blacs.sh
pins=/sys/fs/bpf/test-mpi
agent=$PWD/selftests/guest/steer/mpi_agent
tester=/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests/xFbtest
ranks=4
sizes=(16 250)	# of square matrices

up()
{
	steer_fabric --leaves "$ranks" --spines 2 --hosts 1 --rate 80mbit && short_wait &&
		observe_up && module_load && defer module_unload &&
		discover_all --paths "$spines"
}

jobs_load()
{
	local i

	for ((i = 0; i < ranks; i++)); do
		job_load_cgroup "$i" || return
	done
}

# mpi COMMAND...: start a rank on each host, in $dir.
#
# UCX assumes that a RoCE NIC reports by the SL whether a datagram is IPv4, which rxe does
# not, and would drop the datagrams that set up its connections. Ranks that wait must leave
# the CPU to rxe.
mpi()
{
	(cd "$dir" && TMPDIR=$dir exec timeout $((300 * TIME_SCALE)) "$agent" host0 \
		mpirun --allow-run-as-root --host host0,host1,host2,host3 \
		--bind-to none --prtemca plm_ssh_agent "$agent" \
		--mca pml ucx --mca mpi_yield_when_idle 1 \
		-x UCX_TLS=rc_v,self -x UCX_RC_TIMEOUT=8s \
		-x UCX_UD_VERBS_ETH_DGID_CHECK=n "$@") \
		>"$dir/out" 2>"$dir/log" &
	mpi=$!
}

mpi_wait()
{
	wait "$mpi" && return
	tail -n 30 "$dir/out" "$dir/log"
	return 1
}

# Note all flows and processes. True once every host has a flow to every other.
sample()
{
	local i

	for ((i = 0; i < ranks; i++)); do
		flows_of "$i" | jq -c --argjson host "$i" '.flows[] |
			select(.job == $host + 1 and .share) + {$host}'
	done >>"$dir/flows"
	pgrep -x "${tester##*/}" >>"$dir/pids"
	(($(jq -r '"\(.host) \(.peer)"' "$dir/flows" | sort -u | wc -l) ==
		ranks * (ranks - 1)))
}

sums()
{
	tester_input "$ranks" "0 -1" "${sizes[@]}"
	observe_forget
	before=$(hw_counter out_of_seq_request)
	mpi "$tester"
	until sample || ! kill -0 "$mpi" 2>/dev/null; do
		:
	done
	mpi_wait
}

# Two tests for each matrix and type
right()
{
	cat "$dir/out"
	(($(grep -c "SUM TESTS: PASSED ALL *$((2 * ${#sizes[@]})) TESTS." \
		"$dir/out") == 4)) &&
		grep -q "THERE WERE NO FAILURES IN THIS TEST RUN" "$dir/out"
}

# Packets that leaves sent up, without acknowledgments
observed()
{
	bpftool --json map dump pinned "$pins/seen" | jq '[.[].formatted |
		select(.key.sender == 3 and .key.ack == 0)]'
}

# The least number of bytes by which all ranks can get the sums. Elements have 4, 4, 8 and 16
# bytes.
enough()
{
	local n least=0 seen

	for n in "${sizes[@]}"; do
		least=$((least + n * n * (4 + 4 + 8 + 16) * 2 * (ranks - 1)))
	done
	seen=$(observed | jq 'map(.value.bytes) | add')
	echo "$seen bytes, at least $least"
	((seen >= least))
}

# One rank on each host
owned()
{
	jq -r '[.host, .pid, .origin] | @tsv' "$dir/flows" | sort -u |
		tee "$dir/owners"
	(($(cut -f 1 "$dir/owners" | uniq | wc -l) == ranks)) &&
		[[ $(cut -f 3 "$dir/owners" | uniq) == learnt ]] &&
		diff <(cut -f 2 "$dir/owners" | sort) <(sort -u "$dir/pids")
}

# Path p is by spine p. The last sample may miss a flow.
on_plan()
{
	jq -r '[.host, .peer, .dqpn, .path, .port] | @tsv' "$dir/flows" |
		sort -u | tee "$dir/planned"
	observed | jq -r '.[].key | [.leaf, (.peer | map(tostring) | join(".")),
		.dqpn, .index, .sport] | @tsv' | sort -u >"$dir/passed"
	diff "$dir/planned" <(cut -f 1-3 "$dir/planned" | sed 's/$/\t/' |
		grep -F -f - "$dir/passed")
}

# All verdicts on RC packets are "steered".
all_steered()
{
	local i

	for ((i = 0; i < ranks; i++)); do
		host_exec "$i" rocesteer --json stat |
			jq -c '.verdicts | with_entries(select(.value > 0))'
	done | tee "$dir/verdicts"
	jq -s -e 'all(.steered > 0 and (keys -
		["steered", "foreign", "not_rc"] == []))' "$dir/verdicts"
}

lossless()
{
	local drops

	drops=$(bpftool --json map dump pinned "$pins/icrc_drops" |
		jq '.[0].formatted.value')
	echo "lost $(lost), $drops for their ICRC"
	((!drops && !$(lost))) &&
		(($(hw_counter out_of_seq_request) == before))
}

no_flow()
{
	local i

	for ((i = 0; i < ranks; i++)); do
		[[ $(flows_of "$i" | jq '.flows | length') == 0 ]] || return
	done
}

# mpirun does not wait for its processes on other hosts.
nobody()
{
	! pgrep -x "${tester##*/}|prted|mpirun|prterun" &&
		[[ ! $(cat /sys/fs/cgroup/test?/cgroup.procs) ]]
}

gone()
{
	busywait 10000 no_flow && busywait 10000 nobody
}

# rocesteer-perf takes its rank from mpirun.
perf()
{
	cat >"$dir/perf" <<-'E'
	#!/bin/sh
	exec rocesteer-perf --bandwidth 1 --size 256K --chunks 4 --warmup 1 \
		--iters 2 --rendezvous 10.1.0.1 --json \
		--rdma-dev "rxe$OMPI_COMM_WORLD_RANK" "$@"
	E
	chmod +x "$dir/perf"
	mpi "$dir/perf" --dims "$ranks" && mpi_wait || return
	jq -c .results "$dir/out"
	jq -e '.results[0].wrong == 0 and .results[0].time_us > 0' "$dir/out"
}

perf_of_three()
{
	mpi "$dir/perf" --dims 3
	wait "$mpi"
	[[ $? == 2 ]] && grep -F -m 1 \
		"OMPI_COMM_WORLD_SIZE is 4, but --dims makes 3 ranks" "$dir/out"
}

unloaded()
{
	busywait 10000 nobody && jobs_unload {0..3}
}

# UCX connects to itself, too, and asks for its own IPv4 address, which nobody answers where
# hosts share a namespace.
fabric_has_host_netns || skip_all "rxe knows no namespaces here"
ktap_plan 13
check "four hosts under four leaves are made" up
check "a job by cgroup is loaded on each host" jobs_load
check "an MPI program runs on all hosts" sums
check "the MPI program finds every sum right" right
check "all bytes of the sums crossed the fabric" enough
check "each rank has flows that the module learnt" owned
check "each flow took its planned path only" on_plan
check "every RC packet was steered" all_steered
check "no packet was lost or out of sequence" lossless
check "flows go with their processes" gone
check "rocesteer-perf runs by mpirun" perf
check "rocesteer-perf refuses a wrong number of ranks of mpirun" perf_of_three
check "unloading leaves nothing" unloaded
ktap_finish
