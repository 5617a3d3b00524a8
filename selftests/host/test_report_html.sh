#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The HTML page of a report: well-formed, alone, and with names from others as text.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
page=build/user/report_page

dir=$(mktemp -d)
defer rm -rf "$dir"

# report NAME: a report of two leaves and two spines, with this name for everything
report()
{
	jq -n --arg name "$1" '
		def ends($d): {direction: $d, leaf: $name, spine: "10.9.0.2", address: $name};
		{period: {begin: $name, end: $name, seconds: 60},
		before: {begin: $name, end: $name, seconds: 60}, leaves: [$name, "10.9.1.1"],
		spines: ["10.9.0.2", $name],
		links: [("up", "down") | ends(.) + {bytes: 3000000, loss: 0.001}],
		gray: [ends("up") + {cause: $name, sure: 9, rate: 0.001, events: 30,
			other: ends("down")}],
		collisions: [ends("up") + {flows_on: 3, fair: 2,
			flows: [{host: $name, job: 1, name: $name, peer: $name, dqpn: 17}]}],
		uplinks: [{leaf: $name, flows: 3, bytes: 1, imbalance: 1.5}],
		groups: [{host: $name, job: 1, name: $name, device: $name, leaf: $name,
			mode: $name, imbalance: 1.25, before: {imbalance: 1.75}, whole: 1,
			paths: [{path: 0, router: $name, up: false, bytes: 5, before_bytes: 7},
				{path: $name, router: $name, bytes: 3, before_bytes: 1}]}],
		comparison: [{measure: $name, before: 1, now: 2, difference: 1}],
		timeline: [("path-down", "detour", "path-up", $name) | {time: $name, seconds: 3,
			host: $name, event: ., device: $name, leaf: $name, path: 1}],
		hosts: [{host: $name, leaf: $name, version: $name, kernel: $name,
			devices: [$name], jobs: [{job: 1, name: $name, mode: $name}]}],
		notes: [$name]}'
}

well_formed()
{
	"$page" >"$dir/page" && selftests/host/page.py check <"$dir/page"
}

# escaped NAME: it is text wherever the page has it, and its elements are those for "name"
escaped()
{
	report name | well_formed && selftests/host/page.py text <"$dir/page" >"$dir/plain" &&
		report "$1" | well_formed && selftests/host/page.py text <"$dir/page" >"$dir/text" &&
		grep -qF -- "Job 1 ($1)" "$dir/text" &&
		NAME=$1 /usr/bin/python3 - "$dir" <<-'EOP'
			import os, sys
			plain, text = (open(f"{sys.argv[1]}/{f}").read() for f in ("plain", "text"))
			sys.exit(text.replace(os.environ["NAME"], "name") != plain)
		EOP
}

# Control characters become question marks.
unprintable()
{
	report 'name-X-' | sed 's/-X-/\\u0007\\u001b[1m/' | well_formed &&
		grep -qF 'Job 1 (name??[1m)' "$dir/page"
}

# Each field in turn, and all at once, become values of other types.
any_type()
{
	local report

	report name | jq -c '. as $report |
		([null, -1, "x", [], [[1]], {}, [{"a": []}]][] | ., . as $x |
			($report | map_values($x))),
		(keys[] as $key | ("x", [{"a": []}]) | . as $x | $report | .[$key] = $x)' \
		>"$dir/reports" || return
	while read -r report; do
		well_formed <<<"$report" || return
	done <"$dir/reports"
}

ktap_plan 7
check "a page is well-formed, has headings, captions and texts, and loads nothing" \
	eval 'report name | well_formed'
check "a script in a name is text" escaped '<script>alert("x")</script>'
check "quotes in a name end no attribute" escaped "a\" onclick='b' x=\"c'"
check "an entity in a name stays what it is" escaped '&lt;b&gt; &amp; &#60;'
check "the end of a style sheet, a comment and a title in a name are text" \
	escaped '</style></title><!-- x --></table>'
check "characters that are none become question marks" unprintable
check "values of other types are left out" any_type
ktap_finish
