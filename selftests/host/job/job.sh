# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of jobs without the module, in a network namespace and a BPF file system of their own:
# sourced behind own_namespaces.

. selftests/host/lib/command.sh

ready()
{
	veth rs0 rs1 && ip address add 10.1.0.1/24 dev rs0 &&
		ip address add fd00::1/64 dev rs0 nodad || return
	port_map rs0 "$(peer 10.1.1.1 49152 49160)" '{
	  "address":"fd00:1::2","source":"fd00::1","local":false,
	   "leaf":"fd00:255::2","probed":1,"paths":[
	    {"path":0,"router":"fd00:255:1::1","ports":[50000]}]}' "$near" >"$map"
}

job()
{
	timeout 30 "$rocesteer" --json job "$@"
}

state()
{
	job list
	job show --job 7
	"$rocesteer" --json flow show
}

empty()
{
	job list | jq -e '.jobs == []' &&
		"$rocesteer" --json flow show | jq -e '.flows == []' &&
		[[ $(ip -d link show rs0) != *tcx* ]] &&
		[[ ! $(find /sys/fs/bpf -name 'rs_*') ]]
}

loads()
{
	job load --job 7 --name train --port-map "$map" \
		--flow 10.1.1.1/17,10.1.1.1/0x12,fd00:1::2/19 |
		jq -e '.job == 7 and .device == "rs0" and .module == false and
			.peers == 3 and .steered == 2'
}

# refused CODE STATUS ARGUMENT...: the loaded jobs stay as they are
refused()
{
	unchanged state fails "$2" "$1" '' job "${@:3}"
}
