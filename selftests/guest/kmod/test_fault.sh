#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Make each allocation of the module fail once, in a guest whose kernel has failslab. A command
# that fails changes nothing and leaks nothing.

set -u
cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/guest/kmod/kmod.sh
. selftests/guest/kmod/fault.sh

cgroup=/sys/fs/cgroup/test-fault
flow=()	# the key of one, once its device is there

#
# Vocabulary
#

# nth N COMMAND...: make its Nth allocation fail. Sets status and said, and fails if
# COMMAND has fewer than N allocations.
nth()
{
	local n=$1 left
	shift

	echo 1000 >"$failslab/times"
	said=$(echo "$n" >/proc/self/fail-nth && exec "$@" 2>&1 </dev/null)
	status=$?
	read -r left <"$failslab/times"
	((left < 1000))
}

# each AFTER COMMAND...: for each allocation of COMMAND make it fail, and have AFTER check
# the result by $status; in the end COMMAND succeeds.
each()
{
	local after=$1 n refused=0
	shift

	for ((n = 1; n <= 500; n++)); do
		nth "$n" "$@" || break
		((!status)) || ((refused++))
		"$after" && continue
		echo "$*: allocation $n failed, exit $status: $said"
		return 1
	done
	echo "$((n - 1)) allocations, $refused of them needed: $*"
	((n > least && n <= 500 && !status)) || {
		echo "exit $status: $said"
		return 1
	}
	"$after"
}

least=1	# of allocations; what is deleted tells nobody where nobody listens

# ask COMMAND...: the memory of a reply may be allocated outside the module.
ask()
{
	local least=0

	each answered "$@"
}

is_loaded()
{
	[[ -d /sys/module/rocesteer ]]
}

# Exists if and only if the exit status was 0
module_as_said()
{
	if ((status)); then
		[[ $said == *"annot allocate memory"* ]] && ! is_loaded
	else
		expect jobs=0 "$genl" stats-get && unload
	fi
}

netns_as_said()
{
	((!status)) || [[ $said == *"annot allocate memory"* ]]
}

job_as_said()
{
	if ((status)); then
		[[ $said == *ENOMEM* ]] && refused ENOENT "$genl" job-get id=5
	else
		expect id=5 "$genl" job-get id=5 && "$genl" job-del id=5
	fi
}

flow_as_said()
{
	if ((status)); then
		[[ $said == *ENOMEM* ]] &&
			refused ENOENT "$genl" flow-get "${flow[@]}"
	else
		expect job=5 "$genl" flow-get "${flow[@]}" &&
			"$genl" flow-del "${flow[@]}"
	fi
}

flow_gone_as_said()
{
	if ((status)); then
		[[ $said == *ENOMEM* ]] &&
			expect job=5 "$genl" flow-get "${flow[@]}"
	else
		refused ENOENT "$genl" flow-get "${flow[@]}" &&
			"$genl" flow-add "${flow[@]}" job=5
	fi
}

job_gone_as_said()
{
	if ((status)); then
		[[ $said == *ENOMEM* ]] && expect id=5 "$genl" job-get id=5
	else
		refused ENOENT "$genl" job-get id=5 &&
			"$genl" job-add id=5 resequence=1
	fi
}

answered()
{
	((!status)) || [[ $said == *ENOMEM* ]]
}

# The client does not notice: a flow is learnt or a failure is counted; none is left.
qp_as_said()
{
	((!status)) && busywait 20000 no_flows
}

no_flows()
{
	is "$(stat flows)" 0 && is "$(stat reseq-bytes)" 0
}

#
# Commands
#

insmods()
{
	each module_as_said insmod "$module"
}

# The first allocation after insmod never fails, whatever N is.
namespaces()
{
	unshare --net true &&
	each netns_as_said unshare --net true
}

jobs()
{
	each job_as_said "$genl" job-add id=5 name=x resequence=1 \
		"cgroup-id=$(command stat -c %i "$cgroup")" &&
	each job_as_said "$genl" job-add id=5 resequence=1 pid=$$ &&
	"$genl" job-add id=5 resequence=1 &&
	ask "$genl" job-get id=5 &&
	ask "$genl" job-dump &&
	ask "$genl" stats-get &&
	least=0 each job_gone_as_said "$genl" job-del id=5 &&
	"$genl" job-del id=5
}

flows()
{
	flow=("ifindex=$(ifindex rsa)" peer=10.77.0.9 dqpn=7)
	"$genl" job-add id=5 resequence=1 &&
	each flow_as_said "$genl" flow-add "${flow[@]}" job=5 &&
	"$genl" flow-add "${flow[@]}" job=5 &&
	ask "$genl" flow-get "${flow[@]}" &&
	ask "$genl" flow-dump &&
	least=0 each flow_gone_as_said "$genl" flow-del "${flow[@]}" &&
	"$genl" job-del id=5
}

queue_pairs()
{
	local result=0
	"$genl" job-add id=5 resequence=1 \
		"cgroup-id=$(command stat -c %i "$cgroup")" || return
	echo $$ >"$cgroup/cgroup.procs"
	each qp_as_said qps rxea 10.77.0.1 10.77.0.9 100 6 || result=1
	echo $$ >/sys/fs/cgroup/cgroup.procs
	"$genl" job-del id=5 && return "$result"
}

nothing_left()
{
	"$genl" stats-get
	is "$(stat jobs)" 0 && no_flows && unload
}

[[ -e $failslab ]] || skip_all "no failslab in kernel $release"
ktap_plan 7
fault_in_module
defer fault_where
check "insmod survives a failure of each allocation" insmods
mkdir "$cgroup"
defer rmdir "$cgroup"
world_make
defer world_end
load
check "a network namespace survives failing allocations" namespaces
check "jobs survive failing allocations" jobs
check "flows survive failing allocations" flows
check "queue pairs connect despite failing allocations" queue_pairs
check "failing allocations leave nothing behind" nothing_left
check "the kernel did not complain" kernel_quiet
ktap_finish
