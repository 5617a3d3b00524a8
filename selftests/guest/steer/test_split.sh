#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# One queue pair over all paths, for writes and reads: shares are exact, and packets arrive in
# order, also with a slow path, and with losses.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/split.sh

# BPF puts flows on all paths. Only the daemon can split as few flows as possible.
without_daemon()
{
	job_load_cgroup 0 --split fewest 2>&1 >"$dir/job" | grep "not planned until the daemon runs" &&
		job_unload 0
}

shared_out()
{
	jq '[.flows[] | select(.share) | .pieces[] | .to - .from] | unique |
		length == 1' "$dir/flows" | grep -x true
}

slower()
{
	make_slower && in_order
}

told()
{
	unjobs && job_plain 0 && job_plain "$far" && in_order
}

# End traffic of which enough was seen.
traffic_end()
{
	traffic_kill
	pkill -x ib_write_bw
	busywait 20000 no_traffic
}

queue_pair()
{
	connected_qps 0 | jq -e '.[].rqpn'
}

# A job for one running flow, which goes on
by_flow()
{
	unjobs && job_load_cgroup "$far" --split all &&
		traffic_start -q 1 -s "$message" -n 2000 &&
		busywait 20000 queue_pair || return
	job_load 0 --flow "$(host_ip "$far")/$(queue_pair)" --split all 2>"$dir/said" &&
		[[ ! -s $dir/said ]] || return
	busywait 20000 is_split || { flows_of 0; return 1; }
}

# The peer no longer resequences.
withdrawn()
{
	job_unload "$far" && busywait 20000 is_whole
	local status=$?
	((!status)) || flows_of 0
	traffic_end && job_unload 0 && return "$status"
}

# Without the resequencer the queue pair goes back again and again, and its end is not
# awaited.
disordered()
{
	jobs on off || return
	mapfile -t before < <(counts)
	traffic_start -q 1 -s "$message" -n 300 || return
	busywait 60000 has_naks
	local status=$?
	traffic_end && return "$status"
}

has_naks()
{
	(($(counts | head -n 1) > before[0] + 10))
}

no_traffic()
{
	! pgrep -x ib_write_bw
}

is_whole()
{
	(($(pieces) == 1))
}

# bits PARAMETER...: reload the module with these bits of the BTH
bits()
{
	module_unload && insmod "build/guest/$(uname -r)/rocesteer.ko" "$@"
}

few_bits()
{
	unjobs && bits bth_paths=0x20 || return
	! job_load_cgroup 0 --json --split all >"$dir/few" &&
		cat "$dir/few" && [[ $(jq -r .error.code "$dir/few") == few-bits ]] || return
	job_plain 0 2>&1 | tee "$dir/few" && grep -x "split  *none" "$dir/few" &&
		grep "^Flows are not split: bth_paths=0x20" "$dir/few" && job_unload 0
}

other_bits()
{
	local status=0

	make_slower
	bits bth_paths=0x0c bth_reseq=0x01 && jobs auto auto && in_order &&
		read_in_order || status=1
	unjobs && bits && return "$status"
}

# The peer does not announce that it resequences.
untold()
{
	unjobs && jobs auto off && send 100 is_whole && is_whole_still
}

is_whole_still()
{
	jq -e 'all(.flows[] | select(.share); .pieces | length == 1)' "$dir/flows"
}

# One path in four loses 4 %, so the flow loses 1 %.
lossy()
{
	ip netns exec "$skewed" tc qdisc replace dev leaf1 parent 2:2 \
		netem loss 4% limit 4000
	unjobs && jobs on on && send && ((naks > 0)) && unjobs
}

#
# READ: host 0 requests, and $far sends. Requests have links to themselves.
#

# Repeated requests, and other errors
repeats()
{
	echo $(($(hw_counter completer_retry_err) + $(hw_counter duplicate_request) +
		$(hw_counter out_of_seq_request)))
}

uplinks()
{
	selftests/net/fabric.sh links --json | jq -c '.uplinks[1]'
}

# read_start KIB: by one queue pair, which checks every byte
read_start()
{
	local host

	for host in 0 "$far"; do
		host_line "$host" "/sys/fs/cgroup/test$host"
	done >"$dir/reads"
	echo "read 1 0 $(($1 << 10))" >>"$dir/reads"
	again=$(repeats) sent=$(uplinks)
	timeout $((200 * TIME_SCALE)) build/guest/selftests/writes 1 "$message" 8 18 \
		<"$dir/reads" >"$dir/reader" 2>&1 &
	reader=$!
}

# Set how many requests were repeated, and what each uplink carried.
read_wait()
{
	if ! wait "$reader"; then
		cat "$dir/reader"
		return 1
	fi
	again=$(($(repeats) - again))
	sent=$(jq -cn "[$sent, $(uplinks)] | transpose | map(.[1] - .[0])")
	echo "$again repeated, $sent bytes by path"
	host_exec 0 rocesteer --json stat | jq -c '.module |
		with_entries(select(.key | startswith("reseq"))) | del(.. | select(. == 0))'
}

is_spread()
{
	(($(pieces "$far") == spines))
}

# The best of three, as in in_order
read_in_order()
{
	local i before

	for ((i = 0; i < 3; i++)); do
		before=$(reseq_held 0)
		read_start 12288 && busywait 20000 is_spread && read_wait || return
		((!again && $(reseq_held 0) > before)) && return
	done
	return 1
}

reads()
{
	ip netns exec "$skewed" tc qdisc replace dev leaf0 parent 2:2 \
		netem delay 5ms limit 4000
	jobs on on && read_in_order
}

read_evenly()
{
	jq -en "$sent | (max - min) * 100 <= add / length"
}

reads_told()
{
	unjobs && jobs auto auto && read_in_order && read_evenly && first_window
}

# The requests before any data announce it already.
first_window()
{
	local i

	for ((i = 0; i < 3; i++)); do
		read_start 512 && read_wait || return
		((!again)) && read_evenly && return
	done
	return 1
}

reads_untold()
{
	local i

	unjobs && jobs off auto || return
	for ((i = 0; i < 3; i++)); do
		read_start 4096 && busywait 20000 reads_whole && read_wait || return
		((!again)) && return
	done
	return 1
}

reads_whole()
{
	(($(pieces "$far") == 1))
}

reads_disordered()
{
	unjobs && jobs off on && read_start 4096 && busywait 60000 has_repeats
	local status=$?
	kill "$reader"
	wait "$reader"
	busywait 20000 no_reads && return "$status"
}

has_repeats()
{
	(($(repeats) > again + 3))
}

no_reads()
{
	! pgrep -x writes
}

reads_lossy()
{
	ip netns exec "$skewed" tc qdisc replace dev leaf0 parent 2:2 \
		netem loss 4% limit 4000
	jobs on on && read_start 8192 && read_wait && ((again)) && unjobs
}

ktap_plan "$(few 17 19)"
check "a fabric and its port map are made" up
check "job load --split fewest says that the daemon does not run" without_daemon
check "one queue pair is split over all paths, and no packet is out of order" exact
check "the pieces of a split flow are equal" shared_out
check "a path 5 ms slower than the others costs no NAK" slower
check "without --split a flow is split when its peer says that it resequences" told
check "a flow listed by --flow is split when its peer resequences" by_flow
check "a listed flow is whole again when its peer no longer resequences" withdrawn
check "splitting without the resequencer costs NAKs" disordered
check "a flow whose peer does not resequence stays whole" untold
if [[ ${CHECK_ALL:-} ]]; then
	check "all bytes of a split flow arrive with 1 % loss" lossy
else
	unjobs >/dev/null
fi
check "READ data is split, and no request is repeated" reads
check "paths carry equal shares of READ data, to 1 %" read_evenly
check "READ data is split when the requester says that it resequences" reads_told
check "READ data takes one path when the requester does not resequence" reads_untold
check "READ requests are repeated without the resequencer" reads_disordered
check "bits of the BTH that cannot express all paths: --split all is refused, else flows are whole" \
	few_bits
check "flows and READ data are split with other bits of the BTH" other_bits
[[ ! ${CHECK_ALL:-} ]] || check "all READ data arrives with 1 % loss" reads_lossy
ktap_finish
