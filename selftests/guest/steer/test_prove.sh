#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "path prove": the ports that rxe makes, and the way of its own packets, by what routers quote.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh

spines=${PROVE_SPINES:-4}

ready()
{
	steer_fabric --spines "$spines" && discover 0 "$far" && module_load && defer module_unload
}

# prove [OPTION...]: into proof
prove()
{
	proof=$(host_exec 0 rocesteer --json path prove --rdma-dev "$(host_rdma 0)" "$@")
	local status=$?

	jq -c '(.labels[]?), (.verdicts[]?), .error?' <<<"$proof"
	return "$status"
}

# disproved [OPTION...]: not all is as planned
disproved()
{
	prove "$@"
	(($? == 1))
}

# says VERDICT...: the verdicts of the last proof
says()
{
	[[ $(jq -r '[.verdicts[].verdict] | join(" ")' <<<"$proof") == "$*" ]]
}

proved()
{
	prove --port-map "$dir/ports0.json" && says label same-way &&
		(($(jq '[.labels[] | select(.made == .port and .router == .expected)] | length' \
			<<<"$proof") == spines))
}

# The ports of the map that were probed first, a hundred
hundred()
{
	local ports

	ports=$(jq -r '[.peers[0].paths[].ports[]][:100] | join(",")' "$dir/ports0.json")
	prove --port-map "$dir/ports0.json" --sports "$ports" >"$dir/hundred" && says label same-way &&
		jq -e '.labels | length == 100 and all(.made == .port and .router == .expected)' \
			<<<"$proof"
}

by_netns()
{
	rocesteer --netns host0 path prove --rdma-dev "$(host_rdma 0)" \
		--port-map "$dir/ports0.json"
}

queue_pairs_hashed()
{
	fabric_hash qpn_hash on || return
	disproved --port-map "$dir/ports0.json"
	local status=$?

	fabric_hash qpn_hash off
	((!status)) && says label queue-pair-hash
}

packets_hashed()
{
	fabric_hash packet_hash on || return
	disproved --port-map "$dir/ports0.json"
	local status=$?

	fabric_hash packet_hash off
	((!status)) && says label sprayed
}

old_map()
{
	fabric_seed 99
	disproved --port-map "$dir/ports0.json"
	local status=$?

	fabric_seed 1
	((!status)) && says label other-way
}

silent()
{
	local dev

	dev=$(host_dev 0)
	host_exec 0 tc qdisc add dev "$dev" clsact &&
		host_exec 0 tc filter add dev "$dev" ingress protocol ip flower ip_proto icmp type 11 \
			action drop || return
	disproved --port-map "$dir/ports0.json"
	local status=$?

	host_exec 0 tc qdisc del dev "$dev" clsact
	((!status)) && says no-answer
}

# No host has the address.
labels_given()
{
	prove --peer 10.1.1.99 --labels 1,0x123,0x4567,0xabcde --hop 1 &&
		says label nothing-to-compare &&
		[[ $(jq -r '[.labels[].router] | unique | .[]' <<<"$proof") == 10.255.0.1 ]]
}

# A peer whose path the leaf would tell, beside one whose paths the spines do
hops_differ()
{
	jq '.peers |= [first, (first | .address = "10.1.1.99" | .leaf = "10.255.0.99" | .hop = 1 |
			.leaf_hop = 2 | .paths |= [first | .router = "10.255.0.1"])] |
		del(.models, .peers[].linear)' "$dir/ports0.json" >"$dir/hops.json" &&
		prove --port-map "$dir/hops.json" && says label same-way &&
		jq -e --argjson spines "$spines" '(has("hop") | not) and
			[.labels[].hop] == [range($spines) | 2] + [1]' <<<"$proof" &&
		proved && jq -e '.hop == 2 and all(.labels[]; has("hop") | not)' <<<"$proof"
}

ipv6()
{
	discover_at "$(host_ip6 0)" "$(host_ip6 "$far")" six &&
		prove --port-map "$dir/six.json" && says label same-way
}

discover_at()
{
	host_exec 0 rocesteer path discover --dev "$(host_dev 0)" --source "$1" --peer "$2" \
		--out "$dir/$3.json"
}

host_ip6()
{
	echo "fd00:1:$(host_leaf "$1")::$(($1 % hosts + 1))"
}

vlan()
{
	local status

	vlan_up && host_exec 0 rocesteer path discover --dev eth0.7 --source "$tagged" \
			--peer "$(host_ip "$far")" --out "$dir/vlan.json" >/dev/null &&
		host_exec 0 rocesteer job load --job 1 --port-map "$dir/vlan.json" \
			--cgroup /sys/fs/cgroup/test0 --actuator qp || return
	prove --port-map "$dir/vlan.json" --job 1 && says label same-way steered
	status=$?
	job_unload 0 && vlan_down && return "$status"
}

# steered ACTUATOR: the queue pair of the proof takes the path of the port that its job gave it
steered()
{
	job_load_cgroup 0 --actuator "$1" && prove --port-map "$dir/ports0.json" --job 1
	local status=$?

	jq -c .flow <<<"$proof"
	job_unload 0
	((!status)) && says label same-way steered &&
		jq -e --arg actuator "$1" '.flow | .actuator == $actuator and .port == .made' <<<"$proof"
}

# The port map of the job has no such peer.
not_steered()
{
	jq '.peers[0].address = "10.1.1.9"' "$dir/ports0.json" >"$dir/other.json" &&
		host_exec 0 rocesteer job load --job 1 --port-map "$dir/other.json" --actuator qp \
			--split none --cgroup /sys/fs/cgroup/test0 --no-verify || return
	disproved --port-map "$dir/ports0.json" --job 1
	local status=$?

	job_unload 0
	((!status)) && says label same-way not-steered && jq -e '.flow.reason == "no-peer"' <<<"$proof"
}

prove_on()
{
	while :; do
		prove --port-map "$dir/ports0.json" && says label same-way || return
		echo proved
	done >"$dir/proofs" 2>&1
}

# Fifty queue pairs of another process connect to the same peer meanwhile, and write to it.
others_connect()
{
	local status i pid

	prove_on &
	pid=$!
	for ((i = 0; i < 4; i++)); do
		{
			host_line 0 /sys/fs/cgroup/test0
			host_line "$far" "/sys/fs/cgroup/test$far"
			echo "flow 0 1 $((50 * 4096))"
		} | build/guest/selftests/writes 50 4096 1 14 || return
	done
	kill "$pid"
	wait "$pid"
	status=$?
	tail -n 3 "$dir/proofs"
	((status == 143 && $(grep -c proved "$dir/proofs") > 3))
}

# The limit ends with the process: the shell that started it connects as before.
killed()
{
	local i

	for ((i = 0; i < $(few 40 200); i++)); do
		host_exec 0 timeout -s KILL "0.$(printf %03d $((RANDOM % 200)))" \
			rocesteer path prove --rdma-dev "$(host_rdma 0)" --port-map "$dir/ports0.json"
	done >/dev/null 2>&1
	busywait 10000 are_connected_exactly 0 && others_connect &&
		module_unload && module_load && prove --port-map "$dir/ports0.json"
}

are_connected_exactly()
{
	(($(connected_qps 0 | jq length) == $1))
}

report()
{
	prove --port-map "$dir/ports0.json" --job 1 --report "$dir/report" || return
	cat "$dir/report"
	jq -e --argjson spines "$spines" '.driver == "software" and .hop == 2 and .kernel and
		[.verdicts[].verdict] == ["label", "same-way", "steered"] and
		.flow == {actuator: "qp", label: "policy"} and (.labels | length == $spines and
			all(.as_expected and .us >= 0))' "$dir/report" &&
		! grep -E "10\.[0-9]+\.|fd00|eth|rxe" "$dir/report"
}

report_of_job()
{
	job_load_cgroup 0 --actuator qp && report
	local status=$?

	job_unload 0
	return "$status"
}

# proofs EVENT: so often has the daemon of host 0 said so
proofs()
{
	grep -c "\"event\":\"$1\"" "$dir/daemon"
}

said()
{
	(($(proofs "$1") == $2))
}

own_labels()
{
	host_exec 0 rocesteer --json stat | jq .module.qp_own_label
}

# look STATUS: of the host, whose exit status is this
look()
{
	looked=$(host_exec 0 rocesteer --json status)
	local status=$?

	jq -c '.jobs[], .findings[], .not_looked_at[]' <<<"$looked"
	((status == $1))
}

# The daemon has its proof from packets of the NIC, as nobody else sees them. The queue pairs that
# prove are no flows of the job.
daemon_proves()
{
	local launch=(in_cgroup 0) before

	before=$(own_labels)
	daemon_up && job_load 0 --all --actuator qp && hold proved 0 100 6 &&
		busywait 40000 said nic-proved 1 && look 0 &&
		jq -e '.jobs[0] | .nic_asked == 4 and .nic_proved == 4' <<<"$looked" &&
		(($(own_labels) == before))
}

# The port map knows nothing of the hash, and probes have one number.
strays_named()
{
	local status

	fabric_hash qpn_hash on || return
	busywait 40000 said nic-unproved 1 && look 1 &&
		jq -e '[.findings[].code] | contains(["nic-way"])' <<<"$looked" &&
		jq -e '.jobs[0] | .nic_proved < .nic_asked' <<<"$looked"
	status=$?
	tail -n 2 "$dir/daemon"
	fabric_hash qpn_hash off
	((!status)) && busywait 40000 said nic-proved 2
	status=$?
	qps_end proved && job_unload 0 && return "$status"
}

ktap_plan 20
check "a fabric, and a port map" ready
check "a port of each path is made of its label, and takes the path" proved
check "labels that are given are proved at the leaf, to a spare address" labels_given
check "peers that differ in their hops have them by label" hops_differ
check "a hundred ports take the paths of the port map" hundred
if fabric_has_host_netns; then
	check "another network namespace is proved by --netns" by_netns
else
	skip "another network namespace is proved by --netns" "hosts share one"
fi
check "a switch that hashes queue pairs is named" queue_pairs_hashed
check "a switch that sprays packets is named" packets_hashed
check "a port map that is not true any more is named" old_map
check "a router that is silent is named" silent
check "IPv6 is proved" ipv6
if fabric_has_host_netns; then
	check "a NIC and a job are proved on a VLAN" vlan
else
	skip "a NIC and a job are proved on a VLAN" "hosts share a namespace"
fi
check "a job that steers queue pairs is proved" steered qp
check "a job that steers packets is proved" steered packet
check "a job that does not steer is named, with the reason" not_steered
check "a report has what was found, and neither addresses nor names" report_of_job
check "queue pairs of other processes keep their hop limits" others_connect
check "nothing is left of a proof that is killed" killed
check "the daemon and status prove steered queue pairs by packets of the NIC" daemon_proves
check "they name a NIC whose packets go another way" strays_named
ktap_finish
