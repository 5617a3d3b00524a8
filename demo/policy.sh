# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # shared with demo/guest
#
# The policies of the demonstration: who chooses the way of a packet.
#
# ecmp            the switches, from the ports that RDMA takes; one queue pair
#                 per connection, here and unless told otherwise
# ecmp-8qp        the same with eight queue pairs per connection
# spray           spray.bpf.c: each packet the next path, order is nobody's care
# ethereal        rocesteer, whole flows: as many queue pairs as paths
# ethereal-equal  rocesteer, splits flows by the rule of the Ethereal paper
# ethereal-wrap   rocesteer, splits flows as little as possible

policy_qps()
{
	case $1 in
	ecmp-8qp)	echo 8 ;;
	ethereal)	echo "$spines" ;;
	*)		echo 1 ;;
	esac
}

# Seconds that a run may take, with the time to start. Spraying may take for ever:
# rxe drops what is ahead of its turn and goes back.
policy_patience()
{
	case $1 in
	spray)	echo $((10 + 5 * seconds)) ;;
	*)	echo 300 ;;
	esac
}

# N, where queue pairs wait 4.096 us * 2^N for an acknowledgment: 34 s, which packets
# may spend in queues. Sprayed 1 s, which is long in the queues: it is all that
# finds out about what rxe dropped at the end of a message.
policy_ack_timeout()
{
	case $1 in
	spray)	echo 18 ;;
	*)	echo 23 ;;
	esac
}

# What "job load" is told about splitting.
job_options()
{
	case $1 in
	ethereal-*)	echo --split "${1#ethereal-}" --resequence on ;;
	esac
}

# Once per fabric: cgroups and port maps of all hosts.
policies_prepare()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		mkdir -p "/sys/fs/cgroup/host$i"
	done
	ports=$out/ports-$hosts
	mkdir "$ports"
	discover
}

# Addresses of the hosts under other leaves.
far_hosts()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		(($(host_leaf $i) == $(host_leaf "$1"))) || host_ip $i
	done
}

discover()
{
	local i pids=()

	say "finding the paths between $((leaves * hosts)) hosts"
	for ((i = 0; i < leaves * hosts; i++)); do
		host_exec $i rocesteer --json path discover \
			--dev "$(host_dev $i)" --source "$(host_ip $i)" \
			--paths "$spines" --peer "$(far_hosts $i | paste -sd,)" \
			--out "$ports/$i.json" >"$ports/log$i" 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || die "paths not found" "$ports"/log*
	done
}

policy_start()
{
	case $1 in
	spray)		spray_start ;;
	ethereal*)	jobs_load "$1" ;;
	esac
}

policy_stop()
{
	case $1 in
	spray)		spray_stop ;;
	ethereal*)	jobs_unload ;;
	esac
}

# Keep what rocesteer daemon has planned, while the queue pairs are there.
policy_sample()
{
	[[ $policy == ethereal-* ]] || return 0
	plans=''
	busywait 20000 plans_settle || die "plans do not settle"
}

# Nothing is sent before traffic_go: all that can change is the plans.
plans_settle()
{
	local i pids=() before=$plans

	for ((i = 0; i < leaves * hosts; i++)); do
		host_exec $i rocesteer --json flow show >"$dir/plan$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
	plans=$(cat "$dir"/plan*)
	[[ $plans == "$before" ]]
}

jobs_load()
{
	local i

	daemons=()
	if [[ $1 == ethereal-* ]]; then
		for ((i = 0; i < leaves * hosts; i++)); do
			host_exec $i rocesteer daemon >>"$ports/daemon$i" 2>&1 &
			daemons+=($!)
		done
		busywait 20000 daemons_ready || die "no daemons" "$ports"/daemon*
	fi
	for ((i = 0; i < leaves * hosts; i++)); do
		# shellcheck disable=SC2046 # a list
		host_exec $i rocesteer job load --job $((i + 1)) \
			--name "host$i" --port-map "$ports/$i.json" \
			--cgroup "/sys/fs/cgroup/host$i" $(job_options "$1") \
			>/dev/null
	done
}

daemons_ready()
{
	local sockets=(/run/rocesteer/*.sock)

	((${#sockets[@]} == leaves * hosts))
}

jobs_unload()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		host_exec $i rocesteer job unload --job $((i + 1)) >/dev/null
	done
	((${#daemons[@]})) || return 0
	# Not kill: the jobs of this shell are the wrappers that they run in.
	pkill -TERM -x rocesteer
	wait "${daemons[@]}" || :
}

# The port maps as commands of "bpftool batch": of each path the first port.
spray_table()
{
	jq -r --arg map "$pins/spray_ports" '
		.peers[] | select(.local | not) | (.paths | map(.ports[0])) as $ports |
		"map update pinned \($map) key \(.source) \(.address) value 0.0.0.0" |
		. + " \($ports | length).0.0.0" |
		. + ([range(64) | $ports[.] // 0 | " \(. / 256 | floor) \(. % 256)"] | add) |
		gsub("(?<=[0-9])\\.(?=[0-9])"; " ")' "$ports"/*.json
}

spray_start()
{
	local i

	spray_table >"$ports/spray"
	bpftool batch file "$ports/spray" >/dev/null
	for ((i = 0; i < leaves * hosts; i++)); do
		attach_batch "$(host_dev $i)" egress spray |
			host_exec $i tc -batch -
	done
}

spray_stop()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		host_exec $i tc qdisc delete dev "$(host_dev $i)" clsact
	done
}
