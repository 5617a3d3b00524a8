#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A job without a place gets one by a moved circuit between leaves where other jobs run. These
# lose and repeat no packet, and no packet takes a circuit of another job.
#
#	leaf  hosts	spine by OXC	a: hosts 0 and 2, by spine 0
#	   0  0 1	0 1 - -		b: hosts 1 and 4, by spine 1
#	   1  2 3	2 - 1 0		c: hosts 3 and 5; idle circuits of their
#	   2  4 5	- 3 0 1		   leaves end at no spine in common, and to
#					   those of a and b it gets none
#
# Leaf 0 has no circuits to spines 2 and 3, so a circuit that comes there is no new path of a
# and b, and their port maps stay true.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh
. selftests/net/observe.sh

pins=/sys/fs/bpf/test_ocs
driver=selftests/net/ocs.sh
message=65536
declare -A ranks=([a]="0 2" [b]="1 4" [c]="3 5")

up()
{
	steer_fabric --leaves 3 --rate 4mbit && cluster &&
		slice wire --driver "$driver" && observe_load && observe_leaves
}

cluster()
{
	jq -n --argjson hosts "$(fabric_hosts)" '{
		leaves: 3, spines: 4, gpus_per_leaf: 2, gpus_per_server: 1,
		oxcs: 4, spine_ports: 1,
		circuits: [[0, 1, null, null], [2, null, 1, 0],
			[null, 3, 0, 1]],
		routers: [range(4) | "10.255.1.\(. + 1)"],
		nics: [range(3) as $l | $hosts | map(select(.leaf == $l) |
			[.ipv4])]}' >"$dir/cluster.json"
}

# Observe both directions of each circuit at its leaf, which is the end that stays.
observe_leaves()
{
	local l dev

	for ((l = 0; l < leaves; l++)); do
		for dev in $(ip -n "leaf$l" -j link show type veth |
				jq -r '.[].ifname'); do
			attach_batch "$dev" egress observe
			echo "filter add dev $dev ingress bpf direct-action" \
				"object-pinned $pins/observe"
		done | netns_exec "leaf$l" tc -batch - || return
	done
}

# common JOB: how many spines both of its leaves have circuits to
common()
{
	jq --slurpfile slice "$dir/$1.json" '.circuits as $circuits |
		$slice[0].leaves | map($circuits[.]) as [$one, $other] |
		[$one[] | select(. != null and IN($other[]))] | length' \
		"$dir/cluster.json"
}

# start JOB: find ports, and load its slice on its hosts
start()
{
	local host peer paths pids=()

	paths=$(common "$1")
	read -r host peer <<<"${ranks[$1]}"
	for host in "$host $peer" "$peer $host"; do
		# shellcheck disable=SC2086 # two
		discover $host --paths "$paths" >"$dir/log${host% *}" 2>&1 &
		pids+=($!)
	done
	for host in "${pids[@]}"; do
		wait "$host" || { cat "$dir"/log*; return 1; }
	done
	for host in ${ranks[$1]}; do
		job_load "$host" --all --slice "$dir/$1.json" \
			--pattern ring >/dev/null || return
	done
}

jobs_start()
{
	slice alloc --servers 0/0,1/0 --job a >"$dir/a.json" &&
		slice alloc --servers 0/1,2/0 --job b >"$dir/b.json" || return
	jq -c '{job, stage, spines, links, oxcs}' "$dir"/[ab].json
	jq -s -e 'map(.stage) == ["vclos", "vclos"] and
		map(.spines) == [[0], [1]]' "$dir"/[ab].json &&
		start a && start b
}

refused()
{
	local json status

	json=$(slice alloc --gpus 2 --job c)
	status=$?
	echo "$json"
	((status == 3)) && jq -e '.error.code == "network"' <<<"$json"
}

# traffic_of JOB...: its two hosts write to each other
traffic_of()
{
	local job host n=0

	for job; do
		for host in ${ranks[$job]}; do
			host_line "$host" "/sys/fs/cgroup/test$host"
		done
	done
	for job; do
		echo "flow $n $((n + 1)) $((8 * message))"
		echo "flow $((n + 1)) $n $((8 * message))"
		n=$((n + 2))
	done
}

writes()
{
	timeout $((200 * TIME_SCALE)) build/guest/selftests/writes 1 "$message" 2 22
}

# Start traffic of jobs a and b.
traffic_begin()
{
	mkfifo "$dir/traffic"
	writes <"$dir/traffic" &
	writer=$!
	exec {traffic}>"$dir/traffic"
	{
		traffic_of a b
		echo repeat
	} >&"$traffic"
	busywait 60000 arrives_after 0
}

# All bytes arrived as they were sent.
traffic_end()
{
	exec {traffic}>&-
	wait "$writer"
}

look()
{
	bpftool --json map dump pinned "$pins/seen" |
		jq '[.[].formatted | .key + .value + {
			host: (.key.source[2] * 2 + .key.source[3] - 1)}]' >"$dir/seen"
}

# Each flow of a and b has reached its host after this time.
arrives_after()
{
	look
	jq -e --argjson after "$1" 'map(select(.sender == 2 and .ack == 0 and
		.last > $after).host) | unique | contains([0, 1, 2, 4])' \
		"$dir/seen" >/dev/null
}

# foreign JOB: packets of the job on circuits, and on circuits of other jobs. A circuit is
# known by the address of its end: OXC k of leaf l had at first the address of spine l + k.
foreign()
{
	jq -e --slurpfile slice "$dir/$1.json" \
		"map(select((.sender == 3 or .sender == 4) and
			(.host | IN(${ranks[$1]// /,}))))"' |
		($slice[0] | [.links, .oxcs] | transpose |
			map([.[0][0], (.[0][0] + .[1]) % 4])) as $own |
		{requests: map(select(.ack == 0).packets) | add,
		 acks: map(select(.ack == 1).packets) | add,
		 foreign: map(select([.leaf, .index] as $circuit |
			$own | index([$circuit]) | not).packets) | (add // 0)} |
		., (.requests > 0 and .acks > 0 and .foreign == 0)' "$dir/seen"
}

# Counters of lost and repeated packets, but for moved circuits, whose names have a dot
losses()
{
	local name netns

	for name in duplicate_request out_of_seq_request rcvd_seq_err \
		completer_retry_err retry_exceeded_err send_err; do
		echo "$name $(hw_counter "$name")"
	done
	bpftool --json map dump pinned "$pins/icrc_drops" |
		jq -r '"icrc \(.[0].formatted.value)"'
	for netns in $(routers) $(host_namespaces); do
		ip -n "$netns" -s -j link show
		tc -n "$netns" -s -j qdisc show
	done | jq -r '.[] | (.ifname // .dev) as $dev |
		select($dev | contains(".") | not) |
		"\($dev) \(.kind // "link") \(.drops // (.stats64 |
			[.rx, .tx | .dropped, .errors] | add))"' |
		grep -v ' 0$' || :
}

# The counters are those in $dir/losses.
lossless()
{
	losses | diff "$dir/losses" -
}

moves()
{
	traffic_begin || return
	defer traffic_end
	losses >"$dir/losses"
	slice alloc --gpus 2 --job c --ocs --driver "$driver" >"$dir/c.json" ||
		return
	jq -c '{stage, leaves, spines, oxcs, objective, changes}' "$dir/c.json"
	look
	jq -e '.stage == "ocs" and .leaves == [1, 2] and .objective == 1' \
		"$dir/c.json" &&
		busywait 60000 arrives_after "$(jq 'map(.last) | max' "$dir/seen")" &&
		foreign a && foreign b && lossless
}

# Both ends of all circuits have their limit.
limited()
{
	local netns

	for netns in $(routers); do
		tc -n "$netns" -j qdisc show root
		ip -n "$netns" -j link show type veth
	done | jq -s -e 'flatten |
		(map(select(.kind == "tbf").options.rate) | unique) as $rates |
		{limits: map(select(.kind == "tbf")) | length,
		 ends: map(select(.ifalias)) | length, $rates} |
		., (.limits == .ends and .ends == 24 and $rates == [500000])'
}

runs()
{
	start c && traffic_of c | writes || return
	look
	foreign a && foreign b && foreign c && lossless
}

ends()
{
	traffic_end && look && foreign a && foreign b && lossless &&
		jobs_unload {0..5}
}

ktap_plan 7
check "a fabric has the circuits of the file" up
check "two jobs start, each on a spine of its own" jobs_start
check "a third job lacks circuits to a common spine" refused
check "a circuit is moved for the third job, and the others lose no packet" moves
check "moved circuits keep their rate limit" limited
check "the third job runs, and packets of all jobs stay on their own circuits" runs
check "all bytes arrive as sent, and unloading leaves nothing" ends
ktap_finish
