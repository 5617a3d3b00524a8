# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Hosts that have a NIC in each dimension of a grid.
#
#	host0 .. hostN-1	namespaces; in dimension k eth<k>, 10.<k+1>.0.i+1/16,
#				RDMA device rxe<i>_<k>
#	grid			namespace with a bridge for each dimension
#
# grid_up RANKS RATE0 RATE1 ..	RATEk is of each host in dimension k, for tbf;
#				tc's units
# grid_down
#
# Work is done in batches, because starting a process is slow under TCG.

. selftests/net/fabric.sh

grid_ranks=0
grid_rates=()

grid_mac()
{
	printf -v "$3" '02:00:01:00:%02x:%02x' "$1" "$2"
}

grid_links()
{
	local i k mac

	for ((k = 0; k < ${#grid_rates[@]}; k++)); do
		echo "link add br$k netns grid mtu $fabric_mtu type bridge"
		for ((i = 0; i < grid_ranks; i++)); do
			grid_mac "$i" "$k" mac
			echo "link add host${i}_$k netns grid mtu $fabric_mtu" \
				"type veth peer name eth$k netns host$i" \
				"mtu $fabric_mtu address $mac"
		done
	done
}

grid_switch()
{
	local i k

	for ((k = 0; k < ${#grid_rates[@]}; k++)); do
		echo "link set br$k up"
		for ((i = 0; i < grid_ranks; i++)); do
			echo "link set host${i}_$k master br$k up"
		done
	done
}

grid_host()
{
	local i=$1 k peer mac

	echo "link set lo up"
	for ((k = 0; k < ${#grid_rates[@]}; k++)); do
		echo "link set eth$k up"
		echo "addr add 10.$((k + 1)).0.$((i + 1))/16 dev eth$k"
		for ((peer = 0; peer < grid_ranks; peer++)); do
			grid_mac "$peer" "$k" mac
			((peer == i)) || echo "neigh add 10.$((k + 1)).0.$((peer + 1))" \
				"lladdr $mac dev eth$k"
		done
	done
}

# RDMA devices are made one by one, each in its namespace.
grid_rdma()
{
	local i=$1 k

	for ((k = 0; k < ${#grid_rates[@]}; k++)); do
		echo "link add rxe${i}_$k type rxe netdev eth$k"
	done
}

grid_up()
{
	local i k cpus

	grid_ranks=$1
	shift
	grid_rates=("$@")
	modprobe -a bridge cls_u32 ib_uverbs rdma_rxe sch_prio sch_tbf veth
	cpus=$(cpu_mask)
	{
		echo "netns add grid"
		for ((i = 0; i < grid_ranks; i++)); do
			echo "netns add host$i"
		done
	} | ip -batch - || return
	for ((i = 0; i < grid_ranks; i++)); do
		host_sysctl | netns_exec "host$i" sysctl -q -p - || return
	done
	netns_exec grid sysctl -q -w "net.core.rps_default_mask=$cpus" &&
		grid_links | ip -batch - &&
		grid_switch | ip -n grid -batch - || return
	for ((i = 0; i < grid_ranks; i++)); do
		grid_host "$i" | ip -n "host$i" -batch - || return
		for ((k = 0; k < ${#grid_rates[@]}; k++)); do
			tbf_batch "${grid_rates[k]}" "eth$k"
		done | tc -n "host$i" -batch - || return
		grid_rdma "$i" | netns_exec "host$i" rdma -b - || return
	done
}

# grid_rate R: what tc calls R millionths of a GiB/s, with the headers of packets of 4 KiB
grid_rate()
{
	awk -v r="$1" 'BEGIN { printf "%.0fbps", r * 2^30 / 1e6 * (4096 + 74) / 4096 }'
}

grid_is_gone()
{
	[[ ! $(ip netns list) && ! $(rdma link show) ]]
}

# RDMA devices go before their namespaces, as in fabric.sh.
grid_down()
{
	local i k

	((grid_ranks)) || return 0
	for ((i = 0; i < grid_ranks; i++)); do
		for ((k = 0; k < ${#grid_rates[@]}; k++)); do
			echo "link del rxe${i}_$k"
		done
	done | rdma -f -b - 2>/dev/null
	{
		echo "netns del grid"
		for ((i = 0; i < grid_ranks; i++)); do
			echo "netns del host$i"
		done
	} | ip -force -batch -
	grid_ranks=0
	busywait 20000 grid_is_gone
}

# rank RANK OPTION...: start rocesteer-perf on that host in the background, with its output in
# $dir/out<RANK>
rank()
{
	local rank=$1 k dev=''
	shift

	for ((k = 0; k < ${#grid_rates[@]}; k++)); do
		dev+=${dev:+,}rxe${rank}_$k
	done
	# nsenter execs, so the pid is the rank's own.
	# shellcheck disable=SC2154 # the test sets it
	nsenter --net="/run/netns/host$rank" rocesteer-perf --rank "$rank" \
		--rendezvous 10.1.0.1 --rdma-dev "$dev" "$@" >"$dir/out$rank" 2>&1 &
	# shellcheck disable=SC2034 # for the tests
	pid[rank]=$!
}

capture=()
capture_early=()

capture_answers()
{
	(($(wc -l <"$dir/log$1") > $2))
}

# capture_waits K: print how many packets tcpdump was given and has not captured, or fail if
# packets were lost. Packets before the filter is attached are given, and never captured.
capture_waits()
{
	local lines

	lines=$(wc -l <"$dir/log$1")
	kill -USR1 "${capture[$1]}" && busywait 10000 capture_answers "$1" "$lines" &&
		tail -n 1 "$dir/log$1" | awk '{ print $5 - $2; exit $10 != 0 }'
}

# capture_begin HOST FILTER: capture the host's packets of dimension k to $dir/capture<k>
capture_begin()
{
	local k

	for ((k = 0; k < ${#grid_rates[@]}; k++)); do
		nsenter --net="/run/netns/$1" tcpdump -i "eth$k" --immediate-mode \
			-s 128 -B 8192 -U -w "$dir/capture$k" "$2" 2>"$dir/log$k" &
		capture[k]=$!
		busywait 10000 grep -q 'listening on' "$dir/log$k" &&
			capture_early[k]=$(capture_waits "$k") || return
	done
}

# tcpdump drops what is in its ring when it ends.
capture_complete()
{
	local waits

	waits=$(capture_waits "$1") && ((waits == capture_early[$1]))
}

capture_end()
{
	local k status=0

	for k in "${!capture[@]}"; do
		busywait 10000 capture_complete "$k" || status=1
		kill "${capture[k]}" && wait "${capture[k]}"
	done
	capture=()
	((!status)) || tail -n 4 "$dir"/log*
	return "$status"
}

# finish [STATUS]: every rank of pid ends with it
finish()
{
	local i status bad=0

	for i in "${!pid[@]}"; do
		wait "${pid[i]}"
		status=$?
		((status == ${1:-0})) || bad=1
		((!status)) || echo "rank $i: $status: $(tail -n 1 "$dir/out$i" | cut -c 1-300)"
	done
	pid=()
	return "$bad"
}

# all_say TEXT: every rank that has ended has printed it
all_say()
{
	! grep -L -F -- "$1" "$dir"/out* | grep .
}
