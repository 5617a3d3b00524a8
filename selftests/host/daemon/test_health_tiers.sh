#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Cores and links of a fat tree that die under the daemon: flows to another pod leave them as they
# leave a dead spine of two tiers

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
own_namespaces --net
. selftests/host/daemon/health.sh
. selftests/host/lib/pods.sh

peer=10.1.7.1

ready()
{
	pods_make 4 h0:0 h1:1 h2:7 && pods_hash apart &&
		on_h0 "$rocesteer" path discover --dev eth0 --peer "$peer,10.1.1.1" \
			--out "$dir/ports.json" &&
		on_h0 "$rocesteer" job load --job 1 --all --port-map "$dir/ports.json" &&
		flows "$peer" "$qpns" && flows 10.1.1.1 "$qpns" &&
		daemon_start && busywait 20000 used 0 1 2 3 "$peer" && is_down
}

all_send()
{
	psn=$((psn + 8))
	flows "$peer" "$qpns" "$psn" && flows 10.1.1.1 "$qpns" "$psn"
}

# used PATH... PEER: each has two flows to the peer or more, and other paths have none
used()
{
	local p to=${*: -1}

	for p in 0 1 2 3; do
		if [[ " ${*:1:$#-1} " == *" $p "* ]]; then
			(($(on_path "$p" "$to" | jq length) >= 2)) || return
		else
			[[ $(on_path "$p" "$to") == "[]" ]] || return
		fi
	done
}

# lose PATH: each flow to the peer on the path repeats one packet twice.
lose()
{
	psn=$((psn + 8))
	flows "$peer" "$(on_path "$1" "$peer" | jq -r 'map(tostring) | join(",")')" \
		"$psn,$psn,$psn"
}

# of PATH FIELD: name of the router whose address the path to the peer has there
of()
{
	local addr

	addr=$(jq -r --arg peer "$peer" --argjson p "$1" \
		".peers[] | select(.address == \$peer).paths[\$p].$2" "$dir/ports.json")
	case $addr in
	10.255.1.*)	echo "agg$((${addr##*.} - 1))" ;;
	10.255.2.*)	echo "core$((${addr##*.} - 1))" ;;
	esac
}

# dies PATH CAUSE COMMAND...: "COMMAND add..." breaks the path, "COMMAND del..." repairs it
dies()
{
	local path=$1 cause=$2 others="0 1 2 3" command=$3
	shift 3

	all_send && "$command" add "$@" || return
	start=$(date +%s%N)
	lose "$path"
	# shellcheck disable=SC2086 # a list
	busywait 20000 went down "$path" "$cause" && took &&
		busywait 20000 used ${others/$path/} "$peer" && used 0 1 10.1.1.1
	set -- "$?" "$@"
	"$command" del "${@:2}"
	(($1 == 0)) && busywait 20000 went up "$path" && busywait 20000 used 0 1 2 3 "$peer" &&
		is_down
}

dead_core()
{
	dies 2 router pods_kill "$(of 2 router)"
}

dead_link()
{
	dies 1 router pods_cut "$(of 1 via)" "$(of 1 router)"
}

# The link from the core down: the core answers, the leaf of the peer does not.
dead_downlink()
{
	local core down

	core=$(of 3 router)
	down=$((7 / 2 * 2 + ${core#core} / 2))
	dies 3 leaf vanish_from "agg$down" "$core"
}

# vanish_from add|del ROUTER DEVICE: what arrives there by the device is lost
vanish_from()
{
	ip -n "$prefix$2" rule "$1" pref 1 iif "$3" blackhole
}

ktap_plan 4
defer fabric_destroy
check "flows to another pod take all paths" ready
defer daemon_kill
check "a core that dies is avoided, and its path alone" dead_core
check "so is the link from an agg to a core" dead_link
check "so is the link from a core down to an agg" dead_downlink
ktap_finish
