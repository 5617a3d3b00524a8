#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The HTML page of a report: alone, with all that --json prints, and with names from others as
# text; and, where node is, what its script draws.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
rocesteer=${ROCESTEER:-build/rocesteer}

dir=$(mktemp -d)
defer rm -rf "$dir"

# recording NAME FILTER: of a host on one of three leaves, with this name for everything. Its
# uplink to the second spine loses packets, and four of the eight flows to a leaf share a path.
recording()
{
	jq -n --arg name "$1" '
		{format: 1, host: $name, version: $name, kernel: $name, ms: 60000, probed: true,
		begin: "2026-01-01T00:00:00.000Z", naks: 0, cnps: 0,
		groups: [1, 2 | . as $leaf | {job: 1, name: $name, device: $name,
			leaf: "10.9.\($leaf).1", via: "10.1.0.254", source: "10.1.0.1",
			observed: true, paths: [range(4) | {router: "10.9.0.\(4 * . + 2)",
				entry: "10.9.\($leaf).\(4 * . + 1)", up: (. != 3), probes: 30,
				lost: 0, delay_ns: 28600}]}],
		flows: [(0, 1) as $group | [0, 1, 2, 3, 0, 1, 0, 0] | to_entries[] | {group: $group,
			peer: "10.1.\($group + 1).1", dqpn: (.key + 17), port: 57236, share: true,
			observed: true, cnps: 0, sent: [{path: .value, packets: 1000000,
				bytes: 1500000000, rounds: (if .value == 1 then 900 else 0 end)}]}],
		events: [{ms: 5000, event: "start"}, (["path-down", 10], ["detour", 11],
			["path-up", 30.25], [$name, 40], ["path-down", 50] | {ms: (1000 * .[1]),
			event: .[0], device: $name, leaf: "10.9.1.1", path: 3})]} | '"$2"
}

# page NAME FILTER [OPTION...]: the page of this recording
page()
{
	recording "$1" "$2" >"$dir/now" &&
		"$rocesteer" --json report show "$dir/now" --html "$dir/page" "${@:3}" \
			>"$dir/json" &&
		selftests/host/report/page.py check <"$dir/page"
}

has_the_json()
{
	page "$1" . && selftests/host/report/page.py report <"$dir/page" | jq . >"$dir/report" &&
		jq . "$dir/json" | diff - "$dir/report" &&
		jq -e --arg name "$1" '.hosts[0].host == $name' "$dir/report"
}

# drawn NAME FILTER [OPTION...]: the page, and its text when the script has drawn it
drawn()
{
	page "$@" && node selftests/host/report/page.js <"$dir/page" >"$dir/drawn" &&
		selftests/host/report/page.py check <"$dir/drawn" &&
		selftests/host/report/page.py text <"$dir/drawn" >"$dir/text"
}

# shows LINE...
shows()
{
	local line

	for line; do
		grep -qxF -- "$line" "$dir/text" ||
			{ echo "not there: $line"; cat "$dir/text"; return 1; }
	done
}

shows_all()
{
	recording name '.flows[0].sent[0].bytes = 9000000000' >"$dir/before" &&
		drawn name . --against "$dir/before" || return
	shows "Found: 1 gray link, 3 collisions, 6 events; the fullest uplink has 2.00 × the mean" \
		"imbalance | 2.48 | 2.00 | -0.48" \
		"leaf 10.1.0.254 to spine 10.9.0.6 | 10.9.0.6 | loss | 0.09 % | 3600 | 1 in 1099" \
		"leaf 10.9.1.1 | 6.00 GB 2.00 × | 3.00 GB 1.00 × | 1.50 GB 0.50 × | 1.50 GB 0.50 ×" \
		"leaf 10.1.0.254 | 0 % | 0.09 % gray | 0 % | 0 %" \
		"leaf 10.9.1.1 | 0 % | 0.09 % | 0 % | 0 %" \
		"name: job 1 (name), queue pair 24 of 10.1.2.1, 1.50 GB" \
		"leaf 10.1.0.254 to spines | 16 | 24.0 GB | 2.00 | 2.48 | 50.00 | 1.13" \
		"Job 1 (name): name, name to leaf 10.9.1.1" \
		"0 | 10.9.0.2 | 4 | 13.5 GB | 6.00 GB | 4000000 | 0 | 0 | 28.6" \
		"3, down | 10.9.0.14 | 1 | 1.50 GB | 1.50 GB | 1000000 | 0 | 0 | 28.6" \
		"path-up at 30.25 s: name, name to leaf 10.9.1.1, path 3" \
		"5.00 | 2026-01-01T00:00:05.000Z | start | name | – | – | –" \
		"name | 10.1.0.254 | name | name | name | 1 (name), observed"
}

# The first group is to another pod: two cores above each of two aggs, and one path whose agg
# behind the core did not answer. The other is in the pod, by the same aggs.
shows_tiers()
{
	# shellcheck disable=SC2016 # jq expands them
	drawn name '.groups[0] |= (.cores = true | .paths |= [to_entries[] | (.key % 2) as $agg |
			.value + {via: "10.255.1.\($agg + 1)", entry: "10.9.1.\($agg + 1)",
			router: "10.255.2.\(.key + 1)", behind: "10.255.1.\($agg + 7)"}]) |
		del(.groups[0].paths[3].behind) | .groups[1].paths |= (.[:2] | to_entries |
			map(.value + {router: "10.255.1.\(.key + 1)", up: true})) |
		.flows[8:][].sent[].path %= 2' || return
	shows "leaf 10.1.0.254 | 15.0 GB 1.25 × | 9.00 GB 0.75 ×" \
		"Agg | core 10.255.2.1 | core 10.255.2.3" \
		"agg 10.255.1.2 | 3.00 GB 1.00 × may be gray | 1.50 GB 0.50 ×" \
		"agg 10.255.1.8 | 3.00 GB 0.86 × may be gray" "Bytes from core to leaf" \
		"leaf 10.9.1.1 | 1.50 GB 1.00 ×" \
		"leaf 10.9.1.1 | 7.50 GB 1.33 × | 3.00 GB 0.53 × may be gray" \
		"leaf 10.9.2.1 | 7.50 GB 1.33 × | 4.50 GB 0.80 × gray" \
		"core 10.255.2.1 to agg 10.255.1.7 | 4 | 3 | name: job 1 (name), queue pair 17 of \
10.1.1.1, 1.50 GB" "agg 10.255.1.1 to cores | 5 | 7.50 GB | 1.60 | 60.00 | 1.20" \
		"leaf 10.1.0.254 to aggs | 16 | 24.0 GB | 1.25 | 25.00 | 1.00" \
		"0 | 10.255.1.1 | 10.255.2.1 | 4 | 6.00 GB | 4000000 | 0 | 0 | 28.6"
}

shows_idleness()
{
	drawn name '.flows = [] | .events = []' &&
		shows "Found: no gray links, no collisions, no events" "No path went down or up." &&
		drawn name '.groups = [] | .flows = [] | .events = []' && shows Hosts
}

# shows_as_text NAME: it is drawn like another name.
shows_as_text()
{
	drawn name . && cp "$dir/text" "$dir/plain" && drawn "$1" . &&
		shows "$1, $1 to leaf 10.9.1.1, path 3" &&
		jq -Rsj --arg name "$1" 'split($name) | join("name")' "$dir/text" |
		diff - "$dir/plain"
}

# Controls of terminals, and the mark that turns the direction of writing, are shown as ?.
shows_no_control()
{
	drawn $'a\e[1m\u202eb' . && shows 'a?[1m?b, a?[1m?b to leaf 10.9.1.1, path 3'
}

# A check of what the script draws
check_drawn()
{
	if command -v node >/dev/null; then
		check "$@"
	else
		skip "$1" "there is no node to run the script of the page"
	fi
}

ktap_plan 11
check "a page loads nothing, and runs its own script alone" page name .
check "a page has what --json prints" has_the_json name
check "the end of a script, and a comment, in a name do not end the report" \
	has_the_json '</script><!--'
check "quotes and entities in a name stay what they are" has_the_json '&lt;"'\''\</&amp;'
check_drawn "a page shows links, flows, groups, events and the earlier period" shows_all
check_drawn "a page shows three tiers, and what is not known of them" shows_tiers
check_drawn "a page of hosts that sent nothing says so" shows_idleness
check_drawn "an element in a name is shown as text" shows_as_text '<b onclick=c()>'
check_drawn "an entity in a name is shown as what it is" shows_as_text '&lt;i&gt;&#60;'
check_drawn "the end of a script in a name is shown as text" shows_as_text '</script><!--'
check_drawn "characters of a name that change other text become question marks" shows_no_control
ktap_finish
