#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Collectives over two dimensions, on hosts with a NIC in each: the same All-Reduce by the
# baseline and by Themis, and where the switch of dimension 0 sums, compared with the predictions
# of their plans.
#
#	make demo-chunk [DEMO="GRID.."]		4x2 and 4x4 by default
#
# Writes build/demo/chunk: report.json, GRID.svg, and the measurements.

set -euo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/.."
out=$PWD/build/demo/chunk
(($#)) || set -- 4x2 4x4
for grid; do
	[[ $grid =~ ^[2-8]x[2-8]$ ]] || {
		echo "demo: $grid is not a grid from 2x2 to 8x8" >&2
		exit 2
	}
done

rm -rf "$out"
mkdir -p "$out"
selftests/vm/build
# The clock counts instructions, so that results do not depend on the machine. It has to be right
# while the CPU sleeps, as the links are slow.
ROCESTEER_ACCEL=${ROCESTEER_ACCEL:-icount,sleep=off} selftests/vm/run --kernel 7.2 \
	--mem 3072 --timeout 7200 -- demo/chunk-guest "$out" "$@"
demo/chunk.py "$out"
