# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of path discover in fabrics that are not what they seem. Sourced behind own_namespaces.

. selftests/host/lib/command.sh
. selftests/host/lib/routers.sh

# discover PEERS OPTION...: what it prints is in $dir/out
discover()
{
	local status

	on_h0 "$rocesteer" --json path discover --dev "${dev:-eth0}" --peer "$@" >"$dir/out"
	status=$?
	jq -c '.error // [.peers[] | {address, reasons, probed, paths: [.paths[] |
		[.router, .leaf, .weight, (.ports | length)]]}]' "$dir/out"
	return "$status"
}

# says TEXT PEERS OPTION...: what discover says is in $dir/said
says()
{
	local text=$1
	shift

	on_h0 "$rocesteer" path discover --dev eth0 --peer "$@" 2>"$dir/said" >/dev/null
	cat "$dir/said"
	grep "$text" "$dir/said"
}

# refused REASON PEERS OPTION...
refused()
{
	local reason=$1 status
	shift

	rm -f "$dir/refused"
	discover "$@" --out "$dir/refused"
	status=$?
	((status == 1)) && [[ ! -e $dir/refused ]] &&
		jq -e --arg reason "$reason" '.peers[0].reasons == [$reason]' "$dir/out"
}

# holds FILTER: of what discover has printed
holds()
{
	jq -e "$1" "$dir/out" >/dev/null
}
