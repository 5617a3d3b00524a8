#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What is refused: each wrong input has its own code, and what was loaded stays
# as it was. And who may not: other users, other network namespaces.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh

state()
{
	host_exec 0 rocesteer --json job list
	host_exec 0 rocesteer --json job show --job 1
}

# refused CODE EXIT COMMAND...: on host 0; the loaded job stays as it is
refused()
{
	local code=$1 want=$2 before json status
	shift 2

	before=$(state)
	json=$(host_exec 0 "$@" --json)
	status=$?
	echo "$json"
	[[ $(jq -r .error.code <<<"$json") == "$code" ]] &&
		((status == want)) && [[ $(state) == "$before" ]]
}

# The port map with something replaced: changed JQ_FILTER
changed()
{
	jq "$1" "$dir/ports0.json" >"$dir/changed.json"
}

load_changed()
{
	refused "$1" "$2" rocesteer job load --job 2 --all \
		--port-map "$dir/changed.json"
}

missing_file()
{
	refused no-file 2 rocesteer job load --job 2 --all \
		--port-map "$dir/nowhere.json"
}

unknown_device()
{
	changed '.device = "nope0"' && load_changed no-device 1
}

bad_field()
{
	changed '.peers[0].paths[1].ports[0] = 70000' &&
		load_changed bad-file 2
}

not_json()
{
	echo '{"format": 1,' >"$dir/changed.json" && load_changed bad-file 2
}

duplicate_job()
{
	refused exists 1 rocesteer job load --job 1 --all \
		--port-map "$dir/ports0.json"
}

device_taken()
{
	refused device-taken 1 rocesteer job load --job 2 --all \
		--port-map "$dir/ports0.json"
}

no_module()
{
	refused module-not-loaded 1 rocesteer job load --job 2 \
		--cgroup /sys/fs/cgroup/test0 --port-map "$dir/ports0.json"
}

module_without_btf()
{
	local ko=$dir/rocesteer.ko status

	objcopy --remove-section .BTF --remove-section .BTF.base \
		"build/guest/$(uname -r)/rocesteer.ko" "$ko" && modprobe -a rdma_cm && insmod "$ko" || return
	refused module-no-btf 1 rocesteer job load --job 2 \
		--cgroup /sys/fs/cgroup/test0 --port-map "$dir/ports0.json"
	status=$?
	rmmod rocesteer && return "$status"
}

# A flow that has a job in the module, and has sent nothing yet.
taken_in_module()
{
	local genl=$PWD/build/guest/selftests/genl ifindex status

	ifindex=$(host_exec 0 ip -j link show "$(host_dev 0)" | jq '.[0].ifindex')
	module_load && host_exec 0 "$genl" job-add id=9 &&
		host_exec 0 "$genl" flow-add ifindex="$ifindex" \
			peer="$(host_ip "$far")" dqpn=77 job=9 || return
	refused flow-taken 1 rocesteer job load --job 2 \
		--flow "$(host_ip "$far")/76,$(host_ip "$far")/77" \
		--port-map "$dir/ports0.json" >"$dir/said" &&
		grep "job 2: --flow: $(host_ip "$far")/77 is of job 9" "$dir/said"
	status=$?
	host_exec 0 "$genl" job-del id=9 && module_unload && return "$status"
}

# A command of another version than the module.
other_version()
{
	local status

	module_load || return
	refused version 1 build/guest/selftests/rocesteer-next job load --job 2 \
		--cgroup /sys/fs/cgroup/test0 --port-map "$dir/ports0.json"
	status=$?
	module_unload && return "$status"
}

# Tables of another version than the command.
other_layout()
{
	local pin status

	pin=$(host_exec 0 rocesteer --json job show --job 1 | jq -r .pins)
	mv "$pin/rs_jobs" "$pin/kept" && bpftool map create "$pin/rs_jobs" \
		type hash key 4 value 8 entries 1 name rs_jobs || return
	host_exec 0 rocesteer --json job list | grep '"version"'
	status=$?
	rm "$pin/rs_jobs" && mv "$pin/kept" "$pin/rs_jobs" && return "$status"
}

discover_refused()
{
	local code=$1 want=$2
	shift 2

	refused "$code" "$want" rocesteer path discover "$@"
}

no_route()
{
	ip netns add test-lonely || return
	local json status=0

	json=$(netns_exec test-lonely rocesteer --json path discover --dev lo \
		--peer 192.0.2.1) && status=1
	ip netns del test-lonely
	echo "$json"
	((!status)) && [[ $(jq -r .error.code <<<"$json") == no-route ]]
}

no_such_device()
{
	discover_refused no-device 1 --dev nope0 --peer "$(host_ip "$far")"
}

# The spines' own packets go nowhere: no ICMP reply comes.
silent_fabric()
{
	local s status

	for ((s = 0; s < spines; s++)); do
		ip -n "spine$s" rule add pref 1 iif lo blackhole
	done
	discover_refused no-reply 1 --dev "$(host_dev 0)" \
		--source "$(host_ip 0)" --peer "$(host_ip "$far")" \
		--ports 8 --retries 1 --probe-timeout 50
	status=$?
	for ((s = 0; s < spines; s++)); do
		ip -n "spine$s" rule del pref 1
	done
	return "$status"
}

unprivileged()
{
	local command status=0 json

	for command in "job load --job 2 --all --port-map $dir/ports0.json" \
		"job unload --all" \
		"path discover --dev $(host_dev 0) --peer $(host_ip "$far")"; do
		# shellcheck disable=SC2086 # words
		json=$(host_exec 0 setpriv --reuid 65534 --regid 65534 \
			--clear-groups build/guest/rocesteer --json $command)
		echo "$json"
		[[ $(jq -r .error.code <<<"$json") == permission ]] || status=1
	done
	return "$status"
}

# The same user may not by way of netlink either.
other_namespace()
{
	local before status=0

	before=$(state)
	ip netns add test-other || return
	netns_exec test-other rocesteer --json job list | grep '"job":1' && status=1
	netns_exec test-other rocesteer --json flow show | grep peer && status=1
	netns_exec test-other rocesteer job unload --job 1 && status=1
	netns_exec test-other rocesteer job unload --all
	ip netns del test-other
	((!status)) && [[ $(state) == "$before" ]]
}

ready()
{
	steer_up && chmod 755 "$dir" && job_load 0 --all
}

ktap_plan 19
check "a job is loaded" ready
check "missing file" missing_file
check "unknown device" unknown_device
check "bad field" bad_field
check "not JSON" not_json
check "duplicate job" duplicate_job
check "device taken" device_taken
check "module not loaded" no_module
check "module without BTF" module_without_btf
check "a flow is taken in the module" taken_in_module
check "module of another version" other_version
check "tables of another version" other_layout
check "no route" no_route
check "no such device" no_such_device
check "no ICMP replies" silent_fabric
check "no privilege" unprivileged
check "another namespace sees and changes nothing" other_namespace
check "the job is still there" state
check "and goes" job_unload 0
ktap_finish
