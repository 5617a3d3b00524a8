# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # pins, and what fabric_load sets
#
# Count packets on the links of the fabric with observe.bpf.c, whose programs and tables are
# pinned in $pins. To be sourced.

# observe_up: load the observer, until the test ends, and watch the fabric that is up.
observe_up()
{
	observe_load && observe
}

# One program is attached to a function of rdma_rxe.
observe_load()
{
	modprobe rdma_rxe
	mkdir "$pins" && defer rm -r "$pins" &&
		bpftool prog loadall build/guest/bpf/observe.bpf.o "$pins" \
			pinmaps "$pins" autoattach 2>/dev/null
}

observe_forget()
{
	bpftool prog run pinned "$pins/forget" data_in /etc/passwd >/dev/null
}

# Attach the programs to all links of the fabric that is up, and behind its leaves.
observe()
{
	local router dev h

	for router in $(routers); do
		{
			for dev in $(devices "$router"); do
				attach_batch "$dev" ingress observe
			done
			[[ $router != leaf* ]] || for ((h = 0; h < hosts; h++)); do
				attach_batch "host$((${router#leaf} * hosts + h))" egress observe
			done
		} | netns_exec "$router" tc -batch -
	done
}

# attach_batch DEVICE [ingress|egress PROGRAM]...
attach_batch()
{
	local dev=$1

	echo "qdisc replace dev $dev clsact"
	shift
	while (($#)); do
		echo "filter add dev $dev $1 bpf direct-action object-pinned $pins/$2"
		shift 2
	done
}
