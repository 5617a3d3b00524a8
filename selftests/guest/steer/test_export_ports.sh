#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Learnt ports as options of ib_write_bw and variables of UCX, with no module and no program
# loaded; then UCX's lanes by the module, without a variable. The counters of the spines prove
# the balance.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh
. selftests/net/observe.sh

pins=/sys/fs/bpf/test-export
connects=$(few 3 34)	# of each number of queue pairs
fabrics=$(few 2 20)
missed_fabrics=$(few 0 1)	# where UCX has no factor that is exact

up()
{
	steer_up --rate 40mbit --host-rate 80mbit && short_wait && observe_up
}

# Lines "spine bytes dqpn port" of requests and responses from host 0 to $far
passed()
{
	bpftool --json map dump pinned "$pins/seen" |
		jq -r --arg to "$(host_ip "$far")" '.[].formatted |
			select(.key.sender == 3 and .key.ack == 0 and
				(.key.peer | map(tostring) | join(".")) == $to) |
			"\(.key.index) \(.value.bytes) \(.key.dqpn) \(.key.sport)"' |
		sort -n
}

nothing_loaded()
{
	[[ ! -e /sys/module/rocesteer && ! $(find /sys/fs/bpf/rocesteer -mindepth 1) ]]
}

# connects QPS OPTION...: each of $connects runs uses all spines evenly
connects()
{
	local qps=$1 i
	shift

	for ((i = 0; i < connects; i++)); do
		observe_forget
		traffic_start -q "$qps" -s 4096 -n 5 "$@" && traffic_wait || return
		if [[ $(passed | cut -d ' ' -f 1 | uniq -c | awk '{ print $1 }' |
			tr '\n' ' ') != "$((qps / spines)) $((qps / spines)) $((qps / spines)) $((qps / spines)) " ]]
		then
			passed
			return 1
		fi
	done
	echo "$connects connects with $qps queue pairs: all on plan"
}

perftest()
{
	local options qps

	options=$(host_exec 0 rocesteer path export "$dir/ports0.json" --for perftest |
		tee /dev/stderr | grep -v '^#')
	for qps in 4 8 16; do
		# shellcheck disable=SC2086 # options
		connects "$qps" $options || return
	done
	nothing_loaded
}

# ucx HOST ARGUMENT...: with one lane for each path. Without a terminal ucx_perftest takes MPI
# for its parent.
ucx()
(
	local host=$1
	shift

	in_cgroup "$host" env UCX_TLS=rc_v,self UCX_NET_DEVICES="$(host_rdma "$host"):1" \
		UCX_IB_GID_INDEX="$(host_gid "$host")" UCX_UD_VERBS_ETH_DGID_CHECK=n \
		UCX_RC_TIMEOUT=8s UCX_IB_NUM_PATHS="$spines" UCX_MAX_RNDV_RAILS="$spines" \
		"${variables[@]}" timeout $((120 * TIME_SCALE)) ucx_perftest "$@" </dev/ptmx
)

ucx_listens()
{
	[[ $(host_exec "$far" ss -Hltn "sport = :13337") ]]
}

# ucx_run VARIABLE=VALUE...: send messages of 1 MiB over all lanes
ucx_run()
{
	local variables=("$@") server status

	observe_forget
	ucx "$far" >"$dir/server" 2>&1 &
	server=$!
	busywait 30000 ucx_listens &&
		ucx 0 -t tag_bw -s 1048576 -n 16 -w 1 "$(host_ip "$far")" \
			>"$dir/client" 2>&1
	status=$?
	((!status)) || kill "$server"
	wait "$server" || status=1
	((!status)) || tail -n 12 "$dir/client" "$dir/server"
	return "$status"
}

# The fullest spine has at most 2 % more bytes than the mean.
is_even()
{
	passed >"$dir/passed"
	awk -v spines="$spines" '
		{ sum += $2; spine[$1] += $2 }
		END {
			for (s in spine)
				most = spine[s] > most ? spine[s] : most
			printf "fullest uplink %.3f of the mean\n", most * spines / sum
			exit !(sum > 16e6 && most * spines < 1.02 * sum)
		}' "$dir/passed" || { cat "$dir/passed"; return 1; }
}

# other_fabric SEED: and find its ports, with those of UCX's lanes
other_fabric()
{
	selftests/net/fabric.sh seed "$1" && rm -f "$dir"/ports*.json || return
	if ! discover 0 "$far" --for ucx >"$dir/discover" 2>&1 ||
	   ! discover "$far" 0 >>"$dir/discover" 2>&1; then
		cat "$dir/discover"
		return 1
	fi
}

lanes_by_export()
{
	local missed=0 seed variables

	for ((seed = 1; seed <= fabrics; seed++)); do
		other_fabric "$seed" || return
		mapfile -t variables < <(host_exec 0 rocesteer path export \
			"$dir/ports0.json" --for ucx | grep -v '^#' | sed 's/^export //')
		echo "fabric $seed: ${variables[*]}"
		ucx_run "${variables[@]}" || return
		is_even || missed=$((missed + 1))
	done
	echo "$missed of $fabrics fabrics uneven"
	nothing_loaded && ((missed <= missed_fabrics))
}

lanes_by_module()
{
	local seed host

	module_load && defer module_unload || return
	for ((seed = 1; seed <= fabrics; seed++)); do
		other_fabric "$seed" || return
		for host in 0 "$far"; do
			job_load_cgroup "$host" --actuator qp >/dev/null || return
		done
		ucx_run || return
		is_even || { flows_of 0; return 1; }
		for host in 0 "$far"; do
			job_unload "$host" >/dev/null || return
		done
	done
}

fabric_has_host_netns || skip_all "rxe knows no namespaces here"
ktap_plan 4
check "a fabric is up and observed" up
check "ib_write_bw with exported labels uses all spines evenly, with nothing loaded" perftest
check "UCX with an exported factor uses all spines evenly, with nothing loaded" lanes_by_export
check "the module steers UCX's lanes evenly without a variable" lanes_by_module
ktap_finish
