# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # what command.sh and routers.sh set
#
# Recordings on several hosts at the same time. To be sourced behind routers.sh.

recorders=()	# their processes

# begin HOST NAME [OPTION...]: record until finish
begin()
{
	nsenter --net="/run/netns/$prefix$1" "$rocesteer" report record --host "$1" \
		--out "$dir/$2" --interval 100 "${@:3}" >"$dir/log" 2>&1 &
	recorders+=($!)
}

# The period of each has begun. From then on SIGTERM is blocked, as it ends the period.
recording()
{
	local pid

	for pid in "${recorders[@]}"; do
		[[ /proc/$pid/exe -ef $rocesteer ]] &&
			(((0x$(sed -n 's/^SigBlk:\t//p' "/proc/$pid/status") & 0x4000) != 0)) || return
	done
}

finish()
{
	local status=0

	kill -TERM "${recorders[@]}"
	wait "${recorders[@]}" || status=$?
	recorders=()
	((!status)) || cat "$dir/log"
	return "$status"
}

show()
{
	"$rocesteer" --json report show "$@"
}
