#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Common to all commands: output, files, short words, colours and help. The test needs no
# privilege and no kernel.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/cli/usage.sh

# unprintable MESSAGE ARGUMENT...: standard output cannot be written
unprintable()
{
	local message=$1 status
	shift

	"$rocesteer" "$@" 2>"$dir/stderr"
	status=$?
	cat "$dir/stderr"
	((status == 1)) && grep -xF "rocesteer: standard output: $message" "$dir/stderr" >&2 &&
		grep -F "Only the output is lost" "$dir/stderr" >&2
}

# A full disk is a failure, and a job that was loaded is reported.
output_fails()
{
	local full="No space left on device"

	echo '{"leaves":1,"spines":1,"gpus_per_leaf":4,"gpus_per_server":4}' >"$dir/cluster.json"
	unprintable "$full" plan --flows 1 --paths 1 >/dev/full &&
		unprintable "$full" --json plan --flows 1 --paths 1 >/dev/full &&
		unprintable "$full" --help >/dev/full &&
		unprintable "$full" --version >/dev/full &&
		unprintable "$full" path discover --help >/dev/full &&
		unprintable "$full" slice alloc --cluster "$dir/cluster.json" \
			--gpus 1 --job a >/dev/full &&
		unprintable "Bad file descriptor" slice alloc --json --gpus 1 \
			--cluster "$dir/cluster.json" --job b >&- &&
		jq -e '.jobs | has("a") and has("b")' "$dir/cluster.json" &&
		unprintable "$full" slice release --cluster "$dir/cluster.json" \
			--job a >/dev/full &&
		jq -e '.jobs | keys == ["b"]' "$dir/cluster.json"
}

# A cluster file stays as it is where no more than 1 KiB can be written.
files_stay_whole()
{
	local alloc=("$rocesteer" slice alloc --cluster "$dir/link" --gpus 1 --job)

	jq -n '{leaves: 4, spines: 32, gpus_per_leaf: 32, gpus_per_server: 4,
		drained: {links: [range(4) as $leaf | range(32) | [$leaf, .]]}}' \
		>"$dir/file"
	cp "$dir/file" "$dir/before"
	ln -sf file "$dir/link"
	! (trap '' XFSZ; ulimit -f 1
	   exec "${alloc[@]}" a >/dev/null) 2>"$dir/stderr" &&
		grep -F "cannot replace $dir/file: File too large" "$dir/stderr" &&
		cmp "$dir/file" "$dir/before" && [[ ! -e $dir/file.new ]] &&
		"${alloc[@]}" b >/dev/null &&
		[[ -L $dir/link ]] && jq -e '.jobs | keys == ["b"]' "$dir/file"
}

# foreign FILE: convert it to CRLF and add a byte order mark
foreign()
{
	sed -i '1s/^/\xef\xbb\xbf/; s/$/\r/' "$1"
}

foreign_files()
{
	printf '10.0.0.1\n10.0.0.1\n' >"$dir/peers"
	echo '{"leaves":1,"spines":1,"gpus_per_leaf":4,"gpus_per_server":4}' >"$dir/foreign.json"
	"$rocesteer" slice trace --jobs 3 --gpus 4 >"$dir/trace.csv" &&
		foreign "$dir/peers" && foreign "$dir/foreign.json" &&
		foreign "$dir/trace.csv" &&
		usage "$dir/peers: line 2: 10.0.0.1 is given twice" \
			path discover --dev lo --peer-file "$dir/peers" &&
		"$rocesteer" --json slice replay --cluster "$dir/foreign.json" \
			"$dir/trace.csv" | jq -e '.jobs == 3'
}

# shows TEXT ARGUMENT...: the output has the text, and nothing that a terminal acts on
shows()
{
	local text=$1
	shift

	! "$rocesteer" "$@" >"$dir/said" 2>&1 && cat -v "$dir/said" &&
		grep -F "$text" "$dir/said" && ! grep $'[\e\a]' "$dir/said"
}

controls()
{
	local time=2026-01-02T03:04:05Z map=$dir/$'esc\e[31m\a\xff.json'
	local head='{"format":1,"generation":1,"created":' slice=$dir/esc.json

	shows 'esc?[31m??.json: No such file' path show "$map" &&
		shows "unknown object a?[31m" a$'\e[31m' &&
		shows "ü?[31m" path show "$dir/"$'\u00fc\e[31m' &&
		echo "$head\"$time"'\u001b","device":"lo","hop":2}' >"$map" &&
		shows '??.json: created: is not' path show "$map" &&
		echo "$head\"$time"'","device":"a\u001b","hop":2}' >"$map" &&
		shows 'device: is not' path show "$map" || return
	echo '{"leaves":1,"spines":1,"gpus_per_leaf":4,"gpus_per_server":4,
		"nodes":[["n\u001b"]]}' >"$slice" &&
		"$rocesteer" slice alloc --gpus 1 --job a --cluster "$slice" >"$dir/said" &&
		! grep $'\e' "$dir/said" &&
		sed -i 's/"stage":"server"/"stage":"\\u001b[31m"/' "$slice" &&
		shows "jobs.a.stage: '?[31m' is not one of" slice list --cluster "$slice"
}

version()
{
	local how

	for how in --version -V version; do
		[[ $("$rocesteer" "$how") == "rocesteer "[0-9]* ]] &&
			"$rocesteer" --json "$how" | jq -e '.version | test("^[0-9]")' || return
	done
}

# same ARGUMENT... -- ARGUMENT...: both command lines print the same, and succeed
same()
{
	local -a first=()

	while [[ $1 != -- ]]; do
		first+=("$1")
		shift
	done
	diff <("$rocesteer" "${first[@]}" && echo success) \
		<("$rocesteer" "${@:2}" && echo success)
}

short_options()
{
	local plan=(plan --flows 3 --paths 2)

	same "${plan[@]}" -j -- "${plan[@]}" --json && same -j "${plan[@]}" -- "${plan[@]}" -j &&
		same "${plan[@]}" -p -- -j --pretty "${plan[@]}" &&
		(($("$rocesteer" "${plan[@]}" -j | wc -l) == 1)) &&
		[[ $("$rocesteer" "${plan[@]}" -p | sed -n 2p) == '  "flows": 3,' ]] &&
		diff <("$rocesteer" "${plan[@]}" -j | jq -S .) \
			<("$rocesteer" "${plan[@]}" -p | jq -S .) &&
		same "${plan[@]}" -h -- "${plan[@]}" --help
}

# A word that two names begin with is none of them, but a name is also where another begins so.
shortened()
{
	same pl --flows 3 --paths 2 -- plan --flows 3 --paths 2 &&
		same sl tr --jobs 3 --gpus 4 -- slice trace --jobs 3 --gpus 4 &&
		usage "unknown verb s: slice has $(verbs slice)" slice s &&
		usage "unknown object st" st && usage "unknown object " '' &&
		usage "unknown option --for" stat --for x && usage "unknown option --st" stat --st
}

# verbs OBJECT: as a message has them
verbs()
{
	"$rocesteer" "$1" help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]\+\).*/\1/p' | paste -s -d , |
		sed 's/,/, /g'
}

# The option that names a thing may be left out, and only that one.
named_alone()
{
	local at=(--cluster "$dir/named.json")

	echo '{"leaves":1,"spines":1,"gpus_per_leaf":8,"gpus_per_server":4}' >"$dir/named.json"
	"$rocesteer" slice alloc b "${at[@]}" --gpus 4 &&
		"$rocesteer" slice alloc "${at[@]}" --gpus 4 a &&
		same slice show a "${at[@]}" -- slice show --job a "${at[@]}" &&
		"$rocesteer" -j slice list "${at[@]}" | jq -e '[.jobs[].job] == ["a", "b"]' &&
		"$rocesteer" slice release "${at[@]}" a &&
		usage "--job NAME is missing" slice show "${at[@]}" &&
		usage "--cluster FILE is missing" slice show a &&
		usage "unexpected argument 3" plan --flows 3 --paths 2 3 &&
		jq -e '.jobs | keys == ["b"]' "$dir/named.json"
}

# colors YES|NO COMMAND...: what it prints has colours, or not
colors()
{
	local has=NO

	[[ $("${@:2}") != *$'\e['* ]] || has=YES
	[[ $1 == "$has" ]] || { echo "${*:2}"; return 1; }
}

# A heading is bold: people see it, programs and files do not.
colored()
{
	local plan=("$rocesteer" plan --flows 3 --paths 2)
	local tty=(selftests/host/lib/screen.py 24 80)

	colors YES "${plan[@]}" -c && colors YES "${plan[@]}" --color=always &&
		colors NO "${plan[@]}" && colors NO "${plan[@]}" -c=auto &&
		colors NO "${plan[@]}" -c -j && colors NO "${tty[@]}" "${plan[@]}" -p &&
		colors YES "${tty[@]}" "${plan[@]}" &&
		colors NO "${tty[@]}" "${plan[@]}" --color=never &&
		colors NO env NO_COLOR=1 "${tty[@]}" "${plan[@]}" &&
		colors YES env NO_COLOR=1 "${plan[@]}" -c &&
		colors YES env NO_COLOR= "${tty[@]}" "${plan[@]}" &&
		diff <("${plan[@]}" -c | sed 's/\x1b\[[0-9]*m//g') <("${plan[@]}")
}

help()
{
	"$rocesteer" help && same help job -- job help &&
		same --help job -- job help && same help plan -- plan --help &&
		same help job load -- job load --help &&
		! same help job -- help
}

ktap_plan 10
check "a command fails when its output cannot be written" output_fails
check "a file is replaced as a whole or not at all" files_stay_whole
check "files with CRLF and a byte order mark are read" foreign_files
check "control characters are shown as ?" controls
check "--version prints the version" version
check "-j, -p and -h are --json, --pretty and --help" short_options
check "objects and verbs may be shortened, options may not" shortened
check "the name of a job needs no --job" named_alone
check "a terminal has colours, JSON, pipes and NO_COLOR have none" colored
check "help works for the command, an object and a verb" help
ktap_finish
