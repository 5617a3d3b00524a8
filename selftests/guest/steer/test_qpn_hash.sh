#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Switches hash the destination queue pair number as well, so one port is not one path. The
# daemon finds the ports that each queue pair's packets take.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh
. selftests/net/observe.sh

count=8
launch=(in_cgroup 0)
pins=/sys/fs/bpf/test-qpn-hash
daemons=()

up()
{
	steer_up --rate 40mbit --host-rate 80mbit && module_load && defer module_unload && observe_up
}

discover_again()
{
	rm "$dir"/ports*.json
	discover 0 "$far" >"$dir/discover" 2>&1 && discover "$far" 0 >/dev/null
}

# The present port maps are of switches that hash addresses and ports.
hashes()
{
	[[ $(jq -c '[.peers[].qpn_hash]' "$dir/ports0.json") == "[null]" ]] || return
	selftests/net/fabric.sh qpn-hash on && discover_again || return
	cat "$dir/discover"
	grep -q "hash" "$dir/discover" &&
		[[ $(jq -c '[.peers[].qpn_hash]' "$dir/ports0.json") == "[true]" ]]
}

daemons_start()
{
	local host

	for host in 0 "$far"; do
		rm -f "$dir/daemon$host"
		host_exec "$host" rocesteer --json daemon >"$dir/daemon$host" 2>&1 &
		daemons+=($!)
		busywait 20000 grep -q '"event":"start"' "$dir/daemon$host" || return
	done
}

daemons_stop()
{
	((${#daemons[@]})) || return 0
	pkill -TERM -x rocesteer
	wait "${daemons[@]}"
	daemons=()
}

unsteered_without_daemon()
{
	local host

	job_load_cgroup 0 2>&1 | tee "$dir/load" && job_load_cgroup "$far" || return
	grep -q "not steered until the daemon runs" "$dir/load" &&
		write_start "$count" && busywait 20000 waits &&
		[[ $(flows_of 0 | jq '[.flows[] | select(.path != null)] | length') == 0 ]] &&
		write_end && job_unload 0 && job_unload "$far"
}

# Ports of the queue pairs are requested, and their packets are counted.
waits()
{
	(($(bpftool --json map dump pinned "$(host_exec 0 rocesteer --json job show --job 1 |
		jq -r .pins)/rs_qpns" | jq length) >= count)) &&
		(($(stat_of 0 no_path) > 0))
}

steered_flows()
{
	flows_of 0 | jq -r '.flows[] | select(.job == 1 and .share) |
		"\(.path) \(.dqpn) \(.port)"' | sort
}

# "spine dqpn port" of packets from leaf 0 to the spines; path p is by spine p
passed()
{
	bpftool --json map dump pinned "$pins/seen" |
		jq -r --arg to "$(host_ip "$far")" '.[].formatted.key |
			select(.sender == 3 and .ack == 0 and (.peer | map(tostring) |
				join(".")) == $to) |
			"\(.index) \(.dqpn) \(.sport)"' | sort
}

all_on_plan()
{
	steered_flows >"$dir/planned"
	(($(wc -l <"$dir/planned") == count)) &&
		[[ $(cut -d ' ' -f 1 "$dir/planned" | uniq -c | awk '{ print $1 }' |
			sort -u) == $((count / spines)) ]]
}

# Does each path have one port, and each port one path, as without such a hash?
one_port_one_path()
{
	local both paths ports

	both=$(cut -d ' ' -f 1,3 "$dir/planned" | sort -u | wc -l)
	paths=$(cut -d ' ' -f 1 "$dir/planned" | sort -u | wc -l)
	ports=$(cut -d ' ' -f 3 "$dir/planned" | sort -u | wc -l)
	((both == paths && both == ports))
}

by_queue_pair()
{
	local status

	daemons_start && job_load_cgroup 0 && job_load_cgroup "$far" || return
	write_start "$count"
	busywait 30000 all_on_plan && observe_forget && busywait 20000 is_as_planned
	status=$?
	write_end || status=1
	cat "$dir/planned"
	! one_port_one_path || status=1
	((!status)) || diff "$dir/planned" <(passed)
	return "$status"
}

is_as_planned()
{
	(($(passed | wc -l) == count)) && diff -q "$dir/planned" <(passed) >/dev/null
}

hash_changes()
{
	local status

	write_start "$count"
	busywait 30000 all_on_plan && selftests/net/fabric.sh seed 77 &&
		busywait 60000 grep -q '"event":"remapped"' "$dir/daemon0" &&
		busywait 30000 on_new_plan
	status=$?
	write_end || status=1
	((!status)) || { cat "$dir/daemon0"; diff "$dir/planned" <(passed); }
	return "$status"
}

on_new_plan()
{
	all_on_plan && observe_forget && sleep 1 && is_as_planned
}

reasons()
{
	flows_of 0 | jq -r '.flows[] | select(.job == 1) | .reason // .actuator' |
		sort | uniq -c | sed 's/^ *//'
}

reasons_are()
{
	[[ $(reasons) == "$1" ]]
}

ports_known()
{
	bpftool --json map dump pinned "$(host_exec 0 rocesteer --json job show --job 1 |
		jq -r .pins)/rs_qpns" |
		jq -e --argjson n "$1" '[.[].formatted | select(.key.dqpn >= 1000000 and
			.key.dqpn < 1000100 and (.value.sport | any(. > 0)))] |
			length == $n' >/dev/null
}

# A label cannot wait for probes, but the port is known when the queue pair connects again.
by_label()
{
	local status

	job_unload 0 && discover_again && job_load_cgroup 0 --actuator qp &&
		hold own 0 1000000 4 && reasons_are "4 qpn-hash" &&
		busywait 20000 ports_known 4 && qps_tell own reset &&
		qps_tell own connect && reasons_are "4 qp" &&
		[[ $(flows_of 0 | jq -r '.flows[] | select(.job == 1).path' |
			sort -u | wc -l) == 4 ]]
	status=$?
	((!status)) || flows_of 0
	qps_end own && return "$status"
}

unloads()
{
	job_unload 0 && job_unload "$far" && daemons_stop &&
		[[ ! $(ls /sys/fs/bpf/rocesteer) ]] &&
		selftests/net/fabric.sh qpn-hash off
}

fabric_has_host_netns || skip_all "rxe knows no namespaces here"
defer daemons_stop
ktap_plan 7
check "a fabric is up and observed, with the module" up
check "discovery notices that switches hash queue pair numbers" hashes
check "without the daemon no flow is said to be steered" unsteered_without_daemon
check "each queue pair gets the port of its path" by_queue_pair
check "each queue pair gets another port when the switches hash otherwise" hash_changes
check "a queue pair that connects again gets the label of its path" by_label
check "unloading leaves nothing" unloads
ktap_finish
