#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer slice submit and queue: the order of starts, and the file.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/slice/slices.sh

# A job of half of all GPUs, one of all GPUs, and a small one
three()
{
	cluster '{"leaves":2,"spines":4,"gpus_per_leaf":4,"gpus_per_server":2}'
	slice submit --gpus 4 --job half --duration 100 &&
		slice submit --gpus 8 --job all --duration 10 &&
		slice submit --gpus 1 --job one --duration 50 | jq -e '.waiting == 3'
}

# queue ORDER NAMES: these jobs wait in this order
queue()
{
	slice queue --order "$1" |
		jq -e --arg names "$2" '.started == [] and
			([.waiting[].job] | join(" ")) == $names'
}

orders()
{
	three && queue fifo "half all one" &&
		queue fewest-gpus "one half all" &&
		queue shortest "all one half" &&
		queue backfill "half all one" &&
		jq -e '[.queue[].job] == ["half", "all", "one"]' "$file"
}

blocks()
{
	three && slice queue --start | jq -e '[.started[].job] == ["half"] and
		.started[0].stage == "leaf" and .started[0].jwt_s >= 0 and
		([.waiting[] | [.job, .lacks]] ==
			[["all", "gpus"], ["one", null]])' &&
		jq -e '(.jobs | keys) == ["half"] and (.queue | length) == 2 and
			(.jobs.half | has("submitted") and has("since"))' \
			"$file" &&
		slice release --job half | jq -e '.gpus == 4 and .jwt_s >= 0 and
			.jct_s == .jwt_s + .jrt_s' &&
		slice queue --start | jq -e '[.started[].job] == ["all"] and
			[.waiting[].job] == ["one"]' &&
		slice release --job all &&
		slice queue --start | jq -e '[.started[].job] == ["one"] and
			.waiting == []' &&
		jq -e '.queue == []' "$file" && file_is_right
}

fewest_first()
{
	three && slice queue --start --order fewest-gpus |
		jq -e '[.started[].job] == ["one", "half"] and
			[.waiting[].job] == ["all"]' &&
		file_is_right
}

# Jobs without a place say what they lack. Without --start no job is started, and nothing is
# known about jobs behind the one to start.
backfill()
{
	three && slice submit --gpus 8 --job most &&
		slice queue --order backfill | jq -e '.started == [] and
			all(.waiting[]; has("lacks") | not)' &&
		slice queue --start --order backfill |
		jq -e '[.started[].job] == ["half", "one"] and
			([.waiting[] | [.job, .lacks]] ==
				[["all", "gpus"], ["most", "gpus"]])' &&
		slice queue | jq -e '[.waiting[].lacks] == ["gpus", null]' &&
		jq -e '(.jobs | keys) == ["half", "one"]' "$file" &&
		file_is_right
}

withdraws()
{
	three && slice release --job all | jq -e '.gpus == 0' &&
		jq -e '[.queue[].job] == ["half", "one"]' "$file" &&
		slice queue --start | jq -e '[.started[].job] ==
			["half", "one"]' &&
		jq -s -e 'map(.decision) == ["submit", "submit", "submit",
			"withdraw", "alloc", "alloc"]' "$file.journal" &&
		file_is_right
}

alloc_of_a_waiting_job()
{
	three && refused 1 exists "the job all is in the queue with 8 GPUs, not 2" \
		alloc --gpus 2 --job all &&
		refused 1 exists "is in the queue with 8 GPUs, not 2" \
			alloc --servers 0/0 --job all --dry-run &&
		slice alloc --gpus 8 --job all | jq -e '.stage == "vclos"' &&
		jq -e '[.queue[].job] == ["half", "one"] and
			(.jobs.all | has("submitted"))' "$file" && file_is_right
}

moves_circuits()
{
	cluster '{"leaves":2,"spines":2,"gpus_per_leaf":2,"gpus_per_server":1,
		"oxcs":2,"spine_ports":2,"circuits":[[0,0],[1,1]]}'
	slice submit --gpus 4 --job a &&
		slice queue --start | jq -e '.waiting[0].lacks == "network"' &&
		slice queue --start --ocs --driver false | jq -e '.error.code == "driver"' &&
		jq -e '(.queue | length) == 1 and .circuits[0] == [0, 0]' "$file" &&
		slice queue --start --ocs --driver true |
		jq -e '.started[0].stage == "ocs" and .waiting == []' &&
		file_is_right
}

# Two jobs have places, and the driver fails before the second.
says_what_it_started()
{
	local out=$dir/out

	cluster '{"leaves":2,"spines":2,"gpus_per_leaf":3,"gpus_per_server":1,
		"oxcs":2,"spine_ports":2,"circuits":[[0,0],[1,1]]}'
	slice submit --gpus 1 --job a && slice submit --gpus 4 --job b &&
		cp "$file" "$dir/before" || return
	slice queue --start --ocs --driver false >"$out"
	(($? == 1)) && jq -s -e 'length == 1 and (.[0] |
		[.started[].job] == ["a"] and .error.code == "driver" and
		(has("waiting") | not))' "$out" && cp "$dir/before" "$file" &&
		rm "$file.journal" || return
	"$rocesteer" slice queue --start --ocs --driver false \
		--cluster "$file" >"$out" 2>"$dir/said"
	(($? == 1)) && cat "$out" "$dir/said" &&
		awk 'NR == 1 { ok = $1 == "STARTED" } NR == 2 { ok = ok && $1 == "a" }
			END { exit !(ok && NR == 2) }' "$out" &&
		[[ $(<"$dir/said") == "rocesteer: false: exit status 1"* ]] &&
		jq -e '(.jobs | keys) == ["a"] and .queue[0].job == "b"' "$file"
}

# Such a job would hold back all others for ever. Failed and allocated parts may come back.
never_fits()
{
	cluster '{"leaves":2,"spines":3,"gpus_per_leaf":4,"gpus_per_server":2,
		"failed":{"leaves":[0]},"free_gpus":[[0,0],[2,2]]}'
	refused 3 shape "5 GPUs: under several leaves a job has whole servers of 2 GPUs" \
		submit --gpus 5 &&
		refused 3 shape "8 GPUs: even in the empty cluster, leaves share no number of lanes" \
			submit --gpus 8 &&
		slice submit --gpus 3 &&
		cluster '{"leaves":2,"spines":4,"gpus_per_leaf":4,
			"gpus_per_server":2,"failed":{"spines":[0]}}' &&
		slice submit --gpus 5 | jq -e '.error.hint ==
			"The nearest numbers of GPUs that fit are 4 and 6."' &&
		slice submit --gpus 6 --job uneven && slice release --job uneven &&
		slice submit --gpus 8 &&
		slice queue | jq -e '.waiting[0].lacks == "network"'
}

# A spine has one port at each OXC, whatever is moved.
never_fits_circuits()
{
	cluster '{"leaves":3,"spines":2,"gpus_per_leaf":2,"gpus_per_server":1,
		"oxcs":2,"spine_ports":1}'
	refused 3 shape "6 GPUs: even in the empty cluster, leaves share no number of lanes" \
		submit --gpus 6 && slice submit --gpus 4 &&
		jq '.queue[0].gpus = 6' "$file" >"$dir/old" &&
		cp "$dir/old" "$file" &&
		slice queue | jq -e '.waiting[0].lacks == "shape"'
}

usage()
{
	three && refused 1 exists "the job all is in the file already" submit --gpus 1 --job all &&
		refused 3 gpus "9 GPUs are wanted, there are 8" submit --gpus 9 &&
		refused 2 usage "--duration: '0'" submit --gpus 1 --duration 0 &&
		refused 2 usage "--job: 'a/b'" submit --gpus 1 --job a/b &&
		refused 2 usage "--order: 'last'" queue --order last &&
		refused 2 usage "--driver COMMAND is missing" queue --start --ocs &&
		refused 2 no-ocs "oxcs: is missing" queue --ocs
}

lacks_its_own()
{
	cluster '{"leaves":1,"spines":1,"gpus_per_leaf":2,"gpus_per_server":1,
		"queue":[{"job":"a","gpus":1,"submitted":"2026-01-02T03:04:05Z",
			"lacks":[null],"site":[null]}]}'
	slice queue | jq -e '.waiting[0] | .site == [null] and
		(has("lacks") | not)' &&
		"$rocesteer" slice queue --cluster "$file"
}

# wrong FIELD MESSAGE QUEUE: a file with this queue is refused
wrong()
{
	cluster "{\"leaves\":1,\"spines\":1,\"gpus_per_leaf\":2,
		\"gpus_per_server\":1,\"queue\":$3}"
	refused 2 bad-file "$file: $1: $2" queue
}

wrong_files()
{
	local a='"job":"a","gpus":1,"submitted":"2026-01-02T03:04:05Z"'

	wrong queue "is of type object" '{}' &&
		wrong "queue[0]" "is not an object" '[1]' &&
		wrong "queue[0].job" "is missing" '[{}]' &&
		wrong "queue[0].gpus" "3 is not a number from 1 to 2" "[{${a/s\":1/s\":3}}]" &&
		wrong "queue[0].submitted" "is not an RFC 3339 time" "[{${a/T03/ 03}}]" &&
		wrong "queue[0].duration" "0 is not" "[{$a,\"duration\":0}]" &&
		wrong "queue[0].job" "is not the name of a job" "[{${a/\"a\"/\"a b\"}}]" &&
		wrong "queue[1].job" "is there more than once" "[{$a},{$a}]"
}

schema()
{
	three && slice queue --start >"$dir/out" && jq -e '.queue | length > 0' "$file" &&
		"$slices" schema "$file"
}

ktap_plan 14
check "jobs wait in the order of --order" orders
check "the first job without a place holds the others back" blocks
check "with the fewest GPUs first, small jobs pass" fewest_first
check "in backfill, jobs that have a place pass" backfill
check "a waiting job can be withdrawn" withdraws
check "slice alloc for a waiting job takes the size that it waits for" alloc_of_a_waiting_job
check "circuits are moved for a job that waits" moves_circuits
check "jobs that were started before a failure are reported" says_what_it_started
check "the reason why a job waits is not read from the file" lacks_its_own
check "a job that fits no empty cluster is not queued" never_fits
check "a job without a number of lanes on circuits is not queued" never_fits_circuits
check "wrong usage of slice submit and queue is refused" usage
check "a wrong file is refused by file and field" wrong_files
check "cluster files with a queue fit the schema" schema
ktap_finish
