#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# RoCE traffic is steered: by owner with the module, by device and by flow without the module;
# and while jobs and the module come and go.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh

qps=4

paths_of_flows()
{
	flows_of 0 | jq -r '.flows[] | select(.share) | .path' | sort -n
}

# Each queue pair has a path of its own.
spread()
{
	local n

	n=$(paths_of_flows | wc -l)
	((n == qps && $(paths_of_flows | uniq | wc -l) == qps))
}

no_flow()
{
	[[ ! $(paths_of_flows) ]]
}

# Send until flows are spread, with no packet lost or out of sequence.
steered_traffic()
{
	local lost_before sequence_before status

	lost_before=$(lost)
	sequence_before=$(hw_counter out_of_seq_request)
	write_start "$qps"
	busywait 20000 spread && [[ $(dealt) == "[$qps]" ]]
	status=$?
	((!status)) || { flows_of 0; dealt; }
	write_end && ((!status)) || return
	flows_of 0
	host_exec 0 rocesteer stat
	echo "lost $(($(lost) - lost_before))"
	(($(lost) == lost_before)) &&
		(($(hw_counter out_of_seq_request) == sequence_before))
}

by_cgroup()
{
	module_load && job_load_cgroup 0 && job_load_cgroup "$far" &&
		steered_traffic
}

# The module has seen the queue pairs go, and the groups count no flow.
flows_are_gone()
{
	busywait 10000 no_flow && dealt && [[ $(dealt) == "[0]" ]]
}

module_is_pinned()
{
	! rmmod rocesteer
}

unloaded()
{
	jobs_unload 0 "$far" && module_unload && ! bpftool net | grep rocesteer
}

# The queue pairs are older than the job and the module.
late_job()
{
	local status

	write_start "$qps"
	busywait 20000 are_connected "$qps" && module_load && job_load_cgroup 0 && busywait 20000 spread
	status=$?
	((!status)) || flows_of 0
	write_end && ((!status)) && job_unload 0 && module_unload
}

come_and_go()
{
	local i

	for ((i = 0; i < 5; i++)); do
		module_load && job_load 0 --all && job_load "$far" --all &&
			job_unload 0 && job_load 0 --all && job_unload 0 &&
			job_unload "$far" && module_unload || return
	done
}

# Load, reload, unload and rmmod under traffic. On one CPU a worker of rxe that always has
# packets to send holds up RCU Tasks, and with them the removal of programs: so the rate is
# low, and the timeout long.
churn()
{
	local lost_before status

	lost_before=$(lost)
	write_start "$qps" 23
	busywait 20000 are_connected "$qps" && host_rate_set $((2000 / TIME_SCALE))kbit &&
		come_and_go
	status=$?
	host_rate_set "$host_rate"
	write_end && ((!status)) && (($(lost) == lost_before))
}

by_device()
{
	job_load 0 --all && steered_traffic && job_unload 0
}

# The flow is listed after the queue pairs are connected.
by_flow()
{
	local status

	write_start 1
	busywait 20000 are_connected 1 && flow_load && busywait 10000 flow_moves
	status=$?
	((!status)) || flows_of 0
	write_end && ((!status)) && job_unload 0
}

flow_load()
{
	local dqpn

	dqpn=$(connected_qps 0 | jq '.[0].rqpn')
	job_load 0 --flow "$(host_ip "$far")/$dqpn"
}

flow_moves()
{
	(($(flows_of 0 | jq '[.flows[].packets] | add // 0') > 0))
}

tools()
{
	job_load 0 --all && traffic -q 2 -s 65536 -n 5 || return
	host_exec 0 bpftool net | grep 'tcx/egress rocesteer_egress' &&
		bpftool --json map dump pinned "$(echo \
			/sys/fs/bpf/rocesteer/netns-*/rs_flows)" |
		jq -e 'length >= 2 and
			([.[].formatted.value.first.packets] | add > 0)' &&
		bpftool --json map dump pinned "$(echo \
			/sys/fs/bpf/rocesteer/netns-*/rs_verdicts)" |
		jq -e '[.[0].formatted.values[].value.steered] | add > 0' &&
		bpftool prog show name rocesteer_egress && job_unload 0
}

# Packets outside the job stay as they are, and are counted.
untagged()
{
	local before

	module_load && job_load 0 --pid $$ || return
	before=$(stat_of 0 untagged)
	traffic -q 2 -s 65536 -n 5 || return
	(($(stat_of 0 untagged) > before && $(stat_of 0 steered) == 0)) &&
		job_unload 0 && module_unload
}

# verdicts_are STEERED UNTAGGED: so many more at host 0 than before
verdicts_are()
{
	(($(stat_of 0 steered) == before[0] + $1 &&
	  $(stat_of 0 untagged) == before[1] + $2))
}

# A queue pair sends past the programs of another job, until a second job takes it.
second_job()
{
	local before

	module_load && job_load 0 --pid $$ && launch=(in_cgroup 0) && hold own 0 100 1 &&
		qps_tell own rts || return
	mapfile -t before < <(stat_of 0 steered; stat_of 0 untagged)
	qps_tell own write && busywait 10000 verdicts_are 0 1 &&
		qps_tell own write && busywait 10000 verdicts_are 0 2 &&
		host_exec 0 rocesteer job load --job 100 --port-map "$dir/ports0.json" \
			--cgroup /sys/fs/cgroup/test0 &&
		qps_tell own write && busywait 10000 verdicts_are 1 2 &&
		host_exec 0 rocesteer job unload --job 100
	local status=$?
	((!status)) || host_exec 0 rocesteer stat
	qps_end own && job_unload 0 && module_unload && return "$status"
}

# Another process has a queue pair with the same peer.
rival()
{
	local before

	module_load && job_load_cgroup 0 &&
		launch=(in_cgroup 0) && hold own 0 100 1 &&
		launch=(host_exec 0) && hold rival 0 100 1 &&
		qps_tell own rts && qps_tell rival rts || return
	mapfile -t before < <(stat_of 0 steered; stat_of 0 untagged)
	qps_tell own write && busywait 10000 verdicts_are 1 0 &&
		qps_tell rival write && busywait 10000 verdicts_are 1 1 &&
		qps_tell own write && busywait 10000 verdicts_are 2 1
	local status=$?
	((!status)) || host_exec 0 rocesteer stat
	qps_end rival && qps_end own && job_unload 0 && module_unload &&
		return "$status"
}

# share_is JOB PACKETS: one flow of the job has sent so many, by a path that it has a share of
share_is()
{
	host_exec 0 rocesteer --json flow show --job "$1" |
		jq -e ".flows | length == 1 and .[0].share and .[0].packets == $2"
}

# may_split JOB: the job's flow is split as soon as its peer says that it restores the order
may_split()
{
	bpftool --json map dump name rs_flows | jq -e --argjson job "$1" '[.[].formatted.value |
		select(.job == $job)] | length == 1 and (.[0].flags / 4 | floor % 2 == 1)'
}

# A process of another job connects first to the peer of a job's queue pair.
first()
{
	local before

	module_load && launch=(host_exec 0) && hold first 0 100 1 &&
		job_load 0 --all && qps_tell first rts || return
	mapfile -t before < <(stat_of 0 steered; stat_of 0 untagged)
	qps_tell first write && busywait 10000 verdicts_are 1 0 &&
		host_exec 0 rocesteer job load --job 100 --port-map "$dir/ports0.json" \
			--cgroup /sys/fs/cgroup/test0 &&
		launch=(in_cgroup 0) && hold own 0 100 1 && qps_tell own rts &&
		qps_tell own write && busywait 10000 verdicts_are 2 0 &&
		qps_tell first write && busywait 10000 verdicts_are 3 0 &&
		qps_tell own write && busywait 10000 verdicts_are 4 0 &&
		share_is 1 2 && share_is 100 2 && may_split 100 && qps_tell first destroy && expect_no_flow 1 &&
		qps_tell own write && busywait 10000 verdicts_are 5 0 && share_is 100 3
	local status=$?
	((!status)) || host_exec 0 rocesteer flow show
	qps_end own && qps_end first && expect_no_flow 100 &&
		host_exec 0 rocesteer job unload --job 100 && job_unload 0 && module_unload &&
		return "$status"
}

expect_no_flow()
{
	host_exec 0 rocesteer --json flow show --job "$1" | jq -e '.flows == []'
}

# verdict_is VERDICT COUNT: at host 0
verdict_is()
{
	(($(stat_of 0 "$1") == $2))
}

# Queue pairs of another GID of the device, of which there is a port map later.
another_gid()
{
	local status

	module_load && job_load_cgroup 0 && second_address && launch=(in_cgroup 0) &&
		qps_start own "$(host_rdma 0)" "$second" "$(host_ip "$far")" 100 1 &&
		qps_tell own rts || return
	qps_tell own write && busywait 10000 verdict_is other_source 1 && verdict_is steered 0 &&
		flows_of 0 | jq -e '[.flows[] | has("path")] == [false]' &&
		! host_exec 0 rocesteer --json status >"$dir/status" &&
		jq -e --arg source "$second" '.findings[] | select(.code == "other-source") |
			.message | contains($source)' "$dir/status" &&
		host_exec 0 rocesteer path discover --dev "$(host_dev 0)" --source "$second" \
			--peer "$(host_ip "$far")" --out "$dir/second.json" >/dev/null &&
		host_exec 0 rocesteer job replace --job 1 --port-map "$dir/second.json" \
			--cgroup /sys/fs/cgroup/test0 &&
		qps_tell own write && busywait 10000 verdict_is steered 1 && verdict_is other_source 1 &&
		flows_of 0 | jq -e --arg source "$second" '.flows[].source == $source'
	status=$?
	((!status)) || host_exec 0 rocesteer stat
	qps_end own && job_unload 0 && module_unload &&
		second_address_do del && return "$status"
}

# Packets of a VLAN pass the programs of its device, then those of the device below.
vlan()
{
	local status

	module_load && vlan_up && job_load 0 --all &&
		host_exec 0 rocesteer path discover --dev eth0.7 --source "$tagged" \
			--peer "$(host_ip "$far")" --out "$dir/vlan.json" >/dev/null &&
		host_exec 0 rocesteer job load --job 100 --port-map "$dir/vlan.json" \
			--cgroup /sys/fs/cgroup/test0 && launch=(in_cgroup 0) &&
		qps_start own "$(host_rdma 0)" "$tagged" "$(host_ip "$far")" 100 1 &&
		qps_tell own rts || return
	qps_tell own write && busywait 10000 verdict_is other_source 1 && verdict_is steered 1 &&
		flows_of 0 | jq -e '[.flows[] | [.job, .device]] == [[100, "eth0.7"]]' &&
		host_exec 0 rocesteer status
	status=$?
	((!status)) || host_exec 0 rocesteer stat
	qps_end own && host_exec 0 rocesteer job unload --job 100 && job_unload 0 &&
		module_unload && vlan_down && return "$status"
}

# A killed process sends while its queue pairs go. Each flow that these packets make ends
# soon, without waiting for silence.
killed()
{
	local i

	module_load && job_load 0 --all || return
	for ((i = 0; i < 5; i++)); do
		write_start "$qps"
		busywait 20000 spread || return
		pkill -KILL -x writes
		wait "$writes"
		exec {traffic}>&-
		flows_are_gone || return
	done
	job_unload 0 && module_unload
}

ktap_plan 17
check "a fabric and its port map are made" steer_up --rate 40mbit --host-rate 80mbit
check "flows of a cgroup spread over the paths" by_cgroup
check "flows end with their queue pairs" flows_are_gone
check "a loaded job keeps the module from being unloaded" module_is_pinned
check "unloading leaves nothing" unloaded
check "a job tags queue pairs that were connected before the module came" late_job
check "--all steers all flows of a device without the module" by_device
check "--flow steers listed flows without the module" by_flow
check "bpftool shows programs, flows and counters" tools
check "flows of other processes stay as they are" untagged
check "a queue pair that was of no job is steered by a job that is loaded later" second_job
check "queue pairs of other processes with the same peer stay as they are" rival
check "a process that connects first to a job's peer does not keep the job unsteered" first
check "queue pairs of an address without a port map stay as they are" another_gid
check "packets of a VLAN are steered once, by the job of the VLAN's device" vlan
check "killed processes leave no share" killed
check "no packet is lost while jobs and the module come and go" churn
ktap_finish
