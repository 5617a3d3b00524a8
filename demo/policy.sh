# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # shared with demo/guest
#
# Policies of the demonstration: who chooses the path of a packet
#
# ecmp          the switches, from the ports that RDMA takes; one queue pair per
#               connection, here and unless told otherwise
# ecmp-2qp .. ecmp-8qp  the same with more queue pairs per connection
# spray         spray.bpf.c: each packet takes the next path, in no order
# spray-order   the same, and the module of rocesteer restores the order
# reps          spray.bpf.c: each packet takes a path that was good before; order likewise
#
# rocesteer, with its daemon:
#
# least         whole flows, each on the path with the fewest
# place         whole flows, on paths by their source's place under its leaf
# place-4qp     the same with as many queue pairs as paths
# label-4qp     by the flow labels of queue pairs, as hardware has to be steered: no program
#               is on the devices, and each connection has as many queue pairs as there
#               are paths
# label-8qp     the same with twice as many
# fewest        splits as few flows as can be
# all           splits all flows, over all paths
# all-weights   the same, with a port map that has the weight of a link that will be slow

policy_qps()
{
	case $1 in
	ecmp-?qp)	echo "${1:5:1}" ;;
	*-4qp)		echo "$paths" ;;
	*-8qp)		echo $((2 * paths)) ;;
	*)		echo 1 ;;
	esac
}

# rocesteer chooses the paths, with its daemon.
policy_is_ours()
{
	[[ $1 =~ ^(least|place.*|label.*|fewest|all.*)$ ]]
}

# Time limit of a run in seconds. Spraying may never end, because rxe drops packets ahead of
# their turn and goes back.
policy_patience()
{
	case $1 in
	spray)	echo $((10 + 5 * seconds)) ;;
	*)	echo 300 ;;
	esac
}

# N: queue pairs wait 4.096 us * 2^N for an acknowledgment. 34 s covers all queues. With
# spraying 1 s, which is long in the queues, because only the timer notices that rxe dropped
# the end of a message. With a dead link or core 4 s, because only the timer notices it.
policy_ack_timeout()
{
	case $1-${links:-} in
	spray-*)	echo 18 ;;
	*-dead | *-core)	echo 20 ;;
	*)		echo 23 ;;
	esac
}

# Options of "job load". For other sprayers rocesteer restores the order only; its ports are
# overwritten behind it.
job_options()
{
	case $1 in
	least | place)		echo --split none --deal "$1" ;;
	place-4qp)		echo --split none --deal place ;;
	label-*)		echo --actuator qp --deal least ;;
	fewest | all*)		echo --split "${1%-weights}" --resequence on ;;
	spray-order | reps)	echo --split none --resequence on ;;
	esac
}

# Once for each fabric: cgroups and port maps of all hosts
policies_prepare()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		mkdir -p "/sys/fs/cgroup/host$i"
	done
	ports=$out/ports-$hosts paths=$((aggs * (cores ? cores : 1)))
	mkdir "$ports"
	discover
}

# Addresses of the other hosts. Those under the same leaf are local in the port map, and tell
# the host's place under the leaf.
other_hosts()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		((i == $1)) || host_ip $i
	done
}

discover()
{
	local i pids=() expected=()

	# In a fat tree peers in the pod have other numbers of paths than those of other pods.
	((cores)) || expected=(--paths "$paths")
	say "finding the paths between $((leaves * hosts)) hosts"
	for ((i = 0; i < leaves * hosts; i++)); do
		host_exec $i rocesteer --json path discover \
			--dev "$(host_dev $i)" --source "$(host_ip $i)" \
			--peer "$(other_hosts $i | paste -sd,)" "${expected[@]}" \
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
	ecmp*)		return ;;
	spray)		spray_start egress spray; return ;;
	esac
	jobs_load "$1"
	case $1 in
	spray-order)	spray_start egress spray ;;
	reps)		spray_start egress reps ingress recycle ;;
	esac
}

policy_stop()
{
	case $1 in
	ecmp*)		return ;;
	spray* | reps)	spray_stop ;;
	esac
	[[ $1 == spray ]] || jobs_unload
}

# Keep the daemon's plans while the queue pairs exist.
policy_sample()
{
	policy_is_ours "$policy" || return 0
	plans=''
	busywait 20000 plans_settle || die "plans do not settle"
}

# Nothing is sent before traffic_go, so only plans can change.
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

# port_map HOST POLICY: the port map of its job. The operator may declare slow links: the one of
# links_break has half the weight.
port_map()
{
	local map=$ports/$1.json

	if [[ $2-${links:-} == *-weights-slow ]]; then
		jq --arg leaf 10.255.0.1 --arg spine 10.255.1.1 \
			--argjson own $(($1 < hosts)) '(.peers[] | select(.local | not) |
			select($own == 1 or .leaf == $leaf).paths[]) |=
			. + {weight: (if .router == $spine then 1 else 2 end)}' \
			"$map" >"$map.slow"
		map=$map.slow
	fi
	echo "$map"
}

jobs_load()
{
	local i

	daemons=()
	if policy_is_ours "$1"; then
		for ((i = 0; i < leaves * hosts; i++)); do
			host_exec $i rocesteer daemon >>"$ports/daemon$i" 2>&1 &
			daemons+=($!)
		done
		busywait 20000 daemons_ready || die "no daemons" "$ports"/daemon*
	fi
	for ((i = 0; i < leaves * hosts; i++)); do
		# shellcheck disable=SC2046 # a list
		host_exec $i rocesteer job load --job $((i + 1)) \
			--name "host$i" --port-map "$(port_map $i "$1")" \
			--cgroup "/sys/fs/cgroup/host$i" $(job_options "$1") \
			>/dev/null
	done
	[[ $1 != label-* ]] || devices_are_bare
}

# Packets of hardware pass no program, so those of labelled queue pairs must not either.
devices_are_bare()
{
	local i net

	for ((i = 0; i < leaves * hosts; i++)); do
		net=$(host_exec $i bpftool net show dev "$(host_dev $i)")
		[[ $net != *prog_id* ]] || die "programs are on the device of host $i: $net"
	done
	say "bpftool net shows no program on the devices of $((leaves * hosts)) hosts"
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
	# Not kill: the jobs of this shell are wrappers of the programs.
	pkill -TERM -x rocesteer
	wait "${daemons[@]}" || :
}

# The first port of each path in the port maps, as commands of "bpftool batch"
spray_table()
{
	jq -r --arg map "$pins/spray_ports" '
		.peers[] | select(.local | not) | (.paths | map(.ports[0])) as $ports |
		"map update pinned \($map) key \(.source) \(.address) value 0.0.0.0" |
		. + " \($ports | length).0.0.0" |
		. + ([range(64) | $ports[.] // 0 | " \(. / 256 | floor) \(. % 256)"] | add) |
		gsub("(?<=[0-9])\\.(?=[0-9])"; " ")' "$ports"/*.json
}

# spray_start [ingress|egress PROGRAM]...: at all hosts
spray_start()
{
	local i

	spray_table >"$ports/spray"
	bpftool batch file "$ports/spray" >/dev/null
	for ((i = 0; i < leaves * hosts; i++)); do
		attach_batch "$(host_dev $i)" "$@" | host_exec $i tc -batch -
	done
}

spray_stop()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		host_exec $i tc qdisc delete dev "$(host_dev $i)" clsact
	done
}
