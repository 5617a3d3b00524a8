#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The resequencer, with packets of the peer in any order.

set -u
cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/guest/kmod/kmod.sh
. selftests/guest/kmod/resequence.sh

flow_shows()
{
	"$genl" flow-dump | grep -q "$1"
}

#
# Order
#

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

# Waiting data is dropped with the queue pair.
answers_reset()
{
	asks 1000 "${six[@]}" && send 2 a 1001= 1002= && grown held=2 &&
	qps_tell qp reset && stat_is reseq-bytes 0
}

#
# The programs of a job that has none of the queue pairs
#

other=$cgroot/test-reseq

other_load()
{
	answers_end rst && mkdir "$other" && cat >"$dir/ports.json" <<-E || return
	{ "format": 1, "generation": 1, "created": "2026-01-02T03:04:05Z",
	  "device": "rst", "hop": 1, "peers": [
	    { "address": "10.79.0.3", "source": "10.79.0.1", "local": false,
	      "leaf": "10.79.0.3", "probed": 1, "paths": [
		{ "path": 0, "router": "10.79.0.3", "ports": [ 49152 ] } ] } ] }
	E
	"$build/rocesteer" job load --job 2 --cgroup "$other" --port-map "$dir/ports.json"
}

other_unload()
{
	"$build/rocesteer" job unload --job 2
	rmdir "$other"
	answers_start rst
}

#
# Other bits of the BTH
#

bits_load()
{
	module_end && module_start bth_paths=0x1c bth_reseq=2 &&
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

peers_up 37
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
check "RESET drops waiting requests" with_qp reset
check "READ data is delivered in order" with_qp answers
check "READ data stays in order when PSNs wrap" with_qp answers_wrap
check "READ data of a whole flow passes unsorted" with_qp answers_whole
check "lost READ data is requested once more" with_qp answers_lost
check "READ data of a silent path is not waited for" with_qp answers_silent
check "acknowledgments do not overtake READ data" with_qp answers_mixed
check "RESET drops waiting READ data" with_qp answers_reset
check "a job of other queue pairs is loaded" other_load
check "its programs tell the module of a NAK of a flow that nobody steers" with_qp lost
check "its programs tell the module of READ requests that nobody steers" with_qp answers_lost
other_unload >/dev/null
check "the module loads with other bits of the BTH" bits_load
check "other bits of the BTH carry the number of paths" with_qp replanned
check "with other bits of the BTH a lost packet causes one NAK" with_qp lost
check "with other bits of the BTH a READ request has the bit that was chosen" with_qp asks_by_bit
bits_unload
check "the kernel did not complain" kernel_quiet
ktap_finish
