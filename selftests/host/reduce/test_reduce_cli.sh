#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer reduce without the module: arguments, every field of the group file, and the
# groups of jobs.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/lib/command.sh
file=$dir/group.json

# group [FILTER]: a right group file, edited by jq
group()
{
	jq -n '{group: 5, type: "int32", op: "sum", mtu: 4096, packets: 40, window: 2,
		ranks: [range(2) | {address: "10.1.0.\(. + 1)", qpn: (17 + .), psn: 1000,
			va: 1099511627776}]}' | jq "${1:-.}"
}

# said CODE STATUS MESSAGE ARGUMENT...: exactly this error, in words and in JSON
said()
{
	local code=$1 want=$2 message=$3 json status text
	shift 3

	json=$("$rocesteer" --json reduce "$@" </dev/null)
	status=$?
	text=$("$rocesteer" reduce "$@" 2>&1 </dev/null | head -n 1)
	echo "$json"
	((status == want)) && [[ $text == "rocesteer: $message" ]] &&
		jq -e --arg code "$code" --arg message "$message" \
			'.error | .code == $code and .message == $message' <<<"$json"
}

# bad FILTER MESSAGE: the edited file is refused by file and field
bad()
{
	group "$1" >"$file" && said bad-file 2 "$file: $2" load "$file"
}

usage()
{
	local not="is not a number from 0 to 16383"

	said usage 2 "FILE, or --cluster and --job, is missing" load &&
		said usage 2 "FILE is missing" join &&
		said usage 2 "FILE and --cluster, --job or --mtu exclude each other" \
			load "$file" --job a &&
		said usage 2 "--leaf or --spine is missing" \
			load --cluster "$file" --job a &&
		said usage 2 "--leaf and --spine exclude each other" \
			load "$file" --leaf 0 --spine 0 &&
		said usage 2 "--job NAME is missing" plan --cluster "$file" &&
		said usage 2 "[FILE] is empty" load '' &&
		said usage 2 "unexpected argument x" load "$file" x &&
		said usage 2 "GROUP, or --cluster and --job, is missing" unload &&
		said usage 2 "GROUP: '16384' $not" unload 16384 &&
		said usage 2 "GROUP: 'x' $not" show x &&
		said usage 2 "GROUP: '-1' $not" show -- -1 &&
		said usage 2 "unexpected argument 2" show 1 2 &&
		said usage 2 "unexpected argument 1" stat 1
}

no_json()
{
	said no-file 2 "$dir/nowhere: No such file or directory" load "$dir/nowhere" &&
		said bad-file 2 "standard input: is not JSON: it ends too early" load - &&
		echo '{"group":1,"group":2}' >"$file" &&
		said bad-file 2 "$file: line 1: the field \"group\" is there twice" \
			load "$file" &&
		bad '[.]' "(root): is not an object"
}

fields()
{
	local field words="is not one of group, type, op, mtu, packets, window, root, box, ranks"

	for field in group type op mtu packets window ranks; do
		bad "del(.$field)" "$field: is missing" || return
	done
	for field in address qpn psn va; do
		bad "del(.ranks[1].$field)" "ranks[1].$field: is missing" || return
	done
	bad '.windows = 1' "windows: $words" &&
		bad '.["a\u001b"] = 1' "a?: $words" &&
		bad '.ranks[1].rkey = 1' "ranks[1].rkey: is not one of address, leaf, qpn, psn, va, sender_qpn"
}

values()
{
	local most=18446744073709551614

	bad '.group = 16384' "group: 16384 is not a number from 0 to 16383" &&
		bad '.group = -1' "group: -1 is not a number from 0 to 16383" &&
		bad '.group = "5"' "group: is of type string, not int" &&
		bad '.type = "float32"' \
			"type: 'float32' is not one of int32, fp32, bf16, fp16, int64, fp64" &&
		bad '.op = "mean"' "op: 'mean' is not one of sum, min, max" &&
		bad '.mtu = 128' "mtu: 128 is not a number from 256 to 4096" &&
		bad '.mtu = 1500' "mtu: 1500 is not one of 256, 512, 1024, 2048, 4096" &&
		bad '.packets = 0' "packets: 0 is not a number from 1 to 4096" &&
		bad '.window = 103' \
			"window: 103 messages of 40 packets are more than 4096 packets" &&
		bad '.ranks[0].qpn = 16777216' \
			"ranks[0].qpn: 16777216 is not a number from 0 to 16777215" &&
		bad '.ranks[0].psn = -1' \
			"ranks[0].psn: -1 is not a number from 0 to 16777215" &&
		bad '.ranks[0].va = -1' "ranks[0].va: -1 is not a number from 0 to $most" &&
		group | sed 's/1099511627776/18446744073709551616/' >"$file" &&
		said bad-file 2 "$file: ranks[0].va: ${most%4}5 is not a number from 0 to $most" \
			load "$file"
}

ranks()
{
	bad '.ranks = []' "ranks: has 0 entries, not 2 to 64" &&
		bad 'del(.ranks[0])' "ranks: has 1 entries, not 2 to 64" &&
		bad '.ranks = [range(65)]' "ranks: has 65 entries, not 2 to 64" &&
		bad '.ranks[1] = 7' "ranks[1]: is not an object" &&
		bad '.ranks[1].address = "10.1.0"' \
			"ranks[1].address: '10.1.0' is not an address of a host" &&
		bad '.ranks[1].address = "ff02::1"' \
			"ranks[1].address: 'ff02::1' is not an address of a host" &&
		bad '.ranks[1].address = "fd00::1"' \
			"ranks[1].address: is not of the family of ranks[0]"
}

# A box is of the ranks' family and none of them, alone, and knows the senders.
boxes()
{
	local box='del(.root) | .ranks[].sender_qpn = 9'

	bad '.ranks[0].sender_qpn = 9' \
		"ranks[0].sender_qpn: needs a box, the group has none" &&
		bad '.box = "10.9.9.9" | del(.root)' "ranks[0].sender_qpn: is missing" &&
		bad '.root = 1 | .box = "10.9.9.9"' "box: and root exclude each other" &&
		bad "$box | .box = \"x\"" "box: 'x' is not an address of a host" &&
		bad "$box | .box = \"fd00::9\"" "box: is not of the family of ranks[0]" &&
		bad "$box | .box = .ranks[1].address" "box: is the address of ranks[1]" || return
	group "$box | .box = \"10.9.9.9\"" >"$file"
	said box 2 "--leaf and --spine: a box sums for group $(jq .group "$file")" load "$file" \
		--leaf 0
}

# Leaves ascend, and the switch is one of the group's.
leaves()
{
	bad '.ranks[0].leaf = 1' "ranks[1].leaf: 0 is below that of the rank before" &&
		bad '.ranks[0].leaf = -1' "ranks[0].leaf: -1 is not a number from 0 to 65535" &&
		bad '.root = "x"' "root: is of type string, not int" || return
	group '.root = 3 | .ranks[1].leaf = 4' >"$file"
	said leaf 2 "--leaf: no rank of group 5 is below leaf 1" load "$file" --leaf 1 &&
		said spine 2 "--spine: spine 4 is not the root of group 5" load "$file" --spine 4 &&
		said spine 2 "--spine: spine 4 is not the root of group 5" join "$file" --spine 4
}

#
# Groups of jobs
#

# cluster LEAVES SPINES GPUS [FILTER]: a cluster file with all addresses
cluster()
{
	rm -f "$file.journal"
	jq -n --argjson leaves "$1" --argjson spines "$2" --argjson gpus "$3" '{
		leaves: $leaves, spines: $spines, gpus_per_leaf: $gpus, gpus_per_server: 1,
		routers: [range($spines) | "10.255.1.\(. + 1)"],
		nics: [range($leaves) as $l | [range($gpus) | ["10.1.\($l).\(. + 1)"]]]}' |
		jq "${4:-.}" >"$file"
}

slice()
{
	"$rocesteer" slice "$@" --cluster "$file" >/dev/null
}

# planned JOB FILTER: the filter is true of the job's plan
planned()
{
	"$rocesteer" --json reduce plan --cluster "$file" --job "$1" >"$dir/plan" &&
		cat "$dir/plan" && jq -e "$2" "$dir/plan"
}

plan()
{
	local job

	cluster 3 4 4 && for job in a b; do
		slice alloc --job "$job" --servers "$(
			[[ $job == a ]] && echo 0/0,0/1,1/0,1/1 || echo 0/2,0/3,2/0,2/1)" || return
	done
	planned a '[.groups[] | [.group, .root, .packets, .window]] == [[0, 0, 40, 2], [1, 1, 40, 2]]
		and .groups[1].ranks == [
			{address: "10.1.0.1", leaf: 0},
			{address: "10.1.0.2", leaf: 0, router: "10.255.1.2"},
			{address: "10.1.1.1", leaf: 1},
			{address: "10.1.1.2", leaf: 1, router: "10.255.1.2"}]' &&
		planned b '[.groups[] | [.group, .root]] == [[2, 2], [3, 3]] and
			[.groups[0].ranks[].leaf] == [0, 0, 2, 2]'
}

# A leaf has two links to the spine. The plan names the one that the slice has for the last
# rank.
plan_of_links()
{
	# shellcheck disable=SC2016 # variables of jq
	cluster 3 1 2 'del(.routers) | .links_per_pair = 4 | .parallel_links = 4 |
		.leaf_addrs = [range(3) as $l | [range(4) | "10.3.\($l).\(. + 1)"]] |
		.spine_addrs = [[range(3) as $l | range(4) | "10.4.\($l).\(. + 1)"]]' &&
		slice alloc --job a --servers 0/0,0/1,1/0,2/0 &&
		"$rocesteer" --json slice show --cluster "$file" --job a | tee "$dir/slice" |
			jq -c '{lane_links, links, up}' &&
		planned a '[.groups[0].ranks[].router] ==
			[null, "10.4.0.2", "10.4.1.1", "10.4.2.1"]'
}

plan_below_a_leaf()
{
	cluster 2 2 4 && slice alloc --gpus 2 --job a && slice alloc --gpus 2 --job b &&
		planned a '[.groups[] | [.group, .root, .size]] == [[4, null, 2]] and
			all(.groups[0].ranks[]; .router == null)' &&
		planned b '.groups[0].group == 6'
}

# A GPU gets its share, however few jobs there are now.
shares()
{
	cluster 2 2 4 '.reduce_memory = 4194304' && slice alloc --gpus 4 --job a &&
		planned a '.groups[0].packets == 14' &&
		cluster 2 2 2 '.reduce_memory = 4194304' && slice alloc --gpus 4 --job a &&
		planned a 'all(.groups[]; .packets == 14)' &&
		cluster 2 2 4 '.reduce_memory = 300000' && slice alloc --gpus 4 --job a &&
		said bad-file 2 "$file: reduce_memory: 300000 bytes are too few for 4 connections" \
			plan --cluster "$file" --job a
}

no_plan()
{
	local where="$file: jobs.a:"

	cluster 2 2 4 && slice alloc --gpus 1 --job a &&
		said no-groups 1 "$where is inside a server: no switch sees what it sends" \
			plan --cluster "$file" --job a &&
		said no-job 1 "$file: jobs.b: there is no such job" plan --cluster "$file" --job b &&
		cluster 2 2 65 && slice alloc --gpus 65 --job a &&
		said no-groups 1 "$where a group has at most 64 ranks" \
			plan --cluster "$file" --job a &&
		cluster 2 2 2 && slice alloc --gpus 4 --job a &&
		said no-groups 1 "job a has no group on leaf 2" \
			load --cluster "$file" --job a --leaf 2 &&
		said usage 2 "--mtu: 1000 is not one of 256, 512, 1024, 2048, 4096" \
			plan --cluster "$file" --job a --mtu 1000
}

# Only the module is missing.
not_loaded()
{
	said module-not-loaded 1 "the module rocesteer_reduce is not loaded" "$@" &&
		"$rocesteer" reduce "$@" 2>&1 | grep -x "Load it: modprobe rocesteer_reduce"
}

no_module()
{
	local rank='{address: "10.1.0.1", qpn: 0, psn: 16777215, va: 1}'

	not_loaded show && not_loaded show 0 && not_loaded unload 16383 &&
		not_loaded stat && group >"$file" && not_loaded load "$file" &&
		group | "$rocesteer" reduce load - 2>&1 | grep "is not loaded" &&
		group ".type = \"bf16\" | .packets = 64 | .window = 64 |
			.ranks = [range(64) | $rank]" |
			sed 's/"va": 1/"va": 18446744073709551614/' >"$file" &&
		not_loaded load "$file" && not_loaded join "$file" &&
		cluster 2 2 2 && slice alloc --gpus 4 --job a &&
		not_loaded load --cluster "$file" --job a --spine 1
}

ktap_plan 13
check "wrong usage of reduce is refused" usage
check "a file that is no group is refused" no_json
check "missing and unknown fields are refused by name" fields
check "values out of range are refused by field" values
check "wrong ranks are refused" ranks
check "wrong leaves and roots are refused" leaves
check "wrong boxes are refused" boxes
check "reduce plan makes a group for each spine of a job" plan
check "reduce plan tells links of a leaf to one spine apart" plan_of_links
check "reduce plan makes one group for a job below a leaf" plan_below_a_leaf
check "reduce plan gives each GPU its share of the memory" shares
check "reduce plan refuses jobs that cannot have groups" no_plan
if [[ -e /sys/module/rocesteer_reduce ]]; then
	skip "reduce without the module says so" "the module is loaded"
else
	check "reduce without the module says so" no_module
fi
ktap_finish
