#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Reports of running jobs on four leaves and four spines: two periods of one job show what the
# counters of the switches show, and a link that loses a few packets is named by the hosts.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh

qps=4
seconds=$((6 * TIME_SCALE))

# Each host writes to each host under another leaf, until write_end.
write_all_start()
{
	local i j

	rm -f "$dir/traffic"
	mkfifo "$dir/traffic"
	timeout $((900 * TIME_SCALE)) build/guest/selftests/writes "$qps" 65536 2 20 \
		<"$dir/traffic" >"$dir/writes" 2>&1 &
	writes=$!
	exec {traffic}>"$dir/traffic"
	{
		for ((i = 0; i < leaves * hosts; i++)); do
			host_line "$i" "/sys/fs/cgroup/test$i"
		done
		for ((i = 0; i < leaves * hosts; i++)); do
			for ((j = 0; j < leaves * hosts; j++)); do
				(($(host_leaf "$i") == $(host_leaf "$j"))) ||
					printf 'flow %d %d %d\n' "$i" "$j" $((qps << 17))
			done
		done
		echo repeat
	} >&"$traffic"
}

# daemons_up: one for each host
daemons_up()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		host_exec "$i" rocesteer --json daemon >"$dir/daemon$i" 2>&1 &
	done
	defer daemons_down
	for ((i = 0; i < leaves * hosts; i++)); do
		busywait 20000 grep -q '"start"' "$dir/daemon$i" || return
	done
}

each_job()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		"$@" "$i" || return
	done
}

load()
{
	job_load_cgroup "$1" --observe --no-verify
}

steer()
{
	host_exec "$2" rocesteer job steer "$1" --job $(($2 + 1))
}

all_found()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		flows_of "$i" | jq -e --argjson n $((qps * (leaves - 1) * hosts)) '[.flows[] |
			select(.share)] | length == $n and all(has("path"))' >/dev/null || return
	done
}

# record NAME [SECONDS]: on all hosts at the same time, and what the leaves sent meanwhile. The
# traffic pauses at both ends, so that both are of the same packets.
record()
{
	local i pids=() before time=${2:-$seconds}

	write_pause || return
	before=$(uplinks)
	for ((i = 0; i < leaves * hosts; i++)); do
		host_exec "$i" rocesteer report record --host "host$i" --out "$dir/$1$i" \
			--seconds $((time + 12 * TIME_SCALE)) >"$dir/record$i" 2>&1 &
		pids+=($!)
	done
	sleep $((3 * TIME_SCALE))
	write_go_on
	sleep "$time"
	write_pause || return
	uplinks | jq -c --argjson before "$before" '. as $now | [range($now | length) as $l |
		[range($now[$l] | length) | $now[$l][.] - $before[$l][.]]]' >"$dir/$1.links"
	cat "$dir/$1.links"
	for i in "${pids[@]}"; do
		wait "$i" || { cat "$dir"/record*; return 1; }
	done
	write_go_on
}

others()
{
	seq -f "$dir/$1%g" -s , 1 $((leaves * hosts - 1))
}

show()
{
	rocesteer --json report show "${dir}/${1}0" --hosts "$(others "$1")" "${@:2}" >"$dir/json"
}

# The worst imbalance of the uplinks of a leaf is that of the switches.
shows_the_links()
{
	jq -e --slurpfile links "$dir/$1.links" '([.uplinks[].imbalance] | max) as $said |
		([$links[0][] | max * length / add] | max) as $is | [$said, $is],
		(($said - $is | fabs) <= 0.01 * $is)' "$dir/json"
}

observed_first()
{
	module_load && discover_all --hop 2 && each_job load >/dev/null && daemons_up || return
	write_all_start
	busywait 60000 all_found && record ecmp && show ecmp && shows_the_links ecmp &&
		jq -e '(.leaves | length == 4) and (.spines | length == 4) and
			(.links | length == 32) and (.collisions | length > 0) and
			.gray == []' "$dir/json"
}

# Whole flows by place: each host's four queue pairs to a peer are on four paths.
steered_then()
{
	each_job steer on >/dev/null && sleep 2 && record steered &&
		show steered --against "$dir/ecmp0,$(others ecmp)" --html "$dir/page" &&
		shows_the_links steered &&
		jq -e '.collisions == [] and .gray == [] and (.comparison |
			map({(.measure): [.before, .now]}) | add | .imbalance | .[0] > 1.25 and
			.[1] < 1.1)' "$dir/json"
}

# 3 % of the packets that leaf 1 sends to spine 2: a link of this emulation carries less than a
# hundredth of a real one's packets, and of 1 % too few are lost in this time to name the link in
# each run. test_gray.c has the losses of real links.
names_the_lossy_link()
{
	local status=0

	tc -n leaf1 qdisc replace dev spine2 parent 2:2 netem loss 3% limit 4000 &&
		record lossy $((30 * TIME_SCALE)) && show lossy &&
		jq -c '.gray[]' "$dir/json" &&
		jq -e '.gray | map([.cause, .direction, .leaf, .spine, has("other")]) ==
			[["loss", "up", "10.255.0.2", "10.255.1.3", false]]' "$dir/json" || status=1
	tc -n leaf1 qdisc replace dev spine2 parent 2:2 bfifo limit 8m
	rocesteer report show "$dir/lossy0" --hosts "$(others lossy)"
	return "$status"
}

names_no_link_without_loss()
{
	record clean $((10 * TIME_SCALE)) && show clean && jq -e '.gray == []' "$dir/json"
}

ended()
{
	write_end && each_job job_unload && daemons_down && module_unload
}

# Each host has a daemon of its own.
fabric_has_host_netns || skip_all "rxe knows no namespaces here"
ktap_plan 6
check "a fabric is made" steer_fabric --leaves 4 --spines 4 --hosts 1 --rate 4mbit --host-rate 8mbit
check "a job is observed: the report has the imbalance of the switches, and flows that meet" \
	observed_first
check "the job is steered: the report shows what the switches show, against the period before" \
	steered_then
check "a link that loses packets is named" names_the_lossy_link
check "without loss no link is named" names_no_link_without_loss
check "the traffic had no error, and jobs and module go" ended
ktap_finish
