#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer simulate: what it prints, lists of flows, and what it refuses.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/lib/command.sh
flows=$dir/flows.json

# shaped LEAVES SPINES HOSTS [OPTION...]: so many hosts below each leaf; links carry 50 GB/s
shaped()
{
	timeout 60 "$rocesteer" simulate --leaves "$1" --spines "$2" --hosts "$3" --rate 400 "${@:4}"
}

# simulate [OPTION...]: on eight hosts
simulate()
{
	shaped 2 4 4 --json "$@"
}

# sixteen [OPTION...]: on 256 hosts
sixteen()
{
	shaped 16 16 16 "$@"
}

# flows FLOW...: a list with these flows
flows()
{
	local IFS=,

	printf '{"flows":[%s]}\n' "$*" >"$flows"
}

# An All-Reduce of 256 MB by 256 hosts takes 2 * 255 / 256 * 256 MB / 50 GB/s.
prints_fields()
{
	sixteen --json --pattern direct --size 256000000 --policy all >"$dir/json" &&
		jq -e '.completion_s == 0.0102 and .bound_s == 0.0102 and .worst_step == 1 and
			.max_link_over_ideal == 1 and .hosts == 256 and .links == 512 and
			.pattern == "direct" and .steps == 1 and .seeds == 1 and
			.fabric == {leaves: 16, spines: 16, hosts: 16, rate: 400, host_rate: 400} and
			(.classes | map([.class, .over_ideal])) ==
				[["leaf-spine", 1], ["spine-leaf", 1]]' "$dir/json"
}

# The root has what came of the first policy.
root_is_first()
{
	sixteen --json --pattern permutation --policy place,all --seeds 3 --seed 5 >"$dir/json" &&
		jq -e '(.policies | map(.policy)) == ["place", "all", "ecmp"] and .seeds == 3 and
			(. as $root | .policies[0] | del(.policy) | to_entries |
				all($root[.key] == .value))' "$dir/json"
}

three_tiers()
{
	timeout 60 "$rocesteer" --json simulate --pods 8 --cores 4 --leaves 4 --spines 4 --hosts 4 \
		--rate 100 --host-rate 50 --pattern permutation --policy all >"$dir/json" &&
		jq -e '.hosts == 128 and .links == 512 and .fabric == {pods: 8, leaves: 4, aggs: 4,
				cores: 4, hosts: 4, rate: 100, host_rate: 50} and
			(.classes | map(.class)) ==
				["leaf-agg", "agg-core", "core-agg", "agg-leaf"]' "$dir/json"
}

text_as_json()
{
	local run=(sixteen --pattern pairwise --size 1M --policy place) completion

	"${run[@]}" --json >"$dir/json" && "${run[@]}" >"$dir/said" || return
	cat "$dir/said"
	completion=$(printf '%.9f' "$(jq .completion_s "$dir/json")")
	grep -xE 'pattern +pairwise' "$dir/said" && grep -xE 'steps +255' "$dir/said" &&
		grep -E "^place +$completion +1\.000000 " "$dir/said" &&
		grep -E '^place +leaf-spine +1\.062500 ' "$dir/said"
}

# results OPTION...: what came of each policy, in one order
results()
{
	sixteen --json --pattern permutation "$@" | jq -c '.policies | sort_by(.policy)[]'
}

is_repeatable()
{
	local first

	first=$(results --policy ecmp-4qp,place,label-4qp --seeds 2) && [[ $first ]] &&
		[[ $(results --policy label-4qp,ecmp,place,ecmp-4qp --seeds 2) == "$first" ]] &&
		[[ $(results --policy ecmp-4qp,place,label-4qp --seeds 2 --seed 2) != "$first" ]]
}

# With more seeds come means and worst cases of the same runs.
takes_seeds()
{
	local seed

	for seed in 1 2 3; do
		sixteen --json --pattern permutation --policy ecmp --seed "$seed"
	done | jq -s '[map(.completion_s) | add / 3, max], (map(.max_link_over_ideal) | max)' \
		>"$dir/each"
	sixteen --json --pattern permutation --policy ecmp --seeds 3 |
		jq -e --slurpfile each "$dir/each" '(.completion_s - $each[0][0] | fabs) < 2e-9 and
			.max_link_over_ideal_worst == $each[1]'
}

# Two flows from different hosts meet on a link where their paths are one.
recorded_paths()
{
	local first='{"from":0,"to":4,"bytes":50000000,"paths":[{"path":1,"bytes":1}]}'
	local second='{"from":1,"to":5,"bytes":50000000,"paths":[{"path":1,"bytes":1}]}'

	flows "$first" "$second" &&
		simulate --flows "$flows" --policy recorded,all >"$dir/json" &&
		jq -e '.pattern == "flows" and .completion_s == 0.002 and
			.max_link_over_ideal == 4 and .policies[1].completion_s == 0.001' "$dir/json" &&
		flows "${first/[/[{\"path\":0,\"bytes\":3\},}" "$second" &&
		simulate --flows "$flows" --policy recorded >"$dir/json" &&
		jq -e '.completion_s == 0.00125 and .max_link_over_ideal == 2.5' "$dir/json"
}

# Flows of a step begin when those of the step before have ended, whatever their order in the file.
steps_follow()
{
	flows '{"from":1,"to":2,"bytes":100000000,"step":7}' \
		'{"from":0,"to":1,"bytes":50000000}' '{"from":0,"to":3,"bytes":50000000}' &&
		simulate --flows "$flows" --policy spray >"$dir/json" &&
		jq -e '.steps == 2 and .completion_s == 0.004 and .bound_s == 0.004 and
			.max_link_over_ideal == 1' "$dir/json"
}

# bad WORDS COMMAND...: refused as bad usage, in words that name the option
bad()
{
	fails 2 usage "$@"
}

# bad_option WORDS OPTION...: the same of a ring on eight hosts
bad_option()
{
	bad "$1" simulate --pattern ring "${@:2}"
}

names_options()
{
	local policy run=("$rocesteer" --json simulate --pattern ring)

	for policy in none ecmp-0qp ecmp-65qp ecmp-4 all-4qp ecmp-4qpx ''; do
		bad_option "--policy: '$policy'" --policy "$policy" || return
	done
	bad --leaves "${run[@]}" --spines 4 --hosts 4 --rate 400 &&
		bad --spines "${run[@]}" --leaves 4 --hosts 4 --rate 400 &&
		bad --hosts "${run[@]}" --leaves 4 --spines 4 --rate 400 &&
		bad --rate "${run[@]}" --leaves 2 --spines 4 --hosts 4 &&
		bad "--rate: '0'" "${run[@]}" --leaves 2 --spines 4 --hosts 4 --rate 0 &&
		bad --leaves shaped 0 4 4 --json --pattern ring &&
		bad --hosts shaped 2 4 x --json --pattern ring &&
		bad "one of --pattern, --flows" simulate &&
		bad "--pattern: 'rings'" simulate --pattern rings || return
	bad_option "only one of --pattern, --flows" --flows "$flows" &&
		bad_option "--host-rate: '1000001'" --host-rate 1000001 &&
		bad_option "--cores" --pods 2 && bad_option "--pods" --cores 2 &&
		bad_option "--size" --size 0 && bad_option "--seeds" --seeds 0 &&
		bad_option "--dead and --slow" --dead 5 --slow 4 &&
		bad_option "--dead: no path is left" --dead 8 &&
		bad_option "--policy netreduce" --dead 1 --policy netreduce &&
		bad "--policy netreduce" simulate --pattern permutation --policy netreduce
}

# bad_flows FIELD FLOW...: the file is refused, with its name and this field
bad_flows()
{
	flows "${@:2}"
	fails 2 bad-file "$1" simulate --flows "$flows" && jq -e --arg file "$flows" \
		'.error.message | contains($file)' "$dir/json"
}

names_fields()
{
	local good='{"from":0,"to":4,"bytes":1}'

	bad_flows 'flows[1].to' "$good" '{"from":0,"to":8,"bytes":1}' &&
		bad_flows 'flows[0].from' '{"from":-1,"to":1,"bytes":1}' &&
		bad_flows 'flows[0].to' '{"from":2,"to":2,"bytes":1}' &&
		bad_flows 'flows[0].bytes' '{"from":0,"to":1}' &&
		bad_flows 'flows[0].bytes' '{"from":0,"to":1,"bytes":0}' &&
		bad_flows 'flows[0].step' '{"from":0,"to":1,"bytes":1,"step":65536}' &&
		bad_flows 'flows[0].paths' '{"from":0,"to":1,"bytes":1,"paths":[]}' &&
		bad_flows 'flows[0].paths' '{"from":0,"to":4,"bytes":1,"paths":[]}' &&
		bad_flows 'flows[0].paths[0].path' \
			'{"from":0,"to":4,"bytes":1,"paths":[{"path":4,"bytes":1}]}' &&
		bad_flows 'flows' && bad_flows 'flows[0]' 7 || return
	echo '{"flows":' >"$flows"
	fails 2 bad-file "$flows" simulate --flows "$flows" &&
		fails 2 no-file "$dir/absent" simulate --flows "$dir/absent" &&
		flows "$good" '{"from":1,"to":5,"bytes":1}' &&
		bad "--policy recorded: the flow from 0 to 4" simulate --flows "$flows" \
			--policy recorded
}

# Refused before memory is asked for
has_limits()
{
	local most=1048576

	bad "1048576 hosts" shaped "$most" 4 2 --json --pattern ring &&
		bad "1048576 hosts" shaped "$most" 64 "$most" --json --pods "$most" --cores "$most" \
			--pattern ring &&
		bad "16777216 links" shaped 4096 4096 1 --json --pattern ring &&
		bad "a single host" shaped 1 4 1 --json --pattern ring &&
		bad "--spines: a pod has at most 64" shaped 2 65 2 --json --pods 2 --cores 2 \
			--pattern ring &&
		bad "--pattern: all-to-all of 32768 hosts" shaped 1024 32 32 --json \
			--pattern all-to-all &&
		bad "policy spray" shaped 1024 1024 32 --json --slow 1 --pattern permutation \
			--policy spray &&
		bad "--policy netreduce" shaped 1024 32 32 --json --pattern ring --policy netreduce
}

ktap_plan 11
check "simulate prints the fields of JSON, and an All-Reduce takes what its bytes need" prints_fields
check "simulate: the root has the result of the first policy" root_is_first
check "simulate names the links of three tiers" three_tiers
check "simulate prints the same as text" text_as_json
check "simulate: results depend on the seed, and not on the order of policies" is_repeatable
check "simulate --seeds prints means and worst cases" takes_seeds
check "simulate --flows takes the paths of the file" recorded_paths
check "simulate --flows plays steps one after the other" steps_follow
check "simulate: what is wrong with an option names the option" names_options
check "simulate: what is wrong with a list of flows names file and field" names_fields
check "simulate refuses what is too large" has_limits
ktap_finish
