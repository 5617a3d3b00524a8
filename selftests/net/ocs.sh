#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A driver of circuit switches for the fabric of fabric.sh: rocesteer slice alloc --ocs
# --driver ocs.sh. A circuit is a veth between a leaf and a spine. To move it, its far end
# goes to another spine's namespace; a dark circuit is down.
#
# The alias of both ends names leaf and OXC. At first leaf l's device spine<s> is the circuit
# of OXC (s - l) modulo spines, rocesteer's default. A leaf's routes to another leaf go by the
# spines to which both have circuits. Unchanged routes are left alone, so known ports stay
# true. Starting a process is slow under TCG, so there is one for each router.

set -euo pipefail

# shellcheck source=selftests/net/fabric.sh
. "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/fabric.sh"
declare leaves spines link_rate	# set by this:
fabric_load
declare -A at		# "leaf oxc": spine, or dark:spine, by what there is
declare -A leaf_dev	# "leaf oxc": the leaf's device
declare -A leaf_mac	# its address
declare -A spine_dev	# likewise the spine's
declare -A spine_mac
declare -A have		# prefix: paths, of one router

# circuit_alias DEVICE LEAF SPINE
circuit_alias()
{
	echo "link set $1 alias 'circuit $2 $((($3 - $2 + leaves * spines) % spines))'"
}

# Name each circuit at both ends, once.
name_circuits()
{
	local l s

	[[ $(ip -n leaf0 link show) != *"alias circuit"* ]] || return 0
	for ((l = 0; l < leaves; l++)); do
		for ((s = 0; s < spines; s++)); do
			circuit_alias "spine$s" $l $s
		done | ip -n "leaf$l" -batch -
	done
	for ((s = 0; s < spines; s++)); do
		for ((l = 0; l < leaves; l++)); do
			circuit_alias "leaf$l" $l $s
		done | ip -n "spine$s" -batch -
	done
}

# aliases NETNS: lines with device, its address, UP or DOWN, leaf, and OXC
aliases()
{
	ip -n "$1" -j link show type veth | jq -r '.[] |
		select((.ifalias // "") | startswith("circuit ")) |
		"\(.ifname) \(.address) \(.flags | if index("UP")
			then "UP" else "DOWN" end) \(.ifalias[8:])"'
}

find_circuits()
{
	local n dev mac state circuit

	for ((n = 0; n < leaves; n++)); do
		while read -r dev mac state circuit; do
			leaf_dev[$circuit]=$dev
			leaf_mac[$circuit]=$mac
		done < <(aliases "leaf$n")
	done
	for ((n = 0; n < spines; n++)); do
		while read -r dev mac state circuit; do
			spine_dev[$circuit]=$dev
			spine_mac[$circuit]=$mac
			at[$circuit]=$n
			[[ $state == UP ]] || at[$circuit]=dark:$n
		done < <(aliases "spine$n")
	done
}

# move LEAF OXC SPINE: a device in another namespace first has no rate limit
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
		[[ ! $link_rate ]] ||
			tbf_batch "$link_rate" "$far" | tc -n "spine$to" -batch -
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

# reaches LEAF SPINE: the leaf has a circuit to the spine
reaches()
{
	local k

	for ((k = 0; k < spines; k++)); do
		[[ ${at[$1 $k]} != "$2" ]] || return 0
	done
	return 1
}

find_routes()
{
	local prefix paths

	have=()
	while read -r prefix paths; do
		have[$prefix]=$paths
	done < <({
		ip -n "$1" -j -4 route show
		ip -n "$1" -j -6 route show
	} | jq -r '.[] | select((.nexthops // [.])[0].gateway) | .dst + " " +
		([(.nexthops // [.])[] |
			"nexthop via \(.gateway) dev \(.dev) onlink"] | join(" "))')
}

# route PREFIX SOURCE PATHS: print the command, unless the route is so
route()
{
	if [[ ${have[$1]:-} == "$3" ]]; then
		:
	elif [[ $3 ]]; then
		echo "route replace $1 src $2 $3"
	else
		echo "route del $1"
	fi
}

# path_by TIER NUMBER DEVICE: add one, by a leaf (tier 0) or a spine (1)
path_by()
{
	local n=$(($2 + 1))

	paths+="${paths:+ }nexthop via 10.255.$1.$n dev $3 onlink"
	[[ $1 == 0 ]] || n=1:$n
	paths6+="${paths6:+ }nexthop via fe80::$n dev $3 onlink"
}

# neighbour TIER NUMBER MAC DEVICE
neighbour()
{
	local n=$(($2 + 1))

	echo "neigh replace 10.255.$1.$n lladdr $3 dev $4"
	[[ $1 == 0 ]] || n=1:$n
	echo "neigh replace fe80::$n lladdr $3 dev $4"
}

# routes_to LEAF TIER NUMBER: for its hosts, at a router, by the paths
routes_to()
{
	local self6 prefix6

	printf -v self6 'fd00:255:%d::%x' "$2" $(($3 + 1))
	prefix6=$(host_ip6 $(($1 * hosts)))
	route "10.1.$1.0/24" "10.255.$2.$(($3 + 1))" "$paths"
	route "${prefix6%1}/64" "$self6" "$paths6"
}

leaf_routes()
{
	local l=$1 o k s paths paths6

	for ((k = 0; k < spines; k++)); do
		s=${at[$l $k]}
		[[ $s == dark:* ]] ||
			neighbour 1 "$s" "${spine_mac[$l $k]}" "${leaf_dev[$l $k]}"
	done
	for ((o = 0; o < leaves; o++)); do
		((o != l)) || continue
		paths='' paths6=''
		for ((s = 0; s < spines; s++)); do
			reaches $o $s || continue
			for ((k = 0; k < spines; k++)); do
				[[ ${at[$l $k]} != "$s" ]] ||
					path_by 1 $s "${leaf_dev[$l $k]}"
			done
		done
		routes_to $o 0 "$l"
	done
}

spine_routes()
{
	local s=$1 l k paths paths6

	for ((l = 0; l < leaves; l++)); do
		paths='' paths6=''
		for ((k = 0; k < spines; k++)); do
			[[ ${at[$l $k]} == "$s" ]] || continue
			neighbour 0 $l "${leaf_mac[$l $k]}" "${spine_dev[$l $k]}"
			path_by 0 $l "${spine_dev[$l $k]}"
		done
		routes_to $l 1 "$s"
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
	find_routes "spine$n"
	spine_routes $n | ip -n "spine$n" -batch -
done
for ((n = 0; n < leaves; n++)); do
	find_routes "leaf$n"
	leaf_routes $n | ip -n "leaf$n" -batch -
done
