#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Jobs get other port maps, and programs are replaced, while flows go on; jobs come from
# files. There is no module: flows are frames that a veth sends, counted by source port at its
# other end.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/lib/command.sh
killat=$(realpath -- build/selftests/killat)
jobs=$dir/jobs.d
psn=0
defer daemon_kill

ready()
{
	veth rs0 rs1 && ip link set lo up && ip address add 10.1.0.1/32 dev lo &&
		map_of all 1 2 3 4 && map_of fewer 1 3 4 && mkdir "$jobs"
}

# map_of NAME SPINE..: the path over each has port 50000 + SPINE
map_of()
{
	port_map rs0 "$(peer 10.1.1.1 "${@:2}")" "$(peer 10.1.1.2 "${@:2}")" |
		jq '.peers[].paths[] |= (.ports[0] as $spine |
			.router = "10.255.1.\($spine)" | .ports = [50000 + $spine])' >"$dir/$1.json"
}

# job VERB [OPTION..]: without probes, as nobody answers here
job()
{
	"$rocesteer" --json job "$@"
}

# Send a packet of each of eight flows, with the next PSN.
send()
{
	selftests/host/lib/flows.py rs0 10.1.0.1 10.1.1.1 "$(seq -s , 100 107)" $((psn++))
}

ports()
{
	"$rocesteer" --json flow show | jq -c '[.flows[] | .port] | sort | map(. - 50000)'
}

loads()
{
	job load --job 1 --port-map "$dir/all.json" --all --no-verify >"$dir/out" && send &&
		[[ $(ports) == "[1,1,2,2,3,3,4,4]" ]]
}

replace()
{
	job replace --job 1 --port-map "$dir/$1.json" --all --no-verify >"$dir/out"
}

leaves_a_path()
{
	replace fewer && jq -e '.moved == 2' "$dir/out" && send && ports &&
		[[ $(ports | jq -c 'unique') == "[1,3,4]" ]] &&
		job show --job 1 | jq -e '.groups[0].flows | sort == [2,3,3]'
}

takes_a_path()
{
	replace all && send && ports && [[ $(ports) == "[1,1,2,2,3,3,4,4]" ]]
}

# Flows that need not move keep their counters.
keeps_flows()
{
	local before after

	before=$("$rocesteer" --json flow show | jq '[.flows[].packets] | add')
	replace all && jq -e '.moved == 0' "$dir/out" || return
	after=$("$rocesteer" --json flow show | jq '[.flows[].packets] | add')
	((before == after))
}

forgets_peers()
{
	jq 'del(.peers[0])' "$dir/all.json" >"$dir/other.json" && replace other &&
		"$rocesteer" --json flow show | jq -e '.flows == []' &&
		replace all && send && [[ $(ports) == "[1,1,2,2,3,3,4,4]" ]]
}

# refuses CODE OPTION..: job replace is refused
refuses()
{
	! job replace --port-map "$dir/all.json" --no-verify "${@:2}" >"$dir/out" &&
		jq -e --arg code "$1" '.error.code == $code' "$dir/out"
}

refuses_others()
{
	refuses other-job --job 1 --flow 10.1.1.1/100 && refuses no-job --job 2 --all &&
		refuses other-job --job 1 --all --actuator packet &&
		[[ $(ports) == "[1,1,2,2,3,3,4,4]" ]]
}

new_programs()
{
	local before after

	before=$(bpftool -j prog show pinned /sys/fs/bpf/rocesteer/netns-*/egress | jq .id)
	"$rocesteer" --json prog load >"$dir/out" || return
	after=$(bpftool -j prog show pinned /sys/fs/bpf/rocesteer/netns-*/egress | jq .id)
	((before != after)) && send && [[ $(ports) == "[1,1,2,2,3,3,4,4]" ]] &&
		[[ $(bpftool -j net show dev rs0 |
			jq '[.[].tc[] | select(.name == "rocesteer_egress") | .prog_id]') == \
			"$(jq -nc "[$after]" | jq .)" ]] &&
		! find /sys/fs/bpf/rocesteer -name '*_old*' -o -name '*_new' | grep .
}

steered()
{
	"$rocesteer" --json stat | jq .verdicts.steered
}

# Each packet is steered, whenever the command was killed, and the next command works.
survives()
{
	local at before status

	for ((at = 20; ; at += $(few 100 7))); do
		before=$(steered)
		"$killat" "$at" 60 "$rocesteer" prog load >/dev/null 2>&1
		status=$?
		send || return
		(($(steered) == before + 8)) || { echo "killed at $at"; return 1; }
		((status == 99)) || break
	done
	((status == 0)) && new_programs
}

stay_and_go()
{
	job unload --all >"$dir/out" && "$rocesteer" prog show &&
		"$rocesteer" prog unload && [[ ! $(ls /sys/fs/bpf/rocesteer) ]] &&
		[[ $("$rocesteer" prog unload 2>&1) == "no programs are in place" ]] &&
		"$rocesteer" prog show | grep -x "no programs are in place" &&
		"$rocesteer" prog -j | jq -e 'has("version") and (has("programs") | not)'
}

refuses_layouts()
{
	local pin

	loads || return
	pin=$(echo /sys/fs/bpf/rocesteer/netns-*)
	rm "$pin/rs_tags" && bpftool map create "$pin/rs_tags" type hash key 8 value 8 \
		entries 1 name rs_tags &&
		"$rocesteer" --json job list | grep '"version"' &&
		! "$rocesteer" --json prog load >"$dir/out" &&
		jq -e '.error.code == "version" and (.error.message | test("rs_tags"))' \
			"$dir/out" && rm -r "$pin"
}

daemon_start()
{
	rm -f "$dir/log"
	JOURNAL_STREAM=$1 "$rocesteer" daemon --job-files "$jobs" >"$dir/log" 2>&1 &
	daemon=$!
	busywait 20000 grep -q ' start ' "$dir/log"
}

# job_file NAME TEXT
job_file()
{
	echo "$2" >"$dir/new" && mv "$dir/new" "$jobs/$1.json"
}

loaded()
{
	[[ $(job list 2>/dev/null | jq -c '[.jobs[].job] | sort') == "$1" ]]
}

at_start()
{
	job_file good "{\"job\":5,\"port_map\":\"$dir/all.json\",\"all\":true,\"no_verify\":true}"
	job_file bad '{"job":6,"portmap":"/x"}'
	job_file worse '{"job":'
	job_file half '{"job":1e0}'
	daemon_start 1 && cat "$dir/log" && loaded "[5]" && send &&
		[[ $(ports) == "[1,1,2,2,3,3,4,4]" ]] &&
		grep -q '^<6>.* job-loaded job 5 ' "$dir/log" &&
		grep -q '^<3>.*/bad.json portmap: is not an option' "$dir/log" &&
		grep -q '^<3>.*/half.json job: is not a whole number$' "$dir/log" &&
		grep -q '^<3>.*/worse.json' "$dir/log"
}

on_reload()
{
	rm "$jobs"/{bad,worse,half}.json
	job_file good "{\"job\":5,\"port_map\":\"$dir/fewer.json\",\"all\":true,\"no_verify\":true}"
	kill -HUP "$daemon" && busywait 20000 has_fewer && loaded "[5]"
}

has_fewer()
{
	[[ $(job show --job 5 | jq '.groups[0].routers | length') == 3 ]]
}

when_device_comes()
{
	job_file late "{\"job\":7,\"port_map\":\"$dir/late.json\",\"all\":true,\"no_verify\":true}"
	sed 's/"rs0"/"rs2"/' "$dir/all.json" >"$dir/late.json"
	kill -HUP "$daemon" && busywait 20000 grep -q 'no network device rs2' "$dir/log" &&
		loaded "[5]" && ip link add name rs2 type veth peer name rs3 &&
		ip link set rs2 up && busywait 20000 loaded "[5,7]"
	cat "$dir/log"
	loaded "[5,7]" && (($(grep -c 'no network device rs2' "$dir/log") == 1))
}

when_file_goes()
{
	rm "$jobs/late.json" && kill -HUP "$daemon" && busywait 20000 loaded "[5]"
}

# After a restart a job is as its file says, and keeps its flows.
after_restart()
{
	local before

	before=$(ports)
	daemon_stop && loaded "[5]" && daemon_start '' && loaded "[5]" && ! grep '^<' "$dir/log" &&
		[[ $(ports) == "$before" ]] && daemon_stop && job unload --all
}

# checked JQ-FILTER STATUS: nothing is loaded by that
checked()
{
	"$rocesteer" --json daemon --check-job-files "$jobs" >"$dir/out"
	local status=$?
	jq . "$dir/out" && ((status == $2)) && jq -e "$1" "$dir/out" && loaded "[]"
}

# flow_file NAME JOB [FIELDS]
flow_file()
{
	job_file "$1" "{\"job\":$2,\"port_map\":\"$dir/all.json\",\"no_verify\":true,
		\"flow\":\"10.1.1.1/$((16 + $2))\"$3}"
}

checks_files()
{
	rm -f "$jobs"/*
	flow_file a 1 && flow_file b 2 && checked '[.files[].job] == [1, 2]' 0 &&
		flow_file c 2 && checked '[.files[].code] == [null, null, "job-file"] and
			(.files[2].message | contains("/c.json: job: another file"))' 1 &&
		flow_file c 3 ',"dry_run":true' &&
		checked '.files[2].message | contains("dry_run")' 1 &&
		flow_file c 3 ',"port_map":"/none"' && checked '.files[2].code == "bad-file"' 1 &&
		"$rocesteer" daemon --check-job-files "$jobs" | grep '/c.json .*there twice' &&
		rm "$jobs/c.json" && chmod o+w "$jobs/b.json" &&
		checked '.files[1].code == "unsafe" and .files[1].hint' 1 && chmod o-w "$jobs/b.json"
}

# One error for the directory; the daemon goes on.
obeys_root_alone()
{
	chmod o+w "$jobs" && daemon_start 1 && grep "^<3>.*$jobs is open to others" "$dir/log" &&
		(($(grep -c '^<3>' "$dir/log") == 1)) && loaded "[]" && chmod o-w "$jobs" &&
		chmod o+w "$jobs/b.json" && kill -HUP "$daemon" && busywait 20000 loaded "[1]" &&
		busywait 20000 grep "^<3>.*/b.json is open to others" "$dir/log" &&
		chmod o-w "$jobs/b.json" && busywait 20000 loaded "[1,2]" &&
		chown 65534 "$jobs" && kill -HUP "$daemon" &&
		busywait 20000 grep "its owner is user 65534" "$dir/log" && loaded "[1,2]" &&
		chown 0 "$jobs" && mv "$jobs" "$dir/away" && kill -HUP "$daemon" &&
		busywait 20000 loaded "[]" && mv "$dir/away" "$jobs" && cat "$dir/log" &&
		(($(grep -c "cannot read $jobs: No such file" "$dir/log") == 1))
	local status=$?
	daemon_stop
	return "$status"
}

# The first of many jobs is loaded when the signal comes.
stops_at_a_signal()
{
	local n

	for n in {1..100}; do
		flow_file "$n" "$n" || return
	done
	JOURNAL_STREAM=1 "$rocesteer" daemon --job-files "$jobs" >"$dir/log" 2>&1 &
	daemon=$!
	busywait 20000 grep -q 'job-loaded' "$dir/log"
	daemon_stop
	tail -n 3 "$dir/log"
	(($(job list | jq '.jobs | length') < 100)) && ! grep '^<3>' "$dir/log" &&
		job unload --all && rm "$jobs"/*
}

ktap_plan 19
check "a device and port maps are made" ready
check "a job with eight flows over four paths is loaded" loads
check "flows leave a path that is no longer in the map" leaves_a_path
check "flows take a path that is in the map again" takes_a_path
check "the same map moves nothing" keeps_flows
check "flows of peers that are no longer in the map are forgotten" forgets_peers
check "another owner or actuator, or a job that is not loaded, is refused" refuses_others
check "programs are replaced, and flows keep their paths" new_programs
check "packets are steered when prog load is killed at any moment" survives
check "programs stay without a job until they are let go" stay_and_go
check "tables of another layout are refused, and stay" refuses_layouts
check "the daemon loads jobs from files, and tells bad ones" at_start
check "a reload replaces a job by what its file says" on_reload
check "a job is loaded when its device appears" when_device_comes
check "a job whose file is gone is unloaded" when_file_goes
check "a restart of the daemon leaves flows as they are" after_restart
check "files of jobs are checked, and nothing is loaded" checks_files
check "files and directories that others may write are not obeyed" obeys_root_alone
check "a signal ends the daemon in the midst of files, without an error" stops_at_a_signal
ktap_finish
