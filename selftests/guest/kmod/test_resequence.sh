#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The resequencer, with packets in any order: test_resequence.sh [MODULE], as root in the
# guest.
#
#	init_net                            namespace rs-peer
#	rst 10.79.0.1, .4, fd00:79::1 ----- rsp 10.79.0.2, .3, fd00:79::2
#	 |
#	rxet
#
# The peer of the queue pairs is a program that sends the packets that a test lists, in
# that order, from ports that stand for paths. Nobody receives the answers of rxet; the
# tests read its counters and the PSN that it expects.

set -u
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=selftests/lib.sh
. "$here/../../lib.sh"
# shellcheck source=selftests/guest/kmod/kmod.sh
. "$here/kmod.sh"

tracing=/sys/kernel/tracing
mountpoint -q "$tracing" || mount -t tracefs none "$tracing"

#
# Vocabulary
#

peer_make()
{
	ip netns add rs-peer
	ip link add rst mtu 4200 type veth peer name rsp mtu 4200 netns rs-peer
	ip address add 10.79.0.1/24 dev rst
	ip address add 10.79.0.4/24 dev rst
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
	qps_start qp rxet "$local_ip" "$peer_ip" 8000000 1 "$2" && qp_look
}

# Set the number of the queue pair, and mark the counters
qp_look()
{
	qpn=$(field sqpn "$genl" flow-dump) && counters_mark
}

qp_close()
{
	qps_end qp
	"$genl" job-del id=1
	busywait 5000 stat_is flows 0
}

# with_qp COMMAND...: close the queue pair that the command opens
with_qp()
{
	local result=0
	"$@" || result=1
	qp_close || result=1
	is "$(stat reseq-bytes)" 0 && return "$result"
}

# send PATHS WORD...: a letter names the path of the PSNs behind it, /N how many paths
# there are from now on; PSN:LENGTH is a READ request, PSN! has a wrong ICRC; PSN= is
# a READ response, PSN^ an acknowledgment, PSN^SYNDROME one with that
send()
{
	send_from "$peer_ip" "$@"
}

send_from()
{
	local from=$1 paths=$2 word sport=0
	shift 2
	{
		echo "to $qpn"
		for word; do
			case $word in
			[a-z])	sport=$((50000 + $(printf %d "'$word"))) ;;
			/*)	paths=${word#/} ;;
			*:*)	echo "read ${word%:*} $sport $paths ${word#*:}" ;;
			*=)	echo "data ${word%=} $sport $paths $((0x1f))" ;;
			*^)	echo "ack ${word%^} $sport $paths $((0x1f))" ;;
			*^*)	echo "ack ${word%^*} $sport $paths $((${word#*^}))" ;;
			*!)	echo "broken ${word%!} $sport $paths" ;;
			*)	echo "write $word $sport $paths" ;;
			esac
		done
	} | inject "$from"
}

# inject FROM: pass commands on stdin to the injector
declare -A inject_in inject_out
inject()
{
	local answer=
	{
		cat
		echo "echo sent"
	} >&"${inject_in[$1]}"
	read -r -t 60 -u "${inject_out[$1]}" answer
	[[ $answer == sent ]] || { echo "inject said \"$answer\""; return 1; }
}

# inject_start FROM TO [NAME]: start an injector, called NAME or FROM
inject_start()
{
	local in out name=${3:-$1}
	mkfifo "$dir/in" "$dir/out"
	nsenter --net=/run/netns/rs-peer "$build/selftests/inject" "$1" "$2" \
		<"$dir/in" >"$dir/out" &
	exec {in}>"$dir/in" {out}<"$dir/out"
	inject_in[$name]=$in inject_out[$name]=$out
	rm "$dir/in" "$dir/out"
}

peers_start()
{
	inject_start 10.79.0.2 10.79.0.1
	inject_start 10.79.0.3 10.79.0.1
	inject_start fd00:79::2 fd00:79::1
	inject_start ::ffff:10.79.0.2 fd00:79::1
	inject_start 10.79.0.2 10.79.0.4 elsewhere
}

peers_end()
{
	local from
	for from in "${!inject_in[@]}"; do
		inject_end "$from"
	done
}

inject_end()
{
	local in=${inject_in[$1]} out=${inject_out[$1]}
	exec {in}>&- {out}<&-
	unset "inject_in[$1]" "inject_out[$1]"
}

counter()
{
	local counters=/sys/class/infiniband/rxet/ports/1/hw_counters

	case $1 in
	naks)	cat "$counters/out_of_seq_request" ;;
	dups)	cat "$counters/duplicate_request" ;;
	repeats) cat "$counters/completer_retry_err" ;;
	sent)	cat "$counters/sent_pkts" ;;
	*)	stat "reseq-$1" ;;
	esac
}

declare -A marked
counters_mark()
{
	local word
	marked[naks]=$(counter naks) marked[dups]=$(counter dups)
	marked[repeats]=$(counter repeats) marked[sent]=$(counter sent)
	for word in $("$genl" stats-get); do
		[[ $word != reseq-* ]] || {
			word=${word#reseq-}
			marked[${word%=*}]=${word#*=}
		}
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

# grown_past NAME N: by more than N since counters_mark
grown_past()
{
	(($(counter "$1") > marked[$1] + $2))
}

expected()
{
	rdma -j resource show qp link rxet lqpn "$qpn" | jq '.[]."rq-psn"'
}

expects()
{
	[[ $(expected) == "$1" ]]
}

# The queue pair has received all packets before PSN $1
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

depth_is()
{
	[[ $(depth) == "$1" ]]
}

flow_shows()
{
	"$genl" flow-dump | grep -q "$1"
}

#
# Order
#

shuffled=(b 1001 1003 1005 a 1000 1002 1004 1006)

order()
{
	qp_open on 1000 "$@" &&
	send 2 "${shuffled[@]}" && reached 1007 &&
	grown naks=0 dups=0 held=3 filled=3 lost=0 timeout=0 && depth_is 0
}

# Three packets wait, with one, two and three in all, each for another one that is missing.
histograms()
{
	local waits sum

	waits=$(stat reseq-wait | paste -sd +) && sum=$(stat reseq-wait-sum)
	mapfile -t before < <(stat reseq-depth)
	order && grown depth-sum=6 && mapfile -t after < <(stat reseq-depth) || return
	is "${#after[@]}" 11 && is $((after[0] - before[0])) 1 && is $((after[1] - before[1])) 1 &&
		is $((after[2] - before[2])) 1 && is $((after[3] - before[3])) 0 &&
		is $(($(stat reseq-wait | paste -sd +) - (waits))) 3 &&
		is "$(stat reseq-wait | wc -l)" 24 && (($(stat reseq-wait-sum) > sum))
}

# The driver refuses RTR, and the queue pair still expects the same PSN
refused_rtr()
{
	order "$@" && qps_tell qp rtr EINVAL && qps_tell qp elsewhere EINVAL &&
	is "$(field dqpn "$genl" flow-dump)" 8000000 &&
	send 2 b 1008 a 1007 && reached 1009 && grown naks=0 held=4 && depth_is 0
}

off()
{
	qp_open off 1000 &&
	send 2 "${shuffled[@]}" && reached 1001 &&
	busywait 5000 grown naks=2 held=0
}

# Packets of a whole flow pass, also behind a gap
whole()
{
	qp_open on 1000 &&
	send 1 a 1000 1001 1003 1004 && reached 1002 &&
	busywait 5000 grown naks=1 held=0 nak=1 &&
	send 1 a 1002 1003 1004 && reached 1005 && grown naks=1 held=0
}

# 1003 is lost: both paths deliver later packets. The sender goes back to 1003.
lost()
{
	qp_open on 1000 &&
	send 2 a 1000 1002 b 1001 a 1004 b 1005 a 1006 && reached 1003 &&
	busywait 5000 grown naks=1 lost=1 nak=1 held=4 &&
	send 2 b 1003 a 1004 b 1005 a 1006 && reached 1007 &&
	grown naks=1 lost=1 && depth_is 0
}

# in_time NAME COMMAND...: check a with_qp whose packets must be sent before the first one
# has waited for long. Repeat it twice if the machine stalled; a kernel with sanitizers may
# always be too slow.
in_time()
{
	local name=$1 stalled status
	shift

	for _ in 1 2 3; do
		with_qp "$@" >"$dir/log" 2>&1
		status=$?
		stalled=$(($(counter timeout) > marked[timeout]))
		((status && stalled)) || break
	done
	if ((status && stalled && TIME_SCALE > 1)); then
		skip "$name" "a packet waits for less time than two need to be sent"
	else
		check "$name" outcome "$status"
	fi
}

outcome()
{
	cat "$dir/log"
	return "$1"
}

# 1001 arrives after 1003 by the same path, too late, and again when the sender goes back:
# the loss was spurious. So path b reorders, and the next late packet is waited for; a lost
# packet is still detected. Three times, as the machine may stall between two packets.
reorders()
{
	local psn lost
	qp_open on 1000 &&
	send 2 a 1000 1002 b 1003 && busywait 5000 grown lost=1 &&
	send 2 b 1001 1001 a 1002 b 1003 && reached 1004 &&
	grown naks=1 dropped=0 behind=3 || return
	for psn in 1004 1008 1012; do
		lost=$(counter lost)
		send 2 a "$psn" $((psn + 2)) b $((psn + 3)) $((psn + 1)) &&
		reached $((psn + 4)) || return
		(($(counter lost) == lost)) || continue
		send 2 a $((psn + 4)) $((psn + 6)) b $((psn + 7)) &&
		busywait 5000 grown lost=$((lost - marked[lost] + 1)) &&
		grown timeout=0
		return
	done
	return 1
}

# Fewer paths, then more: packets on the old paths are slower, not lost. All packets are
# sent before one of them has waited for long.
replanned()
{
	qp_open on 1000 &&
	send 4 a 1000 /1 a 1004 /4 b 1001 d 1003 c 1002 a 1005 c 1007 \
		/1 a 1009 1010 /4 b 1006 d 1008 /1 a 1011 \
		/4 b 1014 c 1015 d 1017 /1 a 1012 1013 /4 a 1016 &&
	reached 1018 &&
	grown naks=0 held=8 behind=0 lost=0 timeout=0 &&
	send 1 a 1018 1020 && busywait 5000 grown naks=1 held=8
}

# Path b is silent. flow-dump shows the waiting packets until the NAK.
silent()
{
	local seen='reseq-depth=2 reseq-age=[1-9][0-9]* reseq-held=2'
	seen+=' reseq-lost=0 reseq-timeout=1'
	qp_open on 1000 && send 2 a 1000 1002 1004 &&
	busywait 5000 flow_shows "$seen" &&
	grown naks=1 lost=0 held=2 && reached 1001 &&
	send 2 b 1001 a 1002 b 1003 a 1004 && reached 1005 &&
	expect "reseq-depth=0 reseq-age=0 reseq-held=2" "$genl" flow-dump &&
	grown naks=1
}

# The sender never retransmits the lost packet.
hopeless()
{
	qp_open on 1000 &&
	send 2 a 1000 1002 1004 1006 && busywait 10000 depth_is 0 &&
	grown naks=1 timeout=2 dropped=0 && expects 1001 && stat_is reseq-bytes 0
}

# The window of an idle flow is freed, and allocated again
idle()
{
	qp_open on 1000 &&
	send 2 "${shuffled[@]}" && reached 1007 &&
	busywait 5000 stat_is reseq-bytes 0 &&
	send 2 b 1008 a 1007 && reached 1009 && grown naks=0 held=4
}

# rxe drops 1001 for its ICRC, and does not notice the gap until 1003
broken()
{
	qp_open on 1000 &&
	send 2 a 1000 b 1001! a 1002 && busywait 5000 grown naks=1 nak=1 &&
	expects 1001 &&
	send 2 b 1003 a 1002 b 1001 && reached 1004 && grown naks=1 lost=0
}

wrap()
{
	qp_open on 0xfffffd &&
	send 2 b 0xfffffe 0 2 a 0xfffffd 0xffffff 1 3 && reached 4 &&
	grown naks=0 held=3 filled=3 &&
	send 2 a 5 b 6 a 7 b 8 && reached 4 && busywait 5000 grown naks=1 lost=1
}

# Duplicates of a packet that was delivered, and of one that waits
duplicates()
{
	qp_open on 1000 &&
	send 2 a 1000 1000 b 1001 1003 1003 a 1002 1002 && reached 1004 &&
	busywait 5000 grown dups=2 && grown naks=0 behind=2 dropped=1 held=2
}

# Each READ of 3000 bytes takes three PSNs of 1024 bytes
reads()
{
	local memory
	qp_open on 1000 &&
	echo memory >&"${qp_in[qp]}" &&
	read -r -t 60 -u "${qp_out[qp]}" memory &&
	inject 10.79.0.2 <<<"memory $memory" &&
	send 2 b 1003 a 1000:3000 && reached 1004 && grown naks=0 held=1 &&
	send 2 b 1007:0 a 1004:3072 && reached 1008 && grown naks=0 held=2
}

# A job that is added later learns the expected PSN from the first packet
later()
{
	local_ip=10.79.0.1 peer_ip=10.79.0.2
	qps_start qp rxet 10.79.0.1 10.79.0.2 8000000 1 1000 && qp_look &&
	send 2 a 1000 && reached 1001 &&
	"$genl" job-add id=1 resequence=1 "pid=${qp_pid[qp]}" &&
	send 2 a 1001 b 1003 a 1002 && reached 1004 && grown naks=0 held=1 &&
	send 2 b 1005 1007 && busywait 5000 grown naks=1 &&
	"$genl" job-del id=1 && grown dropped=2 naks=1 &&
	is "$(stat reseq-bytes)" 0 &&
	"$genl" job-add id=1 "pid=${qp_pid[qp]}" &&
	send 2 a 1004 b 1007 a 1006 && reached 1005 &&
	busywait 5000 grown naks=2 held=3 &&
	is "$(depth)" ""
}

#
# Other users of packets
#

connections()
{
	sysctl -n net.netfilter.nf_conntrack_count
}

# Each path is a connection of its own, and acknowledgments are another one
tracked()
{
	local result before
	modprobe nf_conntrack enable_hooks=1 || return
	before=$(connections)
	qp_open on 1000 &&
	send 2 "${shuffled[@]}" && reached 1007 && grown held=3 &&
	is "$(connections)" $((before + 3))
	result=$?
	# Built in, it has no such state.
	[[ ! -e /sys/module/nf_conntrack/initstate ]] ||
		modprobe -r nf_conntrack || result=1
	return "$result"
}

# GRO aggregates are counted, and the device is logged. GRO skips packets without checksum.
aggregated()
{
	local i result words=() wait=/sys/class/net/rst/gro_flush_timeout
	for ((i = 1000; i < 1100; i++)); do
		words+=("$i")
	done
	ethtool -K rst gro on rx-gro-list on && echo 10000000 >"$wait" || return
	inject 10.79.0.2 <<<"checksum 1"
	qp_open on 1000 && send 1 a "${words[@]}" &&
	busywait 5000 grown_past gso 0 &&
	dmesg | grep 'rst: RoCE packets are aggregated'
	result=$?
	inject 10.79.0.2 <<<"checksum 0"
	echo 0 >"$wait"
	ethtool -K rst gro off rx-gro-list off && return "$result"
}

#
# Hostile input
#

# Packets from another address are counted and passed; rxe drops them.
foreign()
{
	local i
	qp_open on 1000 && send 2 a 1000 &&
	for ((i = 0; i < 500; i++)); do
		echo "$((i % 2 ? i : i * 32768 + i))"
	done | xargs -n 100 | while read -r -a i; do
		send_from 10.79.0.3 64 a "${i[@]}"
	done &&
	grown foreign=500 held=0 &&
	send 2 b 1003 1001 a 1002 && reached 1004 && grown naks=0 held=1
}

# udp6_is N: IPv6 datagrams received by sockets, including those of rxe
udp6_is()
{
	[[ $(udp6) == "$1" ]]
}

udp6()
{
	awk '$1 == "Udp6InDatagrams" { print $2 }' /proc/net/snmp6
}

send_mapped()
{
	local before
	before=$(udp6)
	send_from ::ffff:10.79.0.2 4 a "$@" && busywait 5000 udp6_is $((before + $#))
}

# IPv6 packets from the peer's IPv4-mapped address are foreign: neither an empty nor a
# filled window accepts them.
mapped()
{
	qp_open on 1000 && send 2 a 1000 && reached 1001 &&
	send_mapped 701 1001 1003 && grown held=0 behind=0 &&
	send 2 b 1002 1004 && send_mapped 701 1001 1003 &&
	grown held=2 behind=0 resync=0 && expects 1001 &&
	send 2 a 1001 1002 1003 b 1004 && reached 1005 &&
	grown resync=0 foreign=6
}

# Packets from the peer to another address of the device are foreign as well.
elsewhere()
{
	qp_open on 1000 && send 2 a 1000 && reached 1001 &&
	send_from elsewhere 4 a 701 1001 1003 &&
	grown foreign=3 held=0 behind=0 &&
	send 2 b 1002 a 1001 1002 && reached 1003 && grown held=1
}

# In the peer's name. 5000 is too far ahead, 999 - 4096 too far behind: neither changes the
# order. A second packet that continues the old one resyncs, until the next NAK.
forged()
{
	local far=$((999 - 4096))
	qp_open on 1000 &&
	send 2 a 5000 && busywait 5000 grown naks=1 out-of-window=1 &&
	send 2 b 1001 a 1000 && reached 1002 && grown naks=1 &&
	send 2 b 1003 a "$far" 1002 "$far" $((far + 300)) && reached 1004 &&
	busywait 5000 grown resync=0 behind=3 dups=3 naks=1 held=2 &&
	send 2 a $((far + 301)) && busywait 5000 grown resync=1 dups=4 &&
	send 2 b 1005 && busywait 5000 grown naks=2 out-of-window=2 &&
	send 2 a 1006 b 1005 a 1004 && reached 1007 && grown naks=2
}

# A READ of 2^22 PSNs from invalid memory
forged_read()
{
	qp_open on 1000 &&
	send 2 b 1003:4294967295 1001 a 1000 1002 && reached 1003 &&
	grown naks=0 held=2 &&
	send 2 b 1003 1004 && grown out-of-window=0 resync=1
}

# In a flood in the peer's name, only a window of packets waits.
flood()
{
	local i words=()
	for ((i = 1; i < 1000; i++)); do
		words+=($((1000 + i)))
	done
	qp_open on 1000 && send 64 a "${words[@]}" && grown held=255 &&
	grown out-of-window=744 && (($(stat reseq-bytes) < 1 << 20)) &&
	busywait 10000 depth_is 0
}

# Packets delivered in one go, RESEQ_BUDGET
goes()
{
	awk '/rs_deliver:/ { n++ } /function reseq_more/ { print n; n = 0 } END { print n }' \
		"$tracing/trace" | xargs
}

# One packet makes a whole window ready.
yields()
{
	local i words=() result seen
	for ((i = 1001; i < 1256; i++)); do
		words+=("$i")
	done
	echo 'p:rs/rs_deliver rocesteer_deliver_continue' >"$tracing/kprobe_events"
	echo 1 >"$tracing/events/rs/enable"
	echo 1 >"$tracing/events/workqueue/workqueue_execute_start/enable"
	: >"$tracing/trace"
	qp_open on 1000 && send 64 a "${words[@]}" && grown held=255 &&
	send 64 a 1000 && reached 1256 && grown naks=0
	result=$?
	echo 0 >"$tracing/events/workqueue/workqueue_execute_start/enable"
	echo 0 >"$tracing/events/rs/enable"
	seen=$(goes)
	: >"$tracing/kprobe_events"
	is "$seen" "64 64 64 64" && return "$result"
}

# The resequencer has counted the NAKs of the queue pair, and no others. On a slow machine
# there may be one, as packets wait.
naks_are_its_own()
{
	busywait 5000 grown nak=$(($(counter naks) - marked[naks]))
}

# Responses without an outstanding READ change nothing, in the peer's name and from another
# host.
forged_answers()
{
	local answers=(a "1000^" "2000^" "1000^0x60" "2000^0x2c")
	qp_open on 1000 && send 2 b 1001 "${answers[@]}" a 1000 &&
	reached 1002 && grown held=1 nak=0 naks=0 foreign=0 &&
	send 2 b 1003 && send_from 10.79.0.3 2 "${answers[@]}" &&
	send 2 a 1002 && reached 1004 && grown held=2 foreign=0 &&
	naks_are_its_own
}

# A program of this host sends the peer a NAK for PSN 2000 in the queue pair's name.
forged_nak()
{
	local nak='\x11\0\xff\xff' dqpn='\0\x7a\x12\0' psn='\0\0\x07\xd0'
	qp_open on 1000 && send 2 b 1001 &&
	printf %b "$nak$dqpn$psn\x60\0\0\0\0\0\0\0" >/dev/udp/10.79.0.2/4791 &&
	send 2 a 1000 && reached 1002 && grown held=1 && naks_are_its_own
}

limit=/sys/module/rocesteer/parameters/reseq_memory

# with_limit BYTES COMMAND...: run it with this reseq_memory
with_limit()
{
	local was result
	was=$(<"$limit")
	echo "$1" >"$limit"
	shift
	"$@"
	result=$?
	echo "$was" >"$limit"
	return "$result"
}

# 64 KiB do not hold 64 packets; the others pass, and the queue pair sends a NAK.
memory_bound()
{
	local words=() i held
	for ((i = 1; i <= 64; i++)); do
		words+=($((1000 + i)))
	done
	qp_open on 1000 && send 2 a "${words[@]}" &&
	(($(stat reseq-bytes) <= 65536)) && busywait 5000 grown naks=1 &&
	held=$(($(stat reseq-held) - marked[held])) &&
	((held > 0)) && grown no-memory=$((64 - held)) &&
	memory_shared && busywait 10000 depth_is 0 && echo 0 >"$limit" &&
	send 2 a "${words[@]}" && grown "held=$((held + 3))"
}

# One flow leaves memory to another.
memory_shared()
{
	local first=$qpn result
	"$genl" flow-add "ifindex=$(ifindex rst)" "peer=$peer_ip" \
		dqpn=8000001 job=1 &&
	qps_start other rxet "$local_ip" "$peer_ip" 8000001 1 1000 &&
	qpn=$(field sqpn "$genl" flow-dump | grep -vx "$first") &&
	send 2 "${shuffled[@]}" && reached 1007
	result=$?
	qps_end other
	qpn=$first
	return "$result"
}

# A queue pair that is connected again expects its first PSN.
reset()
{
	qp_open on 1000 && send 2 a 1001 1002 b 1004 && grown held=3 &&
	qps_tell qp reset && stat_is reseq-bytes 0 &&
	"$genl" flow-add "ifindex=$(ifindex rst)" "peer=$peer_ip" \
		dqpn=8000000 job=1 &&
	qps_tell qp connect && qp_look &&
	send 2 a 1001 1002 b 1000 && reached 1003 && grown naks=0
}

#
# Responses: the queue pair sends requests from PSN 1000 on, with long timeouts
#

# asks PSN read|write...: a new queue pair sends these requests
asks()
{
	local request
	qp_open on "$1" && qps_tell qp rts || return
	shift
	for request; do
		qps_tell qp "$request" || return
	done
}

# answered TIMES
answered()
{
	local i
	for ((i = 0; i < $1; i++)); do
		qps_tell qp await || return
	done
	depth_is 0
}

six=(read read read read read read)

# The queue pair has repeated five of them.
has_repeated()
{
	busywait 5000 grown repeats=1 nak=1 sent=11
}

answers()
{
	asks 1000 "${six[@]}" &&
	send 2 b 1001= 1003= 1005= a 1000= 1002= 1004= && answered 6 &&
	grown repeats=0 held=3 filled=3 lost=0 timeout=0 behind=0
}

answers_wrap()
{
	asks 0xfffffd "${six[@]}" &&
	send 2 b 0xffffff= 0= 2= a 0xfffffd= 0xfffffe= 1= &&
	answered 6 && grown repeats=0 held=3 filled=3
}

# Responses of a whole flow pass, also behind a gap.
answers_whole()
{
	asks 1000 "${six[@]}" &&
	send 1 a 1000= 1002= && has_repeated && grown held=0 &&
	send 1 a 1001= 1002= 1003= 1004= 1005= && answered 6 &&
	grown repeats=1 nak=1 held=0
}

# 1001 is lost: both paths deliver later packets. The queue pair repeats the READ.
answers_lost()
{
	asks 1000 "${six[@]}" &&
	send 2 a 1000= 1002= b 1003= && has_repeated && grown lost=1 held=2 &&
	send 2 b 1001= 1005= a 1002= 1003= 1004= && answered 6 &&
	grown repeats=1 lost=1
}

answers_silent()
{
	asks 1000 "${six[@]}" &&
	send 2 a 1000= 1002= 1004= && has_repeated && grown lost=0 held=2 &&
	grown_past timeout 0 &&
	send 2 b 1001= 1003= 1005= a 1002= 1004= && answered 6 && grown repeats=1
}

# An acknowledgment of a WRITE waits for READ data before it, and is not missed itself.
answers_mixed()
{
	asks 1000 write read write write read write &&
	send 2 a 1005^ b 1004= a 1003^ 1001= && answered 6 &&
	grown repeats=0 held=3 filled=1
}

# No READ is outstanding, or no longer.
answers_unasked()
{
	asks 1000 read && send 2 b 1001= 1003= &&
	send 2 a 1000= && answered 1 &&
	send 2 b 1002= 1004= a 1000= && grown held=2 behind=0 repeats=0
}

# Forged data in the peer's name fills the window, which is larger for data. Foreign data
# is counted.
answers_forged()
{
	local i words=()
	for ((i = 1; i < 1200; i++)); do
		words+=("$((1000 + i))=")
	done
	asks 1000 read read && send_from 10.79.0.3 2 a 1001= 1002= &&
	grown foreign=2 held=0 && send 64 a "${words[@]}" &&
	grown held=1023 out-of-window=176 no-memory=0 &&
	(($(stat reseq-bytes) < 2 << 20)) &&
	busywait 5000 grown_past repeats 0 && send 2 a 1000= 1001= &&
	answered 2
}

# Waiting data is dropped with the queue pair.
answers_reset()
{
	asks 1000 "${six[@]}" && send 2 a 1001= 1002= && grown held=2 &&
	qps_tell qp reset && stat_is reseq-bytes 0
}

#
# Other bits of the BTH
#

bits_load()
{
	unload && load bth_paths=0x1c bth_reseq=2 &&
	inject 10.79.0.2 <<<"bits $((0x1c))"
}

bits_unload()
{
	unload && load && inject 10.79.0.2 <<<"bits $((0x3f))"
}

watches()
{
	grep -q "listening on" "$dir/watch"
}

# The READ request has this reserved bit, and no other.
asks_by_bit()
{
	local watcher
	ip netns exec rs-peer timeout $((60 * TIME_SCALE)) tcpdump -Z root -i rsp -c 1 \
		"udp dst port 4791 and udp[8] = 0x0c and udp[12] & 0x3f = 0 and
		udp[16] & 0x7f = 2" >"$dir/watch" 2>&1 &
	watcher=$!
	busywait 20000 watches && asks 1000 read && wait "$watcher" &&
	send 2 a 1000= && answered 1 && return
	cat "$dir/watch"
	return 1
}

ktap_plan 46
check "a link leads to a peer without rxe" peer_make
defer peer_end
check "the module loads" load
defer unload
peers_start
defer peers_end

# If connection tracking is built in, connections of other tests would expire meanwhile.
check "connection tracking confirms sorted packets" with_qp tracked
check "shuffled packets are delivered in order" with_qp order
check "packets that wait are counted by how many wait, and for how long" with_qp histograms
check "shuffled packets are delivered in order over IPv6" with_qp order fd00:79::1 fd00:79::2
check "an RTR that the driver refuses changes no flow" with_qp refused_rtr
check "without the resequencer shuffled packets are not delivered in order" with_qp off
check "packets of a whole flow pass unsorted" with_qp whole
check "a lost packet causes one NAK" with_qp lost
in_time "a spurious loss makes later packets of the path be waited for" reorders
check "no packet is declared lost when the paths change" with_qp replanned
check "a silent path is not waited for long" with_qp silent
check "packets behind a loss do not wait for ever" with_qp hopeless
check "memory of a window is freed when it is idle" with_qp idle
check "a packet with a wrong ICRC does not change the order" with_qp broken
check "requests stay in order when PSNs wrap" with_qp wrap
check "duplicate requests pass" with_qp duplicates
check "READ requests take several PSNs" with_qp reads
check "a job that is added later resequences until it is deleted" with_qp later

check "GRO aggregates are counted and logged" with_qp aggregated

check "packets of another host are counted" with_qp foreign
check "an IPv6 packet from the peer's IPv4-mapped address is foreign" with_qp mapped
check "packets to another address are counted" with_qp elsewhere
check "forged PSNs change the order until the next NAK only" with_qp forged
check "forged READ lengths do not change the order" with_qp forged_read
check "a flood fills the window, not the memory" with_qp flood
in_time "a full window is delivered in several softirqs" yields
in_time "forged responses do not change the order" forged_answers
check "a NAK of another program does not change the order" with_qp forged_nak
check "memory of waiting packets is bounded, and shared by flows" with_limit 65536 with_qp memory_bound
check "RESET drops waiting requests" with_qp reset
check "READ data is delivered in order" with_qp answers
check "READ data stays in order when PSNs wrap" with_qp answers_wrap
check "READ data of a whole flow passes unsorted" with_qp answers_whole
check "lost READ data is requested once more" with_qp answers_lost
check "READ data of a silent path is not waited for" with_qp answers_silent
check "acknowledgments do not overtake READ data" with_qp answers_mixed
in_time "unsolicited responses pass" answers_unasked
check "forged READ data fills the window, not the memory" with_qp answers_forged
check "RESET drops waiting READ data" with_qp answers_reset
check "the module loads with other bits" bits_load
check "other bits carry the number of paths" with_qp replanned
check "a lost packet is detected with other bits" with_qp lost
check "a READ request has the other bit" with_qp asks_by_bit
bits_unload
check "the kernel did not complain" kernel_quiet
ktap_finish
