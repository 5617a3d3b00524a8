#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A core, and the link from an agg to a core, that go silent under traffic between pods, with
# their links up: split flows leave them in the time that they leave a silent spine in

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/failure.sh

first='.sender == 5 and .leaf < 2'	# from the aggs of pod 0

up()
{
	steer_fabric --pods 4 --hosts 1 --rate 8mbit --host-rate 32mbit &&
		fabric_hash linear_hash on || return
	far=$((leaves - 1)) paths=$((aggs * cores))
	discover 0 "$far" && discover "$far" 0 && failure_up && write_start "$qps" "$timeout"
}

ends()
{
	returns "$1" && write_end && job_unload 0 && job_unload "$far"
}

fabric_has_host_netns || skip_all "hosts have no namespaces"
ktap_plan 6
check "two hosts of different pods of a fat tree, with split traffic" up
check "split flows leave a silent core in time" attempt dies core0
check "no piece on another path has moved" moved_least core0
check "a core that is back is used again after its hold-down" attempt returns core0
check "split flows leave a silent link from an agg to a core in time" attempt dies agg1-core2
check "the link is used again, and every byte has arrived" attempt ends agg1-core2
ktap_finish
