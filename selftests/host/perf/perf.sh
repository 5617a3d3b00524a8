# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # the tests use them
#
# Ranks of rocesteer-perf on this machine. The test sets $perf to the command.

dir=$(mktemp -d)
defer rm -rf "$dir"
via=()	# before the command
next_port=$((20000 + $$ % 10000))
# Options of tests that open no NIC
common=(--dims 2x2 --bandwidth "2,1" --size 64K --chunks 4 --rdma-dev "none0,none1")
one_dim=(--bandwidth 1 --size 64K --chunks 4 --rdma-dev none0)

# rank RANK OPTION...: start a rank in the background
rank()
{
	local rank=$1 out
	shift

	# The output file is made here, as a test may rename it at once.
	exec {out}>"$dir/out$rank"
	# shellcheck disable=SC2154 # the test sets it
	"${via[@]}" "$perf" --rank "$rank" --rendezvous "localhost:$port" --timeout "${limit}000" \
		"$@" >&"$out" 2>&1 {out}>&- &
	pid[rank]=$!
	exec {out}>&-
}

# begin: take a new port
begin()
{
	port=$((next_port++))
	pid=()
	limit=20
	rm -f "$dir"/out*
}

# all_end STATUS TEXT: every rank that was started ends with the status, and prints the text
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

# all_end_has TEXT: every rank has printed this as well
all_end_has()
{
	! grep -L -F -- "$1" "$dir"/out* | grep .
}
