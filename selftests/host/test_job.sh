#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Jobs without the module: load, show, refuse, unload. The test has a network namespace and a
# BPF file system of its own.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/command.sh
killat=$(realpath -- build/selftests/killat)

ready()
{
	veth rs0 rs1 && ip address add 10.1.0.1/24 dev rs0 &&
		ip address add fd00::1/64 dev rs0 nodad || return
	port_map rs0 "$(peer 10.1.1.1 49152 49160)" '{
	  "address":"fd00:1::2","source":"fd00::1","local":false,
	   "leaf":"fd00:255::2","probed":1,"paths":[
	    {"path":0,"router":"fd00:255:1::1","ports":[50000]}]}' "$near" >"$map"
}

# bpffs lets every user make a directory.
refuses_a_strangers_place()
{
	local place=/sys/fs/bpf/rocesteer

	rmdir "$place"
	setpriv --reuid=65534 --regid=65534 --clear-groups mkdir "$place" &&
		refused unsafe 1 load --job 1 --all --port-map "$map" &&
		refused unsafe 1 list && rmdir "$place" &&
		mkdir -m 750 "$place" && refused unsafe 1 list &&
		rmdir "$place" && ln -s /sys/fs/bpf "$place" &&
		refused pin 1 list && rm "$place"
}

says_how_to_mount()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare --mount bash -c 'umount /sys/fs/bpf
		"$1" job load --job 1 --all --port-map "$2" 2>&1 |
			tee /dev/stderr | tail -n 1 | bash &&
			[[ $(stat -f -c %T /sys/fs/bpf) == bpf_fs &&
				$(stat -c %a /sys/fs/bpf) == *700 ]]' - \
		"$rocesteer" "$map"
}

names_the_holder()
{
	ROCESTEER_LOCK_WAIT=0 fails 4 locked "process $holder (sleep) has" job "$@"
}

limit_is_wrong()
{
	local wait

	for wait in x -1 ' 1' 1s 86401; do
		ROCESTEER_LOCK_WAIT=$wait fails 2 usage \
			"ROCESTEER_LOCK_WAIT: '$wait' is not a number" job list || return
	done
}

waits_no_longer()
{
	names_the_holder list && names_the_holder load --job 8 --all --port-map "$map"
}

# A command that reads does not delay others that read, but keeps others from changing
# anything.
read_together()
{
	local reads

	for reads in "job list" "job show --job 7" "flow show" stat \
		"top --count 1 --interval 10"; do
		# shellcheck disable=SC2086 # words
		ROCESTEER_LOCK_WAIT=0 "$rocesteer" --json $reads || return
	done
	names_the_holder load --job 8 --all --port-map "$map" &&
		names_the_holder unload --job 7
}

# A command does not say that there is no job when the pins are incomplete.
lacks_a_part()
{
	local pin

	job load --job 7 --all --port-map "$map" &&
		pin=$(echo /sys/fs/bpf/rocesteer/netns-*) || return
	rm "$pin/$1"
	refused version 1 list && refused version 1 unload --all &&
		refused version 1 load --job 8 --all --port-map "$map" || return
	"$rocesteer" job list 2>"$dir/said"
	cat "$dir/said"
	eval "$(grep -o 'rm -r .*' "$dir/said")" && busywait 10000 empty
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

lists_nothing()
{
	"$rocesteer" job list && "$rocesteer" flow show &&
		"$rocesteer" top --count 1 --interval 10 || return
	refused no-job 1 show --job 7 && [[ $("$rocesteer" stat) == "no job is loaded" ]] &&
		"$rocesteer" --json stat | jq -e '. == {}'
}

loads()
{
	job load --job 7 --name train --port-map "$map" \
		--flow 10.1.1.1/17,10.1.1.1/0x12,fd00:1::2/19 |
		jq -e '.job == 7 and .device == "rs0" and .module == false and
			.peers == 3 and .steered == 2'
}

shows()
{
	job list | jq -e '.jobs == [.jobs[0]] and
		(.jobs[0] | .job == 7 and .name == "train" and
			.owner == "flows" and .device == "rs0" and
			.split == "none" and .resequence == "off" and
			.slice == false)' &&
	job show --job 7 | jq -e '(.peers | length) == 2 and
		(.peers[] | select(.address == "10.1.1.1").ports) ==
			[49152, 49160] and
		(.groups[] | select(.leaf == "10.255.0.2").flows) == [1, 1] and
		(.groups[] | select(.leaf == "fd00:255::2").flows) == [1]'
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
		"$rocesteer" --json flow show --job 8 | jq -e '.error |
			.code == "no-job" and .hint == "See: rocesteer job list"'
}

# Without acknowledgments nobody knows of outstanding packets, so a plan need not wait.
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
	"$rocesteer" --json stat | jq -e '(.verdicts | length) == 19 and
		(.observed | length) == 6 and .verdicts.steered == 0 and
		(has("module") | not)'
}

# refused CODE STATUS ARGUMENT...: the loaded jobs stay as they are
refused()
{
	unchanged state fails "$2" "$1" '' job "${@:3}"
}

refuses()
{
	sed 's/rs0/nope0/' "$map" >"$dir/elsewhere.json"
	jq '.peers |= map(select(.local))' "$map" >"$dir/local.json"
	sed 's/"fd00::1"/"fd00::3"/' "$map" >"$dir/foreign.json"
	refused exists 1 load --job 7 --port-map "$map" --flow 10.1.1.1/99 &&
		refused no-device 1 load --job 8 --all \
			--port-map "$dir/elsewhere.json" &&
		refused no-file 2 load --job 8 --all --port-map "$dir/none" &&
		refused local-peer 2 load --job 8 --all --port-map "$dir/local.json" &&
		refused other-host 2 load --job 8 --all --port-map "$dir/foreign.json" &&
		refused no-job 1 unload --job 8 &&
		refused no-job 1 show --job 8 &&
		refused module-not-loaded 1 load --job 8 --pid $$ \
			--port-map "$map" &&
		refused module-not-loaded 1 load --job 8 --all --module yes \
			--port-map "$map" &&
		refused usage 2 load --job 8 --pid $$ --module no \
			--port-map "$map" &&
		refused module-not-loaded 1 load --job 8 --all --actuator qp \
			--port-map "$map" &&
		refused usage 2 load --job 8 --all --actuator qp --module no \
			--port-map "$map" &&
		refused usage 2 load --job 8 --all --actuator qp --split all \
			--port-map "$map" &&
		refused usage 2 load --job 8 --all --actuator both \
			--port-map "$map"
}

takes_device_once()
{
	local status

	job load --job 9 --all --port-map "$map" || return
	refused device-taken 1 load --job 8 --all --port-map "$map"
	status=$?
	job unload --job 9 && return "$status"
}

says_what_to_do()
{
	"$rocesteer" job load --job 8 --pid $$ --port-map "$map" 2>&1 |
		grep -- '--flow or --all' &&
		"$rocesteer" job load --job 8 --all --actuator qp \
			--port-map "$map" 2>&1 |
		grep '^modprobe rocesteer, or leave out --actuator qp\.$' &&
		"$rocesteer" job load --job 8 --flow 10.1.1.1/99 --split all \
			--port-map "$map" 2>&1 |
		grep '^modprobe rocesteer, or leave out --split and --resequence\.$' &&
		"$rocesteer" job load --job 7 --all --port-map "$map" 2>&1 |
		grep 'To replace: rocesteer job replace 7$' &&
		"$rocesteer" job replace --job 8 --all --port-map "$map" 2>&1 |
		grep '^See: rocesteer job list$' &&
		"$rocesteer" monitor 2>&1 | grep 'modprobe rocesteer'
}

# A wide character takes more than one byte.
aligns()
{
	local LC_ALL=C.UTF-8 list

	job load --job 9 --name trainé --port-map "$map" --all || return
	mapfile -t list < <("$rocesteer" job list | grep -e NAME -e trainé)
	job unload --job 9
	printf '%s\n' "${list[@]}"
	[[ ${list[0]} == *DEVICE* && ${list[1]} == *rs0* ]] || return
	list=("${list[@]%%DEVICE*}")
	list=("${list[@]%%rs0*}")
	((${#list[0]} == ${#list[1]} && ${#list[0]} > 6))
}

# A slice with spine 1, two leaves and two hosts
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

# in_slice HOME SPINE PATTERN ARGUMENT...: the tables have only what is in the slice
in_slice()
{
	local home=$1 spine=$2 pattern=$3
	shift 3

	job load --job 9 --port-map "$map" --all "$@" |
		jq -e --argjson spine "$spine" '.name == "train" and
			.peers == 1 and .steered == 1 and .spines == [1] and .spine == $spine and
			.split == "none"' &&
		job show --job 9 | jq -e --argjson home "$home" \
			--argjson pattern "$pattern" '
			.slice and .pattern == $pattern and
			[.peers[] | {address, ports}] ==
				[{address: "10.1.1.1", ports: [49160]}] and
			[.groups[] | {routers, weights, home}] == [{
				routers: ["10.255.1.2"], weights: [1], home: $home}]' &&
		job unload --job 9
}

# paths_of DEAL: the paths of the flows to one peer; the host is the second under its leaf
paths_of()
{
	# The other host under the leaf has two addresses.
	jq '(.peers[] | select(.local)).address = "10.1.0.0" |
		.peers += [.peers[] | select(.local) | .address = "fd00::0:1:0" |
			.source = "fd00::1"]' "$map" >"$dir/second.json" &&
		job load --job 9 --port-map "$dir/second.json" --deal "$1" \
			--flow 10.1.1.1/50,10.1.1.1/51,fd00:1::2/52 >"$dir/dealt" &&
		[[ $(jq -r .deal "$dir/dealt") == "$2" ]] &&
		"$rocesteer" --json flow show --job 9 |
			jq -c '[.flows | sort_by(.dqpn)[] | [.path, .promise]]' &&
		job unload --job 9 >&2
}

# The only path to the third peer is path 0.
deals_by_place()
{
	local dealt='[[1,"permutations"],[0,"permutations"],[0,"permutations"]]'

	[[ $(paths_of auto place) == "$dealt" ]] &&
		[[ $(paths_of place place) == "$dealt" ]] &&
		paths_of least least | jq -e 'map(.[1]) == ["bytes", "bytes", "bytes"]' &&
		jq '.peers |= map(select(.local | not))' "$map" >"$dir/far.json" &&
		refused no-place 2 load --job 8 --all --deal place \
			--port-map "$dir/far.json" &&
		job load --job 9 --port-map "$dir/far.json" --all | jq -e '.deal == "least"' &&
		job unload --job 9
}

# --split auto, the default, is no error where flows cannot be split.
splits_where_possible()
{
	local options

	for options in --all "--flow 10.1.1.1/55" "--flow 10.1.1.1/55 --split auto"; do
		# shellcheck disable=SC2086 # options and their values
		job load --job 9 --port-map "$map" $options |
			jq -e '.split == "none" and .deal == "place"' &&
			job show --job 9 | jq -e '.split == "none" and
				.deal == "place" and .resequence == "off"' &&
			job unload --job 9 || return
	done
}

# A flow over one spine is not split, whatever --split says.
not_split()
{
	job load --job 9 --port-map "$map" --flow 10.1.1.1/55 --split all \
		--slice "$dir/slice.json" | jq -e '.split == "none"' &&
		job show --job 9 | jq -e '.split == "none" and .slice' &&
		job unload --job 9
}

restricts()
{
	slice
	not_split && in_slice 0 1 null --slice "$dir/slice.json" &&
		in_slice 0 1 '"ring"' --slice "$dir/slice.json" \
			--pattern ring &&
		in_slice null null '"permutation"' --slice "$dir/slice.json" \
			--pattern permutation
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
		in_slice 0 1 null --slice "$dir/slice.json" &&
		in_slice 0 1 null --slice-job train --cluster "$dir/cluster.json" ||
		return
	# Each leaf has other addresses of the spines.
	jq '.routers = [.routers, ["10.255.2.1", "10.255.2.2"]]' "$dir/cluster.json" \
		>"$dir/by-leaf.json" &&
		"$rocesteer" --json slice show --cluster "$dir/by-leaf.json" \
			--job train >"$dir/slice.json" &&
		jq -e '.routers == [["10.255.1.2"], ["10.255.2.2"]]' "$dir/slice.json" &&
		in_slice 0 1 null --slice "$dir/slice.json" &&
		refused no-port 3 load --job 8 --all --port-map "$map" --slice \
			<(jq '.routers |= reverse' "$dir/slice.json")
}

# The lane of a GPU is one of two parallel links at each end, whatever other ports the map
# has.
parallel_links()
{
	local cluster="$dir/parallel.json"

	echo '{"leaves":2,"spines":1,"gpus_per_leaf":2,"gpus_per_server":1,
		"links_per_pair":2,"parallel_links":2,
		"spine_addrs":[["10.3.0.1",["10.3.0.2","10.3.0.9"],"10.3.1.1","10.3.1.2"]],
		"leaf_addrs":[["10.2.0.1","10.2.0.2"],["10.2.1.1","10.2.1.2"]],
		"nics":[[["10.1.0.1"],["10.1.0.2"]],[["10.1.1.1"],["10.1.1.2"]]]}' \
		>"$cluster"
	jq '.peers = [["10.1.1.1", 49152], ["10.1.1.2", 50000] | {address: .[0],
		source: "10.1.0.1", local: false, leaf: "10.2.1.1", probed: 4,
		paths: [{path: 0, router: "10.3.0.1", leaf: "10.2.1.1", ports: [.[1]]},
			{path: 1, router: "10.3.0.1", leaf: "10.2.1.2", ports: [.[1] + 8]},
			{path: 2, router: "10.3.0.9", leaf: "10.2.1.1", ports: [.[1] + 16]},
			{path: 3, router: "10.3.0.9", leaf: "10.2.1.2", ports: [.[1] + 24]}]}]' \
		"$map" >"$dir/both.json" &&
		"$rocesteer" --json slice alloc --cluster "$cluster" --gpus 4 --job train |
		jq -e '.spines == [0, 0] and .lane_links == [1, 1] and
			.down == ["10.2.0.1", "10.2.0.2", "10.2.1.1", "10.2.1.2"]' &&
		job load --job 9 --port-map "$dir/both.json" --all --slice-job train \
			--cluster "$cluster" | jq -e '.spines == [0, 0] and .spine == 0' &&
		job show --job 9 | jq -e '([.peers[] | [.address, .ports]] | sort) == [
			["10.1.1.1", [49152, 49176]], ["10.1.1.2", [50000, 50024]]] and
			[.groups[] | .routers, .weights, .home] ==
				[["10.3.0.1", "10.3.0.9"], [1, 1], 0]' &&
		job unload --job 9 &&
		refused no-port 3 load --job 8 --all --slice-job train --cluster "$cluster" \
			--port-map <(jq 'del(.peers[1].paths[3]) |
				.peers[].paths |= [to_entries[] | .value + {path: .key}]' \
				"$dir/both.json") &&
		jq 'del(.leaf_addrs, .spine_addrs)' "$cluster" >"$dir/untold.json" &&
		refused bad-file 2 load --job 8 --all --slice-job train \
			--cluster "$dir/untold.json" --port-map "$dir/both.json" &&
		jq 'del(.leaf_addrs)' "$cluster" >"$dir/untold.json" &&
		refused bad-file 2 load --job 8 --all --slice-job train \
			--cluster "$dir/untold.json" --port-map "$dir/both.json"
}

under_one_leaf()
{
	echo '{"job":"small","gpus":1,"leaves":[0],"spines":[],"links":[],
		"servers":[{"leaf":0,"server":0,"gpus":1}]}' >"$dir/slice.json"
	job load --job 9 --port-map "$map" --all --slice "$dir/slice.json" |
		jq -e '.peers == 0 and .steered == 0 and (has("spines") | not)' &&
		job show --job 9 | jq -e '.peers == [] and .groups == []' &&
		job unload --job 9
}

# refused_slice CODE STATUS MESSAGE SLICE-ARGUMENT...
refused_slice()
{
	local code=$1 want=$2 message=$3
	shift 3

	slice "$@"
	refused "$code" "$want" load --job 8 --all --port-map "$map" \
		--slice "$dir/slice.json" >"$dir/said" || return
	cat "$dir/said"
	grep -F "$message" "$dir/said"
}

refuses_slices()
{
	refused_slice no-port 3 "$map: job train: the port map has no port to \
10.1.1.1 by spine 1, 10.255.1.9\"" 10.255.1.9 &&
		refused_slice no-port 3 "10.1.1.7 by spine 1" '' '' 10.1.1.7 &&
		refused_slice not-in-slice 2 "10.1.0.1, the source" '' 10.1.0.7 &&
		refused_slice bad-file 2 "servers: two GPUs have the NIC" '' \
			10.1.1.1 &&
		refused_slice bad-file 2 "routers[0]: is not the address" spine1 &&
		refused_slice bad-file 2 "servers[1].nics[0]: is not" '' '' nic
	echo '{"job":"train","gpus":4,"leaves":[0,1],"spines":[0,1],
	 "routers":["10.255.1.1","10.255.1.9"],
	 "links":[[0,0],[0,1],[1,0],[1,1]],"servers":[
	  {"leaf":0,"server":0,"gpus":2,"nics":["10.1.0.1","10.1.0.9"]},
	  {"leaf":1,"server":0,"gpus":2,"nics":["10.1.1.1","10.1.1.7"]}]}' \
		>"$dir/slice.json"
	refused no-port 3 load --job 8 --all --port-map "$map" \
		--slice "$dir/slice.json" >"$dir/said" || return
	grep "10.1.1.1 by spine 1, 10.255.1.9, and 2 more\"" "$dir/said" || return
	slice
	refused no-port 3 load --job 8 --all --port-map "$map" --slice \
		<(sed 's/10.1.1.1/10.1.0.2/' "$dir/slice.json") &&
		refused bad-file 2 load --job 8 --all --port-map "$map" --slice \
			<(jq 'del(.routers)' "$dir/slice.json") &&
		refused usage 2 load --job 8 --all --port-map "$map" \
			--pattern ring &&
		refused usage 2 load --job 8 --all --port-map "$map" \
			--slice "$dir/slice.json" --pattern spiral &&
		refused no-file 2 load --job 8 --all --port-map "$map" \
			--slice-job train --cluster "$dir/none"
}

two_jobs()
{
	job list >"$dir/log" && jq -e '.jobs | length == 2' "$dir/log"
}

printing()
{
	local flows

	flows=$(printf ',10.2.0.%d/17' {1..100})
	jq '.peers = [.peers[0] as $peer | range(1; 101) |
		$peer + {address: "10.2.0.\(.)"}]' "$map" >"$dir/many.json" &&
		job load --job 9 --port-map "$dir/many.json" \
			--flow "${flows:1}" >"$dir/log" &&
		unread two_jobs "$rocesteer" --json flow show &&
		unread two_jobs "$rocesteer" --json job show --job 9 &&
		job unload --job 9 >"$dir/log"
}

few_calls()
{
	local flows

	flows=$(printf ',10.1.1.1/%d' {1000..2999})
	job load --job 9 --port-map "$map" --flow "${flows:1}" >"$dir/log" &&
		"$killat" 1000 60 "$rocesteer" --json flow show --job 9 >"$dir/out" &&
		jq -e '.flows | length == 2000' "$dir/out" &&
		"$killat" 1000 60 "$rocesteer" --json top --count 1 --interval 10 \
			>"$dir/out" &&
		jq -e '[.groups[] | select(.job == 9).paths[].flows] ==
			[1000, 1000, 0]' \
			"$dir/out" &&
		job unload --job 9 >"$dir/log"
}

# without CAP[,-CAP] COMMAND...: as root without these
without()
{
	local caps=$1
	shift

	setpriv --bounding-set=-"$caps" --inh-caps=-all "$rocesteer" --json "$@"
}

# The capabilities are those of PERMISSIONS in rocesteer(8).
permissions()
{
	local load=(job load --job 9 --port-map "$map" --flow 10.1.1.1/77) cap reads

	for cap in net_admin bpf,-sys_admin perfmon,-sys_admin; do
		without "$cap" "${load[@]}" | jq -e --arg cap "CAP_${cap%%,*}" '.error |
			.code == "permission" and
			(.message | ascii_downcase | endswith($cap | ascii_downcase))' &&
			! job show --job 9 >"$dir/log" || return
	done
	for cap in net_admin bpf,-sys_admin; do
		without "$cap" job unload --job 7 |
			jq -e '.error.code == "permission"' || return
	done
	for reads in "job list" "job show --job 7" "flow show" stat; do
		# shellcheck disable=SC2086 # words
		without all $reads >"$dir/log" || return
	done
	setpriv --bounding-set=-all,+net_admin,+bpf,+perfmon --inh-caps=-all \
		"$rocesteer" --json "${load[@]}" | jq -e '.job == 9' &&
		without all job show --job 9 |
			jq -e '.job == 9 and (has("first") | not)' &&
		setpriv --bounding-set=-all,+net_admin,+bpf --inh-caps=-all \
			"$rocesteer" --json job unload --job 9 | jq -e '.unloaded == [9]'
}

unprivileged()
{
	unchanged state fails 1 permission '' without net_admin job unload --all
}

not_root()
{
	cp "$rocesteer" "$dir/rocesteer" && chmod 755 "$dir" || return
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$dir/rocesteer" --json job list >"$dir/out"
	(($? == 1)) && cat "$dir/out" && jq -e '.error |
		.code == "permission" and .hint == "Run it as root."' "$dir/out"
}

other_namespace()
{
	unshare --net "$rocesteer" --json job list | jq -e '.jobs == []' &&
		unshare --net "$rocesteer" --json flow show | jq -e '.flows == []' &&
		! unshare --net "$rocesteer" job unload --job 7 &&
		unshare --net "$rocesteer" job unload --all &&
		job list | jq -e '.jobs | length == 1'
}

# tenant ARGUMENT...: the command works in another network namespace, by its name.
tenant()
{
	timeout 30 "$rocesteer" --json --netns tenant "$@"
}

# The namespace has a device of the same name, and job 7 of its own. Port map, pins and
# records are in the mounts of the caller.
tenant_steers()
{
	local before pid

	before=$(state)
	ip netns add tenant && defer ip netns del tenant &&
		ip -n tenant link add name rs0 type veth peer name rs1 &&
		ip -n tenant address add 10.1.0.1/24 dev rs0 &&
		ip -n tenant address add fd00::1/64 dev rs0 nodad &&
		ip -n tenant link set rs0 up && ip -n tenant link set rs1 up &&
		tenant job load --job 7 --name tenant --all --port-map "$map" &&
		tenant job list | jq -e '[.jobs[].name] == ["tenant"]' &&
		[[ $(ip netns exec tenant bpftool net show dev rs0) == *rocesteer_egress* ]] &&
		[[ $(state) == "$before" ]] &&
		[[ $(echo /run/rocesteer/netns-*/job-7.json) == *" "* ]] || return
	nsenter --net=/run/netns/tenant sleep 100 &
	pid=$!
	defer kill "$pid"
	busywait 10000 is_in_tenant "$pid" &&
		"$rocesteer" job list --json --netns="$pid" | jq -e '[.jobs[].name] == ["tenant"]'
}

is_in_tenant()
{
	[[ /proc/$1/ns/net -ef /run/netns/tenant ]]
}

# fails_with CODE HINT COMMAND...: with the code, and words in the hint
fails_with()
{
	"${@:3}" >"$dir/out" && return 1
	cat "$dir/out"
	jq -e --arg code "$1" --arg hint "$2" '.error.code == $code and
		(.error.hint | contains($hint))' "$dir/out"
}

# sees_none HINT: what shows jobs does not say that there is none.
sees_none()
{
	local show

	for show in "job list" "job show 7" "flow show" stat status; do
		# shellcheck disable=SC2086 # words
		fails_with other-bpffs "$1" "$rocesteer" --json $show || return
	done
}

# Another BPF file system, in the place of the one that "ip netns exec" hides, has none of the
# jobs: job 7 is not loaded twice there, and keeps its record when job 9 is unloaded.
loads_beside()
{
	local command=("$rocesteer" --json job) hint="rocesteer --netns tenant"

	mount -t bpf bpf /sys/fs/bpf &&
		fails_with other-bpffs "$hint" "${command[@]}" load --job 7 --all \
			--port-map "$map" &&
		sees_none "$hint" &&
		[[ $(bpftool net show dev rs0 | grep -c rocesteer_) == 2 ]] &&
		"${command[@]}" load --job 9 --port-map "$dir/rs1.json" --flow 10.1.1.1/99 &&
		fails_with no-job "job list" "${command[@]}" unload --job 7 &&
		"${command[@]}" unload --all
}

hidden_by_ip()
{
	jq '.device = "rs1"' "$map" >"$dir/rs1.json"
	fails_with no-bpffs "rocesteer --netns tenant" ip netns exec tenant \
		"$rocesteer" --json job list || return
	export -f loads_beside sees_none fails_with
	rocesteer=$rocesteer map=$map dir=$dir ip netns exec tenant bash -c loads_beside &&
		tenant status --no-probe |
			jq -e --arg map "$map" '[.jobs[] | [.job, .port_map]] == [[7, $map]]'
}

tenant_socket()
{
	[[ -S $(echo /run/rocesteer/netns-*.sock) ]]
}

# The daemon, and who asks it, are in the namespace by the option alone.
tenant_daemon()
{
	local pid status

	"$rocesteer" --netns tenant daemon >"$dir/daemon" 2>&1 &
	pid=$!
	busywait 10000 tenant_socket && is_in_tenant "$pid" &&
		tenant status | jq -e '.host.daemon' &&
		"$rocesteer" --json status | jq -e '.host.daemon | not'
	status=$?
	kill "$pid" && wait "$pid"
	return "$status"
}

netns_refused()
{
	local code=$1 status=$2
	shift 2

	"$rocesteer" --json job list "$@" >"$dir/out"
	(($? == status)) && cat "$dir/out" &&
		jq -e --arg code "$code" '.error | .code == $code and .hint' "$dir/out"
}

tenant_refuses()
{
	touch /run/netns/file &&
		netns_refused no-netns 2 --netns nobody &&
		netns_refused no-netns 2 --netns ../netns/tenant &&
		netns_refused no-netns 2 --netns file &&
		netns_refused no-process 2 --netns 4194304 &&
		rm /run/netns/file &&
		! setpriv --bounding-set=-sys_admin --inh-caps=-all "$rocesteer" --json \
			job list --netns tenant >"$dir/out" &&
		jq -e '.error | .code == "permission" and
			(.message | endswith("needs CAP_SYS_ADMIN"))' "$dir/out"
}

# The job of the namespace goes, and that of this one stays.
tenant_unloads()
{
	tenant job unload --all && tenant job list | jq -e '.jobs == []' &&
		job list | jq -e '.jobs | length == 1' &&
		[[ $(echo /run/rocesteer/netns-*/job-7.json) != *" "* ]]
}

# begin_load MAP...: give job 8 copies of job 7's entries, as a killed load leaves them
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

# Job 7 has flows, and job 8 counts none of them.
begins_anew()
{
	local maps before

	before=$(state)
	for maps in rs_groups "rs_groups rs_peers"; do
		# shellcheck disable=SC2086 # words
		begin_load $maps && job load --job 8 --all --port-map "$map" &&
			job show --job 8 | jq -ce '(.peers | length) == 2 and
				([.groups[].flows] | sort) == [[0], [0, 0]]' &&
			job unload --job 8 || return
	done
	[[ $(state) == "$before" ]]
}

# orphan: give a flow of job 7 to a job that does not exist, as a killed load leaves it
orphan()
{
	job load --job 7 --port-map "$map" --flow 10.1.1.1/17,10.1.1.1/18 >"$dir/log" || return
	set_entry flows '.formatted.key.dqpn == 17' "$(flow_byte job)" 8
}

has_flows()
{
	"$rocesteer" --json flow show | jq -e --argjson flows "$1" \
		'[.flows[] | [.job, .dqpn]] | sort == $flows'
}

# A killed command has left tables without a job. A command that reads must not remove tables
# that others may be reading.
readers_remove_nothing()
{
	local pin

	job load --job 7 --port-map "$map" --flow 10.1.1.1/17 >"$dir/log" || return
	pin=$(echo /sys/fs/bpf/rocesteer/netns-*)
	bpftool map delete pinned "$pin/rs_jobs" key 7 0 0 0 &&
		job list | jq -e '.jobs == []' && [[ -e $pin/rs_jobs ]] &&
		job unload --all | jq -e '.unloaded == []' && [[ ! -e $pin ]]
}

frees_flows()
{
	orphan && has_flows '[[7, 18], [8, 17]]' &&
		job load --job 9 --port-map "$map" --flow 10.1.1.1/17 &&
		has_flows '[[7, 18], [9, 17]]' && job unload --all &&
		orphan && job unload --job 8 |
			jq -e '.error.code == "no-job"' &&
		has_flows '[[7, 18]]' && job unload --all
}

unloads()
{
	job unload --job 7 | jq -e '.unloaded == [7]'
}

# As ip does: an object alone lists, the number of a job needs no option.
is_brief()
{
	job load 1 --port-map "$map" --flow 10.1.1.1/17 &&
		diff <("$rocesteer" -j job) <("$rocesteer" job list --json) &&
		diff <("$rocesteer" job sh 1) <("$rocesteer" job show --job 1) &&
		diff <("$rocesteer" flow) <("$rocesteer" flow show) &&
		diff <("$rocesteer" flow --job 1) <("$rocesteer" flow show 1) &&
		diff <("$rocesteer" stat show) <("$rocesteer" stat) &&
		"$rocesteer" -n $$ prog | grep -w pins &&
		"$rocesteer" job unload 1 | grep -xE 'unloaded +1'
}

# in_order COMMAND...: the jobs of its JSON
in_order()
{
	"$rocesteer" "$@" --json | jq -e '[.jobs[].job] | unique == . and length == 18'
}

lists_by_number()
{
	local id peers='["10.1.1.10", "10.1.1.9", "10.1.1.100"]'

	jq --argjson peers "$peers" '.peers |= map(select(.address == "10.1.1.1")) |
		.peers[0] as $peer | .peers = [$peers[] as $a | $peer | .address = $a]' \
		"$map" >"$dir/peers.json"
	for id in 300 5 256 1 511 512 77 {20..30}; do
		"$rocesteer" job load "$id" --port-map "$dir/peers.json" --no-verify \
			--flow "10.1.1.9/$((id + 1))" >"$dir/loaded" || return
	done
	in_order job list && in_order status --no-probe &&
		"$rocesteer" top --count 1 --interval 10 --json |
			jq -e '[.groups[].job] | unique == . and length == 18' &&
		job show 5 | jq -e '[.peers[].address] == ["10.1.1.9", "10.1.1.10", "10.1.1.100"]' &&
		"$rocesteer" job unload --all | grep -xE 'jobs unloaded +18'
}

unloads_all()
{
	job load --job 1 --port-map "$map" --flow 10.1.1.1/17 &&
		job load --job 2 --port-map "$map" --flow 10.1.1.1/18 &&
		job unload --all | jq -e '.unloaded == [1, 2]' &&
		job unload --all | jq -e '.unloaded == []' &&
		[[ $("$rocesteer" job unload --all 2>&1) == "no job is loaded" ]]
}

# unprinted COMMAND...: run it with a standard output that fails
unprinted()
{
	"$rocesteer" "$@" >/dev/full 2>"$dir/said"
	(($? == 1)) && grep "Only the output is lost" "$dir/said"
}

output_is_lost()
{
	unprinted job load --job 1 --port-map "$map" --flow 10.1.1.1/17 &&
		job list | jq -e '[.jobs[].job] == [1]' &&
		unprinted job unload --all && job list | jq -e '.jobs == []'
}

# all_or_nothing: job 1 has all of 2,000 peers, or there is none
all_or_nothing()
{
	if job show --job 9 >"$dir/show"; then
		jq -e '.peers | length == 2000' "$dir/show" >&2
	else
		jq -e '.error.code == "no-job"' "$dir/show" >&2
	fi
}

names_taken()
{
	job load --job 1 --port-map "$map" --flow 10.1.1.1/17 >"$dir/log" || return
	job load --job 2 --port-map "$map" --flow 10.1.1.1/18,10.1.1.1/17 |
		jq -e '.error.message == "job 2: --flow: 10.1.1.1/17 belongs to job 1"'
	local status=$?
	job unload --all >"$dir/log"
	return "$status"
}

# rehearses VERB [OPTION...]: with success, and changes nothing
rehearses()
{
	local before

	before=$(state)
	job "$@" --port-map "$map" --dry-run >"$dir/out" && jq . "$dir/out" &&
		jq -e '.dry_run and .device == "rs0" and .peers == 3' "$dir/out" &&
		[[ $(state) == "$before" ]]
}

dry_run()
{
	[[ ! $(find /sys/fs/bpf/rocesteer -mindepth 1) ]] && rehearses load --job 1 --all &&
		[[ ! $(find /sys/fs/bpf/rocesteer -mindepth 1) ]] &&
		refused no-job 1 replace --job 1 --all --port-map "$map" --dry-run &&
		job load --job 1 --all --port-map "$map" >"$dir/log" &&
		refused exists 1 load --job 1 --all --port-map "$map" --dry-run &&
		refused device-taken 1 load --job 2 --all --port-map "$map" --dry-run &&
		rehearses replace --job 1 --all && rehearses load --job 2 --flow 10.1.1.1/17 &&
		refused other-job 1 replace --job 1 --flow 10.1.1.1/17 --port-map "$map" --dry-run &&
		job load --job 2 --flow 10.1.1.1/17 --port-map "$map" >"$dir/log" &&
		refused flow-taken 1 load --job 3 --flow 10.1.1.1/17 --port-map "$map" --dry-run &&
		refused bad-file 2 load --job 3 --all --port-map /dev/null --dry-run
	local status=$?
	job unload --all >"$dir/log"
	return "$status"
}

interrupted()
{
	local ms

	jq '.peers = [.peers[0] as $peer | range(2000) |
		$peer + {address: "10.2.\(. / 250 | floor).\(. % 250 + 1)"}]' \
		"$map" >"$dir/thousands.json"
	for ms in 2 5 10 20 50 100 200 400 800; do
		timeout -s INT "0.$(printf %03d "$ms")" "$rocesteer" job load --job 9 \
			--port-map "$dir/thousands.json" --all >"$dir/log" 2>&1
		all_or_nothing || return
		job unload --all >"$dir/log"
	done
	for ms in 2 4 6 8 12 16 24 32 64; do
		job load --job 9 --port-map "$dir/thousands.json" --all >"$dir/log" &&
			timeout -s INT "0.$(printf %03d "$ms")" "$rocesteer" job \
				unload --all >"$dir/log" 2>&1
		all_or_nothing || return
		job unload --all >"$dir/log"
	done
}

# Path 1 has three times the capacity of path 0.
weighs()
{
	jq '(.peers[].paths[] | select(.router == "10.255.1.2")).weight = 3' "$map" \
		>"$dir/weights.json"
	job load --job 1 --port-map "$dir/weights.json" --flow \
		10.1.1.1/11,10.1.1.1/12,10.1.1.1/13,10.1.1.1/14,10.1.1.1/15 \
		>"$dir/log" || return
	job show --job 1 | jq -ce '.groups[] |
		select(.leaf == "10.255.0.2").flows == [1, 4]' &&
		job unload --job 1 >"$dir/log"
}

# A daemon that looked for the ports again has found none for path 1.
lacks_a_port()
{
	local at status

	job load --job 1 --port-map "$map" --flow 10.1.1.1/11 >"$dir/log" || return
	at=$(value_byte peers peer sport)
	set_entry peers '.formatted.value.nr_paths == 2' $((at + 2)) 0 $((at + 3)) 0 &&
		job show --job 1 | jq -ce '[.groups[] | select(.leaf == "10.255.0.2") |
			.down, .no_port] == [[], [1]]' &&
		"$rocesteer" --json top --count 1 --interval 10 | jq -ce '[.groups[] |
			select(.leaf == "10.255.0.2").paths[].state] == ["up", "no-port"]'
	status=$?
	job unload --job 1 >"$dir/log"
	return "$status"
}

egress_programs()
{
	bpftool --json net show dev rs0 |
		jq -ce '[.[0].tc[] | select(.kind == "tcx/egress").name]'
}

# A program that returns TC_ACT_OK ends the chain of programs.
runs_first()
{
	echo '__attribute__((section("tcx/egress"))) int f(void *c) { return 0; }' |
		clang -O2 -target bpf -c -x c -o "$dir/ends.o" - &&
		bpftool prog load "$dir/ends.o" /sys/fs/bpf/ends &&
		bpftool net attach tcx_egress pinned /sys/fs/bpf/ends dev rs0 &&
		job load --job 1 --port-map "$map" --flow 10.1.1.1/17 || return
	egress_programs
	[[ $(egress_programs) == '["rocesteer_egress","f"]' ]] &&
		job unload --job 1
}

runs_first_again()
{
	job load --job 1 --port-map "$map" --flow 10.1.1.1/17 &&
		bpftool net detach tcx_egress dev rs0 &&
		attach_first rs0 /sys/fs/bpf/ends || return
	egress_programs
	[[ $(egress_programs) == '["f","rocesteer_egress"]' ]] &&
		job show --job 1 | jq -e '.served and (.first | not)' &&
		job load --job 2 --port-map "$map" --flow 10.1.1.1/18 || return
	egress_programs
	[[ $(egress_programs) == '["rocesteer_egress","f"]' ]] &&
		job show --job 1 | jq -e '.served and .first' &&
		job unload --all && bpftool net detach tcx_egress dev rs0 &&
		rm /sys/fs/bpf/ends
}

# Packets of the device begin with the IP header.
no_ethernet()
{
	local json status

	ip tuntap add dev rs2 mode tun && ip link set rs2 up || return
	jq '.device = "rs2" | del(.peers[1])' "$map" >"$dir/l3.json"
	json=$(job load --job 1 --port-map "$dir/l3.json" --flow 10.1.1.1/17)
	status=$?
	ip link del rs2
	echo "$json"
	((status == 1)) && [[ $(jq -r .error.code <<<"$json") == no-ethernet ]]
}

ktap_plan 55
check "a device and a port map are made" ready
check "no job is loaded at first" empty
check "lists without a job are empty, and show fails" lists_nothing
check "a place that others may change is refused" refuses_a_strangers_place
check "the hint about a missing BPF file system makes one for root alone" says_how_to_mount
check "pins without one of the tables are refused" lacks_a_part rs_tags
check "pins without one of the programs are refused" lacks_a_part set_flow
check "a job is loaded" loads
check "a lock is waited for up to the limit, and its holder is named" \
	while_locked /sys/fs/bpf/rocesteer waits_no_longer
check "a limit for the lock that is no number is refused" limit_is_wrong
shared=1 check "commands that read do not wait for each other" \
	while_locked /sys/fs/bpf/rocesteer read_together
check "a loaded job is listed and shown" shows
check "listed flows are dealt to paths" shows_flows
check "listed flows have no PSN and no acknowledgment yet" nothing_known
check "stat names all counters" counts
check "refused commands leave the loaded job as it was" refuses
check "a second job with all flows of a device is refused" takes_device_once
check "flows are dealt by the host's place, where that is known" deals_by_place
check "without --split, flows are split only where the order can be restored" splits_where_possible
check "a job with a slice has only the slice's paths in its tables" restricts
check "job load takes a slice from a cluster file" from_cluster
check "a slice names parallel links to one spine" parallel_links
check "a job whose slice is under one leaf has nothing to steer" under_one_leaf
check "a slice that the port map does not reach is refused" refuses_slices
check "a job can be loaded after a killed load of the same job" begins_anew
check "errors say what to do" says_what_to_do
check "columns are aligned with names that are not ASCII" aligns
check "a command that waits for its reader holds no lock" printing
check "thousands of flows are read with few system calls" few_calls
check "unload without CAP_NET_ADMIN leaves the job" unprivileged
check "load and unload need their capabilities and no other" permissions
check "a user who may not read the pins gets a hint" not_root
check "another network namespace sees and changes no job" other_namespace
check "--netns loads a job in another network namespace, and only there" tenant_steers
check "within ip netns exec no job is loaded twice, or loses its record" hidden_by_ip
check "the daemon of --netns is another network namespace's" tenant_daemon
check "--netns without such a namespace, or without the capability, is refused" tenant_refuses
check "--netns unloads the other network namespace's job only" tenant_unloads
check "job unload removes the job" unloads
check "after job unload no table or program is left" empty
check "an object alone lists, and the number of a job needs no option" is_brief
check "lists are in the order of numbers, and unload counts many jobs" lists_by_number
check "job unload --all removes all jobs" unloads_all
check "a command whose output is lost has loaded or unloaded its job" output_is_lost
check "a flow that another job has is refused by name" names_taken
check "--dry-run refuses what loading would, and changes nothing" dry_run
check "an interrupted load leaves a whole job or none" interrupted
check "flows of a job that is gone are freed" frees_flows
check "commands that read remove no tables" readers_remove_nothing
check "paths take listed flows by weight" weighs
check "job show names a path without a port" lacks_a_port
check "the programs run before programs that were there" runs_first
check "the next job load puts the programs before programs that came later" runs_first_again
check "a device without Ethernet headers is refused" no_ethernet
check "in the end no table or program is left" empty
ktap_finish
