#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packets that are not the peer's, or more than may wait, at the resequencer.

set -u
cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/guest/kmod/kmod.sh
. selftests/guest/kmod/resequence.sh

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

peers_up 15
check "packets of another host are counted" with_qp foreign
check "an IPv6 packet from the peer's IPv4-mapped address is foreign" with_qp mapped
check "packets to another address are counted" with_qp elsewhere
check "forged PSNs change the order until the next NAK only" with_qp forged
check "forged READ lengths do not change the order" with_qp forged_read
check "a flood fills the window, not the memory" with_qp flood
in_time "a full window is delivered in several softirqs" yields
in_time "forged responses do not change the order" forged_answers
check "a NAK of another program does not change the order" with_qp forged_nak
check "memory of waiting packets is bounded, and shared by flows" \
	with_limit 65536 with_qp memory_bound
in_time "unsolicited responses pass" answers_unasked
check "forged READ data fills the window, not the memory" with_qp answers_forged
check "the kernel did not complain" kernel_quiet
ktap_finish
