#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The resequencer under real traffic, and under attack.
#
#	    four paths, by source port; netem sets their rate, delay and loss
#	rsa 10.77.0.1 ============================================ rsb 10.77.0.2
#	 |    |                                                     |
#	rxea  rsf, in namespace rs-foe, has rsa's network          rxeb

set -u
cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/guest/kmod/kmod.sh
. selftests/guest/kmod/split_flows.sh

rate=4		# of each of the four paths, in Mbit/s

#
# Vocabulary
#

up()
{
	world_make && paths_make rsa && mkdir "$cgroup" || return
	ip route add 10.77.0.9 dev rsb src 10.77.0.2 table 72
	ip neighbour replace 10.77.0.9 lladdr 02:00:00:00:00:09 dev rsb
	ip netns add rs-foe
	ip link add rsf link rsa netns rs-foe type macvlan mode private
	ip -n rs-foe address add 10.77.0.3/24 dev rsf
	ip -n rs-foe link set rsf up
	ip -n rs-foe neighbour replace 10.77.0.2 dev rsf \
		lladdr "$(cat /sys/class/net/rsb/address)"
}

down()
{
	ip netns del rs-foe
	rmdir "$cgroup"
	world_end
}

# A program holds the module
end()
{
	answers_end rsb 2>/dev/null
	split_end rsa 2>/dev/null
	rm -f "$split_prog"
	busywait 20000 unload
}

# even NETEM...: the links of the three paths, and of the fourth
even()
{
	paths rsa 1 rate $((3 * rate))mbit "$@" &&
		paths rsa 2 rate "$rate"mbit "$@"
}

counter()
{
	cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"
}

# Rounds of go-back-N: NAKs, timeouts of the sender, duplicates
rounds()
{
	echo $(($(counter rxeb out_of_seq_request) +
		$(counter rxea completer_retry_err) +
		$(counter rxeb duplicate_request)))
}

# traffic_start on|off MIB: send over one queue pair, resequenced or not, and compare the
# data at the receiver. Returns when the first packets are under way. More MiB on a kernel
# with sanitizers, where commands take as long as many packets.
traffic_start()
{
	local resequence=0
	[[ $1 == off ]] || resequence=1
	"$genl" job-add id=1 "resequence=$resequence" \
		"cgroup-id=$(command stat -c %i "$cgroup")" || return
	before=$(rounds)
	"$writes" 1 65536 4 18 >"$dir/writes" 2>&1 <<-E &
		host $cgroup - rxea $(gid_index rxea 10.77.0.1)
		host $cgroup - rxeb $(gid_index rxeb 10.77.0.2)
		flow 0 1 $(($2 * (TIME_SCALE > 1 ? 4 : 1) << 20))
	E
	traffic=$!
	pace 30 && began=${EPOCHREALTIME/./}
}

# Milliseconds until so many packets have been sent, if the traffic lasts
pace()
{
	local from=${EPOCHREALTIME/./} until
	until=$(($(counter rxea sent_pkts) + $1))
	busywait 60000 has_sent_or_ends "$until" && has_sent "$until" || return
	pace=$(((${EPOCHREALTIME/./} - from) / 1000))
}

has_sent()
{
	local n
	read -r n </sys/class/infiniband/rxea/ports/1/hw_counters/sent_pkts
	((n >= $1))
}

has_sent_or_ends()
{
	has_sent "$1" || ! kill -0 "$traffic" 2>/dev/null
}

# Set the time that the traffic took, in milliseconds, and the rounds of go-back-N
traffic_wait()
{
	local result=0
	wait "$traffic" || result=1
	took=$(((${EPOCHREALTIME/./} - began) / 1000))
	again=$(($(rounds) - before))
	cat "$dir/writes"
	"$genl" job-del id=1 || result=1
	echo "$took ms, $again rounds"
	return "$result"
}

traffic()
{
	traffic_start "$@" && traffic_wait
}

no_traffic()
{
	[[ $(stat flows) == 0 ]]
}

# The best of three counts, as a stall of the machine makes packets late
best()
{
	local i
	for i in 1 2 3; do
		"$@" && return
	done
	return 1
}

#
# Tests
#

# Packets of one measurement
some=500

# The fourth path becomes slower: at 95 % of the rate at least
skew()
{
	local result
	even && traffic_start on 6 || return
	pace "$some" && plain=$pace && paths rsa 2 rate "$rate"mbit delay 5ms &&
		pace 100 && pace "$some"
	result=$?
	traffic_wait || return
	echo "$some packets: $plain ms, then $pace ms"
	((!result && !again && plain * 100 >= pace * 95))
}

# delayed NETEM...: the fourth path, which the others wait for, behind its link
delayed()
{
	paths rsa 1 rate $((12 * rate))mbit &&
		tc qdisc replace dev rsa parent 1:2 handle 20: \
			netem limit 100000 rate "$rate"mbit &&
		tc qdisc replace dev rsa parent 20:1 \
			netem limit 100000 delay "$@"
}

# With a delay of 2 to 18 ms instead of 10 ms packets of one path overtake each other: no
# packet is declared lost, and the rate is at least 90 %.
jitter()
{
	local plain lost
	delayed 10ms && traffic on 4 && plain=$took || return
	lost=$(stat reseq-lost)
	delayed 10ms 8ms && traffic on 4 &&
		is "$(stat reseq-lost)" "$lost" &&
		((!again && plain * 100 >= took * 90))
}

has_rounds()
{
	(($(rounds) >= before + 10))
}

# The traffic may never end.
skew_off()
{
	even && paths rsa 2 rate "$rate"mbit delay 5ms && traffic_start off 4 &&
		busywait 60000 has_rounds
	local result=$?
	kill "$traffic"
	wait "$traffic" 2>/dev/null
	busywait 20000 no_traffic && "$genl" job-del id=1 && return "$result"
}

# A split and resequenced flow takes no longer than a whole flow over one of the links.
# Random loss makes either take half or twice as long: up to six attempts each.
loss()
{
	local split whole i
	for ((split = whole = i = 0; i < 6; i++)); do
		even loss random 1% && split_start rsa && traffic on 6 &&
			((again)) && ((split += took)) && split_end rsa &&
			paths rsa 1 rate $((4 * rate))mbit loss random 1% &&
			traffic off 6 && ((again)) && ((whole += took)) ||
			return
		echo "split $split ms, whole $whole ms"
		((i && split * 100 <= whole * 105)) && return
	done
	return 1
}

# attack_make NAME QPN: forge packets to that queue pair
attack_make()
{
	local i
	echo "to $2" >"$dir/$1"
	for ((i = 0; i < 400; i++)); do
		echo "write $((i + 1)) $((40000 + i % 64)) 64"
		echo "write $((i * 40000)) $((40000 + i)) 2"
		echo "read $((i + 2)) 40000 2 4294967295"
		echo "ack $i 40000 2 $((i % 2 ? 0x60 : 0x1f))"
		echo "broken $i 40000 2"
	done >>"$dir/$1"
}

# attack_start NAME FROM: send the forged packets repeatedly
attack_start()
{
	mkfifo "$dir/foe"
	nsenter --net=/run/netns/rs-foe "$build/selftests/inject" \
		"$2" 10.77.0.2 <"$dir/foe" &
	foe=$!
	while cat "$dir/$1"; do :; done >"$dir/foe" 2>/dev/null &
	feeder=$!
}

attack_end()
{
	kill "$foe"
	wait "$foe" "$feeder"
	rm "$dir/foe"
} 2>/dev/null

grows()
{
	(($(stat "reseq-$1") > $2))
}

# Each counter that flood() has read
all_grow()
{
	local i
	for i in "${!names[@]}"; do
		grows "${names[i]}" "${counts[i]}" || return
	done
}

# attacked NAME FROM COMMAND: set the rate of the traffic and the waiting bytes during an
# attack, which lasts until COMMAND succeeds
attacked()
{
	local result
	attack_start "$1" "$2"
	pace 100 && bytes=$(stat reseq-bytes) && pace "$some" &&
		busywait 60000 "$3"
	result=$?
	attack_end
	return "$result"
}

# flood FROM COUNTER...: flood one queue pair. Another flow is as fast as during a flood of
# an unknown queue pair, the packets are counted, and memory is bounded.
flood()
{
	local from=$1 name plain bytes names=("${@:2}") counts=() result=0
	for name in "${names[@]}"; do
		counts+=("$(stat "reseq-$name")")
	done
	traffic_start on 16 || return
	attacked nobody "$from" : && plain=$pace &&
		attacked prey "$from" all_grow || result=1
	traffic_wait || result=1
	echo "$some packets: $plain ms, then $pace ms; $bytes bytes wait"
	((!result && !again && bytes < 4 << 20 && plain * 100 >= pace * 95))
}

floods()
{
	local result
	# The flood competes for resources of the module, not for the CPU. netem does
	# not make the sender wait.
	tc qdisc replace dev rsa parent 1:3 tbf rate 500kbit burst 5000 \
		limit 1000000
	even && "$genl" job-add id=2 resequence=1 &&
	"$genl" flow-add "ifindex=$(ifindex rsb)" peer=10.77.0.9 dqpn=100 job=2 &&
	qps_start prey rxeb 10.77.0.2 10.77.0.9 100 1 &&
	attack_make nobody $((0xfffffe)) &&
	attack_make prey "$(field sqpn "$genl" flow-dump)" && best flood "$@"
	result=$?
	qps_end prey
	"$genl" job-del id=2
	return "$result"
}

# The traffic continues as a whole flow
module_goes()
{
	even && paths rsa 2 rate "$rate"mbit delay 100ms && split_start rsa &&
	traffic_start on 4 && busywait 20000 some_wait && split_end rsa &&
	split_unload && answers_end rsb && busywait 20000 unload && wait "$traffic" && insmod "$module"
}

# Packets of the traffic wait at this moment
some_wait()
{
	"$genl" flow-dump | grep -q 'reseq-depth=[1-9]'
}

ktap_plan 11
defer down
check "a veth pair has four paths" up
check "the module loads" eval "load && answers_start rsb"
defer end
check "flows are split" eval "split_load && split_start rsa"
check "a path that is 5 ms slower causes no NAK and keeps the rate" best skew
check "a path that reorders causes no NAK and keeps the rate" best jitter
check "without the resequencer a slower path causes NAKs" skew_off
check "another host's flood stalls no other flow" floods 10.77.0.3 foreign
check "a flood in the peer's name stalls no other flow" \
	floods 10.77.0.9 held out-of-window behind resync
split_end rsa
check "at 1 % loss a split flow is complete no later than a whole flow" loss
check "the module unloads while packets wait" module_goes
check "the kernel did not complain" kernel_quiet
ktap_finish
