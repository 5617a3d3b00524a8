# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of the daemon's plans, without the module: flows are frames that a veth sends, in a
# network namespace and a BPF file system of their own. Sourced behind own_namespaces.

. selftests/host/lib/command.sh

ready()
{
	local ports=(50000 50001 50002 50003)

	veth rs0 rs1 && ip link set lo up && ip address add 10.1.0.1/32 dev lo || return
	port_map rs0 "$(peer 10.1.1.1 "${ports[@]}")" "$(peer 10.1.1.2 "${ports[@]:0:3}")" \
		"$(peer 10.1.1.3 "${ports[@]}")" >"$map"
}

socket()
{
	echo /run/rocesteer/netns-*.sock
}

is_serving()
{
	[[ -S $(socket) ]]
}

daemon_ends()
{
	daemon_stop && ! is_serving && return
	cat "$dir/errors"
	return 1
}

flows()
{
	selftests/host/lib/flows.py rs0 10.1.0.1 "$@"
}

# poke BYTE VALUE: set a byte of job 1
poke()
{
	set_entry jobs '.key[0] == "0x01"' "$1" "$2" && touch /sys/fs/bpf/rocesteer/netns-*
}

# All peers of this job resequence.
resequence()
{
	poke 19 1
}

# splits none|fewest|all: the rule of the job
splits()
{
	local -A rules=([none]=0 [fewest]=1 [all]=2)

	poke 17 "${rules[$1]}"
}

# load RULE
load()
{
	"$rocesteer" job load --job 1 --all --port-map "$map" && splits "$1" &&
		resequence
}

unload()
{
	"$rocesteer" job unload --job 1
}

show()
{
	"$rocesteer" --json flow show
}

# planned FLOWS PIECES [PATHS]: so many, with equal loads on paths, and groups count the flows
# that are at home there
planned()
{
	show >"$dir/flows" &&
		jq -e --argjson flows "$1" --argjson pieces "$2" \
			--argjson paths "${3:-4}" '
			[.flows[].pieces | .[-1].to as $period | .[] |
				{path, share: ((.to - .from) / $period)}] |
			(length == $pieces) and
			([group_by(.path)[] | map(.share) | add] |
				length == $paths and all(.[];
				. - $flows / $paths | fabs < 0.000001))' \
			"$dir/flows" >/dev/null &&
		counted
}

counted()
{
	"$rocesteer" --json job show --job 1 |
		jq -e --slurpfile show "$dir/flows" '.groups[0].flows ==
			[range(4) as $p | [$show[0].flows[] |
				select(.path == $p)] | length]' >/dev/null
}

is_planned()
{
	busywait 20000 planned "$@" && return
	jq -c '.flows[] | [.peer, .dqpn, .pieces]' "$dir/flows" | head
	return 1
}

events()
{
	jq -s "$1" "$dir/events"
}

has_read()
{
	[[ $(events '[.[] | select(.event == "replan")] | last.flows') == "$1" ]]
}
