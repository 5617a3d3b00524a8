#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Devices that go away, come back and change their names under the daemon

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/daemon/daemon.sh

# told EVENT: the last event of the device
told()
{
	events '[.[] | select(.event | startswith("device-"))] | last' |
		jq -e --arg event "$1" '.event == $event and .job == 1 and
			.device == "rs0"'
}

served()
{
	"$rocesteer" --json job list >"$dir/list" &&
		"$rocesteer" --json top --count 1 --interval 10 >"$dir/top" &&
		jq -e --argjson served "$1" 'all(.jobs[]; .device == "rs0" and
			.served == $served)' "$dir/list" &&
		jq -e --arg state "$2" '.groups | length >= 1 and
			all(.[].paths[]; .state == $state)' "$dir/top"
}

# A path of a device without programs is not up, with a daemon and without.
device_goes()
{
	local monitor

	unload && load fewest && flows 10.1.1.1 16,17,18,19,20 && is_planned 5 8 &&
		served true up && ip link del rs0 &&
		busywait 20000 told device-gone && served false unserved &&
		show | jq -e '.flows == []' || return
	"$rocesteer" --json monitor >"$dir/monitor" &
	monitor=$!
	busywait 20000 grep -s '"device-gone".*"rs0"' "$dir/monitor"
	kill "$monitor" && wait "$monitor"
	grep '"device-gone"' "$dir/monitor"
}

# The new device has another number, and no programs.
device_comes()
{
	veth rs0 rs1 && busywait 20000 told device-back && served true up &&
		flows 10.1.1.1 30,31,32,33,34,35 && is_planned 6 8 &&
		(($(programs rs0) == 2))
}

# programs DEVICE [COMMAND..]: print how many are attached, as COMMAND.. sees it
programs()
{
	"${@:2}" bpftool net show dev "$1" | grep -c 'rocesteer'
}

# The new device has the same number, and no daemon has seen the old one go.
device_comes_later()
{
	local ifindex

	ifindex=$(ip -j link show rs0 | jq '.[0].ifindex')
	"$rocesteer" job load --job 2 --port-map "$map" --flow 10.1.1.1/99 &&
		daemon_ends && ip link del rs0 && served false unserved &&
		veth rs0 rs1 index "$ifindex" && served false unserved &&
		show | jq -e '(.flows | length) == 7 and
			all(.flows[]; has("actuator") | not)' &&
		daemon_start && busywait 20000 served true up &&
		events 'map(select(.event == "device-back").job) | sort' | jq -e '. == [1, 2]' &&
		show | jq -e '.flows == []' &&
		"$rocesteer" --json job show --job 2 |
			jq -e '.served and all(.groups[]; .flows | add == 0)' &&
		"$rocesteer" job unload --job 2 && flows 10.1.1.1 40,41,42,43,44,45 &&
		busywait 20000 counts_six
}

counts_six()
{
	"$rocesteer" --json job show --job 1 | jq -e '.groups[0].flows | add == 6'
}

# A name may have any character but blanks, colons and slashes.
is_shown()
{
	ip link set rs9 name $'rs\e9' && "$rocesteer" job list >"$dir/list" &&
		cat -v "$dir/list" && grep 'rs?9' "$dir/list" &&
		! grep $'\e' "$dir/list" && ip link set $'rs\e9' name rs9 &&
		ip link set rs9 up && busywait 20000 is_named rs9
}

device_is_renamed()
{
	ip link set rs0 name rs9 && ip link set rs9 up &&
		busywait 20000 is_named rs9 && is_shown && ip netns add "rs$$" &&
		ip link set rs9 netns "rs$$" &&
		busywait 20000 gone_by_name rs9 &&
		(($(programs rs9 ip netns exec "rs$$") == 0)) &&
		ip link del rs1 && ip netns del "rs$$" && veth rs9 rs1 &&
		busywait 20000 is_served rs9 && ip link set rs9 name rs0 &&
		ip link set rs0 up && busywait 20000 is_served rs0
}

is_served()
{
	"$rocesteer" --json job list | jq -e --arg name "$1" \
		'.jobs[0] | .device == $name and .served'
}

# The job keeps the old name, and the daemon has the new one.
is_named()
{
	bpftool -j map dump pinned "$(echo /sys/fs/bpf/rocesteer/netns-*)/rs_jobs" |
		jq -e --arg name "$1" '.[0].formatted.value.device | startswith($name)'
}

gone_by_name()
{
	"$rocesteer" --json job list | jq -e --arg name "$1" \
		'.jobs[0] | .device == $name and (.served | not)'
}

ktap_plan 4
defer daemon_kill
ready && load none && daemon_start || exit
check "a device that goes away is reported, and its job is no longer served" device_goes
check "a device that comes back is steered again" device_comes
check "a device that came back while no daemon ran is steered again" device_comes_later
check "the daemon follows a device's new name, and drops one that leaves the namespace" \
	device_is_renamed
ktap_finish
