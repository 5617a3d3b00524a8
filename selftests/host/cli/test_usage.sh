#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Wrong usage of every command, wrong files, and missing rights. The test needs no privilege and no
# kernel.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/cli/usage.sh

usage_all()
{
	usage "no object is given" &&
	usage "unknown object nonsense" nonsense &&
	usage "unknown option --nonsense" --nonsense &&
	usage "no verb is given: path has discover, verify, prove, show, audit, export" path &&
	usage "no verb is given: path has discover, verify, prove, show, audit, export" path --peer x &&
	usage "unknown verb nonsense: path has discover, verify, prove, show, audit, export" path nonsense &&
	usage "unknown verb sho: plan has none" plan sho &&
	usage "unknown option --nonsense" plan --nonsense &&
	usage "--flows needs an argument" plan --flows &&
	usage "--flows is given twice" plan --flows 1 --flows 2 &&
	usage "unexpected argument x" plan --flows 1 x &&
	usage "FILE is missing" path show &&
	usage "FILE is empty" path show '' &&
	usage "--prior names no file" plan --flows 1 --paths 1 --prior '' &&
	usage "--driver names no command" slice wire --cluster x --driver '' &&
	usage "--driver names no command" slice alloc --cluster x --gpus 1 --ocs --driver '' &&
	usage "--prior= names no file" plan --flows 1 --paths 1 --prior= &&
	usage "unknown option --a" job unload --a &&
	usage "unknown option --flow" plan --flow 1 --paths 1 &&
	usage "unknown option --flow=1" plan --flow=1 --paths 1 &&
	usage "unknown option --j" plan --flows 1 --paths 1 --j &&
	usage "--json takes no argument" plan --flows 1 --paths 1 --json=1 &&
	usage "--json takes no argument" --json=1 plan --flows 1 --paths 1 &&
	usage "--netns needs an argument" job list --netns &&
	usage "--netns is empty" --netns= job list &&
	usage "--netns is given twice" --netns 1 job list --netns=1 &&
	usage "unknown option --netn" job list --netn 1 &&
	usage "--netns needs an argument" job list -n &&
	usage "--color: neither auto, always nor never: red" --color=red plan &&
	usage "--color is given twice" -c plan --color=never &&
	usage "--pretty takes no argument" plan --pretty=1 &&
	usage "unknown option -x" -x plan &&
	usage "unexpected argument b" slice show --cluster x a b &&
	usage "unexpected argument b" slice show --cluster x --job a b &&
	usage "--all takes no argument" job unload --all=1 &&
	usage "unknown option --al=1" job unload --al=1 &&
	usage "unknown object nonsense" help nonsense &&
	usage "unknown verb nonsense: path has discover, verify, prove, show, audit, export" \
		help path nonsense &&
	usage "unexpected argument b" path show a b
}

usage_plan()
{
	usage "--flows N is missing" plan &&
	usage "--paths S is missing" plan --flows 1 &&
	usage "--flows: '0' is not a number from 1 to 1048576" plan --flows 0 --paths 1 &&
	usage "--flows: '-1' is not a number from 1 to 1048576" plan --flows -1 --paths 1 &&
	usage "--flows: ' 1' is not a number from 1 to 1048576" plan --flows ' 1' --paths 1 &&
	usage "--flows: '1x' is not a number from 1 to 1048576" plan --flows 1x --paths 1 &&
	usage "--paths: '99999999999999999999' is not a number from 1 to 4096" \
		plan --flows 1 --paths 99999999999999999999 &&
	usage "unknown option --split" plan --flows 1 --paths 1 --split fewest &&
	usage "--weights: 2 weights for 3 paths" \
		plan --flows 1 --paths 3 --weights 1,2 &&
	usage "--weights: more weights than paths, 1" \
		plan --flows 1 --paths 1 --weights 1,2 &&
	usage "--weights: W1: '-2' is not a whole number from 0 to 4294967295" \
		plan --flows 1 --paths 2 --weights 1,-2 &&
	usage "--weights: W3: '0x2' is not a whole number from 0 to 4294967295" \
		plan --flows 1 --paths 4 --weights 1,1,1,0x2 &&
	usage "--weights: item 2 is empty" plan --flows 1 --paths 2 --weights 1, &&
	refused weights "--weights: all weights are 0, no path can be used" \
		plan --flows 1 --paths 2 --weights 0,0 &&
	usage "--prior and --recommend-qps exclude each other" \
		plan --flows 1 --paths 1 --recommend-qps --prior x
}

# prior TEXT: the message about such a prior plan
prior()
{
	echo "$2" >"$dir/prior.json"
	refused bad-file "$dir/prior.json: $1" plan --flows 2 --paths 2 --prior "$dir/prior.json"
}

usage_prior()
{
	refused no-file "$dir/nowhere: No such file or directory" \
		plan --flows 1 --paths 1 --prior "$dir/nowhere" &&
	prior "pieces: is missing" '{}' &&
	prior "pieces: is missing" '[]' &&
	prior "pieces: is of type int, not array" '{"pieces":1}' &&
	prior "pieces[0].flow: is missing" '{"pieces":[{}]}' &&
	prior "pieces[0].flow: is missing" '{"pieces":[1]}' &&
	prior "pieces[0].path: 4096 is not a number from 0 to 4095" \
		'{"pieces":[{"flow":0,"path":4096,"from":0,"to":1}]}' &&
	prior "pieces[0].from: 1 is not a number from 0 to 0" \
		'{"pieces":[{"flow":0,"path":0,"from":1,"to":2}]}' &&
	prior "pieces[0].to: 0 is not a number from 1 to 9223372036854775807" \
		'{"pieces":[{"flow":0,"path":0,"from":0,"to":0}]}' &&
	prior "pieces[1].from: 2 is not a number from 1 to 1" \
		'{"pieces":[{"flow":0,"path":0,"from":0,"to":1},
			{"flow":0,"path":1,"from":2,"to":3}]}' &&
	prior "pieces[1].flow: 0 is not a number from 1 to 1048575" \
		'{"pieces":[{"flow":1,"path":0,"from":0,"to":1},
			{"flow":0,"path":1,"from":0,"to":1}]}' &&
	echo '{"pieces":[{"flow":0,"path":0,"from":0,"to":9223372036854775807}]}' \
		>"$dir/prior.json" &&
	refused prior "--prior: a common unit of both plans exceeds 63 bits" \
		plan --flows 1 --paths 2 --prior "$dir/prior.json"
}

usage_chunk()
{
	local net=(--dims 4x2 --bandwidth "2,1") plan=(chunk plan --size 1M)
	local word="a number of GiB/s from 0.000001 to 100000 with at most six decimals"

	usage "no verb is given: chunk has plan, compare, train, load, unload" chunk &&
	usage "--dims N0xN1x.. is missing" chunk plan &&
	usage "--bandwidth B0,B1,.. is missing" chunk plan --dims 4x2 &&
	usage "--size BYTES is missing" chunk plan "${net[@]}" &&
	usage "--dims N0xN1x.. is missing" chunk compare --bandwidth 1 &&
	usage "--size: '0' is not a number of bytes from 1 to 1024T, in units of 1024 with K, M, G or T behind" \
		chunk plan "${net[@]}" --size 0 &&
	usage "--size: '1025T' is not a number of bytes from 1 to 1024T, in units of 1024 with K, M, G or T behind" \
		chunk plan "${net[@]}" --size 1025T &&
	usage "--size: '1m' is not a number of bytes from 1 to 1024T, in units of 1024 with K, M, G or T behind" \
		chunk plan "${net[@]}" --size 1m &&
	usage "--size: 'M' is not a number of bytes from 1 to 1024T, in units of 1024 with K, M, G or T behind" \
		chunk plan "${net[@]}" --size M &&
	usage "--size: '' is not a number of bytes from 1 to 1024T, in units of 1024 with K, M, G or T behind" \
		chunk plan "${net[@]}" --size '' &&
	usage "--size: 63 bytes are too few for 64 chunks" chunk plan "${net[@]}" --size 63 &&
	usage "--chunks: '0' is not a number from 1 to 16384" \
		"${plan[@]}" "${net[@]}" --chunks 0 &&
	usage "--dims: N1: '0' is not a number from 1 to 65536" \
		"${plan[@]}" --dims 4x0 --bandwidth 2,1 &&
	usage "--dims: item 2 is empty" "${plan[@]}" --dims 4x --bandwidth 2,1 &&
	usage "--dims: more than 8 dimensions" \
		"${plan[@]}" --dims 2x2x2x2x2x2x2x2x2 --bandwidth 2,1 &&
	usage "--dims: no dimension joins more than one endpoint" \
		"${plan[@]}" --dims 1x1 --bandwidth 2,1 &&
	usage "--bandwidth: as many values as dimensions are needed, 2, not 1" \
		"${plan[@]}" --dims 4x2 --bandwidth 2 &&
	usage "--bandwidth: more than 2 dimensions" "${plan[@]}" --dims 4x2 --bandwidth 2,1,1 &&
	usage "--bandwidth: B1: '0' is not $word" "${plan[@]}" --dims 4x2 --bandwidth 2,0 &&
	usage "--bandwidth: B0: '-2' is not $word" "${plan[@]}" --dims 4x2 --bandwidth -2,1 &&
	usage "--bandwidth: B0: '1.' is not $word" "${plan[@]}" --dims 4x2 --bandwidth 1.,1 &&
	usage "--bandwidth: B0: '0.0000001' is not $word" \
		"${plan[@]}" --dims 4x2 --bandwidth 0.0000001,1 &&
	usage "--bandwidth: B0: '18446744073709.551617' is not $word" \
		"${plan[@]}" --dims 4x2 --bandwidth 18446744073709.551617,1 &&
	usage "--bandwidth: B1: at 0.001 GiB/s, --size takes more than a day" \
		chunk plan --dims 4x2 --bandwidth 1,0.001 --size 1T &&
	usage "--latency: L0: '1e3' is not a number from 0 to 1000000 with at most six decimals" \
		"${plan[@]}" "${net[@]}" --latency 1e3,1 &&
	usage "--latency: L0: 3 steps of 333334 us are more than a second" \
		"${plan[@]}" "${net[@]}" --latency 333334,1 &&
	usage "--algorithm: A1: 'torus' is not one of ring, halving, direct, netreduce, tree" \
		"${plan[@]}" "${net[@]}" --algorithm ring,torus &&
	usage "--algorithm: A1: tree is for an all-reduce, not for all-gather: take ring or direct" \
		"${plan[@]}" "${net[@]}" --collective all-gather --algorithm ring,tree &&
	usage "--algorithm: A0: halving is not for an all-to-all: take ring or direct" \
		"${plan[@]}" "${net[@]}" --collective all-to-all --latency 1,1 \
		--algorithm halving,ring &&
	usage "--algorithm: A0: netreduce is for an all-reduce, not for reduce-scatter: take ring or direct" \
		"${plan[@]}" "${net[@]}" --collective reduce-scatter --algorithm netreduce,ring &&
	usage "--algorithm: A0: netreduce is for 2 to 64 endpoints, not 65: take ring, halving or direct" \
		"${plan[@]}" --dims 65x2 --bandwidth 1,1 --algorithm netreduce,ring &&
	usage "--bandwidth: B0: --size takes more than a day by netreduce" \
		chunk plan --dims 2x2 --bandwidth 0.01,1 --size 1T --algorithm netreduce,ring &&
	usage "--collective: 'all' is not one of all-reduce, reduce-scatter, all-gather, all-to-all" \
		"${plan[@]}" "${net[@]}" --collective all &&
	usage "--policy: 'worst' is not one of themis, baseline, best" \
		"${plan[@]}" "${net[@]}" --policy worst &&
	usage "--queue: 'lifo' is not one of fifo, scf" "${plan[@]}" "${net[@]}" --queue lifo
}

usage_simulate()
{
	local fabric=(simulate --leaves 2 --spines 2 --hosts 2 --rate 400)

	usage "--rate GBPS is missing" simulate &&
	usage "one of --leaves, --cluster and --recording must be given" simulate --rate 1 &&
	usage "--spines N is missing" simulate --leaves 2 --rate 1 &&
	usage "--pods: only with --cores" "${fabric[@]}" --pods 2 --pattern ring &&
	usage "--rate: '0' is not a number of Gbit/s from 0.000001 to 1000000" \
		simulate --leaves 2 --spines 2 --hosts 2 --rate 0 --pattern ring &&
	usage "--policy: 'all,some' is not a list of up to 15 policies from ecmp, spray, reps, place, fewest, all, label, netreduce, slice, recorded; ecmp, place and label with a number of queue pairs as in label-4qp" \
		"${fabric[@]}" --pattern ring --policy all,some &&
	usage "--pattern: 'rings' is not one of permutation, all-to-all, pairwise, hierarchical, direct, halving-doubling, ring, tree" \
		"${fabric[@]}" --pattern rings &&
	usage "--dead and --slow: the fabric does not have so many links" \
		"${fabric[@]}" --pattern ring --dead 3 --slow 2 &&
	usage "--svg: not with --cluster" \
		simulate --cluster "$dir/none" --rate 1 --pattern ring --svg x &&
	usage "--policy netreduce: the traffic is no All-Reduce of all hosts" \
		"${fabric[@]}" --pattern pairwise --policy netreduce
}

# line WHAT TEXT: as a peer file and as the first job of a trace the line of this text is refused
line()
{
	printf '%b\n' "$2" >"$dir/peers"
	printf 'arrival,gpus,duration,communication,pattern\n%b\n' "$2" >"$dir/trace.csv"
	refused bad-file "$dir/peers: line 1: $1" path discover --dev lo --peer-file "$dir/peers" &&
		refused bad-file "$dir/trace.csv: line 2: $1" slice replay \
			--cluster "$dir/lines.json" "$dir/trace.csv"
}

# The rest of a line with a NUL was not read; one without an end took all memory.
lines_end()
{
	echo '{"leaves":1,"spines":1,"gpus_per_leaf":4,"gpus_per_server":4}' >"$dir/lines.json"
	line "contains a NUL" '10.1.1.1\0junk' && line "contains a NUL" '1,1,1,0.1,ring\0' &&
		line "is longer than 1 MiB" "#$(head -c 1048576 /dev/zero | tr '\0' x)" &&
		refused bad-file "/dev/zero: line 1: contains a NUL" path discover --dev lo \
			--peer-file /dev/zero
}

usage_path()
{
	usage "--dev DEV is missing" path discover &&
	usage "one of --peer and --peer-file must be given" path discover --dev lo &&
	usage "--peer: '10.0.0' is not an address of a host" \
		path discover --dev lo --peer 10.0.0 &&
	usage "--peer: '224.0.0.1' is not an address of a host" \
		path discover --dev lo --peer 10.0.0.1,224.0.0.1 &&
	usage "--peer: 10.0.0.1 is given twice" path discover --dev lo --peer 10.0.0.1,10.0.0.1 &&
	usage "--peer: item 2 is empty" path discover --dev lo --peer 10.0.0.1, &&
	usage "--peer: item 1 is longer than 255 bytes" \
		path discover --dev lo --peer "$(printf '%0256d' 1)" &&
	usage "--ports: 3 ports are too few for --paths 4" \
		path discover --dev lo --peer 10.0.0.1 --ports 3 --paths 4 &&
	usage "--source: fd00::1 is not of the peers' family" \
		path discover --dev lo --peer 10.0.0.1 --source fd00::1 &&
	usage "--hop: '31' is not a number from 1 to 30" \
		path discover --dev lo --peer 10.0.0.1 --hop 31 &&
	usage "--paths: '65' is not a number from 1 to 64" \
		path discover --dev lo --peer 10.0.0.1 --paths 65 &&
	usage "--rdma-dev DEV is missing" path prove --peer 10.0.0.1 &&
	usage "--peer ADDR is missing" path prove --rdma-dev rxe0 &&
	usage "--peer: --labels, --sports or --port-map must say what to prove" \
		path prove --rdma-dev rxe0 --peer 10.0.0.1 &&
	usage "--labels: '1048576' is not a number from 1 to 1048575" \
		path prove --rdma-dev rxe0 --peer 10.0.0.1 --labels 1,1048576 &&
	usage "--sports: '4791' is not a port from 49152 to 65535" \
		path prove --rdma-dev rxe0 --peer 10.0.0.1 --sports 4791 &&
	usage "--job: only with --port-map" \
		path prove --rdma-dev rxe0 --peer 10.0.0.1 --labels 1 --job 1 &&
	refused no-file "$dir/nowhere: No such file or directory" path show "$dir/nowhere" &&
	refused bad-file "$dir/bad: is not JSON: it ends too early" path show "$dir/bad" &&
	refused bad-file "$dir/bad: is not JSON: it ends too early" path verify "$dir/bad"
}

# cannot_write FILE WHY: path discover says so before a search, which lo has no routers for.
cannot_write()
{
	local status

	"$rocesteer" --json path discover --dev lo --peer 10.0.0.1 --out "$1" >"$dir/json"
	status=$?
	cat "$dir/json"
	((status == 1)) && jq -e --arg message "cannot write $1: $2" '.error |
		.code == "write" and .message == $message' "$dir/json"
}

checks_out_first()
{
	local map=$dir/map.json discover=(path discover --dev lo --peer 10.0.0.1 --out)

	cannot_write "$dir/nowhere/map" "No such file or directory" &&
		cannot_write /dev/full "No space left on device" &&
		cannot_write "$dir" "Is a directory" &&
		refused bad-file "$dir/bad: is not JSON: it ends too early" \
			"${discover[@]}" "$dir/bad" || return
	port_map eth7 "$near" | sed 's/10.1.0.1/127.0.0.1/' >"$map"
	refused other-map "$map: is of device eth7, not of lo" \
		"${discover[@]}" "$map" &&
		[[ ! -e $map.lock && ! -e $dir/nowhere ]]
}

# A program without privileges would report all of this as "permission".
usage_job()
{
	local map=$dir/map.json load=(job load --job 1 --port-map "$dir/map.json")
	local qpn="ADDR/QPN, with a queue pair number from 2 to 16777215"

	if ((EUID)); then
		echo "not root"
		return
	fi
	port_map lo "$(peer 10.1.1.1 49152)" "$near" | sed 's/10.1.0.1/127.0.0.1/' >"$map"
	usage "--job ID is missing" job load &&
	usage "one of --cgroup, --pid, --flow and --all must be given" job load --job 1 &&
	usage "--peer-file: the peers of a slice are those of its hosts" \
		"${load[@]}" --all --slice x --peer-file x &&
	usage "only one of --port-map and --dev must be given" "${load[@]}" --dev lo --all &&
	usage "--job: '0' is not a number from 1 to 4294967295" \
		job load --job 0 --port-map x --all &&
	usage "one of --cgroup, --pid, --flow and --all must be given" "${load[@]}" &&
	usage "only one of --cgroup, --pid, --flow and --all must be given" \
		"${load[@]}" --all --pid 1 &&
	usage "--module: 'maybe' is not one of auto, yes, no" "${load[@]}" --all --module maybe &&
	usage "--split: 'some' is not one of none, fewest, all, auto" \
		"${load[@]}" --all --split some &&
	usage "--resequence: with --all the module does not know the job's flows" \
		"${load[@]}" --all --resequence on &&
	usage "--split: with --resequence off no flow may be split" \
		"${load[@]}" --flow 10.1.1.1/1 --split all --resequence off &&
	usage "--split: with --all the module does not know the job's flows" \
		"${load[@]}" --all --split all &&
	usage "--pattern: 'bogus' is not one of ring, halving-doubling, all-to-all, permutation, hierarchical-ring, hierarchical-all-to-all" \
		"${load[@]}" --all --slice "$dir/nowhere" --pattern bogus &&
	usage "one of --slice and --cluster must be given" "${load[@]}" --all --pattern ring &&
	usage "only one of --slice and --cluster must be given" \
		"${load[@]}" --all --slice "$dir/nowhere" --cluster "$dir/nowhere" &&
	usage "--name: is not UTF-8, or contains a control character" \
		"${load[@]}" --all --name $'a\xff' &&
	usage "--name: is not UTF-8, or contains a control character" \
		"${load[@]}" --all --name $'a\e[0m' &&
	usage "--name: longer than 31 bytes" \
		"${load[@]}" --all --name 12345678901234567890123456789012 &&
	refused no-cgroup "--cgroup: /nowhere: No such file or directory" \
		"${load[@]}" --cgroup /nowhere &&
	refused no-cgroup "--cgroup: / is not a cgroup v2 directory" "${load[@]}" --cgroup / &&
	refused no-process "--pid: there is no process 4194304" "${load[@]}" --pid 4194304 &&
	usage "--flow: item 2 is empty" "${load[@]}" --flow 10.1.1.1/17,,10.1.1.1/18 &&
	usage "--flow: '10.1.1.1' is not $qpn" "${load[@]}" --flow 10.1.1.1 &&
	usage "--flow: '10.1.1.1/0x1000000' is not $qpn" "${load[@]}" --flow 10.1.1.1/0x1000000 &&
	usage "--flow: '10.1.1.1/1' is not $qpn" "${load[@]}" --flow 10.1.1.1/1 &&
	usage "--flow: 10.1.1.1/0x11 is given twice" \
		"${load[@]}" --flow 10.1.1.1/17,10.1.1.1/0x11 &&
	refused no-peer "--flow: 10.9.9.9/17: the peer is not in $map" \
		"${load[@]}" --flow 10.9.9.9/17 &&
	refused local-peer "--flow: 10.1.0.2/17: the peer is under our own leaf, there is nothing to steer" \
		"${load[@]}" --flow 10.1.0.2/17 &&
	usage "one of --job and --all must be given" job unload &&
	usage "only one of --job and --all must be given" job unload --job 1 --all &&
	usage "--job ID is missing" job show
}

unprivileged()
{
	local json command

	if ((EUID)) || ! command -v setpriv; then
		echo "not root, or no setpriv"
		return
	fi
	for command in "job load --job 1 --all --port-map $dir/nowhere" "job unload --all"; do
		# shellcheck disable=SC2086 # words
		json=$(setpriv --bounding-set=-net_admin --inh-caps=-all \
			"$rocesteer" --json $command)
		(($? == 1)) || return
		jq -e '.error.code == "permission"
			and (.error.message | contains("CAP_NET_ADMIN"))' \
			<<<"$json" || return
	done
	# shellcheck disable=SC2086
	json=$(setpriv --bounding-set=-bpf,-sys_admin --inh-caps=-all \
		"$rocesteer" --json $command)
	jq -e '.error.message | contains("CAP_BPF")' <<<"$json"
}

idle_options()
{
	local cluster=(--cluster "$dir/none")

	usage "--algorithm: only with --latency" chunk plan --dims 4 --bandwidth 1 \
		--size 1M --algorithm direct &&
	usage "--algorithm and --latency need --dims: the networks of the paper have their own" \
		chunk compare --algorithm direct &&
	usage "--size and --collective belong to the step: --step FILE sets others" \
		chunk train --size 1M &&
	usage "--driver: only with --ocs" slice alloc "${cluster[@]}" --gpus 1 --driver x &&
	usage "only one of --gpus, --servers and --nodes must be given" \
		slice alloc "${cluster[@]}" --gpus 1 --servers 0/0 &&
	usage "--driver: only with --start" slice queue "${cluster[@]}" --ocs --driver x &&
	usage "--order: 'lifo' is not one of fifo, fewest-gpus, shortest, backfill" \
		slice queue "${cluster[@]}" --order lifo &&
	usage "--seed: only with --pattern" slice check --slice x --flows x --seed 1 &&
	usage "--job: only with --cluster" slice check --slice x --flows x --job 1 &&
	usage "only one of --slice and --cluster must be given" \
		slice check --slice x "${cluster[@]}" --job 1 --pattern ring
}

ktap_plan 11
echo '{"format": 1,' >"$dir/bad"
check "wrong usage of every command is refused" usage_all
check "wrong usage of plan is refused" usage_plan
check "wrong usage of plan --prior is refused" usage_prior
check "wrong usage of chunk is refused" usage_chunk
check "wrong usage of simulate is refused" usage_simulate
check "wrong usage of path and bad files are refused" usage_path
check "a file that cannot get the port map is refused before the search" checks_out_first
check "wrong usage of job is refused" usage_job
check "options without an effect are refused" idle_options
check "commands without privileges fail before they change anything" unprivileged
check "a line that does not end, or contains a NUL, is refused" lines_end
ktap_finish
