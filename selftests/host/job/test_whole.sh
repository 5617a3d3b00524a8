#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whole flows: job load and status say how many queue pairs for each connection load all paths
# alike, and say nothing where the paths are loaded alike, or flows are split

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/job/job.sh
four=(49152 49153 49154 49155)

made()
{
	veth rs0 rs1 && ip address add 10.1.0.1/24 dev rs0
}

# map_of HOSTS PORT..: of so many hosts under the leaf, and of a peer with these paths
map_of()
{
	local hosts=() i

	for ((i = 2; i <= $1; i++)); do
		hosts+=("${near/10.1.0.2/10.1.0.$i}")
	done
	port_map rs0 "${hosts[@]}" "$(peer 10.1.1.1 "${@:2}")" >"$map"
}

# load [OPTION..]: job 7, whose JSON is in $dir/loaded, while no other job is loaded
load()
{
	local flows=(--all)

	[[ " $* " != *" --flow "* ]] || flows=()
	"$rocesteer" job unload --all >"$dir/log" 2>&1
	job load --job 7 --port-map "$map" "${flows[@]}" --no-verify "$@" >"$dir/loaded" &&
		jq -c .whole "$dir/loaded"
}

# says FILTER WORDS [OPTION..]: JSON has it, and without JSON one line on standard error
says()
{
	load "${@:3}" && jq -e ".whole | $1" "$dir/loaded" &&
		job unload --job 7 >"$dir/log" &&
		"$rocesteer" job load --job 7 --port-map "$map" --all --no-verify "${@:3}" \
			2>"$dir/said" >"$dir/log" || return
	cat "$dir/said"
	[[ $(wc -l <"$dir/said") == 1 ]] && grep -q "^job 7: flows stay whole: .*$2" "$dir/said"
}

# silent_load [OPTION..]
silent_load()
{
	load "$@" && jq -e 'has("whole") | not' "$dir/loaded"
}

# The simulator has the load of the fullest link to a spine, the planner what NCCL needs.
of_hosts()
{
	local fullest nccl

	fullest=$("$rocesteer" simulate --leaves 4 --spines 4 --hosts 3 --rate 400 \
		--pattern permutation --policy place,place-4qp --json | jq -c '[.policies[] |
			select(.policy != "ecmp").classes[] |
			select(.class == "leaf-spine").over_ideal]') &&
		nccl=$("$rocesteer" plan --flows 3 --paths 4 --recommend-qps --json | jq .nccl) &&
		echo "$fullest" && map_of 3 "${four[@]}" &&
		says ".hosts == 3 and .paths == 4 and .seen == 0 and .queue_pairs == 4 and
			.nccl == $nccl and .ucx == \"UCX_IB_NUM_PATHS=4 UCX_MAX_RNDV_RAILS=4\" and
			($fullest as [\$whole, \$split] | (.imbalance - \$whole | fabs) < 0.01 and
				\$split == 1)" \
			'the 3 hosts .* 1.33 .*NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_SPLIT_DATA_ON_QPS=1'
}

of_all_places()
{
	map_of 4 "${four[@]}" && says '.hosts == 4 and .imbalance == 1' 'takes one of 4 paths' &&
		map_of 6 "${four[@]}" && says '.hosts == 6 and .imbalance == 1.33' 'the 6 hosts'
}

without_hosts()
{
	map_of 1 "${four[@]}" && says '(has("hosts") or has("imbalance") | not) and .seen == 0' \
		'takes one of 4 paths at a time' && grep 'with --deal place' "$dir/said"
}

by_weight()
{
	map_of 1 "${four[@]}" && jq '.peers[-1].paths[0].weight = 5' "$map" >"$dir/heavy.json" &&
		cp "$dir/heavy.json" "$map" && says '.paths == 4 and .queue_pairs == 8' ' 8 queue pairs'
}

# As rocesteer plan, which recommends 16 at most
too_many()
{
	local ports

	mapfile -t ports < <(seq 49152 49168)
	map_of 1 "${ports[@]}" && says '.queue_pairs == 17 and (has("nccl") or has("ucx") | not)' \
		'rocesteer plan --recommend-qps\.$'
}

# Of a slice the file says who is under the leaf. Flows of its lanes have links of their own.
of_a_slice()
{
	port_map rs0 "$(peer 10.1.1.1 "${four[@]}")" "$(peer 10.1.1.2 "${four[@]}")" >"$map" &&
		jq -n '{job: "train", gpus: 4, stage: "vclos", leaves: [0, 1],
			spines: [0, 1, 2, 3], routers: ["10.255.1.\(range(1; 5))"], objective: 2,
			links: [range(2) as $leaf | [$leaf, range(4)] | .[1:][] | [$leaf, .]],
			servers: [range(2) as $leaf | range(1; 3) | {leaf: $leaf, server: (. - 1),
				gpus: 1, nics: ["10.1.\($leaf).\(.)"]}]}' >"$dir/slice.json" &&
		says '.hosts == 2 and .imbalance == 2' 'the 2 hosts' \
			--slice "$dir/slice.json" --pattern permutation &&
		silent_load --slice "$dir/slice.json" --pattern ring
}

by_listed_flows()
{
	map_of 3 "${four[@]}" && silent_load --flow 10.1.1.1/17,10.1.1.1/18,10.1.1.1/19,10.1.1.1/20 &&
		load --flow 10.1.1.1/17,10.1.1.1/18 &&
		jq -e '.whole.seen == 2 and (.whole | has("imbalance") | not)' "$dir/loaded"
}

is_silent()
{
	silent_load --observe && map_of 3 49152 && silent_load
}

# status FILTER: of the finding, or null where there is none
status()
{
	"$rocesteer" --json status --no-probe >"$dir/status"
	jq -c '.findings' "$dir/status"
	jq -e --argjson whole "$(jq '[.findings[] | select(.code == "whole-flows")] | .[0]' \
		"$dir/status")" "\$whole | $1" "$dir/status"
}

send()
{
	selftests/host/lib/flows.py rs0 10.1.0.1 10.1.1.1 "$1"
}

status_says()
{
	map_of 3 "${four[@]}" && load && status ".severity == \"note\" and
			.whole == $(jq .whole "$dir/loaded")" &&
		send 17 && status '.whole.seen == 1 and .whole.imbalance == 1.33 and
			.hint == "4 queue pairs for each connection load all paths alike: \(
				.whole.nccl), or \(.whole.ucx)"' && jq -e '.fault | not' "$dir/status" &&
		"$rocesteer" status --no-probe | grep 'note *whole-flows .*the 3 hosts .* 1.33 '
}

status_of_some()
{
	send 18 && status '.whole.seen == 2 and (.message | contains("2 queue pairs to a peer"))' &&
		send 19,20 && status '. == null' &&
		send 21 && status '.whole.seen == 5' && send 22,23,24 && status '. == null'
}

# set_all MAP STRUCT MEMBER OFFSET BYTE
set_all()
{
	set_entry "$1" true $(($(value_byte "$1" "$2" "$3") + $4)) "$5"
}

# Of a path that is left nothing can be shared out. Paths that are down come back.
status_of_paths()
{
	load && send 17 && set_all groups group down 0 3 &&
		status '.whole.paths == 4 and .whole.queue_pairs == 4' &&
		set_all groups group down 0 7 && status '. == null' &&
		set_all groups group down 0 0 && status '.whole.paths == 4'
}

# The tables say what they would with a module: all may be split, and the peer's answer is awaited.
status_of_split()
{
	set_all jobs job split 0 2 && status '. == null' &&
		set_all flows flow_path acked 3 0 && status '.whole.seen == 1' &&
		set_all flows flow_path acked 3 255 && set_all flows flow_path flags 0 'old | 16' &&
		status '.whole.seen == 1' && set_all flows flow_path flags 0 'old ^ 16' &&
		set_all flows flow_path nr_pieces 0 2 && status '. == null' &&
		set_all jobs job split 0 0 && status '. == null' &&
		set_all flows flow_path nr_pieces 0 1 && status '.whole.seen == 1' &&
		set_all jobs job split 0 1 && status '. == null'
}

status_of_observed()
{
	load --observe && send 17 && status '. == null'
}

ktap_plan 14
check "a device is made" made
check "job load says what hosts under a leaf load, as simulate and plan do" of_hosts
check "job load says it of more hosts than paths, and has no figure where hosts fill paths" \
	of_all_places
check "job load has no figure where no host under the leaf is known" without_hosts
check "job load has the hosts of a slice, and is silent of its lanes" of_a_slice
check "queue pairs follow from the weights of paths" by_weight
check "more queue pairs than are recommended have no setting" too_many
check "job load counts the flows that are listed" by_listed_flows
check "job load is silent of observed flows and of one path" is_silent
check "status says it until connections have their queue pairs" status_says
check "status counts the queue pairs to a peer" status_of_some
check "status is silent where one path is up" status_of_paths
check "status is silent where flows are split, or may be" status_of_split
check "status is silent of observed flows" status_of_observed
ktap_finish
