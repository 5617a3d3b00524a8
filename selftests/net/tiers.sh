# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # what the callers have
#
# Routers of a fabric of two or three tiers: who they are, to whom they have links, and how they
# route. To be sourced.
#
#	leaf<l> === spine<s>			each leaf to each spine
#	leaf<l> === agg<n> === core<c>		a fat tree of pods
#
# A pod has $aggs aggs, and each of its leaves has a link to each of them. Agg a of every pod
# has a link to each core of its plane, a * $cores to a * $cores + $cores - 1. All numbers count
# on over the pods. Spines are the aggs of one pod without cores.
#
# Router n of tier t, from 0 at the leaves, has 10.255.t.n+1 and fd00:255:t::n+1 on lo. Links
# between routers have no addresses: routes name the neighbour's loopback address with onlink,
# and have the router's own as their source, so ICMP errors name the router. Neighbours are
# permanent, so no packet waits for one. A device is named as the router at its other end.
#
# Callers set $leaves of all $pods, $aggs and $cores, or call tiers_of_spines. Names of network
# namespaces have $prefix before them. Starting a process is slow under TCG, so all is printed
# for "ip -batch".

fabric_mtu=4200
links=1		# between two routers
suffixes=('')	# what the names of these end with
tier_names=(leaf agg core)

# tiers_of_spines SPINES
tiers_of_spines()
{
	pods=1 aggs=$1 cores=0
	tier_names[1]=spine
}

# routers [TIER]: of this tier, or all, leaves first
routers()
{
	local tier n counts=("$leaves" $((pods * aggs)) $((aggs * cores)))

	for tier in ${1:-0 1 2}; do
		for ((n = 0; n < counts[tier]; n++)); do
			echo "${tier_names[tier]}$n"
		done
	done
}

# series VARIABLE FIRST COUNT [STEP]
series()
{
	local -n list=$1
	local i

	list=()
	for ((i = 0; i < $3; i++)); do
		list+=($(($2 + i * ${4:-1})))
	done
}

# router_of NAME: set $tier and $n, and $below and $above, the numbers of its neighbours
router_of()
{
	local pod

	n=${1##*[a-z]} below=() above=()
	case $1 in
	leaf*)
		tier=0
		pod=$((n * pods / leaves))
		series above $((pod * aggs)) "$aggs"
		;;
	core*)
		tier=2
		series below $((n / cores)) "$pods" "$aggs"
		;;
	*)
		tier=1
		pod=$((n / aggs))
		series below $((pod * leaves / pods)) $((leaves / pods))
		series above $((n % aggs * cores)) "$cores"
		;;
	esac
}

# link_mac KIND A B VARIABLE [LINK]: the MAC address of a link between two routers, the lower one
# of which is A, or of a host's port. link.bpf.h knows them.
link_mac()
{
	local kind=$1 k=${5:-0}

	case $kind in
	host)	kind=1 ;;
	bridge)	kind=2 ;;
	up0)	kind=3 ;;
	down1)	kind=4 ;;
	up1)	kind=5 ;;
	down2)	kind=6 ;;
	esac
	printf -v "$4" '02:00:00:%02x:%02x:%02x' $((kind + 16 * k)) "$2" "$3"
}

# links_batch: all links between routers
links_batch()
{
	local name tier n below above m k a b lower upper

	for name in $(routers); do
		router_of "$name"
		lower=${tier_names[tier]}$n
		for m in "${above[@]}"; do
			upper=${tier_names[tier + 1]}$m
			for ((k = 0; k < links; k++)); do
				link_mac "up$tier" "$n" "$m" a $k
				link_mac "down$((tier + 1))" "$n" "$m" b $k
				echo "link add $upper${suffixes[k]} netns $prefix$lower" \
					"mtu $fabric_mtu address $a" \
					"type veth peer name $lower${suffixes[k]}" \
					"netns $prefix$upper mtu $fabric_mtu address $b"
			done
		done
	done
}

# loopback TIER NUMBER: set $self, $self6 and $near6, which names the router on its links
loopback()
{
	self=10.255.$1.$(($2 + 1))
	printf -v self6 'fd00:255:%x::%x' "$1" $(($2 + 1))
	near6=fe80::$1:$(($2 + 1))
}

# link_address DEVICE LINK LEAF SPINE END: 1 is at the leaf, 2 at the spine
link_address()
{
	((links == 1)) ||
		echo "addr add 10.$((100 + $2)).$3.$((2 * $4 + $5))/32 dev $1"
}

# neighbour_batch TIER NUMBER: the links to this router. Sets $hops and $hops6 of it.
neighbour_batch()
{
	local t=$1 m=$2 k dev mac self self6 near6

	loopback "$t" "$m"
	for ((k = 0; k < links; k++)); do
		dev=${tier_names[t]}$m${suffixes[k]}
		if ((t > tier)); then
			link_mac "down$t" "$n" "$m" mac $k
			link_address "$dev" $k "$n" "$m" 1
		else
			link_mac "up$t" "$m" "$n" mac $k
			link_address "$dev" $k "$m" "$n" 2
		fi
		echo "link set $dev up"
		echo "neigh add $self lladdr $mac dev $dev"
		echo "neigh add $near6 lladdr $mac dev $dev"
		hops[t * 1000 + m]+=" nexthop via $self dev $dev onlink"
		hops6[t * 1000 + m]+=" nexthop via $near6 dev $dev"
	done
}

# next_hops LEAF: set $next, as keys of $hops, from this router to the leaf
next_hops()
{
	local m pod=$(($1 * pods / leaves))

	next=()
	if ((tier == 2)); then
		next=($((1000 + pod * aggs + n / cores)))
	elif ((tier == 1 && n / aggs == pod)); then
		next=("$1")
	else
		for m in "${above[@]}"; do
			next+=($(((tier + 1) * 1000 + m)))
		done
	fi
}

# router_batch NAME: its addresses, neighbours and routes to all leaves, but to itself
router_batch()
{
	local tier n below above m l self self6 near6 prefix6 paths paths6 next hops=() hops6=()

	router_of "$1"
	loopback "$tier" "$n"
	cat <<-E
	link set lo up
	addr add $self/32 dev lo
	addr add $self6/128 dev lo nodad
	E
	for m in "${below[@]}"; do
		neighbour_batch $((tier - 1)) "$m"
	done
	for m in "${above[@]}"; do
		neighbour_batch $((tier + 1)) "$m"
	done
	for ((l = 0; l < leaves; l++)); do
		((tier || l != n)) || continue
		next_hops $l
		printf -v prefix6 'fd00:1:%x::' $l
		paths='' paths6=''
		for m in "${next[@]}"; do
			paths+=${hops[m]} paths6+=${hops6[m]}
		done
		echo "route add 10.1.$l.0/24 src $self$paths"
		echo "route add $prefix6/64 src $self6$paths6"
	done
}

# bridges_batch: br0 of each leaf, for its hosts
bridges_batch()
{
	local l mac

	for ((l = 0; l < leaves; l++)); do
		link_mac bridge $l 0 mac
		echo "link add br0 netns ${prefix}leaf$l mtu $fabric_mtu address $mac type bridge"
	done
}

# bridge_batch LEAF: its br0, which is there
bridge_batch()
{
	local l=$1 self self6 near6 prefix6

	loopback 0 "$l"
	printf -v prefix6 'fd00:1:%x::' "$l"
	cat <<-E
	link set br0 up
	addr add 10.1.$l.254/24 dev br0 noprefixroute
	route add 10.1.$l.0/24 dev br0 src $self
	addr add ${prefix6}fffe/64 dev br0 noprefixroute nodad
	route add $prefix6/64 dev br0 src $self6
	E
}
