#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer simulate and SimGrid say the same of when flows end that have the same paths.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/lib/command.sh
here=selftests/host/simulate

if ! pkg-config --exists simgrid || ! command -v g++ >/dev/null; then
	skip_all "no SimGrid: libsimgrid-dev, g++"
fi

build()
{
	# shellcheck disable=SC2046 # words
	g++ -O2 -Iuser/lib -o "$dir/simgrid" "$here/test_simgrid.cpp" \
		build/user/lib/simulate/fluid.o $(pkg-config --cflags --libs simgrid)
}

# same SEED: ends of random flows differ by at most 0.01 %; by the command, where rates may follow
# later, completion differs by at most 0.1 %
same()
{
	local options

	options=$("$here/simgrid.py" "$1" "$dir/flows.json" "$dir/links") &&
		"$dir/simgrid" --log=xbt_cfg.thresh:warning <"$dir/links" >"$dir/theirs" || return
	# shellcheck disable=SC2086 # words
	"$rocesteer" --json simulate $options --flows "$dir/flows.json" --policy recorded \
		>"$dir/json" || return
	echo "seed $1: $(jq .completion_s "$dir/json") s; SimGrid:" "$(paste -s "$dir/theirs")" \
		"$options"
	jq -e --slurpfile theirs "$dir/theirs" '$theirs[1] < 0.0001 and
		(.completion_s / $theirs[0] - 1 | fabs) < 0.001' "$dir/json"
}

all_same()
{
	local seed

	for ((seed = 1; seed <= $(few 5 40); seed++)); do
		same "$seed" || return
	done
}

ktap_plan 2
check "SimGrid's side is built" build
check "each flow ends when SimGrid says" all_same
ktap_finish
