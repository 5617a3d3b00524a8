#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer chunk: plans, predictions and pictures. The test needs no privilege and no kernel.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
rocesteer=${ROCESTEER:-build/rocesteer}

dir=$(mktemp -d)
defer rm -rf "$dir"

plan()
{
	"$rocesteer" chunk plan --json "$@"
}

small=(--dims 4x4 --bandwidth "2,1" --size 256M --chunks 4)
large=(--dims 4x4x8x8 --bandwidth "250,200,100,50" --size 1G)

as_designed()
{
	plan "${small[@]}" | jq -e '
		.chunks == [{id: 0, bytes: 67108864, order: [0, 1]},
			    {id: 1, bytes: 67108864, order: [1, 0]},
			    {id: 2, bytes: 67108864, order: [0, 1]},
			    {id: 3, bytes: 67108864, order: [0, 1]}]
		and .load == [156, 168]
		and .collective == "all-reduce" and .policy == "themis"
		and .queue == "scf" and .fused == false
		and (.hash | test("^[0-9a-f]{16}$"))
		and .predicted.ideal_us == 156250'
}

eight_to_seven()
{
	plan "${small[@]}" | jq -e '.predicted |
		.baseline_us * 7 == .scf_us * 8 and .plan_us == .scf_us'
}

# The expected values are the paper's simulator's.
vector()
{
	diff <(plan --dims 16x64 --bandwidth 150,100 --size 104857600 |
		jq -r '.chunks[] | "\(.id),\(.bytes),\(.order | join("-"))"') \
		<(grep -v '^#' selftests/host/themis_2d.csv |
			cut -d , -f 1-3)
}

tutorial()
{
	plan --dims 8x8x8 --bandwidth 50,50,50 --size 1G --chunks 64 |
		jq -e '.predicted | .baseline_us == 35000
			and (.scf_us - 13586 | fabs) < 13586 * 0.005
			and (.ideal_us - 13307.292 | fabs) < 0.001'
}

six_networks()
{
	"$rocesteer" chunk compare --json | tee "$dir/six" | jq -e '
		(.networks | length) == 6 and .size == 1073741824
		and .mean.baseline_percent >= 56.3
		and .mean.fifo_percent >= 87.1
		and .mean.scf_percent >= 97.4
		and .mean.best_percent >= 99.5' || { cat "$dir/six"; return 1; }
}

one_network()
{
	"$rocesteer" chunk compare --json --dims 16x64 --bandwidth 150,100 \
		--chunks 16 | jq -e '
		(.networks | length) == 1 and .chunks == 16
		and .networks[0].best_us <= .networks[0].scf_us
		and .networks[0].best_percent == .mean.best_percent'
}

hashes()
{
	local same other

	same=$(for _ in 1 2 3; do
		plan "${large[@]}" --policy best | jq -r .hash
	done | sort -u | wc -l)
	other=$({ plan "${large[@]}"
		plan "${large[@]}" --queue fifo
		plan "${large[@]}" --policy best
		plan "${large[@]}" --policy baseline
		plan "${large[@]}" --collective all-gather
		plan "${large[@]}" --chunks 65
	} | jq -r .hash | sort -u | wc -l)
	echo "$same $other"
	((same == 1 && other == 6))
}

all_gather()
{
	diff <(plan "${large[@]}" --collective reduce-scatter |
		jq -c '[.chunks[].order | reverse]') \
		<(plan "${large[@]}" --collective all-gather |
			jq -c '[.chunks[].order]')
}

baseline()
{
	plan "${large[@]}" --policy baseline | jq -e '
		.fused and .queue == "fifo"
		and ([.chunks[].order] | unique) == [[0, 1, 2, 3]]
		and .predicted.plan_us == .predicted.baseline_us
		and .predicted.fifo_us == .predicted.baseline_us' &&
		plan "${large[@]}" --policy baseline --collective all-gather |
		jq -e '(.fused | not)
			and ([.chunks[].order] | unique) == [[3, 2, 1, 0]]'
}

# One chunk takes 7 steps of 1.5 us there and back in three dimensions.
latency()
{
	local args=(--dims 8x8x8 --bandwidth "50,50,50" --size 1G --chunks 1
		--policy themis)
	local plain ring halving

	plain=$(plan "${args[@]}" | jq .predicted.plan_us)
	ring=$(plan "${args[@]}" --latency 1.5,1.5,1.5 |
		jq .predicted.plan_us)
	halving=$(plan "${args[@]}" --latency 1.5,1.5,1.5 \
		--algorithm halving,direct,ring | jq .predicted.plan_us)
	jq -n -e "($ring - $plain - 2 * 3 * 7 * 1.5 | fabs) < 0.01
		and ($halving - $plain - 2 * (3 + 1 + 7) * 1.5 | fabs) < 0.01"
}

# The one of four endpoints sends half of the buffer once, in one step a chunk.
summed()
{
	local args=(--dims 4x2 --bandwidth "1,2" --size 1G --chunks 1) one

	one=$(plan "${args[@]}" --algorithm netreduce,direct --latency 10,5) &&
		jq -e '.chunks[0].order == [1, 0] and .dimensions[0].algorithm == "netreduce" and
			.predicted.plan_us == 1000020 and .dimensions[0].busy_us == 500010 and
			.dimensions[0].latency_us == 30' <<<"$one" || return
	plan "${args[@]}" --algorithm netreduce,ring | jq -e '.load == [256, 256]' &&
		"$rocesteer" --json chunk compare --dims 4x2 --bandwidth 1,2 --chunks 32 \
			--algorithm netreduce,ring |
		jq -e '.networks[0] | .best_us <= .scf_us and .scf_us < 520000 and .ideal_us == 500000'
}

sizes()
{
	[[ $(plan "${small[@]}" | jq -c .) == "$(plan --dims 4x4 \
		--bandwidth 2.000,1 --size 268435456 --chunks 4 | jq -c .)" ]] &&
		plan --dims 2 --bandwidth 0.5 --size 3K --chunks 2 |
		jq -e '.size == 3072 and .dimensions[0].bandwidth == 0.5'
}

text()
{
	local out

	out=$("$rocesteer" chunk plan "${small[@]}") || return
	echo "$out"
	[[ $out == *"CHUNK     BYTES  ORDER"* && $out == *"    1  67108864  1,0"* &&
	   $out == *"baseline            187500.000"* ]] &&
		"$rocesteer" chunk compare --chunks 8 --dims 4x4 \
			--bandwidth 2,1 | grep -q '^4x4  *2,1  '
}

ktap_plan 13
check "chunk plan prints the plan of the paper's example" as_designed
check "Themis takes 7/8 of the baseline's time for four chunks on 4x4 at 2:1" eight_to_seven
check "chunk plan for 16x64 equals the simulator's, chunk by chunk" vector
check "chunk plan predicts the simulator's times for 8x8x8" tutorial
check "chunk compare has the utilisation of the paper's six networks" six_networks
check "chunk compare takes a network from options" one_network
check "equal plans have one hash, other plans another" hashes
check "the plan of an All-Gather is that of a Reduce-Scatter backwards" all_gather
check "chunk plan --policy baseline gives all chunks one order" baseline
check "rings and halvings add the latency of each step" latency
check "a dimension that sums in the network sends a chunk once, in one step" summed
check "chunk plan reads sizes and rates with units" sizes
check "chunk plan prints a table" text
ktap_finish
