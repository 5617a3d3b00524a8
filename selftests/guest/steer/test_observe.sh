#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A running job is observed, steered and observed again: what is known of its paths is what the
# switches send there, and its flows go on.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh

qps=8

# Bytes of each path, as flows of host 0 have them, but for those that only acknowledge
sent()
{
	flows_of 0 | jq -c '[.flows[] | select(.share) | .sent[]] | [range(4) as $p |
		[.[] | select(.path == $p) | .bytes] | add // 0]'
}

# measure FILE: what leaves by each uplink, and by each path as flows have it, in some seconds
measure()
{
	local links paths

	write_pause || return
	links=$(uplinks) paths=$(sent)
	write_go_on && sleep $((4 * TIME_SCALE)) && write_pause || return
	jq -n --argjson l0 "$links" --argjson p0 "$paths" --argjson l1 "$(uplinks)" \
		--argjson p1 "$(sent)" '{links: [range(4) | $l1[0][.] - $l0[0][.]],
			paths: [range(4) | $p1[.] - $p0[.]]}' >"$dir/$1"
	write_go_on
	jq -c . "$dir/$1"
}

all_found()
{
	flows_of 0 | jq -e --argjson n "$qps" '[.flows[] | select(.share)] |
		length == $n and all(has("path"))' >/dev/null
}

# Flows of ECMP, and acknowledgments of nobody: host 0 only sends.
observed_as_sent()
{
	module_load && job_load_cgroup 0 --observe --split auto &&
		job_load_cgroup "$far" --split auto && daemon_up || return
	write_start "$qps"
	busywait 20000 all_found || { flows_of 0; cat "$dir/daemon" "$dir/writes"; return 1; }
	measure observed &&
		jq -e '(.links | add) as $all | $all > 0 and ([.links, .paths] | transpose |
			all((.[0] - .[1] | fabs) <= 0.01 * $all / 4))' "$dir/observed" &&
		(($(stat_of 0 observed) > 0)) &&
		{ ! fabric_has_host_netns || (($(stat_of 0 steered) == 0)); }
}

all_split()
{
	flows_of 0 | jq -e --argjson n "$qps" '[.flows[] | select(.promise == "always")] |
		length == $n' >/dev/null
}

steered_while_it_goes_on()
{
	host_exec 0 rocesteer job steer on --job 1 && busywait 20000 all_split &&
		measure steered &&
		jq -e '(.links | add) as $all | .links | max <= 1.01 * $all / 4' "$dir/steered"
}

# The queue pairs have their own ports again, and switches hash as before.
observed_again()
{
	local status=0

	host_exec 0 rocesteer job steer off --job 1 && busywait 20000 all_found &&
		measure again &&
		jq -e -s '[.[] | (.links | add) as $all | .links | map(. / $all)] | transpose |
			all((.[0] - .[1] | fabs) <= 0.02)' "$dir/observed" "$dir/again" || status=1
	write_go_on
	write_end && ((!status)) && job_unload 0 && job_unload "$far" && module_unload
}

ktap_plan 4
check "a fabric and its port map are made" \
	steer_up --spines 4 --hosts 1 --rate 40mbit --host-rate 80mbit
check "a job is observed: bytes of its paths are those that the switch sends there" \
	observed_as_sent
check "the job is steered while its flows go on: each link carries the same" \
	steered_while_it_goes_on
check "the job is observed again: each link carries what it did before" observed_again
ktap_finish
