#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Jobs on this machine's kernel, without the module: load, show, refuse, unload.
# In a network namespace and a BPF file system of its own.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
rocesteer=$(realpath -- "${ROCESTEER:-build/rocesteer}")

if [[ ! ${ROCESTEER_TEST_JOB:-} ]]; then
	unshare --net --mount mount -t bpf bpf /sys/fs/bpf 2>/dev/null ||
		skip_all "no network namespaces or BPF: not root, or not allowed"
	[[ ! -e /sys/module/rocesteer ]] ||
		skip_all "the module is loaded"
	ROCESTEER_TEST_JOB=1 exec unshare --net --mount "$0"
fi

dir=$(mktemp -d)
defer rm -rf "$dir"
map=$dir/map.json

ready()
{
	mount -t bpf bpf /sys/fs/bpf &&
		ip link add name rs0 type veth peer name rs1 &&
		ip link set rs0 up &&
		ip link set rs1 up || return
	cat >"$map" <<-E
	{"format":1,"generation":1,"created":"2026-01-02T03:04:05Z",
	 "device":"rs0","hop":2,"peers":[
	  {"address":"10.1.1.1","source":"10.1.0.1","local":false,
	   "leaf":"10.255.0.2","probed":2,"paths":[
	    {"path":0,"router":"10.255.1.1","ports":[49152]},
	    {"path":1,"router":"10.255.1.2","ports":[49160]}]},
	  {"address":"fd00:1::2","source":"fd00::1","local":false,
	   "leaf":"fd00:255::2","probed":1,"paths":[
	    {"path":0,"router":"fd00:255:1::1","ports":[50000]}]},
	  {"address":"10.1.0.2","source":"10.1.0.1","local":true,
	   "probed":0,"paths":[]}]}
	E
}

job()
{
	timeout 30 "$rocesteer" --json job "$@"
}

state()
{
	job list
	job show --job 7
	"$rocesteer" --json flow show
}

empty()
{
	job list | jq -e '.jobs == []' &&
		"$rocesteer" --json flow show | jq -e '.flows == []' &&
		[[ $(ip -d link show rs0) != *tcx* ]] &&
		[[ ! $(find /sys/fs/bpf -name 'rs_*') ]]
}

loads()
{
	job load --job 7 --name train --paths "$map" \
		--flow 10.1.1.1/17,10.1.1.1/0x12,fd00:1::2/19 |
		jq -e '.job == 7 and .device == "rs0" and .module == false'
}

shows()
{
	job list | jq -e '.jobs == [.jobs[0]] and
		(.jobs[0] | .job == 7 and .name == "train" and
			.owner == "flows" and .device == "rs0")' &&
	job show --job 7 | jq -e '(.peers | length) == 2 and
		(.peers[] | select(.address == "10.1.1.1").ports) ==
			[49152, 49160] and
		(.groups[] | select(.leaf == "10.255.0.2").load) == [1, 1] and
		(.groups[] | select(.leaf == "fd00:255::2").load) == [1]'
}

shows_flows()
{
	local flows

	flows=$("$rocesteer" --json flow show --job 7)
	jq -c '.flows[]' <<<"$flows"
	jq -e '[.flows[] | {peer, dqpn}] == [
		{peer: "10.1.1.1", dqpn: 17}, {peer: "10.1.1.1", dqpn: 18},
		{peer: "fd00:1::2", dqpn: 19}] and
		([.flows[:2][].port] | sort) == [49152, 49160] and
		.flows[2].port == 50000' <<<"$flows" &&
		"$rocesteer" --json flow show --job 8 | jq -e '.flows == []'
}

# Where nobody knows what was acknowledged a plan need not wait for it.
nothing_known()
{
	bpftool --json map dump pinned \
		"$(echo /sys/fs/bpf/rocesteer/netns-*)/rs_flows" |
		jq -e 'map(.formatted.value) | length == 3 and
			all(.acked == 4294967295 and .psns[0].next == .acked and
				.psns[0].repeats == .acked and
				.psns[1].next == .acked)'
}

counts()
{
	"$rocesteer" --json stat | jq -e '(.verdicts | length) == 17 and
		(.observed | length) == 6 and .verdicts.steered == 0 and
		(has("module") | not)'
}

# refused CODE STATUS ARGUMENT...: what is loaded stays as it is
refused()
{
	local code=$1 want=$2 before json status
	shift 2

	before=$(state)
	json=$(job "$@")
	status=$?
	echo "$json"
	((status == want)) && [[ $(state) == "$before" ]] &&
		jq -e --arg code "$code" '.error.code == $code' <<<"$json"
}

refuses()
{
	sed 's/rs0/nope0/' "$map" >"$dir/elsewhere.json"
	refused exists 1 load --job 7 --paths "$map" --flow 10.1.1.1/99 &&
		refused no-device 1 load --job 8 --all \
			--paths "$dir/elsewhere.json" &&
		refused no-file 2 load --job 8 --all --paths "$dir/none" &&
		refused no-job 1 unload --job 8 &&
		refused no-job 1 show --job 8 &&
		refused module-not-loaded 1 load --job 8 --pid $$ \
			--paths "$map" &&
		refused module-not-loaded 1 load --job 8 --all --module yes \
			--paths "$map" &&
		refused usage 2 load --job 8 --pid $$ --module no \
			--paths "$map" &&
		refused module-not-loaded 1 load --job 8 --all --actuator qp \
			--paths "$map" &&
		refused usage 2 load --job 8 --all --actuator qp --module no \
			--paths "$map" &&
		refused usage 2 load --job 8 --all --actuator qp --split wrap \
			--paths "$map" &&
		refused usage 2 load --job 8 --all --actuator both \
			--paths "$map"
}

# In words too: an error names what can be done.
says_what_to_do()
{
	"$rocesteer" job load --job 8 --pid $$ --paths "$map" 2>&1 |
		grep -- '--flow or --all'
	"$rocesteer" monitor 2>&1 | grep 'modprobe rocesteer'
}

# A slice that has spine 1 of each of the two leaves, and the two hosts.
slice()
{
	cat >"$dir/slice.json" <<-E
	{"job":"train","gpus":2,"stage":"vclos","leaves":[0,1],"spines":[1],
	 "routers":["${1:-10.255.1.2}"],"links":[[0,1],[1,1]],"objective":2,
	 "servers":[
	  {"leaf":0,"server":0,"gpus":1,"nics":["${2:-10.1.0.1}"]},
	  {"leaf":1,"server":0,"gpus":1,"nics":["${3:-10.1.1.1}"]}]}
	E
}

# in_slice WEIGHTS SPINE ARGUMENT...: only what the slice has is in the tables
in_slice()
{
	local weights=$1 spine=$2
	shift 2

	job load --job 9 --paths "$map" --all --slice "$@" |
		jq -e --argjson spine "$spine" '.name == "train" and
			.peers == 1 and .spines == [1] and .spine == $spine' &&
		job show --job 9 | jq -e --argjson weights "$weights" '
			[.peers[] | {address, ports}] ==
				[{address: "10.1.1.1", ports: [49160]}] and
			[.groups[] | {routers, weights}] == [{
				routers: ["10.255.1.2"], weights: $weights}]' &&
		job unload --job 9
}

restricts()
{
	slice
	in_slice '[65535]' 1 "$dir/slice.json" &&
		in_slice '[65535]' 1 "$dir/slice.json" --pattern ring &&
		in_slice '[1]' null "$dir/slice.json" --pattern permutation
}

from_cluster()
{
	echo '{"leaves":2,"spines":2,"gpus_per_leaf":2,"gpus_per_server":1,
		"routers":["10.255.1.1","10.255.1.2"],
		"nics":[[["10.1.0.9"],["10.1.0.1"]],[["10.1.1.9"],["10.1.1.1"]]],
		"free_gpus":[[0,1],[0,1]],"free_links":[[0,1],[0,1]]}' \
		>"$dir/cluster.json"
	"$rocesteer" --json slice alloc --cluster "$dir/cluster.json" --gpus 2 \
		--job train >"$dir/slice.json" &&
		jq -e '.routers == ["10.255.1.2"] and
			[.servers[].nics] == [["10.1.0.1"], ["10.1.1.1"]]' \
			"$dir/slice.json" &&
		in_slice '[65535]' 1 "$dir/slice.json" &&
		in_slice '[65535]' 1 train --cluster "$dir/cluster.json"
}

# A job under one leaf has no peers to steer to.
under_one_leaf()
{
	echo '{"job":"small","spines":[],"servers":[
		{"leaf":0,"server":0,"gpus":1}]}' >"$dir/slice.json"
	job load --job 9 --paths "$map" --all --slice "$dir/slice.json" |
		jq -e '.peers == 0 and (has("spines") | not)' &&
		job show --job 9 | jq -e '.peers == [] and .groups == []' &&
		job unload --job 9
}

# refused_slice CODE STATUS MESSAGE SLICE-ARGUMENT...
refused_slice()
{
	local code=$1 want=$2 message=$3
	shift 3

	slice "$@"
	refused "$code" "$want" load --job 8 --all --paths "$map" \
		--slice "$dir/slice.json" >"$dir/said" || return
	cat "$dir/said"
	grep -F "$message" "$dir/said"
}

refuses_slices()
{
	refused_slice no-port 3 "10.1.1.1 by spine 1, 10.255.1.9" 10.255.1.9 &&
		refused_slice no-port 3 "10.1.1.7 by spine 1" '' '' 10.1.1.7 &&
		refused_slice not-in-slice 2 "10.1.0.1, the source" '' 10.1.0.7 &&
		refused_slice bad-file 2 "servers: two GPUs have the NIC" '' \
			10.1.1.1 &&
		refused_slice bad-file 2 "routers[0]: is not the address" spine1 &&
		refused_slice bad-file 2 "servers[1].nics[0]: is not" '' '' nic
	slice
	refused no-port 3 load --job 8 --all --paths "$map" --slice \
		<(sed 's/10.1.1.1/10.1.0.2/' "$dir/slice.json") &&
		refused bad-file 2 load --job 8 --all --paths "$map" --slice \
			<(jq 'del(.routers)' "$dir/slice.json") &&
		refused usage 2 load --job 8 --all --paths "$map" \
			--pattern ring &&
		refused usage 2 load --job 8 --all --paths "$map" \
			--slice "$dir/slice.json" --pattern spiral &&
		refused no-file 2 load --job 8 --all --paths "$map" \
			--slice train --cluster "$dir/none"
}

two_jobs()
{
	job list >"$dir/log" && jq -e '.jobs | length == 2' "$dir/log"
}

# Who does not read what is printed holds up no other command.
printing()
{
	local flows

	flows=$(printf ',10.2.0.%d/1' {1..100})
	jq '.peers = [.peers[0] as $peer | range(1; 101) |
		$peer + {address: "10.2.0.\(.)"}]' "$map" >"$dir/many.json" &&
		job load --job 9 --paths "$dir/many.json" \
			--flow "${flows:1}" >"$dir/log" &&
		unread two_jobs "$rocesteer" --json flow show &&
		unread two_jobs "$rocesteer" --json job show --job 9 &&
		job unload --job 9 >"$dir/log"
}

unprivileged()
{
	local before

	before=$(state)
	setpriv --bounding-set=-net_admin --inh-caps=-all \
		"$rocesteer" --json job unload --all |
		jq -e '.error.code == "permission"' &&
		[[ $(state) == "$before" ]]
}

other_namespace()
{
	unshare --net "$rocesteer" --json job list | jq -e '.jobs == []' &&
		! unshare --net "$rocesteer" job unload --job 7 &&
		unshare --net "$rocesteer" job unload --all &&
		job list | jq -e '.jobs | length == 1'
}

# begin_load MAP...: give job 8 copies of job 7's entries, as if a command that loads
# it had been killed
begin_load()
{
	local pin map entry

	pin=$(echo /sys/fs/bpf/rocesteer/netns-*)
	for map; do
		while read -ra entry; do
			entry[0]=8
			bpftool map update pinned "$pin/$map" \
				key "${entry[@]}" || return
		done < <(bpftool -j map dump pinned "$pin/$map" |
			jq -r '.[] | [.key[], "value", .value[]] | join(" ")')
	done
}

# Job 7 has flows, and no others are counted in job 8.
begins_anew()
{
	local maps before

	before=$(state)
	for maps in rs_groups "rs_groups rs_peers"; do
		# shellcheck disable=SC2086 # words
		begin_load $maps && job load --job 8 --all --paths "$map" &&
			job show --job 8 | jq -ce '(.peers | length) == 2 and
				([.groups[].load] | sort) == [[0], [0, 0]]' &&
			job unload --job 8 || return
	done
	[[ $(state) == "$before" ]]
}

unloads()
{
	job unload --job 7 | jq -e '.unloaded == [7]'
}

unloads_all()
{
	job load --job 1 --paths "$map" --flow 10.1.1.1/17 &&
		job load --job 2 --paths "$map" --flow 10.1.1.1/18 &&
		job unload --all | jq -e '.unloaded | sort == [1, 2]' &&
		job unload --all | jq -e '.unloaded == []'
}

# Path 1 has three times the capacity of path 0.
weighs()
{
	sed '/10.255.1.2/ s/"ports"/"weight":3,&/' "$map" >"$dir/weights.json"
	job load --job 1 --paths "$dir/weights.json" --flow \
		10.1.1.1/1,10.1.1.1/2,10.1.1.1/3,10.1.1.1/4,10.1.1.1/5 \
		>"$dir/log" || return
	job show --job 1 | jq -ce '.groups[] |
		select(.leaf == "10.255.0.2").load == [1, 4]' &&
		job unload --job 1 >"$dir/log"
}

egress_programs()
{
	bpftool --json net show dev rs0 |
		jq -ce '[.[0].tc[] | select(.kind == "tcx/egress").name]'
}

# What runs before the programs could end the chain, as it says TC_ACT_OK.
runs_first()
{
	echo '__attribute__((section("tcx/egress"))) int f(void *c) { return 0; }' |
		clang -O2 -target bpf -c -x c -o "$dir/ends.o" - &&
		bpftool prog load "$dir/ends.o" /sys/fs/bpf/ends &&
		bpftool net attach tcx_egress pinned /sys/fs/bpf/ends dev rs0 &&
		job load --job 1 --paths "$map" --flow 10.1.1.1/17 || return
	egress_programs
	[[ $(egress_programs) == '["rocesteer_egress","f"]' ]] &&
		job unload --job 1
}

# Attach a pinned program before all others, which bpftool cannot.
attach_first()
{
	python3 -c 'import ctypes, os, socket, struct, sys
def bpf(command, attr):
    number = {"x86_64": 321}.get(os.uname().machine, 280)
    ret = ctypes.CDLL(None).syscall(number, command, attr, len(attr))
    return ret if ret >= 0 else sys.exit("bpf() failed")
path = ctypes.create_string_buffer(sys.argv[2].encode())
prog = bpf(7, struct.pack("QII", ctypes.addressof(path), 0, 0))
tcx_egress, before = 47, 8
bpf(8, struct.pack("IIIIIIQ", socket.if_nametoindex(sys.argv[1]), prog,
                   tcx_egress, before, 0, 0, 0))' "$@"
}

# One that came to be first between two jobs goes behind.
runs_first_again()
{
	job load --job 1 --paths "$map" --flow 10.1.1.1/17 &&
		bpftool net detach tcx_egress dev rs0 &&
		attach_first rs0 /sys/fs/bpf/ends || return
	egress_programs
	[[ $(egress_programs) == '["f","rocesteer_egress"]' ]] &&
		job load --job 2 --paths "$map" --flow 10.1.1.1/18 || return
	egress_programs
	[[ $(egress_programs) == '["rocesteer_egress","f"]' ]] &&
		job unload --all && bpftool net detach tcx_egress dev rs0 &&
		rm /sys/fs/bpf/ends
}

# A device whose packets begin with IP.
no_ethernet()
{
	local json status

	ip tuntap add dev rs2 mode tun && ip link set rs2 up || return
	sed 's/rs0/rs2/' "$map" >"$dir/l3.json"
	json=$(job load --job 1 --paths "$dir/l3.json" --flow 10.1.1.1/17)
	status=$?
	ip link del rs2
	echo "$json"
	((status == 1)) && [[ $(jq -r .error.code <<<"$json") == no-ethernet ]]
}

ktap_plan 25
check "a device and a port map" ready
check "nothing is loaded" empty
check "a job is loaded" loads
check "it is listed and shown" shows
check "its flows are dealt to paths" shows_flows
check "nothing is known of them yet" nothing_known
check "counters are named" counts
check "refusals leave it as it was" refuses
check "with a slice the tables have its paths only" restricts
check "a slice from a cluster file" from_cluster
check "a slice under one leaf" under_one_leaf
check "a slice that the port map does not reach is refused" refuses_slices
check "what a killed command began is not in the way" begins_anew
check "errors say what to do" says_what_to_do
check "what waits for its reader holds up nobody" printing
check "without privileges it stays" unprivileged
check "another namespace sees and changes nothing" other_namespace
check "it is unloaded" unloads
check "nothing is left" empty
check "unload --all" unloads_all
check "paths take flows by their weight" weighs
check "the programs run before those that are there" runs_first
check "and before those that came later, from the next job on" runs_first_again
check "a device without Ethernet headers is refused" no_ethernet
check "nothing is left again" empty
ktap_finish
