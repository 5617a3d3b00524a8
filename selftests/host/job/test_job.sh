#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Jobs without the module: load, show, refuse, unload

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/job/job.sh

lists_nothing()
{
	"$rocesteer" job list && "$rocesteer" flow show &&
		"$rocesteer" top --count 1 --interval 10 || return
	refused no-job 1 show --job 7 && [[ $("$rocesteer" stat) == "no job is loaded" ]] &&
		"$rocesteer" --json stat | jq -e '. == {}'
}

shows()
{
	job list | jq -e '.jobs == [.jobs[0]] and
		(.jobs[0] | .job == 7 and .name == "train" and
			.owner == "flows" and .device == "rs0" and
			.split == "none" and .resequence == "off" and
			.slice == false)' &&
	job show --job 7 | jq -e '(.peers | length) == 2 and
		(.peers[] | select(.address == "10.1.1.1").ports) ==
			[49152, 49160] and
		(.groups[] | select(.leaf == "10.255.0.2").flows) == [1, 1] and
		(.groups[] | select(.leaf == "fd00:255::2").flows) == [1]'
}

shows_flows()
{
	local flows

	flows=$("$rocesteer" --json flow show --job 7)
	jq -c '.flows[]' <<<"$flows"
	jq -e '[.flows[] | {peer, dqpn}] == [
		{peer: "10.1.1.1", dqpn: 17}, {peer: "10.1.1.1", dqpn: 18},
		{peer: "fd00:1::2", dqpn: 19}] and
		([.flows[:2][].port] | sort) == [49152, 49160] and
		.flows[2].port == 50000' <<<"$flows" &&
		"$rocesteer" --json flow show --job 8 | jq -e '.error |
			.code == "no-job" and .hint == "See: rocesteer job list"'
}

# Without acknowledgments nobody knows of outstanding packets, so a plan need not wait.
nothing_known()
{
	bpftool --json map dump pinned "$(echo /sys/fs/bpf/rocesteer/netns-*)/rs_flows" |
		jq -e 'map(.formatted.value) | length == 3 and
			all(.acked == 4294967295 and .psns[0].next == .acked and
				.resent[0].repeats == .acked and
				.psns[1].next == .acked)'
}

counts()
{
	"$rocesteer" --json stat | jq -e '(.verdicts | length) == 20 and
		(.observed | length) == 6 and .verdicts.steered == 0 and
		(has("module") | not)'
}

refuses()
{
	sed 's/rs0/nope0/' "$map" >"$dir/elsewhere.json"
	jq '.peers |= map(select(.local))' "$map" >"$dir/local.json"
	sed 's/"fd00::1"/"fd00::3"/' "$map" >"$dir/foreign.json"
	refused exists 1 load --job 7 --port-map "$map" --flow 10.1.1.1/99 &&
		refused no-device 1 load --job 8 --all --port-map "$dir/elsewhere.json" &&
		refused no-file 2 load --job 8 --all --port-map "$dir/none" &&
		refused local-peer 2 load --job 8 --all --port-map "$dir/local.json" &&
		refused other-host 2 load --job 8 --all --port-map "$dir/foreign.json" &&
		refused no-job 1 unload --job 8 &&
		refused no-job 1 show --job 8 &&
		refused module-not-loaded 1 load --job 8 --pid $$ --port-map "$map" &&
		refused module-not-loaded 1 load --job 8 --all --module yes --port-map "$map" &&
		refused usage 2 load --job 8 --pid $$ --module no --port-map "$map" &&
		refused module-not-loaded 1 load --job 8 --all --actuator qp --port-map "$map" &&
		refused usage 2 load --job 8 --all --actuator qp --module no --port-map "$map" &&
		refused usage 2 load --job 8 --all --actuator qp --split all --port-map "$map" &&
		refused usage 2 load --job 8 --all --actuator both --port-map "$map"
}

takes_device_once()
{
	local status

	job load --job 9 --all --port-map "$map" || return
	refused device-taken 1 load --job 8 --all --port-map "$map"
	status=$?
	job unload --job 9 && return "$status"
}

says_what_to_do()
{
	"$rocesteer" job load --job 8 --pid $$ --port-map "$map" 2>&1 |
		grep -- '--flow or --all' &&
		"$rocesteer" job load --job 8 --all --actuator qp --port-map "$map" 2>&1 |
		grep '^modprobe rocesteer, or leave out --actuator qp\.$' &&
		"$rocesteer" job load --job 8 --flow 10.1.1.1/99 --split all \
			--port-map "$map" 2>&1 |
		grep '^modprobe rocesteer, or leave out --split and --resequence\.$' &&
		"$rocesteer" job load --job 7 --all --port-map "$map" 2>&1 |
		grep 'To replace: rocesteer job replace 7$' &&
		"$rocesteer" job replace --job 8 --all --port-map "$map" 2>&1 |
		grep '^See: rocesteer job list$' &&
		"$rocesteer" monitor 2>&1 | grep 'modprobe rocesteer'
}

# A wide character takes more than one byte.
aligns()
{
	local LC_ALL=C.UTF-8 list

	job load --job 9 --name trainé --port-map "$map" --all || return
	mapfile -t list < <("$rocesteer" job list | grep -e NAME -e trainé)
	job unload --job 9
	printf '%s\n' "${list[@]}"
	[[ ${list[0]} == *DEVICE* && ${list[1]} == *rs0* ]] || return
	list=("${list[@]%%DEVICE*}")
	list=("${list[@]%%rs0*}")
	((${#list[0]} == ${#list[1]} && ${#list[0]} > 6))
}

unloads()
{
	job unload --job 7 | jq -e '.unloaded == [7]'
}

# An object alone lists, and the number of a job needs no option, as with ip.
is_brief()
{
	job load 1 --port-map "$map" --flow 10.1.1.1/17 &&
		diff <("$rocesteer" -j job) <("$rocesteer" job list --json) &&
		diff <("$rocesteer" job sh 1) <("$rocesteer" job show --job 1) &&
		diff <("$rocesteer" flow) <("$rocesteer" flow show) &&
		diff <("$rocesteer" flow --job 1) <("$rocesteer" flow show 1) &&
		diff <("$rocesteer" stat show) <("$rocesteer" stat) &&
		"$rocesteer" -n $$ prog | grep -w pins &&
		"$rocesteer" job unload 1 | grep -xE 'unloaded +1'
}

# in_order COMMAND...: the jobs of its JSON
in_order()
{
	"$rocesteer" "$@" --json | jq -e '[.jobs[].job] | unique == . and length == 18'
}

lists_by_number()
{
	local id peers='["10.1.1.10", "10.1.1.9", "10.1.1.100"]'

	jq --argjson peers "$peers" '.peers |= map(select(.address == "10.1.1.1")) |
		.peers[0] as $peer | .peers = [$peers[] as $a | $peer | .address = $a]' \
		"$map" >"$dir/peers.json"
	for id in 300 5 256 1 511 512 77 {20..30}; do
		"$rocesteer" job load "$id" --port-map "$dir/peers.json" --no-verify \
			--flow "10.1.1.9/$((id + 1))" >"$dir/loaded" || return
	done
	in_order job list && in_order status --no-probe &&
		"$rocesteer" top --count 1 --interval 10 --json |
			jq -e '[.groups[].job] | unique == . and length == 18' &&
		job show 5 | jq -e '[.peers[].address] == ["10.1.1.9", "10.1.1.10", "10.1.1.100"]' &&
		"$rocesteer" job unload --all | grep -xE 'jobs unloaded +18'
}

unloads_all()
{
	job load --job 1 --port-map "$map" --flow 10.1.1.1/17 &&
		job load --job 2 --port-map "$map" --flow 10.1.1.1/18 &&
		job unload --all | jq -e '.unloaded == [1, 2]' &&
		job unload --all | jq -e '.unloaded == []' &&
		[[ $("$rocesteer" job unload --all 2>&1) == "no job is loaded" ]]
}

# unprinted COMMAND...: run it with a standard output that fails
unprinted()
{
	"$rocesteer" "$@" >/dev/full 2>"$dir/said"
	(($? == 1)) && grep "Only the output is lost" "$dir/said"
}

output_is_lost()
{
	unprinted job load --job 1 --port-map "$map" --flow 10.1.1.1/17 &&
		job list | jq -e '[.jobs[].job] == [1]' &&
		unprinted job unload --all && job list | jq -e '.jobs == []'
}

names_taken()
{
	job load --job 1 --port-map "$map" --flow 10.1.1.1/17 >"$dir/log" || return
	job load --job 2 --port-map "$map" --flow 10.1.1.1/18,10.1.1.1/17 |
		jq -e '.error.message == "job 2: --flow: 10.1.1.1/17 belongs to job 1"'
	local status=$?
	job unload --all >"$dir/log"
	return "$status"
}

# rehearses VERB [OPTION...]: with success, and changes nothing
rehearses()
{
	local before

	before=$(state)
	job "$@" --port-map "$map" --dry-run >"$dir/out" && jq . "$dir/out" &&
		jq -e '.dry_run and .device == "rs0" and .peers == 3' "$dir/out" &&
		[[ $(state) == "$before" ]]
}

dry_run()
{
	[[ ! $(find /sys/fs/bpf/rocesteer -mindepth 1) ]] && rehearses load --job 1 --all &&
		[[ ! $(find /sys/fs/bpf/rocesteer -mindepth 1) ]] &&
		refused no-job 1 replace --job 1 --all --port-map "$map" --dry-run &&
		job load --job 1 --all --port-map "$map" >"$dir/log" &&
		refused exists 1 load --job 1 --all --port-map "$map" --dry-run &&
		refused device-taken 1 load --job 2 --all --port-map "$map" --dry-run &&
		rehearses replace --job 1 --all && rehearses load --job 2 --flow 10.1.1.1/17 &&
		refused other-job 1 replace --job 1 --flow 10.1.1.1/17 --port-map "$map" --dry-run &&
		job load --job 2 --flow 10.1.1.1/17 --port-map "$map" >"$dir/log" &&
		refused flow-taken 1 load --job 3 --flow 10.1.1.1/17 --port-map "$map" --dry-run &&
		refused bad-file 2 load --job 3 --all --port-map /dev/null --dry-run
	local status=$?
	job unload --all >"$dir/log"
	return "$status"
}

# Packets of the device begin with the IP header.
no_ethernet()
{
	local json status

	ip tuntap add dev rs2 mode tun && ip link set rs2 up || return
	jq '.device = "rs2" | del(.peers[1])' "$map" >"$dir/l3.json"
	json=$(job load --job 1 --port-map "$dir/l3.json" --flow 10.1.1.1/17)
	status=$?
	ip link del rs2
	echo "$json"
	((status == 1)) && [[ $(jq -r .error.code <<<"$json") == no-ethernet ]]
}

ktap_plan 21
check "a device and a port map are made" ready
check "no job is loaded at first" empty
check "lists without a job are empty, and show fails" lists_nothing
check "a job is loaded" loads
check "a loaded job is listed and shown" shows
check "listed flows are dealt to paths" shows_flows
check "listed flows have no PSN and no acknowledgment yet" nothing_known
check "stat names all counters" counts
check "refused commands leave the loaded job as it was" refuses
check "a second job with all flows of a device is refused" takes_device_once
check "errors say what to do" says_what_to_do
check "columns are aligned with names that are not ASCII" aligns
check "job unload removes the job" unloads
check "after job unload no table or program is left" empty
check "an object alone lists, and the number of a job needs no option" is_brief
check "lists are in the order of numbers, and unload counts many jobs" lists_by_number
check "job unload --all removes all jobs" unloads_all
check "a command whose output is lost has loaded or unloaded its job" output_is_lost
check "a flow that another job has is refused by name" names_taken
check "--dry-run refuses what loading would, and changes nothing" dry_run
check "a device without Ethernet headers is refused" no_ethernet
ktap_finish
