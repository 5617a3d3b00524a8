#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# All of rocesteer-perf over NICs that fake_verbs.c stands in for: results are right, and if
# one rank fails, all ranks end with the same message.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/perf/perf.sh
perf=build/user/perf_fake
grid=(--dims 4x2 --bandwidth "2,1" --size 256K --chunks 8 --rdma-dev "fake0,fake1"
	--warmup 1 --iters 3)

# start RANKS OPTION...: start all, $faulty with its $fault; they wait for $patience seconds
start()
{
	local ranks=$1 i
	shift

	begin
	limit=${patience:-60}
	for ((i = 0; i < ranks; i++)); do
		FAULT=$( ((i == faulty)) && echo "$fault") rank "$i" "$@"
	done
}

# with FAULT RANK COMMAND...: run it while this rank has the fault
with()
{
	local fault=$1 faulty=$2
	shift 2
	"$@"
}

# bury RANK: end it, if it still runs
bury()
{
	kill -KILL "${pid[$1]}" 2>/dev/null
	wait "${pid[$1]}" 2>/dev/null
	unset "pid[$1]"
	rm "$dir/out$1"
}

# right OPTION...: the collective runs, and no element is wrong
right()
{
	with none -1 start 6 --dims 3x2 --bandwidth 2,1 --rdma-dev fake0,fake1 \
		--chunks 3 --warmup 0 --iters 2 --json "$@"
	all_end 0 '' || return
	jq -c '{collective, results}' "$dir/out0"
	jq -e '.results[0] | .wrong == 0 and .size == .count * 4 and
		.least_us <= .time_us and .time_us <= .most_us' \
		"$dir/out0" >/dev/null
}

# rates BUSBW: algbw is size over time, and busbw so many hundredths of it, within the digits
# that are printed
rates()
{
	jq -e --argjson busbw "$1" '.results[0] |
		((.size / .time_us / 1000) as $rate |
		(.algbw - $rate | fabs) < 0.0002 and
		(.busbw - $rate * $busbw / 100 | fabs) < 0.0003)' "$dir/out0"
}

# 52 bytes are 13 elements, for 6 ranks.
collectives()
{
	right --size 384000 && rates 166.667 &&
		right --size 384000 --collective all-gather \
			--algorithm direct,ring && rates 83.333 &&
		right --size 384000 --collective reduce-scatter \
			--type float32 && rates 83.333 &&
		right --size 156 --algorithm direct,halving
}

# A device may serve two dimensions. A dimension of one endpoint needs none.
odd_grids()
{
	with none -1 start 4 --dims 1x2x2 --bandwidth 1,2,1 --chunks 5 \
		--rdma-dev none,fake0,fake0 --size 64000
	all_end 0 ''
}

# The file of ranges may be a device, which is written to and not replaced.
full_device()
{
	with none -1 start 2 --dims 2 --bandwidth 1 --chunks 1 --rdma-dev fake0 --size 64000 \
		--ranges-out /dev/full
	all_end 1 "/dev/full: No space left on device" && [[ -c /dev/full ]]
}

killed()
{
	local fault=kill:30 faulty=$1

	start 8 "${grid[@]}"
	wait "${pid[faulty]}" 2>/dev/null
	bury "$faulty"
	all_end 1 "rank $faulty ($2) has ended"
}

# The host is lost in all its NICs.
lost_host()
{
	local fault=lost:30 faulty=$1 patience=12 i

	start 8 "${grid[@]}"
	for i in 0 1 2 3 4 5 6 7; do
		((i == faulty)) || wait "${pid[i]}"
	done
	bury "$faulty"
	all_end 1 "rank $faulty"
}

port_down()
{
	with down:30 5 start 8 "${grid[@]}"
	all_end 1 ": its port is not active: Network is down" &&
		all_end_has "rank 5: dimension "
}

# Each rank sends to all others in turn, and one stops before its last message: rank 2 waits
# for this rank, and the other ranks for rank 2.
stopped()
{
	local fault=stop:3 faulty=3 patience=12

	start 4 --dims 4 --bandwidth 1 --size 64K --chunks 1 --rdma-dev fake0 \
		--warmup 0 --iters 1 --collective all-gather --algorithm direct
	wait "${pid[0]}"
	bury 3
	all_end 1 "rank 3 (127.0.0.1) does not answer: it has not sent its result"
}

# Most ranks wait for a rank that waits itself.
mute()
{
	local patience=12

	with mute:12 6 start 8 "${grid[@]}"
	all_end 1 "waits for rank 6 to send in dimension"
}

# Queue pairs are connected even if no run follows.
not_connected()
{
	with connect:1 3 start 4 --dims 4 --bandwidth 1 --size 64K --chunks 1 \
		--rdma-dev fake0 --warmup 0 --iters 0
	all_end 1 "rank 3: dimension 0: fake0: cannot connect to rank 0: No route"
}

wrong()
{
	with wrong:30 5 start 8 "${grid[@]}" --json
	all_end 1 '"code":"wrong"' &&
		jq -e -s 'length == 1 and .[0].results[0].wrong > 0 and
			(.[0].error.message | test("elements are wrong"))' \
			"$dir/out0"
}

gids()
{
	with none -1 start 2 --dims 2 --bandwidth 1 --size 64K --rdma-dev fake0/1
	all_end 0 '' || return
	with none -1 start 2 --dims 2 --bandwidth 1 --size 64K --rdma-dev fake0/0
	all_end 1 "dimension 0: fake0: the GID of this index is not one of RoCE v2"
}

group=0

forgotten()
{
	! compgen -G "$dir/group-*"
}

# summed FAULT OPTION...: four ranks whose switch is fake_switch.py, with that fault
summed()
{
	local what=$1
	shift

	start 4 --dims 4 --bandwidth 1 --rdma-dev fake0 --group $((++group)) --json \
		--algorithm netreduce --switch "python3 selftests/host/perf/fake_switch.py '$dir' $what alone" \
		"$@"
}

# sums OPTION...: the switch gets its group, sums all runs, and loses its group
sums()
{
	with none -1 summed none --warmup 1 --iters 2 "$@"
	all_end 0 '' || return
	jq -c '{by_ring, dimensions, results}' "$dir/out0"
	jq -e '.by_ring == 0 and .results[0].wrong == 0 and
		.dimensions[0].algorithm == "netreduce" and
		.dimensions[0].bytes == .results[0].size and .predicted_us < .ring_us' \
		"$dir/out0" >/dev/null && forgotten
}

# Messages have 40 KiB: 9 of them and a shorter one, fewer than the window, a single element
switch_sums()
{
	sums --size 384000 --latency 1 && group=16382 sums --size 384000 --type float32 &&
		sums --size 40960 && sums --size 4 --chunks 1 &&
		sums --size 30000 --chunks 1 --packets 1
}

told()
{
	cat "$dir"/out* "$dir/told"
	jq -e '.group == 7 and .mtu == 1024 and .packets == 9 and .window == 2 and
		.type == "fp32" and (.ranks | map(.address) | unique) == ["10.0.0.1"] and
		(.ranks | map(.qpn) | unique | length) == 4' "$dir/told"
}

# All ranks print the switch's reason.
switch_refuses()
{
	local what="cat >'$dir/told'; echo >&2 'group 7: it exists'; false #"

	with none -1 start 4 --dims 4 --bandwidth 1 --rdma-dev fake0 --size 64K --group 7 \
		--packets 9 --type float32 --algorithm netreduce --switch "$what"
	all_end 1 "rank 0: --switch: " && all_end_has "group 7: it exists" && told
}

# A rank that still sends when its switch goes gets no acknowledgement, the others get no result.
gone='nothing has happened|transport retry counter exceeded'

# by_ring FAULT RUNS REGEX: results are right, and so many of four runs went by the ring
by_ring()
{
	local patience=16

	with none -1 summed "$1" --size 384000 --warmup 1 --iters 3
	all_end 1 '' || return
	jq -c '{by_ring, reason, dimensions, results, error}' "$dir/out0"
	jq -e --argjson runs "$2" --arg reason "$3" '.by_ring == $runs and
		(.reason | test($reason)) and .results[0].wrong == 0 and
		.error.code == "fallback"' "$dir/out0" >/dev/null && forgotten
}

# A run has ten messages. Without a switch nobody has the queue pair.
switch_fails()
{
	by_ring die:15 3 "$gone" &&
		by_ring lose:40 1 "nothing has happened for 4 seconds, with 9 of 10 results here" &&
		by_ring lose:35 1 "result 35 has come, not 34" &&
		by_ring twist:12 3 "result 12 has come, not 11" || return
	with none -1 start 3 --dims 3 --bandwidth 1 --rdma-dev fake0 --size 48K --chunks 3 \
		--algorithm netreduce --switch true
	all_end 1 "netreduce has failed, and 25 of 25 runs went by the ring: rank " &&
		all_end_has "to the switch: transport retry counter exceeded"
}

# The group stays on the switch, and rank 0 prints the results and says so.
not_forgotten()
{
	local switch="python3 selftests/host/perf/fake_switch.py '$dir' none alone"
	local only_load="sh -c 'test \$2 = load || { echo >&2 it stays; exit 1; }; exec \"\$@\"'"

	with none -1 start 2 --dims 2 --bandwidth 1 --rdma-dev fake0 --size 64K --json \
		--algorithm netreduce --switch "${only_load/exec/exec $switch} sh"
	wait "${pid[1]}" && [[ ! $(<"$dir/out1") ]] || return
	unset 'pid[1]'
	rm "$dir/out1"
	all_end 1 "it stays" &&
		jq -e '.by_ring == 0 and .results[0].wrong == 0 and .error.code == "switch"' \
			"$dir/out0" &&
		eval "$switch reduce unload 0"
}

# Two leaves and two spines: two groups with a root, which ranks that cross reach by their
# second path, and a third group below one leaf
plan()
{
	local ranks='[{"address":"10.0.0.1","leaf":3},
		{"address":"10.0.0.1","leaf":3,"router":"10.255.1.2"},
		{"address":"10.0.0.1","leaf":5},
		{"address":"10.0.0.1","leaf":5,"router":"10.255.1.1"}]'
	local port_map='{"format":1,"generation":1,"created":"2026-01-02T03:04:05Z",
		"device":"eth0","hop":2,"peers":[{"address":"10.0.0.1","source":"10.0.0.1",
		"local":false,"leaf":"10.255.0.2","probed":2,"paths":[
		{"path":0,"router":"10.255.1.1","ports":[49152]},
		{"path":1,"router":"10.255.1.2","ports":[49160,49161]}]}]}'

	group=$((group + 3))
	jq -n --argjson n "$group" --argjson ranks "$ranks" '{format: 1, job: "x", groups: [
		{group: $n, root: 1, mtu: 4096, packets: 9, window: 2, ranks: $ranks},
		{group: ($n + 1), root: 2, mtu: 512, packets: 18, window: 3, ranks: $ranks},
		{group: ($n + 2), mtu: 4096, packets: 9, window: 1,
			ranks: ($ranks | map({address, leaf: 7}))}]}' >"$dir/plan"
	echo "$port_map" >"$dir/map"
	rm -f "$dir/labels"
}

# planned FAULT OPTION...: four ranks with that plan
planned()
{
	local what=$1
	shift

	start 4 --dims 4 --bandwidth 1 --rdma-dev fake0 --groups "$dir/plan" --json \
		--port-map "$dir/map" --algorithm netreduce --latency 1 \
		--switch "python3 selftests/host/perf/fake_switch.py '$dir' $what %s" "$@"
}

# A group that a leaf has reserved stays there.
plan_sums()
{
	plan
	echo {} >"$dir/group-$group-leaf3"
	with none -1 planned none --warmup 1 --iters 2 --size 384000
	all_end 0 '' || return
	jq -c '{groups, by_ring, dimensions, results}' "$dir/out0"
	jq -e --argjson n "$group" '.by_ring == 0 and .results[0].wrong == 0 and
		.groups == [{group: $n, root: 1}, {group: ($n + 1), root: 2},
			{group: ($n + 2)}] and
		.dimensions[0].bytes == 384000' "$dir/out0" >/dev/null &&
		diff <(sort -n "$dir/labels") - <<-E &&
		$group 0 0
		$group 1 8
		$group 2 0
		$group 3 16385
		$((group + 1)) 0 0
		$((group + 1)) 1 8
		$((group + 1)) 2 0
		$((group + 1)) 3 16385
		$((group + 2)) 0 0
		$((group + 2)) 1 0
		$((group + 2)) 2 0
		$((group + 2)) 3 0
		E
		[[ $(compgen -G "$dir/group-*") == "$dir/group-$group-leaf3" ]] || return
	rm "$dir/group-$group-leaf3"
	with none -1 planned none --warmup 0 --iters 2 --size 4 --chunks 1 --type float32
	all_end 0 '' && forgotten
}

# left_out FAULT RUNS REGEX...: so many runs went by the ring; of each group the reason for which it
# was left out, or nothing
left_out()
{
	local patience=32 what=$1 runs=$2
	shift 2

	with none -1 planned "$what" --size 384000 --warmup 1 --iters 3
	all_end 1 '' || return
	jq -c '{by_ring, reason, groups, dimensions, results, error}' "$dir/out0"
	jq -e --argjson runs "$runs" '.by_ring == $runs and .results[0].wrong == 0 and
		(.reason | startswith("group ")) and
		.error.code == "fallback" and ([.groups[] | .failed // ""] as $said |
		[range(3) | . as $i | $said[$i] | test($ARGS.positional[$i]) and
			($ARGS.positional[$i] != "") == (. != "")] | all)' \
		--args "$@" <"$dir/out0" >/dev/null && forgotten
}

# A group fails; all groups fail in the second run; one fails, then another is refused.
plan_fails()
{
	plan
	left_out "twist:6@$((group + 1))" 1 '' 'result 6 has come, not 5' '' || return
	plan
	left_out die:20 3 "$gone" "$gone" "$gone" || return
	plan
	left_out "twist:3@$group,refuse:2@$((group + 1))" 1 'result 3 has come, not 2' \
		"takes no group $((group + 1))" ''
}

# plan_refused STATUS TEXT [FAULT]: all ranks refuse it before the first run
plan_refused()
{
	with none -1 planned "${3:-none}" --size 64K
	all_end "$1" "$2" && forgotten
}

# change FILE FILTER: edit a file with jq
change()
{
	jq "$2" "$1" >"$1.new" && mv "$1.new" "$1"
}

# One rank's finding ends all ranks.
plan_differs()
{
	plan
	plan_refused 1 "takes no group $((group + 1))" "refuse:1@$((group + 1))" || return
	plan
	change "$dir/plan" '.groups[2].ranks[2].address = "10.0.0.9"'
	plan_refused 2 "rank 2: $dir/plan: ranks[2] of group $((group + 2)) is 10.0.0.9, but fake0 has 10.0.0.1" ||
		return
	plan
	change "$dir/map" 'del(.peers[0].paths[1])'
	plan_refused 2 "rank 1: $dir/map: no path to 10.0.0.1 has the router 10.255.1.2, as rank 1 needs in group $group" ||
		return
	plan
	change "$dir/map" '.peers[0].address = "10.0.0.8"'
	plan_refused 2 "$dir/map: there is no peer 10.0.0.1 of the source 10.0.0.1, the rank after "
}

# A rank that is gone is no failure of the switch.
summed_rank_killed()
{
	local fault=kill:12 faulty=2

	summed none --size 384000
	wait "${pid[faulty]}" 2>/dev/null
	bury "$faulty"
	all_end 1 "rank $faulty (127.0.0.1) has ended" && forgotten
}

# grid_summed FAULT OPTION...: eight ranks, whose first dimension sums in two groups
grid_summed()
{
	local what=$1
	shift

	group=$((group + 2))
	start 8 --dims 4x2 --rdma-dev "fake0,fake1" --size 1M --chunks 8 --json \
		--group $((group - 1)) --algorithm "netreduce,direct" \
		--switch "python3 selftests/host/perf/fake_switch.py '$dir' $what alone" "$@"
}

# dimension_sums BYTES OPTION...: rank 0 sends so many in that dimension
dimension_sums()
{
	local bytes=$1
	shift

	with none -1 grid_summed none --warmup 1 --iters 2 "$@"
	all_end 0 '' || return
	jq -c '{dimensions, results}' "$dir/out0"
	jq -e --argjson bytes "$bytes" '.results[0].wrong == 0 and
		.dimensions[0].algorithm == "netreduce" and .dimensions[0].bytes == $bytes' \
		"$dir/out0" >/dev/null && forgotten
}

# All chunks are halves there, or five of eight are scattered. Messages have 40 KiB, or 3.
a_dimension_sums()
{
	dimension_sums 524288 --bandwidth 1,2 --type float32 &&
		dimension_sums 1179648 --bandwidth 2,1 --packets 3 --in-flight 1
}

# Four messages make a run of a group, whose last result does not come.
a_group_fails()
{
	local patience=30

	with none -1 grid_summed "lose:16@$((group + 2))" --bandwidth 1,2 --packets 32
	all_end 1 "dimension 0: group $group: rank " &&
		all_end_has "has waited for the sum of chunk" && forgotten || return
	with none -1 grid_summed "refuse:1@$((group + 2))" --bandwidth 1,2
	all_end 1 "takes no group $group" && forgotten || return
	with none -1 grid_summed "twist:9@$((group + 1))" --bandwidth 1,2
	all_end 1 "dimension 0: group $((group - 1)): result 9 has come, not 8" && forgotten
}

ktap_plan 23
check "all collectives have right results" collectives
check "dimensions of one endpoint, and two dimensions on one device, work" odd_grids
check "a file of ranges on a full device is a failure" full_device
check "ranks end and name the rank that was killed" killed 5 127.0.0.1
check "ranks end when rank 0 is killed" killed 0 localhost
check "ranks end and name a host that is lost" lost_host 5
check "ranks end when rank 0's host is lost" lost_host 0
check "ranks end and name a port that goes down" port_down
check "ranks name a rank that stops before it has sent its result" stopped
check "ranks end and name a rank that does not send" mute
check "ranks end and name a rank that cannot connect" not_connected
check "wrong elements are counted in the JSON output" wrong
check "a GID index that is not of RoCE v2 is refused" gids
check "a switch's sums are right" switch_sums
check "a run ends when a switch refuses its group" switch_refuses
check "the ring runs when a switch fails" switch_fails
check "a switch that does not unload its group is named" not_forgotten
check "sums by the groups of a plan are right" plan_sums
check "groups that fail are left out, and the sums are right" plan_fails
check "a plan that does not fit switches or hosts is refused" plan_differs
check "sums in one dimension of two are right" a_dimension_sums
check "ranks end and name a group of a dimension that fails" a_group_fails
check "ranks end when one is killed while a switch sums" summed_rank_killed
ktap_finish
