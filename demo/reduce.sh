#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An All-Reduce by a ring, and by switches that sum, on the same hosts and links.
#
#	make demo-reduce [DEMO="HOSTS|LEAVESxHOSTS.."]	4 8 2x2 2x4 by default
#
# HOSTS are at one switch; LEAVESxHOSTS are below leaves, with a spine for each host of a
# leaf. Writes build/demo/reduce.json, build/demo/reduce.svg, and measurements to
# build/demo/reduce.

set -euo pipefail

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/.."
out=$PWD/build/demo/reduce
(($#)) || set -- 4 8 2x2 2x4
for name; do
	[[ $name =~ ^([2-9]|1[0-6]|[2-4]x[2-4])$ ]] || {
		echo "demo: $name is neither a number of hosts from 2 to 16 nor 2x2 to 4x4" >&2
		exit 2
	}
done

rm -rf "$out"
mkdir -p "$out"
selftests/vm/build
# The clock counts instructions, as in demo/chunk.sh
ROCESTEER_ACCEL=${ROCESTEER_ACCEL:-icount,sleep=off} selftests/vm/run --kernel 7.2 \
	--mem 3072 --timeout 1800 -- demo/reduce-guest "$out" "$@"
demo/reduce.py "$out"
