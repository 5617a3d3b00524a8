#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An All-Reduce by a ring, and by a switch that sums, on the same hosts and links.
#
#	make demo-reduce [DEMO="HOSTS.."]	4 and 8 by default
#
# Writes build/demo/reduce: report.json, reduce.svg, and what was measured.

set -euo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/.."
out=$PWD/build/demo/reduce
(($#)) || set -- 4 8
for hosts; do
	[[ $hosts =~ ^([2-9]|1[0-6])$ ]] || {
		echo "demo: $hosts is not a number of hosts from 2 to 16" >&2
		exit 2
	}
done

rm -rf "$out"
mkdir -p "$out"
selftests/vm/build
# By the clock of instructions, as demo/chunk.sh
ROCESTEER_ACCEL=${ROCESTEER_ACCEL:-icount,sleep=off} selftests/vm/run --kernel 7.2 \
	--mem 3072 --timeout 1800 -- demo/reduce-guest "$out" "$@"
demo/reduce.py "$out"
