#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fuzz the module with packets and netlink messages. PACKETS=N, in steps of 6000, and
# MESSAGES=N, at least 8000, are how many.
#
#	rsa 10.77.0.1 ------------- rsb 10.77.0.2, fd00:77::2; rsb.7 10.77.7.2, fd00:7::2
#	 |  sends, for 10.77.0.9     |  rxeb: queue pairs connected to ::9 of each network,
#	rxea and the other ::9       |  resequenced; what they send is mutated by mangle

set -u
cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh
. selftests/guest/kmod/kmod.sh
. selftests/guest/kmod/split_flows.sh

packets=${PACKETS:-6000}
messages=${MESSAGES:-8000}
some=3000	# packets to one set of queue pairs: few live for more
rounds=$(((packets + 2 * some - 1) / (2 * some)))
number=4	# queue pairs of a kind
hunted=$cgroup-hunted

# By kind: device, own address, the peer's, the peer's first queue pair number
kinds=(four six four7 six7)
declare -A device=([four]=rsb [six]=rsb [four7]=rsb.7 [six7]=rsb.7)
declare -A own=([four]=10.77.0.2 [six]=fd00:77::2 [four7]=10.77.7.2 [six7]=fd00:7::2)
declare -A peer=([four]=10.77.0.9 [six]=fd00:77::9 [four7]=10.77.7.9 [six7]=fd00:7::9)
declare -A first=([four]=100 [six]=200 [four7]=300 [six7]=400)

up()
{
	local kind
	world_make && mkdir "$cgroup" "$hunted" || return
	modprobe -a 8021q nf_tables nft_queue nfnetlink_queue 2>/dev/null
	# GRO makes lists only, because a socket is there, as in test_resequence.
	ethtool -K rsb gro on rx-gro-list on &&
		echo 10000000 >/sys/class/net/rsb/gro_flush_timeout || return
	ip address add fd00:77::2/64 dev rsb nodad
	ip link add link rsb name rsb.7 type vlan id 7
	ip address add 10.77.7.2/24 dev rsb.7
	ip address add fd00:7::2/64 dev rsb.7 nodad
	ip link set rsb.7 up
	ip route add "${peer[four]}" dev rsb src 10.77.0.2 table 72
	for kind in "${kinds[@]}"; do
		ip neighbour replace "${peer[$kind]}" lladdr 02:00:00:00:00:09 \
			dev "${device[$kind]}" || return
	done
}

down()
{
	ip link del rsb.7
	rmdir "$cgroup" "$hunted"
	world_end
}

enter()
{
	echo "$BASHPID" >"$hunted/cgroup.procs" && exec "$@"
}

# Queue pairs of all kinds, of job 1, and their next PSNs
prey()
{
	local kind launch=(enter)
	"$genl" job-add id=1 resequence=1 "cgroup-id=$(command stat -c %i "$hunted")" ||
		return
	for kind in "${kinds[@]}"; do
		qps_start "$kind" rxeb "${own[$kind]}" "${peer[$kind]}" \
			"${first[$kind]}" "$number" 1000 || return
	done
	look && is "$(field sqpn echo "$flows" | wc -w)" $((${#kinds[@]} * number)) || return
	before=()
	for kind in "${!now[@]}"; do
		before[$kind]=${now[$kind]}
	done
}

# Each of them sends 24 READs.
ask()
{
	local kind i
	for kind in "${kinds[@]}"; do
		qps_tell "$kind" rts || return
		for ((i = 0; i < 24; i++)); do
			qps_tell "$kind" read || return
		done
	done
}

prey_end()
{
	local kind
	for kind in "${kinds[@]}"; do
		qps_end "$kind"
	done
	"$genl" job-del id=1
	busywait 20000 stat_is flows 0 && is "$(stat reseq-bytes)" 0
}

# Mutate the packets that they send, until mangle_end.
mangle_start()
{
	local line=
	mkfifo "$dir/in" "$dir/out"
	"$build/selftests/mangle" "$1" <"$dir/in" >"$dir/out" &
	mangle_pid=$!
	exec {mangle_in}>"$dir/in" {mangle_out}<"$dir/out"
	rm "$dir/in" "$dir/out"
	read -r -t $((60 * TIME_SCALE)) -u "$mangle_out" line
	is "$line" ready
}

mangle_end()
{
	exec {mangle_in}>&- {mangle_out}<&-
	wait "$mangle_pid"
}

# mangled NAME: a counter of mangle
mangled()
{
	local line=
	echo >&"$mangle_in"
	read -r -t $((60 * TIME_SCALE)) -u "$mangle_out" line
	field "$1" echo "$line"
}

# look: read the counters and the flows
declare -A now before
look()
{
	local word
	flows=$("$genl" flow-dump) || return
	for word in $("$genl" stats-get); do
		now[${word%=*}]=${word#*=}
	done
}

# grown COUNTER: its growth since the queue pairs were connected
grown()
{
	echo $((now[$1] - before[$1]))
}

# sum FIELD [KIND]: over all flows
sum()
{
	local flow word total=0
	while read -r flow; do
		[[ $flow == *" dqpn=${2:+${first[$2]%0}}"* ]] || continue
		for word in $flow; do
			[[ $word != "$1="* ]] || ((total += ${word#*=}))
		done
	done <<<"$flows"
	echo "$total"
}

# flood all|responses SEED: send packets, and set the number of requests by kind
flood()
{
	local lowest kind
	local -a addresses
	for kind in "${kinds[@]}"; do
		addresses+=("${peer[$kind]}" "${own[$kind]}")
	done
	lowest=$(field sqpn echo "$flows" | sort -n | head -n 1)
	requests=$("$build/selftests/kmod-packets" "$1" "$some" "$2" rsa \
		"$(</sys/class/net/rsb/address)" "$lowest" $((2 * number)) 900 \
		"${addresses[@]}")
}

# The packets that have waited are counted, and none waits any more.
settled()
{
	local name
	look && [[ $flows != *reseq-depth=[1-9]* ]] || return
	for name in held lost timeout; do
		[[ $(sum "reseq-$name") == "$(grown "reseq-$name")" ]] || return
	done
}

# Packets of each kind, and aggregates, have reached the module.
counts()
{
	local name kind
	busywait 60000 settled || { echo "$flows"; return 1; }
	echo "$(grown reseq-held) held, $(grown reseq-gso) aggregates"
	for kind in "${kinds[@]}"; do
		echo "$kind: $(sum reseq-held "$kind") held"
		(($(sum reseq-held "$kind"))) || return
	done
	for name in foreign gso behind filled; do
		(($(grown "reseq-$name"))) || { echo "no $name"; return 1; }
	done
}

# The module notes more READs than those not mutated, and not more than all.
mutated_are_noted()
{
	local naks
	look && naks=$(mangled naks) &&
		(($(grown reseq-nak) > naks - $(mangled mutated-naks) &&
		  $(grown reseq-nak) <= naks + $(mangled mutated-asks)))
}

all_kinds()
{
	prey && mangle_start "$1" && flood all "$1" && counts &&
		busywait 20000 mutated_are_noted
	local result=$?
	echo "$(mangled naks) NAKs have left, $(mangled mutated-naks) of them mutated;" \
		"$(grown reseq-nak) were noted, $(mangled mutated-asks) READs made"
	mangle_end && prey_end && return "$result"
}

# With outstanding READs responses wait, not just requests.
answers()
{
	prey && ask && look && is "$(grown reseq-nak)" 0 && mangle_start "$1" &&
		flood responses "$1" && counts && are_responses
	local result=$?
	echo "requests: $requests, $(mangled mutated-asks) READs were mutated"
	mangle_end && prey_end && return "$result"
}

are_responses()
{
	local kind
	for kind in "${kinds[@]}"; do
		(($(sum reseq-held "$kind") > $(field "$kind" echo "$requests"))) || return
	done
}

# each COMMAND: run it with the seed of each round
each()
{
	local seed
	for ((seed = 1; seed <= rounds; seed++)); do
		"$1" "$seed" || return
	done
}

# mangle makes READs go back, or too far ahead to be remembered.
asks_mangled()
{
	prey && mangle_start 1 && ask && (($(mangled mutated-asks))) &&
		busywait 20000 reads_are_noted
	local result=$?
	echo "$(mangled mutated-asks) READs were mutated: $(grown reseq-nak) went back," \
		"$(grown reseq-no-memory) could not be remembered"
	mangle_end && prey_end && return "$result"
}

reads_are_noted()
{
	look && (($(grown reseq-nak) + $(grown reseq-no-memory) > $(mangled naks)))
}

traffic()
{
	"$genl" job-add id=2 resequence=1 \
		"cgroup-id=$(command stat -c %i "$cgroup")" || return
	timeout 120 "$writes" 1 65536 4 18 <<-E
		host $cgroup - rxea $(gid_index rxea 10.77.0.1)
		host $cgroup - rxeb $(gid_index rxeb 10.77.0.2)
		flow 0 1 2097152
	E
	local result=$?
	"$genl" job-del id=2
	return "$result"
}

# Without CAP_NET_ADMIN only the counters can be read.
unprivileged()
{
	local was out
	"$genl" job-add id=1 resequence=1 &&
		"$genl" flow-add ifindex=1 peer=10.0.0.1 dqpn=7 job=1 || return
	was=$("$genl" job-dump && "$genl" flow-dump)
	out=$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps=-all "$dir/messages" "$messages" 1) && echo "$out" &&
		[[ $out == "changes=0 denied="[1-9]*" missing="* ]] &&
		is "$("$genl" job-dump && "$genl" flow-dump)" "$was"
}

privileged()
{
	local out
	out=$("$build/selftests/kmod-messages" "$messages" 2) && echo "$out" &&
		[[ $out == "changes="[1-9]*" denied=0 missing=0" ]]
}

jobs_end()
{
	local id
	for id in $(field id "$genl" job-dump); do
		"$genl" job-del "id=$id" || return
	done
	is "$(stat jobs)" 0 && busywait 5000 stat_is flows 0
}

ktap_plan 10
chmod 755 "$dir"
cp "$build/selftests/kmod-messages" "$dir/messages"
check "the link has a wire, a VLAN and GRO" up
check "the module loads" eval "load && answers_start rsb && answers_start rsb.7"
defer down
check "$((rounds * some)) packets arrive, some of them mutated" each all_kinds
check "$((rounds * some)) packets answer outstanding READs, some of them mutated" each answers
check "READ requests are mutated at LOCAL_OUT" asks_mangled
check "a genuine queue pair works after the fuzzing" traffic
check "$messages unprivileged netlink messages change nothing" unprivileged
check "$messages privileged netlink messages are answered" privileged
check "fuzzed jobs and flows can be deleted, and the module unloads" \
	eval "jobs_end && answers_end rsb && answers_end rsb.7 && busywait 20000 unload"
check "the kernel did not complain" kernel_quiet
ktap_finish
