#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The pictures of "rocesteer simulate --svg" say what its numbers say.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/lib/command.sh

# draw OPTION...: the numbers are in $dir/json, with what is in the picture
draw()
{
	rm -f "$dir/picture.svg"
	"$rocesteer" --json simulate --rate 400 --svg "$dir/picture.svg" "$@" >"$dir/numbers" &&
		selftests/host/simulate/picture.py <"$dir/picture.svg" >"$dir/drawn" &&
		jq -cs '.[0] + {drawn: .[1]}' "$dir/numbers" "$dir/drawn" >"$dir/json" &&
		cat "$dir/drawn"
}

says()
{
	jq -e "$1" "$dir/json"
}

bars()
{
	draw --leaves 4 --spines 4 --hosts 4 --pattern permutation --policy all,ecmp-4qp,place \
		--seeds 3 &&
		says '(.drawn.bars | keys_unsorted) == [.policies[].policy]' &&
		says '[[.drawn.bars[] | split(",")[0] | tonumber], [.policies[].over_bound]] |
			transpose | all(.[0] - .[1] | fabs <= 0.005)' &&
		says '[.drawn.widths, [.policies[].over_bound]] | transpose | map(.[0] / .[1]) |
			max - min < 0.1'
}

# A curve is of a class under a policy: it begins at the load of the fullest link, and falls. All
# curves of a class have the same bytes.
curves()
{
	draw --leaves 4 --spines 4 --hosts 4 --pattern halving-doubling --policy spray,ecmp-4qp &&
		says '.drawn.classes == ["leaf-spine, 16 links", "spine-leaf, 16 links"]' &&
		says '[.drawn.curves, [.policies[2, 0].classes[0], .policies[2, 0].classes[1]]] |
			transpose | all(.[0][0] - .[1].over_ideal | fabs < 0.01)' &&
		says '.drawn.curves | all((map(-.) | sort) == map(-.))' &&
		says '.drawn.curves | length == 4 and all(add - 16 | fabs < 0.1)'
}

other_fabrics()
{
	draw --pods 2 --leaves 2 --spines 2 --cores 2 --hosts 2 --pattern ring --policy place \
		--dead 1 --slow 1 &&
		says '.drawn.title == "ring of 8 hosts, dead links: 1, slow links: 1"' &&
		says '.drawn.classes | map(split(",")[0]) ==
			["leaf-agg", "agg-core", "core-agg", "agg-leaf"]' &&
		echo '{"flows":[{"from":0,"to":1,"bytes":1}]}' >"$dir/flows.json" &&
		draw --leaves 1 --spines 1 --hosts 2 --flows "$dir/flows.json" &&
		says '.drawn.title == "flows of 2 hosts"'
}

refuses()
{
	local simulate=(simulate --leaves 2 --spines 2 --hosts 2 --rate 400 --pattern ring)

	echo '{"flows":[]}' >"$dir/flows.json"
	fails 2 bad-file "$dir/flows.json: exists, and is not a picture" \
		"$rocesteer" --json "${simulate[@]}" --svg "$dir/flows.json" &&
		[[ $(<"$dir/flows.json") == '{"flows":[]}' ]] &&
		fails 1 write "cannot write $dir/nowhere/picture.svg" \
			"$rocesteer" --json "${simulate[@]}" --svg "$dir/nowhere/picture.svg" &&
		"$rocesteer" "${simulate[@]}" --svg "$dir/again.svg" &&
		"$rocesteer" "${simulate[@]}" --svg "$dir/again.svg"
}

ktap_plan 4
check "bars have the completion of each policy" bars
check "curves have the loads of the links of each class" curves
check "a picture has three tiers, broken links and lists of flows" other_fabrics
check "a file that is no picture is not replaced" refuses
ktap_finish
