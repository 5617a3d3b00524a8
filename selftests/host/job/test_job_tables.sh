#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tables and programs of jobs: incomplete, left by killed commands, and beside others' programs

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/job/job.sh
killat=$(realpath -- build/selftests/killat)

# A command does not say that there is no job when the pins are incomplete.
lacks_a_part()
{
	local pin

	job load --job 7 --all --port-map "$map" &&
		pin=$(echo /sys/fs/bpf/rocesteer/netns-*) || return
	rm "$pin/$1"
	refused version 1 list && refused version 1 unload --all &&
		refused version 1 load --job 8 --all --port-map "$map" || return
	"$rocesteer" job list 2>"$dir/said"
	cat "$dir/said"
	eval "$(grep -o 'rm -r .*' "$dir/said")" && busywait 10000 empty
}

two_jobs()
{
	job list >"$dir/log" && jq -e '.jobs | length == 2' "$dir/log"
}

printing()
{
	local flows

	flows=$(printf ',10.2.0.%d/17' {1..100})
	jq '.peers = [.peers[0] as $peer | range(1; 101) |
		$peer + {address: "10.2.0.\(.)"}]' "$map" >"$dir/many.json" &&
		job load --job 9 --port-map "$dir/many.json" --flow "${flows:1}" >"$dir/log" &&
		unread two_jobs "$rocesteer" --json flow show &&
		unread two_jobs "$rocesteer" --json job show --job 9 &&
		job unload --job 9 >"$dir/log"
}

few_calls()
{
	local flows

	flows=$(printf ',10.1.1.1/%d' {1000..2999})
	job load --job 9 --port-map "$map" --flow "${flows:1}" >"$dir/log" &&
		"$killat" 1000 60 "$rocesteer" --json flow show --job 9 >"$dir/out" &&
		jq -e '.flows | length == 2000' "$dir/out" &&
		"$killat" 1000 60 "$rocesteer" --json top --count 1 --interval 10 >"$dir/out" &&
		jq -e '[.groups[] | select(.job == 9).paths[].flows] ==
			[1000, 1000, 0]' \
			"$dir/out" &&
		job unload --job 9 >"$dir/log"
}

# begin_load MAP...: give job 8 copies of job 7's entries, as a killed load leaves them
begin_load()
{
	local pin map entry

	pin=$(echo /sys/fs/bpf/rocesteer/netns-*)
	for map; do
		while read -ra entry; do
			entry[0]=8
			bpftool map update pinned "$pin/$map" key "${entry[@]}" || return
		done < <(bpftool -j map dump pinned "$pin/$map" |
			jq -r '.[] | [.key[], "value", .value[]] | join(" ")')
	done
}

# Job 7 has flows, and job 8 counts none of them.
begins_anew()
{
	local maps before

	before=$(state)
	for maps in rs_groups "rs_groups rs_peers"; do
		# shellcheck disable=SC2086 # words
		begin_load $maps && job load --job 8 --all --port-map "$map" &&
			job show --job 8 | jq -ce '(.peers | length) == 2 and
				([.groups[].flows] | sort) == [[0], [0, 0]]' &&
			job unload --job 8 || return
	done
	[[ $(state) == "$before" ]]
}

# orphan: give a flow of job 7 to a job that does not exist, as a killed load leaves it
orphan()
{
	job load --job 7 --port-map "$map" --flow 10.1.1.1/17,10.1.1.1/18 >"$dir/log" || return
	set_entry flows '.formatted.key.dqpn == 17' "$(flow_byte job)" 8
}

has_flows()
{
	"$rocesteer" --json flow show | jq -e --argjson flows "$1" \
		'[.flows[] | [.job, .dqpn]] | sort == $flows'
}

# A killed command has left tables without a job. A command that reads must not remove tables
# that others may be reading.
readers_remove_nothing()
{
	local pin

	job load --job 7 --port-map "$map" --flow 10.1.1.1/17 >"$dir/log" || return
	pin=$(echo /sys/fs/bpf/rocesteer/netns-*)
	bpftool map delete pinned "$pin/rs_jobs" key 7 0 0 0 &&
		job list | jq -e '.jobs == []' && [[ -e $pin/rs_jobs ]] &&
		job unload --all | jq -e '.unloaded == []' && [[ ! -e $pin ]]
}

frees_flows()
{
	orphan && has_flows '[[7, 18], [8, 17]]' &&
		job load --job 9 --port-map "$map" --flow 10.1.1.1/17 &&
		has_flows '[[7, 18], [9, 17]]' && job unload --all &&
		orphan && job unload --job 8 | jq -e '.error.code == "no-job"' &&
		has_flows '[[7, 18]]' && job unload --all
}

# all_or_nothing: job 1 has all of 2,000 peers, or there is none
all_or_nothing()
{
	if job show --job 9 >"$dir/show"; then
		jq -e '.peers | length == 2000' "$dir/show" >&2
	else
		jq -e '.error.code == "no-job"' "$dir/show" >&2
	fi
}

interrupted()
{
	local ms

	jq '.peers = [.peers[0] as $peer | range(2000) |
		$peer + {address: "10.2.\(. / 250 | floor).\(. % 250 + 1)"}]' \
		"$map" >"$dir/thousands.json"
	for ms in 2 5 10 20 50 100 200 400 800; do
		timeout -s INT "0.$(printf %03d "$ms")" "$rocesteer" job load --job 9 \
			--port-map "$dir/thousands.json" --all >"$dir/log" 2>&1
		all_or_nothing || return
		job unload --all >"$dir/log"
	done
	for ms in 2 4 6 8 12 16 24 32 64; do
		job load --job 9 --port-map "$dir/thousands.json" --all >"$dir/log" &&
			timeout -s INT "0.$(printf %03d "$ms")" "$rocesteer" job \
				unload --all >"$dir/log" 2>&1
		all_or_nothing || return
		job unload --all >"$dir/log"
	done
}

# A daemon that looked for the ports again has found none for path 1.
lacks_a_port()
{
	local at status

	job load --job 1 --port-map "$map" --flow 10.1.1.1/11 >"$dir/log" || return
	at=$(value_byte peers peer sport)
	set_entry peers '.formatted.value.nr_paths == 2' $((at + 2)) 0 $((at + 3)) 0 &&
		job show --job 1 | jq -ce '[.groups[] | select(.leaf == "10.255.0.2") |
			.down, .no_port] == [[], [1]]' &&
		"$rocesteer" --json top --count 1 --interval 10 | jq -ce '[.groups[] |
			select(.leaf == "10.255.0.2").paths[].state] == ["up", "no-port"]'
	status=$?
	job unload --job 1 >"$dir/log"
	return "$status"
}

egress_programs()
{
	bpftool --json net show dev rs0 |
		jq -ce '[.[0].tc[] | select(.kind == "tcx/egress").name]'
}

# A program that returns TC_ACT_OK ends the chain of programs.
runs_first()
{
	echo '__attribute__((section("tcx/egress"))) int f(void *c) { return 0; }' |
		clang -O2 -target bpf -c -x c -o "$dir/ends.o" - &&
		bpftool prog load "$dir/ends.o" /sys/fs/bpf/ends &&
		bpftool net attach tcx_egress pinned /sys/fs/bpf/ends dev rs0 &&
		job load --job 1 --port-map "$map" --flow 10.1.1.1/17 || return
	egress_programs
	[[ $(egress_programs) == '["rocesteer_egress","f"]' ]] &&
		job unload --job 1
}

runs_first_again()
{
	job load --job 1 --port-map "$map" --flow 10.1.1.1/17 &&
		bpftool net detach tcx_egress dev rs0 &&
		attach_first rs0 /sys/fs/bpf/ends || return
	egress_programs
	[[ $(egress_programs) == '["f","rocesteer_egress"]' ]] &&
		job show --job 1 | jq -e '.served and (.first | not)' &&
		job load --job 2 --port-map "$map" --flow 10.1.1.1/18 || return
	egress_programs
	[[ $(egress_programs) == '["rocesteer_egress","f"]' ]] &&
		job show --job 1 | jq -e '.served and .first' &&
		job unload --all && bpftool net detach tcx_egress dev rs0 &&
		rm /sys/fs/bpf/ends
}

ktap_plan 12
ready || exit
check "pins without one of the tables are refused" lacks_a_part rs_tags
check "pins without one of the programs are refused" lacks_a_part set_flow
loads >/dev/null || exit
check "a job can be loaded after a killed load of the same job" begins_anew
check "a command that waits for its reader holds no lock" printing
check "thousands of flows are read with few system calls" few_calls
job unload --all >/dev/null
check "an interrupted load leaves a whole job or none" interrupted
check "flows of a job that is gone are freed" frees_flows
check "commands that read remove no tables" readers_remove_nothing
check "job show names a path without a port" lacks_a_port
check "the programs run before programs that were there" runs_first
check "the next job load puts the programs before programs that came later" runs_first_again
check "in the end no table or program is left" empty
ktap_finish
