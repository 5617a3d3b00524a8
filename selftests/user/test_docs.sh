#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# --help, the manual pages and the completion say the same.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../.." || exit
. selftests/lib.sh
. packaging/completion/rocesteer.bash
rocesteer=${ROCESTEER:-build/rocesteer}

# Words of a section of a help text: names SECTION <TEXT
names()
{
	sed -n "/^$1:/,/^\$/s/^  \([^ ]*\).*/\1/p"
}

# The options of a help text with their arguments: a column of its own.
options()
{
	sed -n '/^Options:/,$s/^  \(--.\{26\}\).*/\1/p' | sed 's/ *$//'
}

objects()
{
	"$rocesteer" help | names Objects
}

verbs()
{
	"$rocesteer" "$1" help | names Verbs
}

# Every object, and every object and verb.
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

# Options of a manual page: **--name** *ARG*, more than one a line.
documented()
{
	grep '^\*\*--' "$1" | sed 's/\*\*, \*\*/**\n**/g; s/, \*\*--/\n**--/g' |
		tr -d '*'
}

perf_options()
{
	build/rocesteer-perf --help | options |
		grep -v -x -e '--json' -e '--help' | sort
}

page_is_complete()
{
	local object=$1 page=Documentation/man/rocesteer-$1.8.rst verb

	diff <(for verb in $(verbs "$object") ''; do
			# shellcheck disable=SC2086 # maybe no verb
			[[ ! $verb && $(verbs "$object") ]] ||
				"$rocesteer" "$object" $verb --help | options
		done | grep -v -x -e '--json' -e '--help' | sort -u) \
		<(documented "$page" | sort -u) &&
		for verb in $(verbs "$object"); do
			grep -q "rocesteer $object $verb\*\*" "$page" || {
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
	diff <(perf_options) \
		<(documented Documentation/man/rocesteer-perf.8.rst | sort) ||
		status=1
	return "$status"
}

# What rst2man warns of, it prints into the page as well.
pages_are_correct()
{
	printf '%s\n' Documentation/man/*.rst \
		Documentation/*.rst |
		xargs -P 2 -n 1 rst2html --strict >/dev/null
}

words()
{
	tr ' ' '\n' | sort
}

completion_is_complete()
{
	local command object status=0

	diff <({ objects; echo help; "$rocesteer" help | options; } | sort) \
		<(_rocesteer_words '' | words) || status=1
	for object in $(objects); do
		[[ ! $(verbs "$object") ]] ||
			diff <({ verbs "$object"; echo help; } | sort) \
				<(_rocesteer_words "$object" | words) || status=1
	done
	while read -r command; do
		# shellcheck disable=SC2086 # words
		diff <("$rocesteer" $command --help | options |
			cut -d ' ' -f 1 | sort) \
			<(_rocesteer_words "$command" | words) || status=1
	done < <(commands)
	diff <(build/rocesteer-perf --help | options | cut -d ' ' -f 1 | sort) \
		<(_rocesteer_words perf | words) || status=1
	return "$status"
}

# knows COMMAND <OPTIONS: each that takes an argument has a case for it, and no other
knows()
{
	local option argument want

	while read -r option argument; do
		want=$((!${#argument}))
		_rocesteer_argument "$option" '' "$1"
		(($? == want)) || {
			echo "$1 $option $argument"
			return 1
		}
	done
}

arguments_are_known()
{
	local command

	while read -r command; do
		# shellcheck disable=SC2086 # words
		"$rocesteer" $command --help | options | knows "$command" ||
			return
	done < <(commands)
	build/rocesteer-perf --help | options | knows perf
}

# complete_line WORD...: what the last word could become
complete_line()
{
	COMP_WORDS=(rocesteer "$@")
	COMP_CWORD=$#
	_rocesteer
	echo "${COMPREPLY[*]}"
}

completion_works()
{
	[[ $(complete_line p) == "plan path" ]] &&
		[[ $(complete_line path v) == verify ]] &&
		[[ $(complete_line --json job lo) == load ]] &&
		[[ $(complete_line job load --p) == "--port-map --pid --pattern" ]] &&
		[[ $(complete_line job load --module y) == yes ]] &&
		[[ $(complete_line job load --split n) == none ]] &&
		[[ $(complete_line path discover --dev l) == *lo* ]] &&
		[[ $(complete_line slice mark --as u) == usable ]] &&
		[[ $(complete_line slice check --flows Makef) == Makefile ]] &&
		[[ $(complete_line path show Makef) == Makefile ]] &&
		[[ $(complete_line slice replay Makef) == Makefile ]] &&
		[[ $(complete_line slice replay --policy v) == vclos ]] &&
		[[ $(complete_line slice queue --order s) == shortest ]] &&
		[[ $(complete_line job load --port-map Makef) == Makefile ]]
}

# bash-completion looks for a command's completion in a file of its name.
completion_is_installed()
{
	local root command file status=0

	root=$(mktemp -d) && make -s install DESTDIR="$root" PREFIX=/usr || return
	for command in rocesteer rocesteer-perf; do
		file=$root/usr/share/bash-completion/completions/$command
		[[ -x $root/usr/sbin/$command ]] && (
			complete -r "$command"
			# shellcheck disable=SC1090 # the one above
			. "$file" && complete -p "$command"
		) || status=1
	done
	rm -rf "$root"
	return "$status"
}

# The same text by "help" and by "--help"; never an error.
help_everywhere()
{
	local object command

	for object in $(objects); do
		diff <("$rocesteer" "$object" help) \
			<("$rocesteer" "$object" --help) || return
	done
	while read -r command; do
		# shellcheck disable=SC2086 # words
		"$rocesteer" $command --help >/dev/null || return
	done < <(commands)
}

# What an argument is: a list is of what its items are, words that stand for themselves are "words".
kinds()
{
	sort -u | sed 's/\[,.*//; s/ [a-z0-9]*|.*/ words/' | sort -u
}

# An option's name means one thing in all commands, as far as its argument shows it. But for
# --flows: the number of flows of "plan", and the file that lists those of "slice check";
# --job: a job's number in the tables, and its name in a cluster file.
# Not seen here: --gpus is a job's number of GPUs, but the cluster's for "slice trace", whose
# jobs have theirs by chance.
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
	[[ $more == $'--flows\n--job' ]]
}

# statuses: the codes of errors with their exit status, as the sources have them
statuses()
{
	cat user/{cli,perf,lib/*}/*.c | tr '\n\t' '  ' |
		grep -oE 'EXIT_[A-Z_]+, *"[^"]+"' |
		sed 's/\(.*\), *"\(.*\)"/\2 \1/' | sort -u
}

# A condition has one exit status: the code of an error says which.
one_status()
{
	local more

	more=$(statuses | cut -d ' ' -f 1 | uniq -d)
	echo "$more"
	(($(statuses | wc -l) > 20)) && [[ ! $more ]]
}

ktap_plan 10
check "help everywhere" help_everywhere
check "rocesteer(8) and --help agree" main_page_is_complete
check "the other pages and --help agree" pages_are_complete
check "the pages are correct reStructuredText" pages_are_correct
check "an option's name means one thing" one_vocabulary
check "an error's code means one exit status" one_status
check "completion and --help agree" completion_is_complete
check "completion knows which options take an argument" arguments_are_known
check "completion completes" completion_works
check "completion is installed" completion_is_installed
ktap_finish
