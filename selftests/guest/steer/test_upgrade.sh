#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs and module are replaced, and jobs get other port maps, under traffic: no packet is
# lost, and flows keep their paths. The module in /lib/modules differs from the next one in
# its srcversion alone.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/guest/steer/steer.sh

qps=4
installed=/lib/modules/$(uname -r)/updates/rocesteer.ko

# install_module SRCVERSION: its last letters
install_module()
{
	sed "s/srcversion=[0-9A-F]\{4\}/srcversion=$1/" \
		"build/guest/$(uname -r)/rocesteer.ko" >"$installed"
}

install()
{
	mkdir -p "${installed%/*}"
	defer uninstall
	install_module 0001
	depmod && modprobe rocesteer
}

uninstall()
{
	busywait 10000 modprobe -r rocesteer
	rm -rf "${installed%/*}"
	depmod
}

loaded_is()
{
	[[ $(</sys/module/rocesteer/srcversion) == "$1"* ]]
}

all_have_paths()
{
	(($(flows_of 0 | jq '[.flows[] | select(.share)] | length') == qps))
}

paths()
{
	flows_of 0 | jq -c '[.flows[] | select(.share) | [.dqpn, .path]] | sort'
}

# Packets that should have been steered, and were not
off_plan()
{
	host_exec 0 rocesteer --json stat | jq '.verdicts | .untagged + .no_peer +
		.no_path + .unassigned + .table_full + .rewrite_failed + .user'
}

still_steered()
{
	local more=$(($(stat_of 0 steered) + 50))

	busywait 20000 steered_to "$more"
}

steered_to()
{
	(($(stat_of 0 steered) >= $1))
}

# under_traffic COMMAND...: meanwhile no packet is lost or leaves its plan. The rate is low,
# as a worker of rxe that always sends holds up the removal of programs.
under_traffic()
{
	local lost_before sequence off status before

	lost_before=$(lost)
	sequence=$(hw_counter out_of_seq_request)
	write_start "$qps" 23
	busywait 20000 all_have_paths
	host_rate_set $((4000 / TIME_SCALE))kbit
	off=$(off_plan)
	before=$(paths)
	still_steered && "$@" && still_steered
	status=$?
	echo "paths $before, then $(paths); off plan $off, then $(off_plan)"
	[[ $(off_plan) == "$off" ]] || status=1
	host_rate_set "$host_rate"
	((!status)) || { flows_of 0; host_exec 0 rocesteer stat; }
	write_end && ((!status)) || return
	echo "lost $(($(lost) - lost_before))"
	(($(lost) == lost_before)) &&
		(($(hw_counter out_of_seq_request) == sequence))
}

load_jobs()
{
	job_load_cgroup 0 && job_load_cgroup "$far"
}

# keeps_paths COMMAND...: flows have the same paths before and after it
keeps_paths()
{
	local before

	before=$(paths)
	"$@" && [[ $(paths) == "$before" ]]
}

# Id of the program that host 0 has pinned
egress_id()
{
	host_exec 0 bpftool -j prog show pinned \
		"$(host_exec 0 rocesteer --json prog show | jq -r .pins)/egress" | jq .id
}

new_programs()
{
	local before after

	before=$(egress_id)
	host_exec 0 rocesteer prog load &&
		host_exec 0 rocesteer --json prog show | jq -e .module || return
	after=$(egress_id)
	((after != before)) &&
		host_exec 0 bpftool -j net show dev "$(host_dev 0)" |
		jq -e --argjson id "$after" '[.. | .prog_id?] | index($id)' &&
		! find /sys/fs/bpf/rocesteer -name '*_old*' | grep .
}

without_module()
{
	host_exec 0 rocesteer prog load --module no &&
		host_exec 0 rocesteer --json prog show | jq -e '.module == false' &&
		still_steered && is_free && host_exec 0 rocesteer prog load &&
		host_exec 0 rocesteer --json prog show | jq -e .module
}

# Programs of other network namespaces may hold the module.
is_free()
{
	[[ $(host_netns 0) ]] || busywait 60000 not_held
}

not_held()
{
	(($(</sys/module/rocesteer/refcnt) == 0))
}

# Where each host has a namespace, programs of the other host hold the module.
new_module()
{
	install_module "$1"
	if [[ $(host_netns 0) ]]; then
		! host_exec 0 rocesteer --json prog load --module replace >"$dir/out" &&
			jq -e '.error.code == "modprobe"' "$dir/out" && loaded_is 0001 &&
			host_exec 0 rocesteer --json prog show | jq -e .module
	else
		host_exec 0 rocesteer --json prog load --module replace >"$dir/out"
		cat "$dir/out"
		jq -e '.module_replaced and .adopted >= 2 * '"$qps" "$dir/out" &&
			loaded_is "$1"
	fi
}

# The new module knows the flows, and sees their end.
adopted_flows_end()
{
	busywait 10000 no_flow && job_unload 0 && job_unload "$far"
}

no_flow()
{
	[[ $(paths) == "[]" ]]
}

is_split()
{
	(($(flows_of 0 | jq '[.flows[] | select(.share and (.pieces | length) > 1)] |
		length') == qps))
}

splits_again()
{
	busywait 20000 is_split && new_module "$1" && busywait 20000 is_split
}

split_flows()
{
	job_load_cgroup 0 --split all && job_load_cgroup "$far" --split all &&
		under_traffic splits_again 0003 && adopted_flows_end
}

# The path of most flows is not in the new map.
other_map()
{
	local map=$dir/ports0.json

	jq '.peers[] |= if .local then . else .paths |=
		(.[1:] | to_entries | map(.value + {path: .key})) end' "$map" \
		>"$dir/less.json" &&
		host_exec 0 rocesteer job replace --job 1 --port-map "$dir/less.json" \
			--cgroup /sys/fs/cgroup/test0 && paths && still_steered &&
		host_exec 0 rocesteer job replace --job 1 --port-map "$map" \
			--cgroup /sys/fs/cgroup/test0
}

leaves_nothing()
{
	host_exec 0 rocesteer prog unload
	host_exec "$far" rocesteer prog unload
	[[ ! $(ls /sys/fs/bpf/rocesteer) ]]
}

ktap_plan 10
check "a fabric and its port map are made" steer_up --rate 40mbit --host-rate 80mbit
check "the module is installed" install
check "jobs are loaded" load_jobs
check "programs are replaced under traffic" under_traffic keeps_paths new_programs
check "programs steer without the module, and call it again" \
	under_traffic keeps_paths without_module
check "the module is replaced under traffic, where no other namespace has it" \
	under_traffic keeps_paths new_module 0002
check "a job gets another port map under traffic, and the old one again" \
	under_traffic other_map
check "adopted flows end with their queue pairs" adopted_flows_end
check "split flows are split again after the module was replaced" split_flows
check "unloading leaves nothing" leaves_nothing
ktap_finish
