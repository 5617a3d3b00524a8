#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Chunks of jobs without the module: load, tag, refuse, unload. The test has a network
# namespace and a BPF file system of its own.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/lib/command.sh
set -o pipefail
plan=$dir/plan.json ranges=$dir/ranges.json

# A port map of rs0, a plan of four chunks over 4 x 2 endpoints, and the addresses to which a
# host writes the chunks: three peers by rs0, one by rs2
ready()
{
	veth rs0 rs0-far && veth rs2 rs2-far && ip address add 10.1.0.1/24 dev rs0 || return
	port_map rs0 "$(peer 10.1.1.1 49152)" >"$map"
	"$rocesteer" --json chunk plan --dims 4x2 --bandwidth 2,1 --size 4M --chunks 4 >"$plan"
	jq '{format: 1, rank: 0, hash, dimensions: [
		{dimension: 0, device: "rxe0", netdev: "rs0", source: "10.1.0.1"},
		{dimension: 1, device: "rxe1", netdev: "rs2", source: "10.2.0.1"}],
		ranges: [.chunks[] | .id as $id |
			(.order + (.order | reverse)) | to_entries[] |
			{dimension: .value, stage: .key, chunk: $id,
			 peer: [["10.1.0.2", "10.1.0.3", "10.1.1.1"],
				["10.2.0.2"]][.value][],
			 length: 4096} | . + {start: "0x100000\(.chunk)\(.stage)000"}]
		}' "$plan" >"$ranges"
}

cmd()
{
	timeout 30 "$rocesteer" --json "$@"
}

# dump MAP: print its entries as bpftool decodes them
dump()
{
	bpftool --json map dump pinned "$(echo /sys/fs/bpf/rocesteer/netns-*)/$1" |
		jq -c '[.[].formatted]'
}

attached()
{
	[[ $(bpftool --json net | jq -r '[.[].tc[] |
		select(.name == "rocesteer_chunk").devname] | sort | join(",")') == "$1" ]]
}

# On a device of both, the program that steers tags packets, and runs first.
in_order()
{
	bpftool --json net | jq -e '[.[].tc[] |
		select(.devname == "rs0" and .kind == "tcx/egress").name] ==
		["rocesteer_egress", "rocesteer_chunk"]'
}

loads()
{
	cmd job load --job 7 --all --port-map "$map" --chunk-plan "$plan" \
		--ranges "$ranges" | jq -e --slurpfile plan "$plan" '
		.hash == $plan[0].hash and .chunks == 4 and .ranges == 32 and
		.dscp == [8, 16, 24, 32]' &&
		attached rs0,rs2 && in_order
}

# The tables have the plan as it was, and all ranges by rising address, with the tags of chunks.
tables()
{
	local peer

	dump rs_chunks >"$dir/chunks" || return
	peer=$(dump rs_range_peers | jq '.[] | select(.key.addr[15] == 3).value.peer') || return
	jq -e --slurpfile plan "$plan" '
		sort_by(.key.chunk) | map(.value) as $chunks |
		($chunks | map(.bytes)) == ($plan[0].chunks | map(.bytes)) and
		($chunks | map(.offset)) == [0, 1048576, 2097152, 3145728] and
		($chunks | map(.dimension[:2])) == ($plan[0].chunks | map(.order)) and
		($chunks | map(.class[3]) | unique) == [1]' "$dir/chunks" &&
		dump rs_ranges | jq -e --slurpfile ranges "$ranges" --argjson peer "$peer" \
		--slurpfile chunks "$dir/chunks" '
		map(select(.key.peer == $peer)) | sort_by(.key.index) |
		(map(.key.index) == [range(length)]) and
		all(.[].value; . as $value | .tag.class == ($chunks[0][] |
			select(.key.chunk == $value.chunk).value.class[$value.stage])) and
		(map(.value.start) | . == sort) and
		map([.value.chunk, .value.stage]) == ($ranges[0].ranges |
			map(select(.peer == "10.1.0.3") | [.chunk, .stage]))' &&
		dump rs_range_peers | jq -e 'map(.value.nr) | add == 32'
}

# send DEVICE PEER DQPN ADDRESS: send a WRITE of one packet, and print the DSCP that arrives
send()
{
	timeout 20 python3 - "$@" <<-'E'
	import socket, struct, sys
	dev, peer, dqpn, va = sys.argv[1:]
	def opened(name):
	    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x800))
	    s.bind((name, 0x800))
	    return s
	far = opened(dev + "-far")
	roce = struct.pack("!BBHIIQII", 10, 0, 0xffff, int(dqpn), 5, int(va, 0), 0, 64)
	udp = struct.pack("!HHHH", 49153, 4791, 8 + len(roce) + 68, 0)
	ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + len(roce) + 68, 0, 0, 64, 17,
	    0, socket.inet_aton("10.1.0.1"), socket.inet_aton(peer))
	opened(dev).send(bytes(12) + b"\x08\0" + ip + udp + roce + bytes(68))
	while True:
	    frame = far.recv(2048)
	    if frame[23] == 17 and frame[36:38] == struct.pack("!H", 4791):
	        break
	print(frame[15] >> 2)
	E
}

dscp_of()
{
	dump rs_chunks | jq --argjson chunk "$1" --argjson stage "$2" '
		.[] | select(.key.chunk == $chunk).value.class[$stage] * 8'
}

# Without the module, flows of another device are not known to be the job's.
tags()
{
	local chunk stage peer dscp

	packets=0
	while read -r chunk stage peer; do
		dscp=$(send rs0 "$peer" 17 "0x100000$chunk${stage}040") || return
		echo "chunk $chunk, stage $stage: $dscp"
		[[ $dscp == "$(dscp_of "$chunk" "$stage")" ]] || return
		packets=$((packets + 1))
	done < <(jq -r '.ranges[] | select(.dimension == 0) |
		"\(.chunk) \(.stage) \(.peer)"' "$ranges" | head -n 12)
	((packets == 12)) && [[ $(send rs0 10.1.0.2 17 0x200000000) == 0 ]] &&
		[[ $(send rs2 10.2.0.2 17 0x10000001000) == 0 ]]
}

counts()
{
	cmd job show --job 7 | jq -e --argjson packets "$packets" '.chunks == 4 and
		([.classes[] | select(.class > 0).packets] | add) == $packets and
		(.classes[] | select(.class == 0).packets) == 1' &&
		cmd stat | jq -e --argjson packets "$packets" \
			'([.classes[].packets] | add) == $packets + 1'
}

# The attached programs, the tables of chunks, and the jobs
state()
{
	local map

	find /sys/fs/bpf/rocesteer/ -name 'link_*'
	for map in /sys/fs/bpf/rocesteer/netns-*/rs_{chunk*,range*}; do
		bpftool --json map dump pinned "$map"
	done
	cmd job list
}

# refused CODE STATUS MESSAGE ARGUMENT...: all stays as it is
refused()
{
	unchanged state fails "$2" "$1" "$3" cmd "${@:4}"
}

# wrong MESSAGE JQ-FILTER [FILE]: change the ranges or another file
wrong()
{
	local file=${3:-$ranges}

	jq "$2" "$file" >"$dir/wrong.json" || return
	if [[ $file == "$plan" ]]; then
		refused bad-file 2 "wrong.json: $1" job load --job 8 --port-map "$map" \
			--flow 10.1.1.1/18 --chunk-plan "$dir/wrong.json" --ranges "$ranges"
	else
		refused bad-file 2 "wrong.json: $1" job load --job 8 --port-map "$map" \
			--flow 10.1.1.1/18 --chunk-plan "$plan" --ranges "$dir/wrong.json"
	fi
}

refuses()
{
	wrong "format: 2 is not" '.format = 2' &&
		wrong "hash: is not the plan's" '.hash = "0123456789abcdef"' &&
		wrong "ranges[3].stage: 4 is not" '.ranges[3].stage = 4' &&
		wrong "ranges[0].dimension: 1 is not that of" '.ranges[0].dimension = 1' &&
		wrong "ranges[1].peer: is not the address" '.ranges[1].peer = "h"' &&
		wrong "ranges[1].start: is not a hex" '.ranges[1].start = "12"' &&
		wrong "ranges[1].length: 0 is not" '.ranges[1].length = 0' &&
		wrong "ranges: those of 10.1.0.2 overlap at 0x10000003000" \
			'.ranges[0].length = 65536' &&
		wrong "dimensions[1].netdev: there is no network device" \
			'.dimensions[1].netdev = "none0"' &&
		wrong "ranges[3].dimension: 1 has no device" '.dimensions |= .[:1]' &&
		wrong "dimensions[1].dimension: 0 is there twice" \
			'.dimensions[1].dimension = 0' &&
		wrong "collective: 'ring' is not one of all-reduce, \
reduce-scatter, all-gather" '.collective = "ring"' "$plan" &&
		wrong "queue: 'lifo' is not one of fifo, scf" '.queue = "lifo"' "$plan" &&
		wrong "chunks[1].order: is not one" '.chunks[1].order = [0,0]' "$plan" &&
		wrong "chunks[0].bytes: 1 is not" '.chunks[0].bytes = 1' "$plan" &&
		wrong "hash: is not the plan's" '.chunks[0].order |= reverse' "$plan" &&
		refused usage 2 "--dscp" chunk load --job 7 --chunk-plan "$plan" \
			--ranges "$ranges" --dscp 1,64 &&
		refused usage 2 "--chunk-plan: only with --ranges" job load --job 8 \
			--port-map "$map" --flow 10.1.1.1/18 --chunk-plan "$plan" &&
		refused exists 1 "job 7 has chunks" chunk load --job 7 \
			--chunk-plan "$plan" --ranges "$ranges" &&
		refused no-job 1 "no job 8 is loaded" chunk load --job 8 \
			--chunk-plan "$plan" --ranges "$ranges" &&
		refused no-job 1 "job 8" job show --job 8
}

# Loads fail at a device, also at one that other jobs use, and after a killed load.
undone()
{
	local pins pin before

	pins=$(echo /sys/fs/bpf/rocesteer/netns-*)
	pin=$pins/link_ingress_$(ip --json link show rs0 | jq '.[].ifindex')
	mv "$pin" "$pins/link_kept" && mkdir "$pin" &&
		refused attach 1 "cannot attach to device" job load --job 9 \
			--port-map "$map" --flow 10.1.1.1/19 &&
		rmdir "$pin" && mv "$pins/link_kept" "$pin" || return
	pin=$pins/link_chunk_$(ip --json link show rs2 | jq '.[].ifindex')
	cmd job load --job 8 --port-map "$map" --flow 10.1.1.1/18 &&
		cmd chunk unload --job 7 | jq -e '.unloaded == 4' || return
	before=$(state)
	mkdir "$pin" && refused attach 1 "cannot attach to device" \
		chunk load --job 7 --chunk-plan "$plan" --ranges "$ranges" &&
		refused attach 1 "cannot attach to device" job load --job 9 \
			--port-map "$map" --flow 10.1.1.1/19 --chunk-plan "$plan" \
			--ranges "$ranges" &&
		rmdir "$pin" || return
	cmd chunk load --job 7 --chunk-plan "$plan" --ranges "$ranges" &&
		bpftool map delete pinned "$pins/rs_chunk_jobs" key 7 0 0 0 &&
		! cmd chunk unload --job 7 && [[ $(state) == "$before" ]] &&
		cmd chunk load --job 7 --chunk-plan "$plan" --ranges "$ranges" &&
		cmd job unload --job 8
}

# A second job writes to the same addresses, in other classes. One of its flows was the first
# job's, which has all flows that no job claims.
two_jobs()
{
	sed 's/10\.1\.1\.1/10.1.0.2/' "$map" >"$dir/map2.json"
	[[ $(send rs0 10.1.0.2 19 0x1000002"$last"000) == 8 ]] &&
		cmd job load --job 9 --port-map "$dir/map2.json" --flow 10.1.0.2/19 &&
		[[ $(send rs0 10.1.0.2 19 0x1000002"$last"000) == 0 ]] &&
		cmd job unload --job 9 &&
		[[ $(send rs0 10.1.0.2 19 0x1000002"$last"000) == 8 ]] &&
		cmd job load --job 8 --port-map "$map" --flow 10.1.1.1/18 &&
		refused no-chunks 1 "job 8 has no chunks" chunk unload --job 8 &&
		cmd chunk load --job 8 --chunk-plan "$plan" --ranges "$ranges" \
			--dscp 44,45 | jq -e '.dscp == [44, 45]' &&
		[[ $(send rs0 10.1.1.1 18 0x1000002"$last"000) == 44 ]] &&
		[[ $(send rs0 10.1.1.1 17 0x1000002"$last"000) == 8 ]] &&
		cmd chunk unload --job 7 | jq -e '.unloaded == 4' &&
		[[ $(send rs0 10.1.1.1 17 0x1000002"$last"000) == 0 ]] &&
		[[ $(send rs0 10.1.1.1 18 0x1000002"$last"000) == 44 ]] &&
		attached rs0,rs2 && dump rs_ranges | jq -e 'length == 32'
}

# Four of the largest plans fill a table.
full()
{
	local json job status

	cmd chunk plan --dims 4x2 --bandwidth 2,1 --size 4M --chunks 16384 >"$dir/most.json" &&
		jq '{format: 1, hash, dimensions: [{dimension: 0, netdev: "rs0"}],
			ranges: [{dimension: 0, stage: 0, chunk: 0,
			peer: "10.1.0.2", start: "0x1000", length: 4096}]}' \
			"$dir/most.json" >"$dir/one.json" &&
		cmd chunk unload --job 8 || return
	for job in 11 12 13 14 15; do
		json=$(cmd job load --job "$job" --flow "10.1.1.1/$job" \
			--port-map "$map" --chunk-plan "$dir/most.json" --ranges "$dir/one.json")
		status=$?
		((job == 15 || !status)) || return
	done
	((status == 3)) && jq -e '.error.code == "full"' <<<"$json" &&
		cmd job list | jq -e '[.jobs[].job] | sort == [7, 8, 11, 12, 13, 14]' &&
		dump rs_chunk_counts | jq -e '
			map(.key.job) | unique == [11, 12, 13, 14]' || return
	for job in 11 12 13 14; do
		cmd job unload --job "$job" || return
	done
}

# Job 7 and its chunks: all or none
all_or_none()
{
	local pins

	pins=$(echo /sys/fs/bpf/rocesteer/netns-*)
	[[ $(bpftool --json map dump pinned "$pins/rs_chunk_jobs" | jq length),$(
		bpftool --json map dump pinned "$pins/rs_chunks" | jq length) \
		=~ ^(0,0|1,16384)$ ]]
}

# interrupted COMMAND...: interrupt it after each tenth of its time
interrupted()
{
	local start=${EPOCHREALTIME/./} tenth i

	cmd "$@" >"$dir/log" || return
	tenth=$(((${EPOCHREALTIME/./} - start) / 10))
	for i in 1 2 3 4 5 6 7 8 9; do
		cmd chunk unload --job 7 >"$dir/log"
		[[ $2 == load ]] || chunks_of_7 || return
		timeout -s INT "$((i * tenth))e-6" "$rocesteer" "$@" >"$dir/log" 2>&1
		all_or_none || return
	done
}

chunks_of_7()
{
	cmd chunk load --job 7 --chunk-plan "$dir/most.json" --ranges "$dir/one.json" >"$dir/log"
}

all_interrupted()
{
	interrupted chunk load --job 7 --chunk-plan "$dir/most.json" \
		--ranges "$dir/one.json" && { chunks_of_7; :; } &&
		interrupted chunk unload --job 7 && { cmd chunk unload --job 7; :; }
}

unloads()
{
	local table

	cmd job unload --job 8 && attached '' &&
		for table in rs_chunk_jobs rs_chunks rs_ranges rs_range_peers \
			rs_tags rs_chunk_counts; do
			[[ $(dump "$table") == '[]' ]] || return
		done
	cmd job unload --all && [[ ! $(find /sys/fs/bpf -name 'rs_*') ]]
}

last=3	# stage of chunk 2 that is its last, in dimension 0

ktap_plan 11
check "devices, a port map, a plan and ranges are made" ready
check "a job is loaded with its chunks" loads
check "the tables of a job have its plan and ranges" tables
check "packets get the DSCP of their chunks" tags
check "packets are counted by class" counts
check "a refused load leaves the tables as they were" refuses
check "a load that fails leaves the chunks of before" undone
check "two jobs on one device have chunks of their own" two_jobs
check "a job is refused when the table of chunks is full" full
check "an interrupted chunk load loads all chunks or none" all_interrupted
check "after job unload no table or program is left" unloads
ktap_finish
