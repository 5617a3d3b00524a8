# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# One queue pair over all paths between two hosts. To be sourced.

. selftests/guest/steer/steer.sh

message=65536
writes=$(few 150 300)	# that send() sends
skewed=spine1	# the path that is made worse

up()
{
	steer_up --hosts 1 --rate 8mbit --host-rate 32mbit && module_load && defer module_unload
}

# job HOST auto|on|off: whether it splits and resequences
job()
{
	local split=all

	case $2 in
	auto)	split=auto ;;
	off)	split=none ;;
	esac
	job_load_cgroup "$1" --split "$split" --resequence "$2"
}

# job_plain HOST [OPTION]: whether flows are split is up to rocesteer
job_plain()
{
	host_exec "$1" rocesteer job load --job $(($1 + 1)) --port-map "$dir/ports$1.json" \
		--cgroup "/sys/fs/cgroup/test$1" "${@:2}"
}

# jobs NEAR FAR: of host 0 and $far
jobs()
{
	job 0 "$1" && job "$far" "$2"
}

unjobs()
{
	job_unload 0 && job_unload "$far"
}

# pieces [HOST]
pieces()
{
	flows_of "${1:-0}" | jq --argjson job $((${1:-0} + 1)) '[.flows[] |
		select(.share and .job == $job) | .pieces | length] | add // 0'
}

is_split()
{
	(($(pieces) == spines))
}

counts()
{
	echo $(($(hw_counter out_of_seq_request) + $(hw_counter rcvd_seq_err)))
	echo $(($(hw_counter duplicate_request)))
}

# One queue pair sends. Sets the NAKs and duplicates that came of it, and MiB/s.
send()
{
	local before after

	mapfile -t before < <(counts)
	traffic_start -q 1 -s "$message" -n "${1:-$writes}" || return
	if ! busywait 20000 "${2:-is_split}"; then
		flows_of 0
		cat "$dir/daemon"
		traffic_kill
		return 1
	fi
	flows_of 0 >"$dir/flows"
	traffic_wait || return
	mapfile -t after < <(counts)
	naks=$((after[0] - before[0])) duplicates=$((after[1] - before[1]))
	rate=$(awk -v size="$message" '$1 == size { print $4 }' "$dir/client")
	echo "$naks NAKs, $duplicates duplicates, $rate MiB/s"
	host_exec "$far" rocesteer --json stat | jq -c '.module |
		with_entries(select(.key | startswith("reseq"))) | del(.. | select(. == 0))'
}

# Send without a NAK, and not slower than $least MiB/s. Links of a machine that stalls seem
# dead, so the best of three counts.
least=0
in_order()
{
	local i

	for ((i = 0; i < 3; i++)); do
		send || return
		((!naks && !duplicates)) &&
			awk -v a="$rate" -v b="$least" \
				'BEGIN { exit !(a >= 0.95 * b) }' && return
	done
	return 1
}

exact()
{
	jobs on on && daemon_up && in_order
}

make_slower()
{
	ip netns exec "$skewed" tc qdisc replace dev leaf1 parent 2:2 \
		netem delay 5ms limit 4000
}
