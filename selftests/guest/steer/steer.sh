# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of steering: a fabric, jobs on its hosts, and traffic.

. selftests/net/fabric.sh
. selftests/qps.sh

export PATH=$PATH:$PWD/build/guest/selftests

port=18515

# steer_fabric OPTION...: a fabric by these options of fabric_up, of two leaves unless they
# say otherwise, a cgroup for each host, and a directory for files, $dir.
steer_fabric()
{
	local cgroups

	dir=$(mktemp -d)
	defer rm -rf "$dir"
	fabric_up --leaves 2 "$@"
	fabric_load
	defer fabric_down
	far=$hosts	# the first host under leaf 1
	mapfile -t cgroups < <(seq -f /sys/fs/cgroup/test%g 0 $((leaves * hosts - 1)))
	mkdir "${cgroups[@]}" && defer rmdir "${cgroups[@]}"
}

# steer_up OPTION...: steer_fabric, and port maps from host 0 to $far and back
steer_up()
{
	steer_fabric "$@" && discover 0 "$far" && discover "$far" 0
}

# discover_all OPTION...: port maps of all hosts to the hosts under the other leaves
discover_all()
{
	local i peers pids=()

	for ((i = 0; i < leaves * hosts; i++)); do
		peers=$(far_hosts "$i")
		host_exec "$i" rocesteer path discover --dev "$(host_dev "$i")" \
			--source "$(host_ip "$i")" --peer "$peers" \
			--out "$dir/ports$i.json" "$@" >"$dir/log$i" 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || { cat "$dir"/log*; return 1; }
	done
}

far_hosts()
{
	local i

	for ((i = 0; i < leaves * hosts; i++)); do
		(($(host_leaf "$i") == $(host_leaf "$1"))) || host_ip "$i"
	done | paste -sd,
}

# Do not let short packets overtake others: MPI and UCX have short messages, too.
short_wait()
{
	local n router

	for ((n = 0; n < leaves * hosts; n++)); do
		host_exec "$n" tc filter del dev "$(host_dev "$n")" parent 2: || return
	done
	for router in $(routers); do
		devices "$router" | sed 's/.*/filter del dev & parent 2:/' |
			tc -n "$router" -batch - || return
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

# job_load HOST OPTION...: the job has the host's number plus one, as hosts may share a
# namespace; its flows are whole, unless an option is --split
job_load()
{
	local host=$1 whole=(--split none)
	shift
	[[ " $* " != *" --split "* ]] || whole=()

	host_exec "$host" rocesteer job load --job $((host + 1)) \
		--port-map "$dir/ports$host.json" "${whole[@]}" "$@"
}

# job_load_cgroup HOST OPTION...: a job by the cgroup of the host's traffic
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

# jobs_unload HOST...: unload the jobs of all hosts that have one, and leave nothing behind
jobs_unload()
{
	local host

	for host; do
		job_unload "$host" || return
	done
	[[ ! $(ls /sys/fs/bpf/rocesteer) ]]
}

# hold NAME HOST DQPN COUNT [PSN [FACTOR]]: queue pairs of the host, connected to DQPN and on
# of $far, which has none of these. They belong to the host's job if $launch begins with
# in_cgroup.
hold()
{
	qps_start "$1" "$(host_rdma "$2")" "$(host_ip "$2")" "$(host_ip "$far")" "${@:3}"
}

second=10.1.0.77

# second_address: host 0 gets another address, and its RDMA device the GID
second_address()
{
	second_address_do add && busywait 10000 has_gid 004d
}

# second_address_do add|del; in a namespace that hosts share, its packets go as those of host 0
second_address_do()
{
	host_exec 0 ip address "$1" "$second/24" dev "$(host_dev 0)" || return
	fabric_has_host_netns ||
		ip rule "$1" pref 10 iif lo from "$second" to 10.1.0.0/16 lookup 100
}

# has_gid HEX: of 10.1.0.0/16, the last two bytes of the address
has_gid()
{
	grep -q "ffff:0a01:$1" "/sys/class/infiniband/$(host_rdma 0)"/ports/1/gids/*
}

tagged=10.1.0.129

# vlan_up: host 0 has VLAN 7 to its leaf, with an address of its own
vlan_up()
{
	modprobe 8021q && ip -n leaf0 -batch - <<-E && host_exec 0 ip -batch - <<-E &&
		link add link host0 name host0.7 up type vlan id 7
		address add 10.1.0.254/25 dev host0.7
	E
		link add link eth0 name eth0.7 up type vlan id 7
		address add $tagged/25 dev eth0.7
		route add default via 10.1.0.254 dev eth0.7 table 200
		rule add pref 10 iif lo from $tagged to 10.1.0.0/16 lookup 200
	E
		busywait 10000 has_gid 0081
}

vlan_down()
{
	ip -n leaf0 link del host0.7 && host_exec 0 ip link del eth0.7 &&
		host_exec 0 ip rule del pref 10 from "$tagged"
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

# Stop the traffic of traffic_start, if it still runs.
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

# write_start QPS [TIMEOUT]: so many queue pairs write two MiB each from host 0 to $far, and
# check them, again and again until write_end. Their timeout is 4.096 us * 2^TIMEOUT.
write_start()
{
	local host

	rm -f "$dir/traffic"
	mkfifo "$dir/traffic"
	timeout $((400 * TIME_SCALE)) build/guest/selftests/writes "$1" 65536 2 "${2:-20}" \
		<"$dir/traffic" >"$dir/writes" 2>&1 &
	writes=$!
	exec {traffic}>"$dir/traffic"
	for host in 0 "$far"; do
		host_line "$host" "/sys/fs/cgroup/test$host"
	done >&"$traffic"
	printf 'flow 0 1 %d\nrepeat\n' $((2 * $1 << 20)) >&"$traffic"
}

# No completion had an error, and no byte differs.
write_end()
{
	exec {traffic}>&-
	wait "$writes" && return
	cat "$dir/writes"
	return 1
}

# Bytes that each leaf has sent to each spine, with Ethernet headers: a list for each leaf
uplinks()
{
	fabric_links | jq -c .uplinks
}

# Bytes on all links between leaves and spines
link_bytes()
{
	fabric_links | jq -c '[.uplinks, .downlinks] | flatten'
}

# slice VERB...: the command, for the cluster in $dir/cluster.json
slice()
{
	rocesteer --json slice "$@" --cluster "$dir/cluster.json"
}

# Nothing is sent for a while but probes of the daemons.
is_quiet()
{
	local before

	before=$(uplinks)
	sleep 0.3
	jq -n -e --argjson a "$before" --argjson b "$(uplinks)" \
		'([$b[][]] | add) - ([$a[][]] | add) < 4000' >/dev/null
}

# write_pause, write_go_on: between them the flows of write_start send nothing.
write_pause()
{
	pkill -STOP -x writes && busywait 30000 is_quiet
}

write_go_on()
{
	pkill -CONT -x writes
}

# host_rate_set RATE: of host 0
host_rate_set()
{
	host_exec 0 tc qdisc change dev "$(host_dev 0)" root handle 1: \
		tbf rate "$1" burst 20k limit 8m
}

# daemon_up: the daemon of host 0, whose events go to $dir/daemon
daemon_up()
{
	host_exec 0 rocesteer --json daemon >"$dir/daemon" 2>&1 &
	defer daemon_down $!
	busywait 20000 daemon_runs
}

daemon_runs()
{
	[[ -S $(echo /run/rocesteer/netns-*.sock) ]]
}

daemon_down()
{
	pkill -TERM -x rocesteer && wait "$1"
}

# connected_qps HOST: RC queue pairs that can send
connected_qps()
{
	host_exec "$1" rdma -j resource show qp link "$(host_rdma "$1")" |
		jq '[.[] | select(.type == "RC" and .state == "RTS")]'
}

# are_connected COUNT: so many queue pairs of host 0, or more
are_connected()
{
	(($(connected_qps 0 | jq length) >= $1))
}

# Packets that an rxe device has sent, and none has received
lost()
{
	echo $(($(hw_counter sent_pkts) - $(hw_counter rcvd_pkts)))
}

# hw_counter NAME: the sum over all rxe devices
hw_counter()
{
	awk '{ n += $1 } END { print n }' \
		/sys/class/infiniband/rxe*/ports/1/hw_counters/"$1"
}

# Flows that the groups of host 0's job count: "[N]", as the job has one group
dealt()
{
	host_exec 0 rocesteer --json job show --job 1 |
		jq -c '[.. | .flows? | arrays | add]'
}

# reseq_held HOST: packets that have waited for others there
reseq_held()
{
	host_exec "$1" rocesteer --json stat | jq '.module.reseq_held'
}

# No table or program is left of a job.
nothing_pinned()
{
	local left

	left=$(find /sys/fs/bpf/rocesteer -mindepth 1)
	[[ ! $left ]] || { echo "$left"; return 1; }
}

stat_of()
{
	host_exec "$1" rocesteer --json stat | jq ".verdicts.$2"
}

flows_of()
{
	host_exec "$1" rocesteer --json flow show
}

# All commands end with the daemons, as the monitor does.
daemons_down()
{
	pkill -TERM -x rocesteer
	busywait 20000 no_daemon
}

no_daemon()
{
	! pgrep -x rocesteer >/dev/null
}
