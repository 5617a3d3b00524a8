#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Manual pages agree with --help, and shells complete.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/host/lib/command.sh
. packaging/completion/rocesteer
top=$PWD
shells=(bash)
! command -v zsh >/dev/null || shells+=(zsh)

# The threat model names checks as proofs.
named_checks_exist()
{
	local name status=0
	local -a names

	mapfile -t names < <(tr -s '\n ' ' ' <Documentation/security.rst | grep -oE '"[^"]+"')
	for name in "${names[@]}"; do
		grep -rqF -- "${name//\"/}" selftests || { echo "no check $name"; status=1; }
	done
	((${#names[@]})) && return "$status"
}

# names SECTION <TEXT: the words of a section of a help text
names()
{
	sed -n "/^$1:/,/^\$/s/^  \([^ ]*\).*/\1/p"
}

# The options of a help text with their arguments
options()
{
	sed -n '/^\(Needed\|Options\):/,$s/^  \(--.\{26\}\).*/\1/p' | sed 's/ *$//'
}

objects()
{
	"$rocesteer" help | names Objects
}

verbs()
{
	"$rocesteer" "$1" help | names Verbs
}

# All commands: "OBJECT", or "OBJECT VERB"
commands()
{
	local object verb verbs

	for object in $(objects); do
		verbs=$(verbs "$object")
		[[ $verbs ]] || echo "$object"
		for verb in $verbs; do
			echo "$object $verb"
		done
	done
}

# The options of a manual page: lines with **--name** *ARG*, maybe several
documented()
{
	grep '^\*\*--' "$1" | sed 's/, \*\*-[A-Za-z]\*\*\( \*[^*]*\*\)\?//g; s/\*\*, \*\*/**\n**/g; s/, \*\*--/\n**--/g' |
		tr -d '*'
}

# Options of all commands, which rocesteer(8) has
not_common()
{
	grep -v -x -e '--json' -e '--pretty' -e '--color.*' -e '--netns NAME|PID' -e '--help'
}

perf_options()
{
	build/rocesteer-perf --help | options | not_common | sort
}

page_is_complete()
{
	local object=$1 page=Documentation/man/rocesteer-$1.8.rst verb

	diff <(for verb in $(verbs "$object") ''; do
			# shellcheck disable=SC2086 # maybe no verb
			[[ ! $verb && $(verbs "$object") ]] ||
				"$rocesteer" "$object" $verb --help | options
		done | not_common | sort -u) <(documented "$page" | sort -u) &&
		for verb in $(verbs "$object"); do
			grep -q -e "rocesteer $object $verb\*\*" \
				-e "rocesteer $object\*\* \[\*\*$verb\*\*" "$page" || {
				echo "$page: $verb is missing"
				return 1
			}
		done
}

main_page_is_complete()
{
	diff <("$rocesteer" help | options | sort) \
		<(documented Documentation/man/rocesteer.8.rst | sort) &&
		diff <(objects) <(sed -n '/^OBJECTS$/,/^OPTIONS$/s/^\*\*\(.*\)\*\*$/\1/p' \
			Documentation/man/rocesteer.8.rst)
}

pages_are_complete()
{
	local object status=0

	for object in $(objects); do
		page_is_complete "$object" || status=1
	done
	diff <(perf_options) <(documented Documentation/man/rocesteer-perf.8.rst | sort) ||
		status=1
	return "$status"
}

# rst2man prints its warnings into the page.
pages_are_correct()
{
	printf '%s\n' Documentation/man/*.rst Documentation/*.rst |
		xargs -P 2 -n 1 rst2html --strict >/dev/null
}

# bash_says WORD...: the completions of the last word
bash_says()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_rocesteer "$1" "${@: -1}" "${@:$#-1:1}"
	echo "${COMPREPLY[*]}"
}

# zsh_says WORD...: the same by zsh, whose own functions filter by the word
zsh_says()
{
	# shellcheck disable=SC2016 # zsh expands
	zsh -f -c '
		compadd() { print -r -- $choices }
		_describe() { print -r -- ${choices%%:*} }
		_files() { print files }
		compset() { print "of $words[CURRENT]" }
		words=("$@") CURRENT=$#
		eval "complete_rocesteer() { $(<"$0"/packaging/completion/_rocesteer) }"
		complete_rocesteer' "$top" "$@"
}

bash_completes()
{
	local r=$rocesteer

	[[ $(bash_says "$r" p) == "plan path"* ]] &&
		[[ $(bash_says "$r" path v) == verify ]] &&
		[[ $(bash_says "$r" --json job lo) == load ]] &&
		[[ $(bash_says "$r" job load --p) == "--port-map --peer-file --pid --pattern --pretty" ]] &&
		[[ $(bash_says "$r" job load --module y) == yes ]] &&
		[[ $(bash_says "$r" job load --split n) == none ]] &&
		[[ $(bash_says "$r" path discover --dev l) == *lo* ]] &&
		[[ ! $(bash_says "$r" path discover --hop '') ]] &&
		[[ $(bash_says "$r" slice mark --as u) == usable ]] &&
		[[ $(bash_says "$r" slice check --flows Makef) == Makefile ]] &&
		[[ $(bash_says "$r" path show Makef) == Makefile ]] &&
		[[ $(bash_says "$r" slice replay Makef) == Makefile ]] &&
		[[ $(bash_says "$r" slice replay --order b) == backfill ]] &&
		[[ $(bash_says "$r" job load --pattern p) == permutation ]] &&
		[[ $(bash_says "$r" slice check --pattern hi) == \
			"hierarchical-ring hierarchical-all-to-all" ]] &&
		[[ $(bash_says "$r" simulate --pattern h) == "hierarchical halving-doubling" ]] &&
		[[ $(bash_says "$r" simulate --algorithm h) == halving ]] &&
		[[ $(bash_says "$r" simulate --recording a,Makef) == a,Makefile ]] &&
		[[ $(bash_says "$r" simulate --svg Makef) == Makefile ]] &&
		[[ $(bash_says "$r" job load --color) == --color ]] &&
		[[ $(bash_says "$r" sl tra --lik) == --like ]] &&
		[[ $(bash_says "$r" job load --port-map Makef) == Makefile ]] &&
		[[ $(bash_says "$r" path audit a --hosts Makef) == Makefile ]] &&
		[[ $(bash_says "$r" path audit a --hosts b,Makef) == b,Makefile ]] &&
		[[ ! $(bash_says "$r" job list Makef) ]] &&
		[[ $(bash_says build/rocesteer-perf --algorithm h) == halving ]]
}

# completes bash|zsh WORD OTHER...: the shell has the word for the last of the others
completes()
{
	[[ " $("$1_says" "${@:3}" | tr '\n' ' ') " == *" $2 "* ]]
}

zsh_completes()
{
	local r=$rocesteer

	[[ $(zsh_says "$r" job '') == "load "*"unload "* ]] &&
		[[ $(zsh_says "$r" job load --) == "--job "*" --help"* ]] &&
		[[ $(zsh_says "$r" sl tra --) == "--jobs --gpus --like "* ]] &&
		[[ $(zsh_says "$r" job load --split '') == "none fewest all auto" ]] &&
		[[ $(zsh_says "$r" path discover --dev '') == *lo* ]] &&
		[[ ! $(zsh_says "$r" path discover --hop '') ]] &&
		[[ $(zsh_says "$r" job load --port-map '') == files ]] &&
		[[ $(zsh_says "$r" path show '') == *files ]] &&
		[[ $(zsh_says "$r" path audit a --hosts b,c) == "of b,c"$'\n'files ]] &&
		[[ $(zsh_says "$r" slice trace --like '') == "powers-of-two paper" ]] &&
		[[ $(zsh_says build/rocesteer-perf --type '') == "int32 float32" ]]
}

# The names of jobs of a cluster file, which stands anywhere before
names_of_jobs()
{
	local shell file=$dir/jobs.json
	local slice=("$rocesteer" slice)

	echo '{"leaves":4,"spines":4,"gpus_per_leaf":16,"gpus_per_server":4}' >"$file"
	"${slice[@]}" alloc other --cluster "$file" --gpus 4 &&
		"${slice[@]}" alloc train --cluster "$file" --gpus 4 || return
	for shell in "${shells[@]}"; do
		completes "$shell" other "${slice[@]}" show --cluster "$file" '' &&
			completes "$shell" train "${slice[@]}" rel --cluster "$file" --job '' &&
			completes "$shell" other "$rocesteer" job load --cluster "$file" \
				--slice-job '' &&
			! completes "$shell" train "${slice[@]}" show '' || return
	done
}

no_wide_help()
{
	local command wide

	wide=$({
		"$rocesteer" help
		build/rocesteer-perf --help
		for command in $(objects); do
			"$rocesteer" "$command" help
		done
		while read -r command; do
			# shellcheck disable=SC2086 # words
			"$rocesteer" $command --help
		done < <(commands)
	} | grep -E '^.{81}')
	echo "$wide"
	[[ ! $wide ]]
}

# Without options a command asks for the first of those that are needed, and without one of
# these for this one.
needed_is_asked_for()
{
	local command needed said

	while read -r command; do
		# shellcheck disable=SC2086 # words
		needed=$("$rocesteer" $command --help | sed -n '/^Needed:/,/^$/p' | options | head -n 1)
		[[ $needed && $command != *" "@(replay|steer|export) ]] || continue
		# shellcheck disable=SC2086
		said=$("$rocesteer" $command 2>&1 | head -n 1)
		[[ $said == "rocesteer: $needed is missing" ]] ||
			{ echo "$command: $said"; return 1; }
	done < <(commands)
}

# The example at the end of a help text
example()
{
	"$rocesteer" "$@" --help | tail -n 1 | sed 's/^    rocesteer //'
}

examples()
{
	local command

	while read -r command; do
		# shellcheck disable=SC2086 # words
		example $command
	done < <(commands)
	echo "-j -p job list"
}

# The examples have a device, job 1, and the job train of a cluster file.
prepare()
{
	"$rocesteer" job unload --all
	[[ $1 == "job load"* ]] || "$rocesteer" job load 1 --port-map ports.json --all --no-verify
	echo '{"leaves":4,"spines":4,"gpus_per_leaf":16,"gpus_per_server":4}' >cluster.json
	rm -f cluster.json.journal
	[[ $1 == "slice alloc"* ]] || "$rocesteer" slice alloc train --cluster cluster.json --gpus 16
	"$rocesteer" slice trace --jobs 3 --gpus 16 >trace.csv
}

place()
{
	mount -t tmpfs run /run && mount -t bpf bpf /sys/fs/bpf && ip link set lo up &&
		ip link add eth0 type veth peer name eth1 && ip link set eth1 up &&
		ip address add 10.1.0.1/24 dev eth0 && ip link set eth0 up || return
	port_map eth0 "$(peer 10.1.1.1 49152 49160)" >ports.json
}

# run_examples: those on standard input; some need what is not here, but none is refused for its
# arguments
run_examples()
{
	local line limit said status shell

	place || return
	while read -r line; do
		prepare "$line" >log 2>&1 || { cat log; return 1; }
		# These two do not end by themselves.
		limit=60
		[[ $line != daemon* && $line != "report record"* ]] || limit=0.5
		# shellcheck disable=SC2086 # words
		said=$(timeout "$limit" "$rocesteer" $line 2>&1 </dev/null)
		status=$?
		echo "$status: $line"
		case $line in
		path\ discover* | path\ verify* | path\ prove* | chunk\ load* | chunk\ unload* | \
			slice\ wire* | reduce\ [ljus]* | report\ show* | monitor | status* | reduce\ plan*)
			[[ $said != *"See: "*"--help" ]]
			;;
		daemon* | report\ record*)
			((status == 124))
			;;
		*)
			((status == 0))
			;;
		esac || { echo "$said"; return 1; }
	done
	for shell in "${shells[@]}"; do
		completes "$shell" 1 "$rocesteer" job show '' &&
			completes "$shell" 1 "$rocesteer" flow show --job '' || return
	done
}

examples_work()
{
	local lines

	lines=$(examples)
	(($(wc -l <<<"$lines") > 40)) || return
	unshare --net --mount bash -c "
		rocesteer=$rocesteer shells=(${shells[*]}) top=$PWD
		. packaging/completion/rocesteer
		$(declare -f peer port_map place prepare run_examples bash_says zsh_says completes)
		cd $dir && run_examples" <<<"$lines"
}

help_everywhere()
{
	local object command

	for object in $(objects); do
		diff <("$rocesteer" "$object" help) <("$rocesteer" "$object" --help) || return
	done
	while read -r command; do
		# shellcheck disable=SC2086 # words
		"$rocesteer" $command --help >/dev/null || return
	done < <(commands)
}

# Reduce an argument to its kind: a list to its items, alternatives to "words".
kinds()
{
	sort -u | sed 's/\[,.*//; s/ [a-z0-9]*|.*/ words/' | sort -u
}

# An option takes one kind of argument in all commands, with exceptions: --flows is a
# number for "plan" and a file for "slice check", and --job is a number in the tables and a
# name in a cluster file. "simulate" takes numbers for a fabric, --leaves, --spines, --hosts and
# --rate, and one --algorithm, where others have one for each dimension.
one_vocabulary()
{
	local command more

	more=$({
		while read -r command; do
			# shellcheck disable=SC2086 # words
			"$rocesteer" $command --help | options
		done < <(commands)
		build/rocesteer-perf --help | options
	} | kinds | cut -d ' ' -f 1 | uniq -d)
	echo "$more"
	[[ $more == $'--algorithm\n--flows\n--hosts\n--job\n--leaves\n--rate\n--spines' ]]
}

# statuses: codes of errors and their exit statuses, from the sources
statuses()
{
	cat user/{command,perf,command/*,lib/*}/*.c | tr '\n\t' '  ' |
		grep -oE 'EXIT_[A-Z_]+, *"[^"]+"' | sed 's/\(.*\), *"\(.*\)"/\2 \1/' | sort -u
}

one_status()
{
	local more

	more=$(statuses | cut -d ' ' -f 1 | uniq -d)
	echo "$more"
	(($(statuses | wc -l) > 20)) && [[ ! $more ]]
}

# file_of TITLE: the file that this section of formats.rst shows
file_of()
{
	awk -v title="$1" '/^==/ { here = last == title } { last = $0 } here && sub(/^\t/, "")' \
		Documentation/formats.rst
}

# The sections that show something
shown()
{
	awk '/^==/ { title = last } { last = $0 } /^\t/ { print title }' \
		Documentation/formats.rst | uniq
}

# accepts COMMAND...: of a command that then needs more than its files: they are not what is wrong
accepts()
{
	local json

	json=$("$@" --json)
	echo "$json"
	jq -e '.error.code | IN("bad-file", "no-file", "usage") | not' <<<"$json"
}

# A line is added to the journal of the file's generation.
journal_goes_on()
{
	local cluster=$dir/cluster.json

	file_of "Cluster file" | sed 's/"generation": 1/"generation": 3/' >"$cluster" &&
		cp "$1" "$cluster.journal" &&
		"$rocesteer" slice mark --cluster "$cluster" --as drained --spines 1 &&
		(($(wc -l <"$cluster.journal") == $(wc -l <"$1") + 1))
}

# reads TITLE FILE: the command that reads such files does
reads()
{
	local title=$1 file=$2 cluster=$dir/large.json plan=$dir/plan.json

	case $title in
	"Port map")	"$rocesteer" path show "$file" ;;
	Plan)		"$rocesteer" plan --flows 2 --paths 3 --prior "$file" ;;
	"Cluster file")	"$rocesteer" slice show --cluster "$file" --job train ;;
	Journal)	journal_goes_on "$file" ;;
	"Trace of jobs") "$rocesteer" slice replay --cluster "$dir/empty.json" "$file" ;;
	Flows)
		"$rocesteer" slice check --cluster "$cluster" --job train --flows "$file" &&
			"$rocesteer" simulate --leaves 4 --spines 4 --hosts 4 --rate 1 --flows "$file" ;;
	"Training step") "$rocesteer" chunk train --step "$file" ;;
	Recording)	"$rocesteer" report show "$file" ;;
	Ranges)
		"$rocesteer" --json chunk plan --dims 2 --bandwidth 1 --size 16K --chunks 1 >"$plan" &&
			accepts "$rocesteer" chunk load --job 1 --chunk-plan "$plan" --ranges "$file" ;;
	Group)		accepts "$rocesteer" reduce join "$file" ;;
	"Reduction plan")
		build/rocesteer-perf --dims 4 --bandwidth 1 --size 1M --algorithm netreduce \
			--rdma-dev none --switch false --groups "$file" 2>&1 |
			grep -F -- "--port-map FILE is missing: $file has routers" ;;
	*)		echo "no command reads it"; false ;;
	esac
}

examples_are_read()
{
	local title status=0

	echo '{"leaves":4,"spines":4,"gpus_per_leaf":4,"gpus_per_server":2}' |
		tee "$dir/empty.json" >"$dir/large.json"
	"$rocesteer" slice alloc --cluster "$dir/large.json" --job train --gpus 16 || return
	while read -r title; do
		case $title in
		Formats | "Settings of libraries" | "Driver of circuit switches") continue ;;
		esac
		file_of "$title" >"$dir/example"
		reads "$title" "$dir/example" || { echo "$title"; status=1; }
	done < <(shown)
	return "$status"
}

ktap_plan 14
check "every command has the same text for help and --help" help_everywhere
check "no line of any --help is wider than 80 columns" no_wide_help
check "an option that --help says is needed is asked for" needed_is_asked_for
if ((EUID)); then
	skip "the examples of --help work" "not root"
else
	check "the examples of --help work" examples_work
fi
check "rocesteer(8) and --help agree" main_page_is_complete
check "the other manual pages and --help agree" pages_are_complete
check "the files that formats.rst shows are read by their commands" examples_are_read
check "all pages are correct reStructuredText" pages_are_correct
check "an option means the same in all commands" one_vocabulary
check "an error code has one exit status" one_status
check "checks that security.rst names exist" named_checks_exist
check "bash completes objects, verbs, options and values" bash_completes
check "shells complete the names of jobs of a cluster file" names_of_jobs
if command -v zsh >/dev/null; then
	check "zsh completes objects, verbs, options and values" zsh_completes
else
	skip "zsh completes objects, verbs, options and values" "no zsh"
fi
ktap_finish
