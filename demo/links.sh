# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # shared with demo/guest
#
# Faults of the demonstration's links
#
# healthy  nothing
# dead     the link between the first leaf and the first spine loses all packets, both
#          ways and silently: both ends have carrier, so ECMP goes on hashing to it
# slow     that link has half the rate, both ways

# links_break CONDITION: at any moment
links_break()
{
	case $1 in
	dead)	selftests/net/fabric.sh cut 0 0 ;;
	slow)	selftests/net/fabric.sh rate 0 0 "$((rate * 500))kbit" ;;
	esac
}

# links_mend CONDITION
links_mend()
{
	case $1 in
	dead)	selftests/net/fabric.sh join 0 0 ;;
	slow)	selftests/net/fabric.sh rate 0 0 ;;
	esac
}
