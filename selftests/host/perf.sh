# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Ranks of rocesteer-perf on this machine. The test sets $perf to the command.

dir=$(mktemp -d)
defer rm -rf "$dir"
via=()	# before the command
ROCESTEER_PERF_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' ')
export ROCESTEER_PERF_TOKEN
next_port=$((20000 + $$ % 10000))

# rank RANK OPTION...: in the background
rank()
{
	local rank=$1 out
	shift

	# By us: a test may give it another name at once.
	exec {out}>"$dir/out$rank"
	# shellcheck disable=SC2154 # the test sets it
	"${via[@]}" "$perf" --rank "$rank" --rendezvous "localhost:$port" --timeout "${limit}000" \
		"$@" >&"$out" 2>&1 {out}>&- &
	pid[rank]=$!
	exec {out}>&-
}

# begin: a port of its own for each test
begin()
{
	port=$((next_port++))
	pid=()
	limit=20
	rm -f "$dir"/out*
}

# all_end STATUS TEXT: every rank that was started
all_end()
{
	local rank status bad=0

	for rank in "${!pid[@]}"; do
		wait "${pid[rank]}"
		status=$?
		echo "rank $rank: $status: $(tail -n 1 "$dir/out$rank" | cut -c 1-200)"
		((status == $1)) && [[ $(<"$dir/out$rank") == *"$2"* ]] || bad=1
	done
	return "$bad"
}

# all_end_has TEXT: what they say, too
all_end_has()
{
	! grep -L -F -- "$1" "$dir"/out* | grep .
}
