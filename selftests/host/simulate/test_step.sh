#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer simulate --step: steps by name and from files, times of steps, and refusals.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/lib/command.sh

# simulate STEP [OPTION...]: 1,024 hosts; links carry 50 GB/s
simulate()
{
	"$rocesteer" --json simulate --leaves 32 --spines 32 --hosts 32 --rate 400 --step "$@"
}

known()
{
	local name

	for name in resnet-152 gnmt dlrm transformer-1t; do
		simulate "$name" --policy all,place,ecmp-4qp --seeds 3 >"$dir/json" &&
			jq -e --arg name "$name" '.pattern == "step" and .step == $name and
				.algorithm == "ring" and (.policies | map(.policy)) ==
					["all", "place", "ecmp-4qp", "ecmp"] and
				(.completion_s / .bound_s - 1 | fabs) < 0.000001 and
				.step_s == .policies[0].step_s and .speedup == .policies[0].speedup and
				(.compute_s as $compute | .policies[-1] as $ecmp | .policies | all(
					(.step_s - .completion_s - $compute | fabs) < 1e-8 and
					(.speedup - $ecmp.step_s / .step_s | fabs) < 1e-5)) and
				.policies[-1].speedup == 1' "$dir/json" || return
	done
}

# Each of 1,024 members sends 1023 parts, and 15 times more among its 16 neighbours.
from_file()
{
	cat >"$dir/step.json" <<-END
		{"format": 1, "name": "own", "compute_us": 20000, "model": 16,
		 "collectives": [
		 {"collective": "all-to-all", "group": "all", "count": 1, "size": 1024000000},
		 {"collective": "all-gather", "group": "model", "count": 10, "size": 160000000}]}
	END
	simulate "$dir/step.json" --algorithm halving --policy spray >"$dir/json" &&
		jq -e '.step == "own" and .algorithm == "halving" and .compute_s == 0.02 and
			.steps == 5 and .completion_s == 0.05046' "$dir/json"
}

# A quick answer is in seconds of the processor.
quick()
{
	local TIMEFORMAT='%U %S' used

	used=$({ time simulate transformer-1t --policy all,place,ecmp-8qp >/dev/null; } 2>&1) &&
		echo "$used" && jq -en --arg used "$used" '$used | split(" ") | map(tonumber) | add < 1'
}

refuses()
{
	fails 2 usage "--step: absent is neither a known step nor a file" simulate absent &&
		echo '{"format": 1, "name": "x", "compute_us": 1, "model": 0}' >"$dir/bad" &&
		fails 2 bad-file "$dir/bad: model" simulate "$dir/bad" &&
		fails 2 step "transformer-1t: collective 0: model-parallel groups of 128 ranks" \
			"$rocesteer" --json simulate --leaves 3 --spines 2 --hosts 32 --rate 1 \
			--step transformer-1t &&
		fails 2 usage "--algorithm" simulate gnmt --algorithm netreduce &&
		fails 2 usage "--size" simulate gnmt --size 1M &&
		fails 2 usage "--pattern" simulate gnmt --pattern ring
}

ktap_plan 4
check "known steps compute, and communicate as long as the policy lets them" known
check "a step from a file runs by another algorithm" from_file
check "a step of 1,024 hosts is played in less than a second" quick
check "what is no step of these hosts is refused" refuses
ktap_finish
