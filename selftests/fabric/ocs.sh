#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Driver of circuit switches for the fabric of fabric.sh: rocesteer slice alloc
# --ocs --driver ocs.sh. A circuit is a veth between a leaf and a spine. To move it,
# its far end goes to another spine's namespace; a dark one is down.
#
# The alias of both ends names leaf and OXC. At first leaf l's device spine<s> is
# the circuit of OXC (s - l) modulo spines, as rocesteer has it by default. Routes
# follow: a leaf's to another leaf go by the spines that both have circuits to. Those
# that stay the same are left alone. Moved ends lose their rate limit.

set -euo pipefail

# shellcheck source=selftests/fabric/fabric.sh
. "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/fabric.sh"
declare leaves spines	# set by this:
fabric_load
declare -A at		# "leaf oxc": spine, by what there is
declare -A leaf_dev	# "leaf oxc": the leaf's device
declare -A spine_dev	# likewise the spine's

# Name each circuit on both ends, once.
name_circuits()
{
	local l s

	[[ $(ip -n leaf0 link show) != *"alias circuit"* ]] || return 0
	for ((l = 0; l < leaves; l++)); do
		for ((s = 0; s < spines; s++)); do
			ip -n "leaf$l" link set "spine$s" \
				alias "circuit $l $(((s - l + leaves * spines) % spines))"
			ip -n "spine$s" link set "leaf$l" \
				alias "circuit $l $(((s - l + leaves * spines) % spines))"
		done
	done
}

# aliases NETNS: lines of device, leaf, OXC, and UP or DOWN
aliases()
{
	ip -n "$1" -j link show type veth | jq -r '.[] |
		select((.ifalias // "") | startswith("circuit ")) |
		"\(.ifname) \(.ifalias[8:]) \(.flags | if index("UP")
			then "UP" else "DOWN" end)"'
}

find_circuits()
{
	local n dev l k state

	at=()
	for ((n = 0; n < leaves; n++)); do
		while read -r dev l k state; do
			leaf_dev[$l $k]=$dev
		done < <(aliases "leaf$n")
	done
	for ((n = 0; n < spines; n++)); do
		while read -r dev l k state; do
			spine_dev[$l $k]=$dev
			at[$l $k]=$n
			[[ $state == UP ]] || at[$l $k]=dark:$n
		done < <(aliases "spine$n")
	done
}

# move LEAF OXC SPINE
move()
{
	local l=$1 k=$2 to=$3 from=${at[$1 $2]#dark:} old=${leaf_dev[$1 $2]}
	local new=spine$3.$2 far=leaf$1.$2

	[[ ${at[$l $k]} != "$to" ]] || return 0
	ip -n "leaf$l" link set "$old" down
	if [[ $from != "$to" ]]; then
		ip -n "spine$from" link set "${spine_dev[$l $k]}" down \
			netns "spine$to" name "$far"
		ip -n "leaf$l" link set "$old" name "$new"
		leaf_dev[$l $k]=$new
		spine_dev[$l $k]=$far
	fi
	ip -n "spine$to" link set "${spine_dev[$l $k]}" up
	ip -n "leaf$l" link set "${leaf_dev[$l $k]}" up
	at[$l $k]=$to
}

darken()
{
	[[ ${at[$1 $2]} != dark:* ]] || return 0
	ip -n "leaf$1" link set "${leaf_dev[$1 $2]}" down
	ip -n "spine${at[$1 $2]}" link set "${spine_dev[$1 $2]}" down
	at[$1 $2]=dark:${at[$1 $2]}
}

# Whether a leaf has a circuit to a spine.
reaches()
{
	local k

	for ((k = 0; k < spines; k++)); do
		[[ ${at[$1 $k]} != "$2" ]] || return 0
	done
	return 1
}

# set_route NETNS PREFIX SOURCE PATHS: make it so, but for one that is so
set_route()
{
	local want="$4" have

	have=$(ip -n "$1" -j route show "$2" | jq -r '.[] | (.nexthops // [.])[] |
		"nexthop via \(.gateway) dev \(.dev) onlink"' | paste -sd ' ')
	[[ $have != "$want" ]] || return 0
	if [[ $want ]]; then
		# shellcheck disable=SC2086 # words
		ip -n "$1" route replace "$2" src "$3" $want
	else
		ip -n "$1" route del "$2"
	fi
}

leaf_routes()
{
	local l=$1 o k s mac paths

	for ((k = 0; k < spines; k++)); do
		s=${at[$l $k]}
		[[ $s != dark:* ]] || continue
		mac=$(ip -n "spine$s" -j link show "${spine_dev[$l $k]}" |
			jq -r '.[0].address')
		ip -n "leaf$l" neigh replace "10.255.1.$((s + 1))" \
			lladdr "$mac" dev "${leaf_dev[$l $k]}"
	done
	for ((o = 0; o < leaves; o++)); do
		((o != l)) || continue
		paths=
		for ((s = 0; s < spines; s++)); do
			reaches "$o" $s || continue
			for ((k = 0; k < spines; k++)); do
				[[ ${at[$l $k]} == "$s" ]] || continue
				paths+=" nexthop via 10.255.1.$((s + 1)) dev ${leaf_dev[$l $k]} onlink"
			done
		done
		set_route "leaf$l" "10.1.$o.0/24" "10.255.0.$((l + 1))" "${paths# }"
	done
}

spine_routes()
{
	local s=$1 l k mac paths

	for ((l = 0; l < leaves; l++)); do
		paths=
		for ((k = 0; k < spines; k++)); do
			[[ ${at[$l $k]} == "$s" ]] || continue
			mac=$(ip -n "leaf$l" -j link show "${leaf_dev[$l $k]}" |
				jq -r '.[0].address')
			ip -n "spine$s" neigh replace "10.255.0.$((l + 1))" \
				lladdr "$mac" dev "${spine_dev[$l $k]}"
			paths+=" nexthop via 10.255.0.$((l + 1)) dev ${spine_dev[$l $k]} onlink"
		done
		set_route "spine$s" "10.1.$l.0/24" "10.255.1.$((s + 1))" "${paths# }"
	done
}

name_circuits
find_circuits
request=$(cat)
while read -r l k to; do
	if [[ $to == null ]]; then
		darken "$l" "$k"
	else
		move "$l" "$k" "$to"
	fi
done < <(jq -r '.changes | sort_by(.to != null) | .[] |
	"\(.leaf) \(.oxc) \(.to)"' <<<"$request")
for ((n = 0; n < spines; n++)); do
	spine_routes "$n"
done
for ((n = 0; n < leaves; n++)); do
	leaf_routes "$n"
done
