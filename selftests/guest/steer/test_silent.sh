#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# One of four paths goes silent under ib_write_bw, whose queue pair waits four seconds for an
# acknowledgment. The receiver says which path it is, and the sender leaves the path and sends only
# the packets of that path again.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/split.sh

limit=50	# ms
writes=600

# 5 ms on the links that leave each spine, so that a round trip takes 10 ms
far_away()
{
	local n leaf

	for ((n = 0; n < spines; n++)); do
		for leaf in leaf0 leaf1; do
			ip netns exec "spine$n" tc qdisc replace dev "$leaf" parent 2:2 \
				netem delay 5ms limit 4000 || return
		done
	done
}


# Set pause to the longest time without a packet that is delivered, in ms, of the next MILLISECONDS.
longest_pause()
{
	local file end last before longest=0

	file=/sys/class/infiniband/$(host_rdma "$far")/ports/1/hw_counters/rcvd_pkts
	read -r before <"$file"
	last=${EPOCHREALTIME/./}
	end=$((last + $1 * 1000))
	while now=${EPOCHREALTIME/./}; ((now < end)); do
		read -r delivered <"$file"
		((delivered == before)) || last=$now before=$delivered
		((now - last <= longest)) || longest=$((now - last))
	done
	pause=$((longest / 1000))
}

# Set silent to a spine that acknowledgments do not take: where they are lost, too, nothing tells
# the sender, which waits for its timeout.
choose_silent()
{
	local path router

	path=$(flows_of "$far" | jq ".flows[] | select(.job == $((far + 1))).pieces[0].path") &&
		router=$(jq -r --argjson p "$path" '.peers[0].paths[] |
			select(.path == $p).router' "$dir/ports$far.json") &&
		silent=spine$((${router##*.} % spines)) &&
		echo "acknowledgments take path $path by $router, $silent goes silent"
}

goes_silent()
{
	local status=0 usual

	jobs on on && daemon_up && far_away || return
	traffic_start -q 1 -s 32768 -t 2 -n "$writes" || return
	busywait 20000 is_split && choose_silent || return
	longest_pause 1000
	usual=$pause
	selftests/net/fabric.sh cut leaf0 "$silent"
	longest_pause 2000
	selftests/net/fabric.sh join leaf0 "$silent"
	spared=$(host_exec 0 rocesteer --json stat | jq '[.. | .spared? // empty] | add')
	echo "longest pause $pause ms, before $usual ms; $spared packets not sent again"
	((pause <= limit)) || status=1
	traffic_wait && ((!status))
}

ktap_plan 4
check "a fabric and its port map are made" up
check "a path that goes silent stops a split flow for $limit ms at most" goes_silent
check "packets that the receiver has are not sent again" test "${spared:-0}" -gt 0
check "the jobs are unloaded" unjobs
ktap_finish
