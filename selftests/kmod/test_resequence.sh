#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The resequencer, as root in the guest: test_resequence.sh [MODULE]
#
#	init_net                            namespace rs-peer
#	rst 10.79.0.1, fd00:79::1 --------- rsp 10.79.0.2, .3, fd00:79::2
#	 |
#	rxet
#
# The peer of the queue pairs is a program that sends what it is told, in that
# order, by ports that stand for paths. What rxet answers to nobody hears; its
# counters and the PSN that it expects next are what counts.

set -u
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=selftests/lib.sh
. "$here/../lib.sh"
# shellcheck source=selftests/kmod/lib.sh
. "$here/lib.sh"

#
# Vocabulary
#

peer_make()
{
	ip netns add rs-peer
	ip link add rst mtu 4200 type veth peer name rsp mtu 4200 netns rs-peer
	ip address add 10.79.0.1/24 dev rst
	ip address add fd00:79::1/64 dev rst nodad
	ip link set rst up
	ip -n rs-peer address add 10.79.0.2/24 dev rsp
	ip -n rs-peer address add 10.79.0.3/24 dev rsp
	ip -n rs-peer address add fd00:79::2/64 dev rsp nodad
	ip -n rs-peer link set rsp up
	rdma link add rxet type rxe netdev rst
}

peer_end()
{
	rdma link del rxet
	ip netns del rs-peer
}

# qp_open off|on PSN [LOCAL PEER]: a queue pair that expects PSN, of job 1
qp_open()
{
	local resequence=0
	[[ $1 == off ]] || resequence=1
	local_ip=${3:-10.79.0.1} peer_ip=${4:-10.79.0.2}
	"$genl" job-add id=1 "resequence=$resequence" &&
	"$genl" flow-add "ifindex=$(ifindex rst)" "peer=$peer_ip" \
		dqpn=8000000 job=1 &&
	qps_start qp rxet "$local_ip" "$peer_ip" 8000000 1 "$2" &&
	qpn=$(field sqpn "$genl" flow-dump) && counters_mark
}

qp_close()
{
	qps_end qp
	"$genl" job-del id=1
	busywait 5000 stat_is flows 0
}

stat_is()
{
	[[ $(stat "$1") == "$2" ]]
}

# send PATHS WORD...: a letter names the path of the PSNs behind it; PSN:LENGTH
# is a READ request. "memory" is what it reads.
send_from()
{
	local from=$1 paths=$2 word sport=
	shift 2
	for word; do
		case $word in
		[a-z])	sport=$((50000 + $(printf %d "'$word"))) ;;
		*:*)	echo "read ${word%:*} $sport $paths ${word#*:}" ;;
		*)	echo "write $word $sport $paths" ;;
		esac
	done | nsenter --net=/run/netns/rs-peer \
		"$build/selftests/inject" "$from" "$local_ip" "$qpn" "${memory[@]}"
}

send()
{
	send_from "$peer_ip" "$@"
}
memory=()

counter()
{
	local counters=/sys/class/infiniband/rxet/ports/1/hw_counters

	case $1 in
	naks)	cat "$counters/out_of_seq_request" ;;
	dups)	cat "$counters/duplicate_request" ;;
	*)	stat "reseq-$1" ;;
	esac
}

declare -A marked
counters_mark()
{
	local name
	for name in naks dups held filled lost timeout nak behind resync \
			out-of-window no-memory dropped foreign; do
		marked[$name]=$(counter "$name")
	done
}

# grown NAME=N...: since counters_mark
grown()
{
	local pair name now status=0
	for pair; do
		name=${pair%=*}
		now=$(($(counter "$name") - marked[$name]))
		((now == ${pair#*=})) || {
			echo "$name: expected ${pair#*=} more, got $now"
			status=1
		}
	done
	return "$status"
}

expected()
{
	rdma -j resource show qp link rxet lqpn "$qpn" | jq '.[]."rq-psn"'
}

expects()
{
	[[ $(expected) == "$1" ]]
}

# The queue pair has got everything before PSN $1
reached()
{
	busywait 5000 expects "$1" && return
	echo "expects PSN $(expected), not $1"
	return 1
}

depth()
{
	field reseq-depth "$genl" flow-dump
}

flow_shows()
{
	"$genl" flow-dump | grep -q "$1"
}

depth_is()
{
	[[ $(depth) == "$1" ]]
}

# Run a test that opens a queue pair and leaves it open
with_qp()
{
	local result=0
	"$@" || result=1
	qp_close || result=1
	memory=()
	return "$result"
}

#
# Tests
#

shuffled=(b 1001 1003 1005 a 1000 1002 1004 1006)

order()
{
	qp_open on 1000 "$@" &&
	send 2 "${shuffled[@]}" && reached 1007 &&
	grown naks=0 dups=0 held=3 filled=3 lost=0 timeout=0 && depth_is 0
}

off()
{
	qp_open off 1000 &&
	send 2 "${shuffled[@]}" && reached 1001 && grown naks=2 held=0
}

# Packets that say that they are not split pass, and so does a gap in them
whole()
{
	qp_open on 1000 &&
	send 1 a 1000 1001 1003 1004 && reached 1002 &&
	grown naks=1 held=0 nak=1 &&
	send 1 a 1002 1003 1004 && reached 1005 && grown naks=1 held=0
}

# 1003 is lost, as both paths show; the sender goes back to it
lost()
{
	qp_open on 1000 &&
	send 2 a 1000 1002 b 1001 a 1004 b 1005 a 1006 && reached 1003 &&
	grown naks=1 lost=1 timeout=0 nak=1 && depth_is 2 &&
	send 2 b 1003 a 1004 b 1005 a 1006 && reached 1007 &&
	grown naks=1 lost=1 timeout=0 && depth_is 0
}

# Path b is silent. What waits can be seen, for as long as the NAK may take.
silent()
{
	local seen='reseq-depth=1 reseq-age=[1-9][0-9]* reseq-held=2'
	seen+=' reseq-lost=0 reseq-timeout=1'
	qp_open on 1000 && send 2 a 1000 1002 1004 &&
	busywait 5000 flow_shows "$seen" &&
	grown naks=1 lost=0 held=2 && reached 1001 &&
	send 2 b 1001 a 1002 b 1003 a 1004 && reached 1005 &&
	expect "reseq-depth=0 reseq-age=0 reseq-held=2" "$genl" flow-dump &&
	grown naks=1
}

# The sender never sends it again: nothing waits for ever
hopeless()
{
	qp_open on 1000 &&
	send 2 a 1000 1002 1004 1006 && busywait 10000 depth_is 0 &&
	grown naks=1 timeout=2 dropped=0 && expects 1001
}

wrap()
{
	qp_open on 0xfffffd &&
	send 2 b 0xfffffe 0 2 a 0xfffffd 0xffffff 1 3 && reached 4 &&
	grown naks=0 held=3 filled=3 &&
	send 2 a 5 b 6 a 7 b 8 && reached 4 && grown naks=1 lost=1
}

# One that is there, one that waits, and one that comes twice in a row
duplicates()
{
	qp_open on 1000 &&
	send 2 a 1000 1000 b 1001 1003 1003 a 1002 1002 && reached 1004 &&
	grown naks=0 dups=2 behind=2 dropped=1 held=2
}

# Each READ of 3000 bytes takes three PSNs of 1024 bytes
reads()
{
	qp_open on 1000 && qps_tell_memory &&
	send 2 b 1003 a 1000:3000 && reached 1004 && grown naks=0 held=1 &&
	send 2 b 1007:0 a 1004:3072 && reached 1008 && grown naks=0 held=2
}

qps_tell_memory()
{
	echo memory >&"${qp_in[qp]}"
	read -r -t 60 -a memory -u "${qp_out[qp]}"
}

# A job that comes later knows where the flow is by its first packet
later()
{
	qps_start qp rxet 10.79.0.1 10.79.0.2 8000000 1 1000 &&
	local_ip=10.79.0.1 peer_ip=10.79.0.2 &&
	qpn=$(field sqpn "$genl" flow-dump) && counters_mark &&
	send 2 a 1000 && reached 1001 &&
	"$genl" job-add id=1 resequence=1 "pid=${qp_pid[qp]}" &&
	send 2 a 1001 b 1003 a 1002 && reached 1004 && grown naks=0 held=1 &&
	send 2 b 1005 1007 && busywait 5000 depth_is 1 &&
	"$genl" job-del id=1 && grown dropped=1 naks=1 &&
	is "$(stat reseq-bytes)" 0 &&
	"$genl" job-add id=1 "pid=${qp_pid[qp]}" &&
	send 2 a 1004 b 1007 a 1006 && reached 1005 && grown naks=2 held=3 &&
	is "$(depth)" ""
}

ktap_plan 14
check "a link to a peer that is no rxe" peer_make
defer peer_end
check "the module loads" load
defer unload
check "shuffled packets are delivered in order" with_qp order
check "over IPv6 too" with_qp order fd00:79::1 fd00:79::2
check "without the resequencer they are not" with_qp off
check "a flow that is not split passes" with_qp whole
check "a lost packet is asked for once" with_qp lost
check "a path that is silent is not waited for long" with_qp silent
check "nothing waits for ever" with_qp hopeless
check "PSNs wrap" with_qp wrap
check "duplicates pass" with_qp duplicates
check "READ requests take several PSNs" with_qp reads
check "a job that comes later, and goes" with_qp later
check "the kernel did not complain" kernel_quiet
ktap_finish
