#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Queue pairs steered by their flow labels, as hardware is, on rxe: no program is on the
# device, and counters of the spines prove the paths.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh
. selftests/net/observe.sh

count=4
launch=(in_cgroup 0)

pins=/sys/fs/bpf/test-qp

# Lines "spine dqpn port" of the flows from host 0 to $far that a leaf sent up
passed()
{
	bpftool --json map dump pinned "$pins/seen" |
		jq -r --arg to "$(host_ip "$far")" '.[].formatted.key |
			select(.sender == 3 and (.peer | map(tostring) |
				join(".")) == $to) |
			"\(.index) \(.dqpn) \(.sport)"' | sort
}

ready()
{
	steer_up --rate 40mbit --host-rate 80mbit && observe_up
}

steered_flows()
{
	flows_of 0 | jq -c '.flows[] | select(.job == 1 and .path != null)'
}

# Every queue pair has a path of its own. Path p is by spine p.
spread()
{
	steered_flows >"$dir/flows"
	jq -r '"\(.path) \(.dqpn) \(.port)"' "$dir/flows" | sort >"$dir/planned"
	(($(wc -l <"$dir/planned") == count)) &&
		(($(cut -d ' ' -f 1 "$dir/planned" | uniq | wc -l) == count))
}

module_stat()
{
	host_exec 0 rocesteer --json stat | jq ".module.\"$1\""
}

job_load_qp()
{
	job_load_cgroup "$@" --actuator qp
}

# is_bare HOST: no program is on its device
is_bare()
{
	local net

	net=$(host_exec "$1" bpftool --json net show dev "$(host_dev "$1")")
	jq -e '.[0].tc == [] and .[0].xdp == []' <<<"$net" >/dev/null ||
		{ echo "$net"; return 1; }
}

# verdicts FILTER: the sum over the programs of both hosts
verdicts()
{
	local host

	for host in 0 "$far"; do
		host_exec "$host" rocesteer --json stat
	done | jq -s -c "map(.verdicts.$1) | add"
}

# Send until flows are spread.
spread_traffic()
{
	local status

	write_start "$count"
	busywait 20000 spread
	status=$?
	((!status)) || flows_of 0
	write_end && return "$status"
}

# Nobody has rewritten the packets.
by_label()
{
	local lost_before

	module_load && job_load_qp 0 && job_load_qp "$far" || return
	lost_before=$(lost)
	observe_forget && spread_traffic || return
	cat "$dir/flows"
	[[ $(jq -r .actuator "$dir/flows" | uniq) == qp ]] &&
		diff "$dir/planned" <(passed) && ((lost_before == $(lost))) &&
		is_bare 0 && is_bare "$far" && (($(verdicts foreign) == 0)) &&
		host_exec 0 rocesteer --json job list | jq -e '.jobs[0].served'
}

# The programs of another job on the device see packets of these queue pairs.
untouched()
{
	local host

	for host in 0 "$far"; do
		host_exec "$host" rocesteer job load --job $((host + 9)) --all \
			--actuator packet --port-map "$dir/ports$host.json" || return
	done
	spread_traffic || return
	host_exec 0 rocesteer stat
	for host in 0 "$far"; do
		host_exec "$host" rocesteer job unload --job $((host + 9)) &&
			is_bare "$host" ||
			return
	done
	(($(verdicts on_plan) > 0 && $(verdicts off_plan) == 0)) &&
		(($(verdicts unplanned) == 0 && $(verdicts steered) == 0)) &&
		(($(module_stat qp_own_label) == 0)) &&
		(($(module_stat qp_steered) >= count))
}

no_flow()
{
	[[ ! $(steered_flows) && $(dealt) == "[0]" ]]
}

flows_are_gone()
{
	busywait 10000 no_flow || { flows_of 0; dealt; return 1; }
}

# Label 0x1234 makes port 0xd234, on all queue pairs.
own_label()
{
	local before

	before=$(module_stat qp_own_label)
	observe_forget && traffic_start -q 2 -s 65536 -n 300 --flow_label 4660 || return
	busywait 20000 all_are own-label || { flows_of 0; traffic_kill; return 1; }
	traffic_wait || return
	[[ $(passed | cut -d ' ' -f 3 | uniq) == 53812 ]] &&
		(($(module_stat qp_own_label) >= before + 2))
}

# "reason label" or "qp label" of each flow of job 1
labels()
{
	flows_of 0 | jq -r '.flows[] | select(.job == 1) |
		"\(.reason // .actuator) \(.label)"' | sort | uniq -c | sed 's/^ *//'
}

are_labelled()
{
	[[ $(labels) == "$1" ]]
}

# lanes TEXT: flow show says this of six lanes of UCX
lanes()
{
	local before

	before=$(module_stat qp_lane_label)
	hold lanes 0 100 6 0 1 || return
	if ! are_labelled "$1" || (($(module_stat qp_lane_label) != before + 6)); then
		flows_of 0
		return 1
	fi
	qps_end lanes
}

# Nothing shows when a server of rdma_cm listens, so try until it does.
cm_client()
(
	in_cgroup 0 ib_write_bw -d "$(host_rdma 0)" -x "$(host_gid 0)" "${cm[@]}" \
		"$(host_ip "$far")" >"$dir/client" 2>&1
)

# by_cm 1|0: host 0 steers all queue pairs that rdma_cm connects, or none: two with data, and
# perftest's to itself. rdma_cm connects no hosts that share a namespace.
by_cm()
{
	local cm=(-R -F -q 2 -s 65536 -n 50 -p "$port") status
	local before=("$(module_stat qp_cm_label)" "$(module_stat qp_steered)")

	fabric_has_host_netns || return 0
	in_cgroup "$far" timeout $((120 * TIME_SCALE)) ib_write_bw \
		-d "$(host_rdma "$far")" -x "$(host_gid "$far")" \
		"${cm[@]}" >"$dir/server" 2>&1 &
	server=$!
	busywait 30000 cm_client
	status=$?
	((!status)) || kill "$server"
	wait "$server" || status=1
	(($(module_stat qp_cm_label) == before[0] + 3)) &&
		(($(module_stat qp_steered) == before[1] + 3 * $1)) || status=1
	((!status)) || { tail "$dir/client" "$dir/server"; host_exec 0 rocesteer stat; }
	return "$status"
}

# Nobody chose these labels as a path.
unchosen_labels()
{
	lanes "6 qp policy" && by_cm 1
}

kept_labels()
{
	job_unload 0 && job_load_qp 0 --keep-labels &&
		host_exec 0 rocesteer job show --job 1 | grep -q "keep labels" &&
		lanes "6 kept-label lane" && by_cm 0 &&
		job_unload 0 && job_load_qp 0
}

# all_are REASON: host 0 has flows, none is steered, and this is why
all_are()
{
	flows_of 0 | jq -e --arg reason "$1" '[.flows[] | select(.job == 1)] |
		length > 0 and all(.actuator == null and .reason == $reason)' \
		>/dev/null
}

# A connected queue pair keeps its port.
late_job()
{
	local status

	job_unload 0 || return
	write_start 2
	busywait 20000 are_connected 2 && job_load_qp 0 &&
		busywait 20000 all_are connected-before
	status=$?
	((!status)) || flows_of 0
	write_end && ((!status))
}

dealt_is()
{
	[[ $(dealt) == "[$1]" ]] || { dealt; flows_of 0; return 1; }
}

# A queue pair has one share, also after a reconnect or a failed one.
shares()
{
	hold own 0 100 6 && dealt_is 6 && qps_tell own reset && dealt_is 0 &&
		qps_tell own connect && dealt_is 6 && qps_tell own reset &&
		qps_tell own rtr EINVAL && dealt_is 1 &&
		qps_tell own connect && dealt_is 6 &&
		qps_tell own destroy && dealt_is 0 && qps_end own
}

# A listed flow has its path before its queue pair is connected.
listed()
{
	job_unload 0 && job_load 0 --actuator qp \
		--flow "$(host_ip "$far")/100,$(host_ip "$far")/101" &&
		dealt_is 2 && hold own 0 100 2 && dealt_is 2 && steered_flows &&
		[[ $(steered_flows | jq -r .actuator | uniq -c) == *"2 qp" ]] &&
		qps_end own && busywait 10000 dealt_is 0
}

# A process of another job connects first to the peer of a job's queue pair.
first()
{
	local status

	job_unload 0 && job_load 0 --all --actuator qp && launch=(host_exec 0) &&
		hold first 0 100 1 &&
		host_exec 0 rocesteer job load --job 100 --port-map "$dir/ports0.json" \
			--cgroup /sys/fs/cgroup/test0 --actuator qp &&
		launch=(in_cgroup 0) && hold own 0 100 1 || return
	flows_of 0 | jq -e '[.flows[] | [.job, .dqpn, .actuator]] ==
			    [[1, 100, "qp"], [100, 100, "qp"]]'
	status=$?
	((!status)) || flows_of 0
	qps_end own && qps_end first && no_flow &&
		host_exec 0 rocesteer job unload --job 100 && return "$status"
}

# The port map is of one address of the device.
another_gid()
{
	local status

	job_unload 0 && job_load_qp 0 && second_address && launch=(in_cgroup 0) &&
		qps_start other "$(host_rdma 0)" "$second" "$(host_ip "$far")" 100 1 &&
		hold own 0 101 1 || return
	flows_of 0 | jq -e --arg source "$second" '[.flows[] | [.source == $source, .reason]] ==
		[[true, "other-source"], [false, null]]'
	status=$?
	((!status)) || flows_of 0
	qps_end own && qps_end other &&
		second_address_do del && return "$status"
}

# rxe sends through the kernel, so "auto" means packets.
auto()
{
	job_unload 0 && job_load_cgroup 0 && spread_traffic &&
		[[ $(jq -r .actuator "$dir/flows" | uniq) == packet ]] &&
		(($(stat_of 0 steered) > 0))
}

unloaded()
{
	jobs_unload 0 "$far" &&
		! bpftool link show | grep -B 1 -A 3 struct_ops &&
		module_unload
}

refused_without_module()
{
	local json

	json=$(job_load 0 --all --actuator qp --json)
	echo "$json"
	[[ $(jq -r .error.code <<<"$json") == module-not-loaded ]]
}

# Devices go after the namespace's name, and after the programs on them.
netns_is_gone()
{
	[[ ! -e /sys/class/infiniband/rxe0 ]] &&
		! ip -n leaf0 link show host0 2>/dev/null
}

# A policy may outlive its namespace. It does nothing, and goes when its pins are found.
namespace_goes()
{
	module_load && job_load_qp 0 && job_load_qp "$far" &&
		rdma link del "$(host_rdma 0)" && ip netns del host0 &&
		busywait 10000 netns_is_gone && job_unload "$far" &&
		job_load_qp "$far" && job_unload "$far" &&
		[[ ! $(ls /sys/fs/bpf/rocesteer) ]] && module_unload
}

ktap_plan 16
check "a fabric and its port map are made, and observed" ready
check "--actuator qp is refused without the module" refused_without_module
check "packets of labelled queue pairs take the planned ports and paths without a program" by_label
check "programs of another job leave labelled packets as they are" untouched
check "shares of paths end with their queue pairs" flows_are_gone
check "each connected queue pair has one share, also after reconnects and failures" shares
check "a label that an application chose stays" own_label
check "labels of UCX's lanes and of rdma_cm are steered" unchosen_labels
check "with --keep-labels the labels of UCX's lanes and of rdma_cm stay" kept_labels
check "queue pairs that were connected before the job are not steered, with a reason" late_job
check "flows listed by --flow get their labels" listed
check "a process that connects first to a job's peer does not keep the job unsteered" first
check "a queue pair of an address without a port map is not steered, with a reason" \
	another_gid
check "by default rxe's packets are steered" auto
check "unloading leaves nothing" unloaded
if fabric_has_host_netns; then
	check "a network namespace that goes leaves nothing" namespace_goes
else
	skip "a network namespace that goes leaves nothing" "rxe knows none here"
fi
ktap_finish
