#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Queue pairs to a peer that the port map of their job does not have: the daemon finds its ports.
# Switches hash by a CRC, and the port map has the model of another peer.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh

launch=(in_cgroup 0)

ready()
{
	steer_fabric --hosts 2 --spines 4 && fabric_hash linear_hash on &&
		discover 0 $((far + 1)) && jq -e '.peers[0].linear' "$dir/ports0.json" &&
		module_load && defer module_unload && daemon_up && defer qps_end_all
}

has_peer()
{
	host_exec 0 rocesteer --json job show --job 1 | jq -e --arg peer "$(host_ip "$far")" \
		'any(.peers[]; .address == $peer)' >/dev/null
}

now_ms()
{
	echo $((${EPOCHREALTIME/./} / 1000))
}

# From the first packet to the ports of its peer
soon()
{
	local start

	start=$(now_ms)
	"$@" && busywait 20000 has_peer || return
	echo "after $(($(now_ms) - start)) ms, with the commands that look"
}

is_steered()
{
	flows_of 0 | jq -e '[.flows[] | select(.job == 1)] |
		length == 1 and all(.path != null and .actuator == "packet")' >/dev/null
}

# The same queue pair goes on.
packets()
{
	job_load_cgroup 0 && ! has_peer && hold own 0 100 1 && qps_tell own rts &&
		soon qps_tell own write && qps_tell own write && busywait 20000 is_steered
	local status=$?

	flows_of 0 | jq -c '.flows[] | {peer, path, actuator}'
	qps_end own && job_unload 0 && return "$status"
}

# qp_is ACTUATOR REASON: of the only flow
qp_is()
{
	flows_of 0 | jq -e --argjson actuator "$1" --argjson reason "$2" '[.flows[] |
		select(.job == 1) | [.actuator, .reason]] == [[$actuator, $reason]]'
}

# The first one is connected before the ports are known.
queue_pairs()
{
	job_load_cgroup 0 --actuator qp && soon hold first 0 100 1 && qp_is null '"connected-before"' &&
		qps_end first && hold next 0 101 1 && qp_is '"qp"' null
	local status=$?

	((!status)) || flows_of 0
	qps_end next && job_unload 0 && return "$status"
}

# The job has no port map, and its hosts are named.
named()
{
	local host

	for ((host = 0; host < 4; host++)); do
		host_ip "$host"
	done >"$dir/hosts"
	host_exec 0 rocesteer job load --job 1 --cgroup /sys/fs/cgroup/test0 --actuator qp \
		--peer-file "$dir/hosts" && soon true && hold ahead 0 100 1 && qp_is '"qp"' null
	local status=$?

	((!status)) || flows_of 0
	qps_end ahead && job_unload 0 && return "$status"
}

# A port of the peer takes the path that the job has it for.
proved()
{
	discover 0 "$far" && host_exec 0 rocesteer path prove --rdma-dev "$(host_rdma 0)" \
		--port-map "$dir/ports0.json"
}

ktap_plan 5
check "a fabric of switches, a port map of one peer, and the daemon" ready
check "a queue pair to another peer is steered after its first packet" packets
check "of two queue pairs to another peer, steered by labels, the second one is" queue_pairs
named="with hosts that are named and no port map, the first queue pair to one is"
if fabric_has_host_netns; then
	check "$named" named
else
	skip "$named" "rxe knows no namespaces here"
fi
check "the NIC's own packets take the paths of the model" proved
ktap_finish
