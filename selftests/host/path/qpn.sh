# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of what path discover says of the hash of routers. Sourced behind own_namespaces.

. selftests/host/lib/command.sh
. selftests/host/lib/routers.sh
lose=/sys/fs/bpf/lose
conditions=(plain lose cut limit)
defer fabric_destroy

discover()
{
	on h0 timeout 120 "$rocesteer" path discover --dev eth0 "$@"
}

routers()
{
	seq -f 'spine%g' 0 $((spines - 1))
	printf '%s\n' leaf0 leaf1
}

# reseed [ROUTER...]
reseed()
{
	local router

	for router; do
		on "$router" sysctl -qw \
			"net.ipv4.fib_multipath_hash_seed=$((++fabric_seed * 7919))" &&
			router_hash_seed "$prefix$router" || return
	done
}

# uplinks SPINES: leaf0 uses so many
uplinks()
{
	local s nh4=() nh6=()

	for ((s = 0; s < $1; s++)); do
		nh4+=(nexthop via "10.9.0.$((s * 4 + 2))")
		nh6+=(nexthop via "fd00:9:0:$s::2")
	done
	ip -n "${prefix}leaf0" route replace 10.1.1.0/24 "${nh4[@]}" &&
		ip -n "${prefix}leaf0" route replace fd00:1:1::/64 "${nh6[@]}"
}

# limit MILLISECONDS: routers send ICMP errors so far apart, or with 0 all
limit()
{
	local router

	for router in $(routers); do
		on "$router" sysctl -qw "net.ipv4.icmp_ratelimit=$1" "net.ipv6.icmp.ratelimit=$1"
	done
}

# trouble add|del CONDITION
trouble()
{
	local dev family

	case $2-$1 in
	lose-add)
		for dev in dn0 s0 s1; do
			echo "qdisc replace dev $dev clsact"
			echo "filter add dev $dev ingress pref 4790 bpf direct-action" \
				"object-pinned $lose/lose"
		done | on leaf0 tc -batch - ;;
	lose-del)
		for dev in dn0 s0 s1; do
			echo "filter del dev $dev ingress pref 4790"
		done | on leaf0 tc -batch - ;;
	cut-*)	for family in 4 6; do
			ip -"$family" -n "${prefix}spine1" rule "$1" pref 1 iif l0 blackhole
		done ;;
	limit-add)	limit 20 ;;
	limit-del)	limit 0 ;;
	esac
}

# The verdicts of path discover on both peers: hash of queue pairs, spraying
verdict()
{
	jq -c '[.peers[] | [.qpn_hash, ((.reasons // []) | index("sprays") != null)]] |
		unique'
}

# judges VERDICT TIMES: path discover comes to this verdict in so many fabrics
judges()
{
	local want=$1 times=$2 i paths condition got right=0 options

	for ((i = 0; i < times; i++)); do
		condition=${conditions[i % 4]} paths=$((2 + i % 3)) options=()
		# Two paths less one are no choice. The dead path is not looked for, to save
		# time.
		if [[ $condition == cut ]]; then
			paths=4 options=(--paths 3 --retries 1)
		fi
		# shellcheck disable=SC2046 # words
		reseed $(routers) && uplinks "$paths" && trouble add "$condition" || return
		got=$(discover --peer 10.1.1.1,fd00:1:1::1 --probe-timeout 50 --json "${options[@]}" |
			tee "$dir/json" | verdict)
		trouble del "$condition"
		if [[ $got == "$want" ]]; then
			right=$((right + 1))
		else
			echo "$condition, $paths paths: $got"
			cat "$dir/json"
		fi
	done
	echo "$right of $times"
	((right == times))
}

# judges_changing VERDICT TIMES: the same while the hash changes once
judges_changing()
{
	local want=$1 times=$2 i pid got right=0

	for ((i = 0; i < times; i++)); do
		uplinks $((2 + i % 3))
		discover --peer 10.1.1.1 --rate 100 --json >"$dir/json" 2>/dev/null &
		pid=$!
		read -r -t "0.$((RANDOM % 9))" <> <(:)
		reseed leaf0 || return
		wait "$pid"
		got=$(verdict <"$dir/json")
		if [[ $got == "$want" ]]; then
			right=$((right + 1))
		else
			cat "$dir/json"
		fi
	done
	echo "$right of $times"
	((right == times))
}
