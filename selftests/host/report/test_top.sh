#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocesteer top on terminals of any size, the order of its groups, and other tables on
# terminals

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/lib/command.sh
escape=$'\033'
export NO_COLOR=1	# but for one check

# Two leaves with four paths each, whose routers do not answer
ready()
{
	veth rs0 rs1 && ip address add 10.1.0.1/24 dev rs0 || return
	jq -n '{format: 1, generation: 1, created: "2026-01-02T03:04:05Z", device: "rs0",
		hop: 2, peers: [range(1; 3) | {address: "10.1.\(.).1", source: "10.1.0.1",
			local: false, leaf: "10.255.0.\(.)", probed: 4, paths: [range(4) |
			{path: ., router: "10.255.1.\(. + 1)", ports: [49152 + .]}]}]}' >"$map"
	"$rocesteer" job load --job 7 --all --port-map "$map" --no-verify
}

# Send between two looks of top: one flow to leaf 1, one on each path to leaf 2.
send()
{
	selftests/host/lib/flows.py rs0 10.1.0.1 10.1.1.1 16 "$(seq -s , 0 19)" &&
		selftests/host/lib/flows.py rs0 10.1.0.1 10.1.2.1 32,33,34,35 "$(seq -s , 0 9)"
}

# top_while_sending COMMAND...: print the interval between two looks
top_while_sending()
{
	local pid status

	: >"$dir/top"
	"$@" --count 2 --interval 6000 >"$dir/top" &
	pid=$!
	busywait 30000 test -s "$dir/top" && send || return
	wait "$pid"
	status=$?
	cat -v "$dir/top"
	return "$status"
}

worst_first()
{
	top_while_sending "$rocesteer" --json top &&
		jq -s -e '[.[1].groups[] | [.leaf, .imbalance]] ==
			[["10.255.0.1", 4], ["10.255.0.2", 1]]' "$dir/top" &&
		"$rocesteer" --json top --count 1 --interval 10 |
			jq -e 'all(.groups[]; has("imbalance") | not)'
}

# Programs read plain numbers from a pipe.
in_units()
{
	top_while_sending selftests/host/lib/screen.py 24 200 "$rocesteer" top &&
		grep -q '10.255.0.1 *4.00 .* B ' "$dir/top" && ! grep -q more "$dir/top" &&
		top_while_sending "$rocesteer" top &&
		grep -q '10.255.0.1 *4.00 .*  [0-9]*  *0$' "$dir/top"
}

# A state has a colour, which takes no column; where a line is cut, the colour ends as well.
shows_colors()
{
	local top=(selftests/host/lib/screen.py 24 80 "$rocesteer" top --count 1 --interval 10)

	"${top[@]}" --color=never >"$dir/plain"
	NO_COLOR='' "${top[@]}" >"$dir/colored"
	cat -v "$dir/colored"
	grep -q "${escape}\[32mup" "$dir/colored" && ! grep "${escape}\[[0-9]*m" "$dir/plain" &&
		! grep "${escape}\[32m" "$dir/colored" | grep -v "${escape}\[0m${escape}\[K$" &&
		sed "s/${escape}\[[0-9]*m//g" "$dir/colored" | diff - "$dir/plain"
}

# screen ROWS COLUMNS: the last screen; the cursor's row is the last
screen()
{
	selftests/host/lib/screen.py "$@" "$rocesteer" top --count 1 --interval 200 >"$dir/top"
	cat -v "$dir/top"
	mapfile -t lines < <(sed "s/.*$escape\[H//; s/$escape\[[KJ]//g; /^$/d" "$dir/top")
}

fits()
{
	local lines line

	screen 24 200 && ((${#lines[@]} == 9)) && [[ ${lines[0]} == *LEAF*ROUNDS/S ]] &&
		screen 9 200 && ((${#lines[@]} == 8)) && [[ ${lines[0]} == *LEAF* ]] &&
		[[ ${lines[7]} == "2 more rows" ]] &&
		screen 10 200 && ((${#lines[@]} == 9)) && [[ ${lines[8]} == *10.255* ]] &&
		screen 4 30 && ((${#lines[@]} == 3)) && [[ ${lines[0]} == *JOB* &&
			${lines[2]} == "7 more rows" ]] || return
	for line in "${lines[@]}"; do
		((${#line} <= 30)) || return
	done
}

# The last screen is drawn again before the next look.
resizes()
{
	selftests/host/lib/screen.py 24 200 --then 4 200 "$rocesteer" top --count 2 \
		--interval 4000 >"$dir/top"
	cat -v "$dir/top"
	(($(grep -c "more rows" "$dir/top") == 2)) &&
		(($(grep -o "$escape\[H" "$dir/top" | wc -l) == 3))
}

# Device names have characters of several bytes, some of them wide.
wide()
{
	local LC_ALL=C.UTF-8 lines

	ip link set rs0 down && ip link set rs0 name "ü日" && ip link set "ü日" up || return
	screen 24 80 && ((${#lines[@]} == 9)) || return
	ip link set "ü日" down
	ip link set "ü日" name rs0 && ip link set rs0 up && [[ ${lines[1]} == *"ü日"* ]]
	# Columns begin at one place: a wide character takes two.
	lines=("${lines[@]%%10.255*}") && lines[0]=${lines[0]%%LEAF*}
	printf '%s|\n' "${lines[@]}"
	((${#lines[0]} == ${#lines[1]} + 1))
}

# states STATE: of all paths
states()
{
	"$rocesteer" --json top --count 1 --interval 10 |
		jq -e --arg state "$1" '[.groups[].paths[].state] | length == 8 and
			all(.[]; . == $state)'
}

no_carrier()
{
	states up && ip link set rs1 down && busywait 20000 states no-carrier &&
		ip link set rs1 up && busywait 20000 states up && ip link set rs0 down &&
		states no-carrier && ip link set rs0 up && busywait 20000 states up
}

# A row is one line, except on a terminal.
lists_have_lines()
{
	jq '.peers |= .[:1] | .peers[0].paths[0].ports = [range(50000; 50040)]' "$map" \
		>"$dir/long.json"
	(($("$rocesteer" path show "$dir/long.json" | awk 'length > 200' | wc -l) == 1)) &&
		selftests/host/lib/screen.py 24 80 "$rocesteer" path show "$dir/long.json" \
			>"$dir/shown" || return
	cat "$dir/shown"
	! grep -E '^.{90}' "$dir/shown" &&
		[[ $(grep -oE '[0-9]{5}' "$dir/shown" | grep -c ^500) == 40 ]]
}

# A pod of two aggs, and another pod by two cores of each
shows_tiers()
{
	jq '.format = 2 | del(.hop) | .peers[] += {hop: 2, leaf_hop: 3} |
		.peers[0].paths |= .[:2] | .peers[1] += {hop: 3, leaf_hop: 5} |
		.peers[1].paths |= [range(4) as $p | .[$p] |
			.router = "10.3.\($p / 2 | floor).\($p)" |
			.via = "10.255.1.\($p / 2 + 1 | floor)"]' "$map" >"$dir/tiers.json" &&
		"$rocesteer" path show "$map" >"$dir/shown" &&
		grep -x 'hop  *2' "$dir/shown" && ! grep -E 'HOP|VIA' "$dir/shown" &&
		"$rocesteer" path show "$dir/tiers.json" >"$dir/shown" || return
	cat "$dir/shown"
	! grep '^hop ' "$dir/shown" && grep '10.255.0.2  *3  *5  *4 ' "$dir/shown" &&
		grep 'PATH  VIA  *ROUTER  *PORTS' "$dir/shown" &&
		"$rocesteer" job replace --job 7 --all --port-map "$dir/tiers.json" --no-verify &&
		"$rocesteer" --json top --count 1 --interval 10 | jq -e '[.groups[] |
			select(.leaf == "10.255.0.2").paths[] | [.via, .router]] == [
			["10.255.1.1", "10.3.0.0"], ["10.255.1.2", "10.3.1.2"],
			["10.255.1.1", "10.3.0.1"], ["10.255.1.2", "10.3.1.3"]]' &&
		"$rocesteer" top --count 1 --interval 10 >"$dir/shown" || return
	cat "$dir/shown"
	grep 'PATH  VIA  *ROUTER' "$dir/shown" && grep ' -  *10.255.1.1  *up' "$dir/shown"
}

ktap_plan 10
check "a device and a job are made" ready
check "top shows the most uneven group first" worst_first
check "top shows bytes with a unit on a terminal" in_units
check "top shows states in colours on a terminal" shows_colors
check "top shows as many lines as the terminal has" fits
check "top draws again when the terminal changes its size" resizes
check "top aligns names with wide characters" wide
check "top shows that a device has no carrier" no_carrier
check "lists on a terminal break no line" lists_have_lines
check "agg and core of a path are shown, and hops that differ" shows_tiers
ktap_finish
