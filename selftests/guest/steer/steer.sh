# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of steering share: a fabric, jobs on its hosts, traffic.

. selftests/net/fabric.sh
. selftests/qps.sh

export PATH=$PATH:$PWD/build/guest/selftests

port=18515

# steer_up: a fabric, the port map from host 0 to the
# first host of the next leaf and back in $dir.
steer_up()
{
	dir=$(mktemp -d)
	defer rm -rf "$dir"
	fabric_up --leaves 2 --rate 40mbit --host-rate 80mbit
	fabric_load
	defer fabric_down
	far=$hosts	# the first host under leaf 1
	mkdir /sys/fs/cgroup/test{0,"$far"}
	defer rmdir /sys/fs/cgroup/test{0,"$far"}
	discover 0 "$far" && discover "$far" 0
}

# Elsewhere what is short goes first, as acknowledgments are. MPI and UCX have short messages
# as well, and they must not overtake the long ones before them.
short_wait()
{
	local n

	for ((n = 0; n < leaves * hosts; n++)); do
		host_exec "$n" tc filter del dev "$(host_dev "$n")" parent 2: || return
	done
	for ((n = 0; n < leaves; n++)); do
		printf 'filter del dev spine%d parent 2:\n' $(seq 0 $((spines - 1))) |
			tc -n "leaf$n" -batch - || return
	done
	for ((n = 0; n < spines; n++)); do
		printf 'filter del dev leaf%d parent 2:\n' $(seq 0 $((leaves - 1))) |
			tc -n "spine$n" -batch - || return
	done
}

# discover HOST PEER [OPTION...]
discover()
{
	local host=$1 peer=$2
	shift 2

	host_exec "$host" rocesteer path discover --dev "$(host_dev "$host")" \
		--source "$(host_ip "$host")" --peer "$(host_ip "$peer")" \
		--out "$dir/ports$host.json" "$@"
}

# job_load HOST OPTION...: the job of a host, which may share its namespace
job_load()
{
	local host=$1
	shift

	host_exec "$host" rocesteer job load --job $((host + 1)) \
		--port-map "$dir/ports$host.json" "$@"
}

# As job_load, tagging by the cgroup that the host's traffic runs in.
job_load_cgroup()
{
	local host=$1
	shift

	job_load "$host" --cgroup "/sys/fs/cgroup/test$host" "$@"
}

job_unload()
{
	host_exec "$1" rocesteer job unload --job $(($1 + 1))
}

# hold NAME HOST DQPN COUNT [PSN [FACTOR]]: queue pairs of the host to DQPN and on of
# $far, which has none of them. They belong to the host's job if $launch begins with
# in_cgroup.
hold()
{
	qps_start "$1" "$(host_rdma "$2")" "$(host_ip "$2")" "$(host_ip "$far")" "${@:3}"
}

# in_cgroup HOST COMMAND...: on the host, in its cgroup
in_cgroup()
{
	echo $BASHPID >"/sys/fs/cgroup/test$1/cgroup.procs"
	host_exec "$@"
}

server_listens()
{
	[[ $(host_exec "$far" ss -Hltn "sport = :$port") ]]
}

# Stop what traffic_start began, if it still runs.
traffic_kill()
{
	kill "$server" "$client" 2>/dev/null
	wait "$server" "$client" 2>/dev/null
	return 0
}

# traffic_start [ib_write_bw's options]: from host 0 to $far, in the background
traffic_start()
{
	local common=(-F -m 4096 -u 20 -p "$port")

	in_cgroup "$far" timeout $((120 * TIME_SCALE)) ib_write_bw \
		-d "$(host_rdma "$far")" -x "$(host_gid "$far")" \
		"${common[@]}" "$@" >"$dir/server" 2>&1 &
	server=$!
	busywait 20000 server_listens || return
	in_cgroup 0 timeout $((120 * TIME_SCALE)) ib_write_bw \
		-d "$(host_rdma 0)" -x "$(host_gid 0)" \
		"${common[@]}" "$@" "$(host_ip "$far")" >"$dir/client" 2>&1 &
	client=$!
}

traffic_wait()
{
	local status=0

	wait "$client" || status=1
	wait "$server" || status=1
	((!status)) || tail -n 4 "$dir/client" "$dir/server"
	return $status
}

traffic()
{
	traffic_start "$@" && traffic_wait
}

# write_start QPS [TIMEOUT]: so many queue pairs write two MiB each from host 0 to
# $far, again and again until write_end, and check them. They wait 4.096 us *
# 2^TIMEOUT for an acknowledgment.
write_start()
{
	local host netns

	rm -f "$dir/traffic"
	mkfifo "$dir/traffic"
	timeout $((400 * TIME_SCALE)) build/guest/selftests/writes "$1" 65536 2 "${2:-20}" \
		<"$dir/traffic" >"$dir/writes" 2>&1 &
	writes=$!
	exec {traffic}>"$dir/traffic"
	for host in 0 "$far"; do
		netns=$(host_netns "$host")
		echo "host /sys/fs/cgroup/test$host" \
			"${netns:+/run/netns/}${netns:--}" \
			"$(host_rdma "$host") $(host_gid "$host")"
	done >&"$traffic"
	printf 'flow 0 1 %d\nrepeat\n' $((2 * $1 << 20)) >&"$traffic"
}

# No completion had an error, and no byte is another.
write_end()
{
	exec {traffic}>&-
	wait "$writes" && return
	cat "$dir/writes"
	return 1
}

# host_rate_set RATE: of host 0
host_rate_set()
{
	host_exec 0 tc qdisc change dev "$(host_dev 0)" root handle 1: \
		tbf rate "$1" burst 20k limit 8m
}

# hw_counter NAME: the sum over all rxe devices
hw_counter()
{
	awk '{ n += $1 } END { print n }' \
		/sys/class/infiniband/rxe*/ports/1/hw_counters/"$1"
}

stat_of()
{
	host_exec "$1" rocesteer --json stat | jq ".verdicts.$2"
}

flows_of()
{
	host_exec "$1" rocesteer --json flow show
}
