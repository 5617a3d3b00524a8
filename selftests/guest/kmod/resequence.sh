# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # for and from whoever sources this
#
# A queue pair that is resequenced, and its peer. Sourced after kmod.sh.
#
#	init_net                            namespace rs-peer
#	rst 10.79.0.1, .4, fd00:79::1 ----- rsp 10.79.0.2, .3, fd00:79::2
#	 |
#	rxet
#
# The peer of the queue pairs is a program that sends the packets that a test lists, in
# that order, from ports that stand for paths. Nobody receives the answers of rxet; the
# tests read its counters and the PSN that it expects.

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

# module_start PARAMETER...
module_start()
{
	load "$@" && answers_start rst
}

module_end()
{
	answers_end rst
	busywait 20000 unload 2>/dev/null
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

shuffled=(b 1001 1003 1005 a 1000 1002 1004 1006)

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

# peers_up CHECKS: a test of so many checks begins
peers_up()
{
	ktap_plan "$1"
	check "a link leads to a peer without rxe" peer_make
	defer peer_end
	check "the module loads" module_start
	defer module_end
	peers_start
	defer peers_end
}
