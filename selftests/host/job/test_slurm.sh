#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Slices of Slurm jobs: munged, slurmctld, and two slurmd in network namespaces, under two
# leaves:
#
#	ctl 10.9.0.1 --+-- a0 10.9.0.2, under leaf 0, NICs rs0 10.1.0.1, rs2 10.2.0.1
#	               +-- b0 10.9.0.3, under leaf 1, NICs rs0 10.1.1.1, rs2 10.2.1.1
#
# All run in mount, network and PID namespaces of the test.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/slurm.sh
perf=$PWD/build/rocesteer-perf
plugin=$PWD/build/slurm/rocesteer.so

for command in munged slurmctld slurmd sbatch; do
	command -v "$command" >/dev/null ||
		skip_all "there is no $command"
done
[[ -e $plugin ]] ||
	skip_all "the plugin is not built: there is no slurm/spank.h"
own_namespaces --net --pid --fork --kill-child --mount-proc
. selftests/host/lib/command.sh
file=$dir/cluster.json
declare -A slurmd

cluster()
{
	cat >"$file" <<-E
	{"leaves":2,"spines":2,"gpus_per_leaf":2,"gpus_per_server":2,
	 "routers":["10.255.1.1","10.255.1.2"],
	 "nics":[[["10.1.0.1","10.2.0.1"]],[["10.1.1.1","10.2.1.1"]]],
	 "nodes":[["a0"],["b0"]]}
	E
}

# peer LEAF NIC: an entry of a port map, from LEAF NIC
peer()
{
	cat <<-E
	  {"address":"10.$2.$1.1","source":"10.$4.$3.1","local":false,
	   "leaf":"10.255.0.$1","probed":2,"paths":[
	    {"path":0,"router":"10.255.1.1","ports":[49152]},
	    {"path":1,"router":"10.255.1.2","ports":[49160]}]}
	E
}

# portmap NODE DEVICE LEAF NIC PEERS-LEAF
portmap()
{
	cat >"$dir/$1-$2.json" <<-E
	{"format":1,"generation":1,"created":"2026-01-02T03:04:05Z",
	 "device":"$2","hop":2,"peers":[
	$(peer "$5" 1 "$3" "$4"),$(peer "$5" 2 "$3" "$4")]}
	E
}

# on NODE COMMAND...
on()
{
	local node=$1
	shift

	nsenter --net="/run/netns/$node" "$@"
}

node_add()
{
	ip netns add "$1" &&
		ip link add name "$1" type veth peer name m0 netns "$1" &&
		ip link set "$1" master br0 up &&
		on "$1" ip addr add "$2/24" dev m0 &&
		on "$1" ip link set m0 up &&
		on "$1" ip link set lo up &&
		on "$1" ip link add name rs0 type veth peer name rs1 &&
		on "$1" ip link add name rs2 type veth peer name rs3 &&
		on "$1" ip addr add "$3" dev rs0 &&
		on "$1" ip addr add "${3/.1./.2.}" dev rs2 &&
		on "$1" ip link set rs0 up &&
		on "$1" ip link set rs2 up
}

idle()
{
	[[ $(slurm_state) == "a0 idle b0 idle " ]]
}

node_start()
{
	slurmd_start "$1" "$1"
	slurmd[$1]=$!
}

ready()
{
	mkdir /run/netns &&
		ip link set lo up &&
		ip link add name br0 type bridge &&
		ip addr add 10.9.0.1/24 dev br0 &&
		ip link set br0 up &&
		node_add a0 10.9.0.2 10.1.0.1 &&
		node_add b0 10.9.0.3 10.1.1.1 &&
		printf '10.9.0.2 a0\n10.9.0.3 b0\n' >"$dir/hosts" &&
		mount --bind "$dir/hosts" /etc/hosts || return
	slurm_configure 10.9.0.1 rs0.json,rs2.json a0 10.9.0.2 b0 10.9.0.3
	cluster
	portmap a0 rs0 0 1 1
	portmap a0 rs2 0 2 1
	portmap b0 rs0 1 1 0
	portmap b0 rs2 1 2 0
	cat >"$dir/rocesteer" <<-E
	#!/bin/bash
	if [[ -e $dir/late && \$1.\$2 == job.load && \$SLURMD_NODENAME == a0 ]]; then
		until $rocesteer --json slice list --cluster $file |
			jq -e '.jobs == []' >/dev/null; do :; done
		: >"$dir/late.done"
	fi
	exec $rocesteer "\$@"
	E
	chmod +x "$dir/rocesteer"
	sed -i "s|command=[^ ]*|command=$dir/rocesteer|" "$dir/plugstack.conf"
	mkfifo "$dir/go"
	cat >"$dir/batch" <<-E
	#!/bin/bash
	: >"$dir/begun.\$SLURM_JOB_ID"
	read -r <"$dir/go"
	E
	munged_start || return
	slurmctld_start
	node_start a0
	node_start b0
	busywait 60000 idle
}

slices()
{
	"$rocesteer" --json slice list --cluster "$file" | jq -c '[.jobs[].job]'
}

# loaded NODE: names of the jobs that are loaded there
loaded()
{
	on "$1" "$rocesteer" --json job list | jq -c '[.jobs[].name]'
}

empty()
{
	[[ $(slices) == '[]' && $(loaded a0) == '[]' && $(loaded b0) == '[]' &&
		! $(find /sys/fs/bpf -name 'rs_*') ]]
}

# field NAME: of the job in $job
field()
{
	slurm_field "$job" "$1"
}

# submit ARGUMENT...: a job that waits for finish()
submit()
{
	job=$(sbatch --parsable --output="$dir/out.%j" --nodes=2 "$@" "$dir/batch")
}

running()
{
	[[ -e $dir/begun.$job ]]
}

finish()
{
	timeout 60 tee "$dir/go" <<<''
}

# On both nodes, for both NICs
sliced()
{
	local two="[\"$job\",\"$job\"]"

	[[ $(slices) == "[\"$job\"]" && $(loaded a0) == "$two" &&
		$(loaded b0) == "$two" ]]
}

# The job's script has begun, which waits for its own node only, and both nodes have loaded.
begins()
{
	busywait 60000 running && busywait 60000 sliced
}

over()
{
	idle && empty
}

# is STATE: of the job
is()
{
	[[ $(field JobState) == "$1" ]]
}

# ends STATE: the job has ended so, and then slurmctld's epilog ends
ends()
{
	busywait 60000 over && busywait 60000 is "$1"
}

# steered DEVICE NUMBER HOME: the place of a NIC is its spine
steered()
{
	on a0 "$rocesteer" --json job show --job "$2" |
		jq -e --arg device "$1" --argjson home "$3" '
			.device == $device and (.peers | length) == 2 and
			[.groups[] | .weights, .home] == [[1, 1], $home]'
}

runs()
{
	submit --rocesteer && begins || return
	jq -e --arg job "$job" '.jobs[$job] | .stage == "vclos" and
		(.links | length) == 4' "$file" &&
		steered rs0 "$job" 0 &&
		steered rs2 "$((job + (1 << 26)))" 1 &&
		finish && ends COMPLETED
}

not_asked()
{
	submit && busywait 60000 running && empty && finish &&
		busywait 60000 over &&
		submit --rocesteer=none && busywait 60000 running && empty &&
		finish && busywait 60000 over &&
		! submit --rocesteer=maybe
}

cancelled()
{
	submit --rocesteer=auto && begins && scancel "$job" && ends CANCELLED
}

# The slice is free while the job waits, and another is allocated at the restart. A restart
# within the same second would look to nodes like a job to be killed.
requeued()
{
	submit --rocesteer && begins &&
		rm "$dir/begun.$job" && scontrol requeue "$job" && ends PENDING &&
		scontrol update JobId="$job" StartTime=now+3 &&
		begins && finish && ends COMPLETED && [[ $(field Restarts) == 1 ]]
}

held()
{
	[[ $(field Priority) == 0 ]] && is PENDING
}

# The job is held with a reason. After the operator's release it finds links.
no_links()
{
	"$rocesteer" slice mark --cluster "$file" --as drained --spines 0,1 &&
		submit --rocesteer && busywait 60000 held && empty &&
		field AdminComment |
		grep -F "the leaves of these servers share too few free spines" &&
		"$rocesteer" slice mark --cluster "$file" --as usable --spines 0,1 &&
		busywait 60000 idle &&
		scontrol update JobId="$job" StartTime=now &&
		scontrol release "$job" &&
		begins && finish && ends COMPLETED
}

failed()
{
	[[ $(field JobState) =~ ^(CANCELLED|FAILED|NODE_FAIL) ]]
}

no_links_at_once()
{
	"$rocesteer" slice mark --cluster "$file" --as failed --spines 0,1 &&
		submit --rocesteer --no-requeue && busywait 60000 failed &&
		field AdminComment | grep -F "too few free spines" &&
		busywait 60000 over &&
		! timeout 60 srun --nodes=2 --rocesteer true 2>"$dir/said" &&
		cat "$dir/said" && grep -F "too few free spines" "$dir/said" &&
		busywait 60000 over &&
		"$rocesteer" slice mark --cluster "$file" --as usable --spines 0,1
}

drained()
{
	[[ $(slurm_state) == "a0 idle b0 drain " ]]
}

# The second NIC of a node has no port to the peer by the slice's spines. The first NIC does
# not stay loaded.
no_port()
{
	portmap b0 rs2 1 2 7
	submit --rocesteer && busywait 60000 held || return
	field AdminComment
	field AdminComment |
		grep "b0: load: rocesteer: .*/rs2.json: job $job: the port map has no port to 10.1.0.1" &&
		busywait 60000 drained && busywait 60000 empty &&
		scancel "$job" &&
		portmap b0 rs2 1 2 0 && scontrol update NodeName=b0 State=RESUME &&
		busywait 60000 over
}

# A node begins to load after another one has failed and the slice is gone. It is not drained,
# and the job keeps its reason.
late()
{
	portmap b0 rs2 1 2 7
	: >"$dir/late"
	submit --rocesteer && busywait 60000 held &&
		busywait 60000 test -e "$dir/late.done" || return
	rm "$dir/late" "$dir/late.done"
	field AdminComment
	busywait 60000 drained && busywait 60000 empty &&
		field AdminComment | grep "b0: load: .* no port to 10.1.0.1" &&
		grep "job $job was taken back: .* no such job" "$dir/a0.log" &&
		scancel "$job" &&
		portmap b0 rs2 1 2 0 && scontrol update NodeName=b0 State=RESUME &&
		busywait 60000 over
}

any_drained()
{
	[[ $(slurm_state) == *" drain "* ]]
}

resumed()
{
	local node

	for node in $(sinfo -h -N -t drain -o %N); do
		scontrol update NodeName="$node" State=RESUME
	done
	over
}

# An option from plugstack.conf that job load refuses
passes_options()
{
	slurm_option "--cgroup /none"
	submit --rocesteer && busywait 60000 held || return
	field AdminComment | grep -F \
		"load: rocesteer: --cgroup: /none: No such file or directory" &&
		busywait 60000 any_drained && busywait 60000 empty &&
		scancel "$job" &&
		sed -i 's| --cgroup /none$||' "$dir/plugstack.conf" &&
		busywait 60000 resumed
}

released_but()
{
	[[ $(slices) == '[]' && $(loaded a0) == '[]' && $(loaded "$1") != '[]' ]]
}

# Each rank learns what the other rank has.
perf()
{
	local differs="rank 1 (10.9.0.3) differs: size is 131072 there, 65536 on rank 0"

	# shellcheck disable=SC2016 # the ranks' shell
	! timeout 60 srun --nodes=2 --label bash -c 'exec "$0" --dims 2 \
		--bandwidth 1 --size "$((64 << SLURM_PROCID))K" --chunks 1 \
		--timeout 20000 --rdma-dev none0' "$perf" >"$dir/said" 2>&1 || return
	cat "$dir/said"
	grep "^0: .*$differs" "$dir/said" && grep "^1: .*$differs" "$dir/said" &&
		busywait 60000 over
}

# patience SECONDS: how long a node may be silent
patience()
{
	sed -i "s/^SlurmdTimeout=.*/SlurmdTimeout=$1/" "$SLURM_CONF" &&
		scontrol reconfigure
}

# The next job replaces what is loaded on the dead node.
node_dies()
{
	submit --rocesteer --no-requeue && begins &&
		kill -9 "${slurmd[b0]}" && patience 5 &&
		busywait 60000 failed &&
		is NODE_FAIL &&
		busywait 60000 released_but b0 && patience 300 &&
		node_start b0 && busywait 60000 idle && runs
}

# controller CONTEXT NODES: run the script as slurmctld does
controller()
{
	SPANK_ROCESTEER=auto SLURM_JOB_ID=99 SLURM_JOB_NODELIST=$2 \
		SLURM_SCRIPT_CONTEXT=$1 "$dir/slurmctld"
}

again()
{
	controller prolog_slurmctld 'a0,b0' &&
		controller prolog_slurmctld 'a0,b0' &&
		jq -e '.jobs["99"].gpus == 4' "$file" &&
		controller prolog_slurmctld b0 &&
		jq -e '.jobs["99"].servers == [{leaf: 1, server: 0, gpus: 2}]' "$file" &&
		controller epilog_slurmctld b0 &&
		controller epilog_slurmctld b0 &&
		empty
}

gone()
{
	! slurm_processes
}

nothing_left()
{
	[[ ! $(squeue -h -t running,pending,completing) ]] && empty &&
		jq -e '.jobs == {} and .free_gpus == [[2], [2]] and
			.free_links == [[1, 1], [1, 1]]' "$file" &&
		slurm_processes &&
		mapfile -t pids < <(jobs -p) &&
		kill "${pids[@]}" && busywait 30000 gone
}

ktap_plan 15
check "slurmctld and two nodes start" ready
check "no slice is allocated at first" over
check "a job gets its slice on each node, and releases the slice" runs
check "a job without --rocesteer gets no slice" not_asked
check "a cancelled job releases its slice" cancelled
check "a requeued job releases its slice and gets another" requeued
check "a job without links is held with a reason" no_links
check "a job that cannot be held ends with a reason" no_links_at_once
check "a node whose job load fails refuses the job" no_port
check "a node that is late is not blamed for the failure of another node" late
check "rocesteer-perf runs by srun" perf
check "options of the plugin are passed to job load" passes_options
check "other nodes and the slice are free after a node has died" node_dies
check "the controller's scripts can run twice for a job" again
[[ ! ${TRY:-} ]] || bash -c "$TRY"
((!ktap_failed)) || tail -n 40 "$dir"/*.log
check "no process and no file of Slurm is left" nothing_left
ktap_finish
