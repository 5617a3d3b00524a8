# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # shared with demo/guest
#
# Faults of the demonstration's links
#
# healthy  nothing
# dead     the link between the first leaf and the first spine loses all packets, both
#          ways and silently: both ends have carrier, so ECMP goes on hashing to it. In a
#          fat tree the link between the first agg and the first core.
# slow     that link has half the rate, both ways
# core     all links of the first core are dead

# links_break CONDITION: at any moment
links_break()
{
	case $1 in
	dead | core)	links_dead cut "$1" ;;
	slow)	selftests/net/fabric.sh rate 0 0 "$((rate * 500))kbit" ;;
	esac
}

# links_mend CONDITION
links_mend()
{
	case $1 in
	dead | core)	links_dead join "$1" ;;
	slow)	selftests/net/fabric.sh rate 0 0 ;;
	esac
}

# links_dead cut|join CONDITION
links_dead()
{
	local lower=(agg0) router

	if ((!cores)); then
		selftests/net/fabric.sh "$1" leaf0 spine0
		return
	fi
	[[ $2 != core ]] || mapfile -t lower < <(devices core0)
	for router in "${lower[@]}"; do
		selftests/net/fabric.sh "$1" "$router" core0
	done
}
