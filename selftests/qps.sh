# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Queue pairs without a peer, in processes that take commands: selftests/guest/kmod/qps.c,
# which is in PATH. Sourced behind selftests/lib.sh, with a directory in $dir.

# qps_start NAME ARGUMENT...: in the background; its pid is ${qp_pid[NAME]}
declare -A qp_pid qp_in qp_out
qps_start()
{
	local name=$1 in out
	shift
	# shellcheck disable=SC2154 # set by whoever sources this
	mkfifo "$dir/$name.in" "$dir/$name.out"
	"${launch[@]}" qps "$@" <"$dir/$name.in" >"$dir/$name.out" &
	qp_pid[$name]=$!
	exec {in}>"$dir/$name.in" {out}<"$dir/$name.out"
	qp_in[$name]=$in qp_out[$name]=$out
	rm "$dir/$name.in" "$dir/$name.out"
	qps_answers "$name" ready
}
launch=()	# command that starts the process

qps_answers()
{
	local line=
	read -r -t $((60 * TIME_SCALE)) -u "${qp_out[$1]}" line
	[[ $line == "$2" ]] || { echo "qps said \"$line\""; return 1; }
}

qps_tell()
{
	echo "$2" >&"${qp_in[$1]}"
	qps_answers "$1" "${3:-done}"
}

# What a failed check has left
qps_end_all()
{
	local name

	for name in "${!qp_pid[@]}"; do
		qps_end "$name"
	done
}

# The process and its queue pairs end with its input.
qps_end()
{
	local name=$1 in=${qp_in[$1]} out=${qp_out[$1]}
	exec {in}>&- {out}<&-
	wait "${qp_pid[$name]}"
	unset "qp_in[$name]" "qp_out[$name]" "qp_pid[$name]"
}
