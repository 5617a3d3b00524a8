#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Jobs are loaded and unloaded on either side while their traffic flows: no completion has an
# error, every byte arrives, and nothing is left.
#
# RELOADS is how often, one host after the other: 4, or 1000 for a soak.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh

reloads=${RELOADS:-4}

up()
{
	steer_up --spines 2 --hosts 1 --rate 16mbit --host-rate 32mbit && module_load &&
		defer module_unload || return
	# Packets of the faster path wait for those of the slower one.
	ip netns exec spine1 tc qdisc replace dev leaf1 parent 2:2 \
		netem delay 5ms limit 4000
	daemon_up
}

load()
{
	job_load_cgroup "$1" --split all --resequence on
}

# Since the first load of $far's job
some_have_waited()
{
	(($(reseq_held "$far") > 0))
}

flow_on()
{
	load 0 && load "$far" && write_start 3 17 &&
		busywait 60000 some_have_waited
}

more_sent()
{
	(($(hw_counter sent_pkts) > $1 + 50))
}

# Traffic flows without the job, and with it.
reload()
{
	job_unload "$1" && busywait 60000 more_sent "$(hw_counter sent_pkts)" &&
		load "$1" && busywait 60000 more_sent "$(hw_counter sent_pkts)"
} >"$dir/reload" 2>&1

come_and_go()
{
	local i

	for ((i = 0; i < reloads; i++)); do
		reload $((i % 2 ? far : 0)) && continue
		echo "reload $i:"
		cat "$dir/reload"
		return 1
	done
}

told()
{
	grep "\"$1\"" "$dir/daemon"
}

rdma_is_gone()
{
	[[ ! -e /sys/class/infiniband/$(host_rdma 0) ]]
}

# The device goes under its traffic, as when its driver is reloaded. Its processes end, and
# others use the new device without another job load.
reset()
{
	local held status

	write_start 3 17 && busywait 60000 more_sent "$(hw_counter sent_pkts)" &&
		host_unplug 0 && busywait 20000 told device-gone
	status=$?
	exec {traffic}>&-
	kill "$writes"
	wait "$writes"
	((!status)) && busywait 20000 rdma_is_gone && host_plug 0 &&
		busywait 20000 told device-back && busywait 20000 no_flow || return
	held=$(reseq_held "$far")
	write_start 3 17 && busywait 60000 more_held "$held"
	status=$?
	((!status)) || { flows_of 0; cat "$dir/daemon"; }
	write_end && return "$status"
}

no_flow()
{
	[[ $(flows_of 0 | jq '.flows | length') == 0 ]]
}

more_held()
{
	(($(reseq_held "$far") > $1))
}

nothing_waits()
{
	[[ $(host_exec "$far" build/guest/selftests/genl stats-get) == \
		*"reseq-bytes=0"* ]]
}

nothing_left()
{
	job_unload 0 && job_unload "$far" && busywait 20000 nothing_waits &&
		busywait 20000 module_unload && nothing_pinned && module_load
}

ktap_plan 6
check "a fabric, its port map and a daemon are up" up
check "split flows send, and packets wait for others" flow_on
check "jobs go and come $reloads times under traffic" come_and_go
check "every byte arrives while jobs go and come" write_end
if fabric_has_host_netns; then
	check "a device that is reset is steered again" reset
else
	skip "a device that is reset is steered again" "rxe knows no namespaces here"
fi
check "unloading leaves nothing" nothing_left
ktap_finish
