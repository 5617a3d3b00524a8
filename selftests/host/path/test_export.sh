#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# path export: settings of each library from small port maps, and their balance.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/lib/command.sh

export_for()
{
	"$rocesteer" path export "$map" --for "$@"
}

# write_map PEER...
write_map()
{
	generation=3 port_map eth0 "$@" >"$map"
}

# Two peers whose paths are the other way round, and one that is local
small_map()
{
	write_map "$(peer 10.1.1.1 49152,50001 50000,50002)" \
		"$(peer 10.1.1.2 50000,50002 49152)" "$near"
}

# A path by two bits of the port: every second port, and every second pair
linear_map()
{
	local i ports=('' '' '' '')

	for ((i = 0; i < 512; i++)); do
		p=$((i % 2 + i / 8 % 2 * 2))
		ports[p]+="${ports[p]:+,}$((49152 + i)),$((65024 + i))"
	done
	write_map "$(peer 10.1.1.1 "${ports[@]}")" \
		"$(peer 10.1.1.2 "${ports[3]}" "${ports[2]}" "${ports[1]}" "${ports[0]}")"
}

# is WORD...: the output has exactly these settings, and comments
is()
{
	local said

	said=$(cat)
	echo "$said"
	[[ $(grep -v '^#' <<<"$said") == "$(printf '%s\n' "$@")" ]]
}

perftest()
{
	small_map
	export_for perftest | is --flow_label=16385,848 &&
		export_for perftest | grep "^# Exact: with 2 queue pairs, or a multiple" &&
		export_for perftest --peer 10.1.1.2 | is --flow_label=848,16385
}

qpn_hash()
{
	small_map
	sed -i 's/"address":"10.1.1.2"/&,"qpn_hash":true/' "$map"
	export_for perftest | tee "$dir/said" | grep "^# Not exact: switches hash" &&
		! grep "^# Exact" "$dir/said" &&
		export_for json | jq -e '.libraries | all(.exact | not)'
}

mooncake()
{
	small_map
	export_for mooncake | is MC_NUM_QP_PER_EP=2 MC_MLX5_QP_UDP_SPORTS=49152,50000
}

# A factor of 9 changes both bits: lanes 0 to 3 have four paths.
ucx()
{
	linear_map
	export_for ucx | is UCX_IB_NUM_PATHS=4 UCX_IB_ROCE_PATH_FACTOR="$(ucx_factor)" \
		UCX_MAX_RNDV_RAILS=4 &&
		export_for ucx | grep '^# Exact: with 4 lanes' &&
		export_for ucx --json | jq -e '.libraries[0] | .exact and .devx_worst == 1 and
			.ports[0] == 65472 and .lanes == 4'
}

# Computed by hand: the first factor whose lanes, 65472 ^ k * i, differ in the bits of the
# path
ucx_factor()
{
	local k i port seen

	for ((k = 1; k < 170; k++)); do
		seen=0
		for i in 0 1 2 3; do
			port=$((65472 ^ k * i))
			seen=$((seen | 1 << port % 2 + port / 8 % 2 * 2))
		done
		((seen != 15)) || break
	done
	echo "$k"
}

# Eight ports in a row with four of either half, each of these even and odd: from 49156 on
uccl()
{
	linear_map
	export_for uccl | is UCCL_UDP_SPORT_BASE=49155 &&
		export_for uccl --json | jq -e '.libraries[0] | .exact and .base == 49155 and
			.ports == [range(49156; 49164)] and (.expected | length) == 1'
}

nccl()
{
	small_map
	export_for nccl | is NCCL_IB_QPS_PER_CONNECTION=2 NCCL_IB_SPLIT_DATA_ON_QPS=1 &&
		export_for nccl --json | jq -e '.libraries[0] | (.exact | not) and
			[.expected[].queue_pairs] == [2,4,8] and .expected[0].fullest == 1.5'
}

# A library without enough ports has a message, and the others have settings.
json()
{
	small_map
	export_for json | jq -e --arg map "$map" '.device == "eth0" and .generation == 3 and
		.peers == 2 and
		[.libraries[].for] == ["perftest","ucx","mooncake","uccl","nccl"] and
		[.libraries[] | has("error")] == [false,true,false,true,false] and
		.libraries[1].error.code == "not-probed" and
		.libraries[1].error.hint == "rocesteer path discover --dev eth0 --peer 10.1.1.1,10.1.1.2 --for ucx --out \($map)"' &&
		cmp <(export_for json) <(export_for json --json) &&
		cmp <(export_for json | jq '.libraries[0]') \
			<(export_for perftest --json | jq '.libraries[0]')
}

# No pair of ports is on two paths of both peers.
uneven()
{
	write_map "$(peer 10.1.1.1 50000 50001)" "$(peer 10.1.1.2 50000,50001 50002)"
	export_for perftest | is --flow_label=848,849 &&
		export_for perftest |
			grep "^# Not exact: .* up to 2.00 times its share, 1.50 on average. A search" &&
		export_for perftest | grep -x "# 10.1.1.2: the fullest of 2 paths has 2.0000 times its share" &&
		export_for perftest --json | jq -e '.libraries[0] | (.exact | not) and
			.worst == 2 and .mean == 1.5 and [.balance[].fullest] == [1, 2]'
}

# The path has half the capacity.
weighted()
{
	weights='"weight":2,' small_map
	sed -i '0,/"weight":2/s//"weight":4/' "$map"
	export_for perftest --peer 10.1.1.1 --json | jq -e '.libraries[0] | .exact and
		.queue_pairs == 3 and .ports == [49152, 50000, 50001]' &&
		export_for perftest --peer 10.1.1.1 | grep "what their weights say"
}

# The settings are words of a command and variables of a shell.
evaluates()
{
	small_map
	# shellcheck disable=SC2046 # words
	set -- ib_write_bw $(export_for perftest | grep -v '^#') -q 2
	[[ $* == "ib_write_bw --flow_label=16385,848 -q 2" ]] &&
		(eval "$(export_for mooncake)" &&
		 [[ $MC_MLX5_QP_UDP_SPORTS == 49152,50000 && $MC_NUM_QP_PER_EP == 2 ]]) &&
		(linear_map && eval "$(export_for ucx)" && [[ $UCX_IB_NUM_PATHS == 4 ]])
}

# refused STATUS CODE MESSAGE ARGUMENT...: with exactly this message
refused()
{
	fails "$1" "$2" "$3" "$rocesteer" path export "${@:4}" --json &&
		jq -e --arg message "$3" '.error.message == $message' "$dir/json"
}

errors()
{
	small_map
	refused 2 usage "--for LIBRARY is missing" "$map" &&
		refused 2 usage "--for: 'mpi' is not one of perftest, ucx, mooncake, uccl, nccl, json" \
			"$map" --for mpi &&
		refused 2 usage "--peer: 'x' is not an address of a host" \
			"$map" --for nccl --peer x &&
		refused 2 usage "--peer: 10.1.1.1 is given twice" \
			"$map" --for nccl --peer 10.1.1.1,10.1.1.1 &&
		refused 2 usage "--peer: item 2 is empty" "$map" --for nccl --peer 10.1.1.1, &&
		refused 2 no-peer "--peer: 10.9.9.9: the peer is not in $map" \
			"$map" --for nccl --peer 10.9.9.9 &&
		refused 2 local-peer "--peer: 10.1.0.2: the peer is under our own leaf, there is one path only" \
			"$map" --for nccl --peer 10.1.0.2 &&
		refused 2 no-file "$dir/none: No such file or directory" "$dir/none" --for nccl &&
		refused 1 not-probed "$map: for no factor the port of each lane was probed for 10.1.1.1" \
			"$map" --for ucx --peer 10.1.1.1 &&
		refused 1 not-probed "$map: no base with the ports behind it was probed for all of 2 peers" \
			"$map" --for uccl || return
	write_map "$near"
	refused 2 local-peer "$map: all peers are under our own leaf, there is one path only" \
		"$map" --for perftest || return
	write_map "$(peer 10.1.1.1 50000 50001)" "$(peer 10.1.1.2 50002 50003)"
	refused 1 not-probed "$map: no port was probed for all of 2 peers" \
		"$map" --for perftest || return
	sed -i 's/50003/70000/' "$map"
	refused 2 bad-file "$map: peers[1].paths[1].ports[0]: 70000 is not a port (49152..65535)" \
		"$map" --for perftest
}

same_words()
{
	"$rocesteer" path discover --dev lo --peer 10.1.1.1 --for mpi --json |
		jq -e '.error.message ==
			"--for: '"'mpi'"' is not one of perftest, ucx, mooncake, uccl, nccl, json"'
}

# The peers are too many for a command line, so the map lists them.
many_peers()
{
	local peers=() i

	for i in {1..40}; do
		peers+=("$(peer "10.1.1.$i" 50000 50001)")
	done
	write_map "${peers[@]}"
	export_for ucx 2>&1 | grep -F "jq -r '.peers[].address' $map | rocesteer path discover --dev eth0 --peer-file - --for ucx --out $map" &&
		export_for perftest | is --flow_label=848,849
}

ktap_plan 13
check "path export prints options of perftest" perftest
check "path export prints settings of Mooncake" mooncake
check "path export prints settings of UCX" ucx
check "path export prints settings of UCCL" uccl
check "path export prints settings of NCCL" nccl
check "path export prints the settings of all libraries as JSON" json
check "path export says how uneven a setting is" uneven
check "path export follows weights" weighted
check "path export calls nothing exact where switches hash queue pair numbers" qpn_hash
check "a shell can evaluate what path export prints" evaluates
check "path export names the command that probes missing ports of many peers" many_peers
check "errors of path export name option and file" errors
check "path discover --for takes the same names as path export --for" same_words
ktap_finish
