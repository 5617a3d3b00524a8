#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Mutated packets and netlink messages for the module for switches. PACKETS=N is their number,
# rounded to 4000, MESSAGES=N that of messages, SEED=N the first seed.
#
#	in0 --- out0 \
#	in1 --- out1  \  the bridge "sums" of a namespace, which has groups of two
#	in2 --- out2  /  to four ranks, all of them made up by selftests/guest/reduce/packets.c
#	in3 --- out3 /

set -uo pipefail
cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
# shellcheck source=selftests/lib.sh
. selftests/lib.sh

packets=${PACKETS:-$(few 8000 40000)}
batch=4000	# packets by one process
rounds=$(((packets + batch - 1) / batch))
messages=${MESSAGES:-$(few 3000 20000)}
seed=${SEED:-1}
module=build/guest/$(uname -r)/rocesteer_reduce.ko
netns=reduce-fuzz
switch="nsenter --net=/run/netns/$netns rocesteer"
ends=(0 1 2 3)

((EUID == 0)) || skip_all "needs root"
[[ -e $module ]] || skip_all "no module: $module"
modprobe -a veth bridge crc32 2>/dev/null

# Addresses are static, so that no packet teaches the switch another port.
up()
{
	local end

	sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	ip netns add "$netns" || return
	ip -n "$netns" link add sums type bridge mcast_snooping 0 &&
		ip -n "$netns" link set sums up || return
	for end in "${ends[@]}"; do
		ip link add "in$end" mtu 4700 type veth peer name "out$end" mtu 4700 netns "$netns" &&
			ip -n "$netns" link set "out$end" master sums &&
			ip -n "$netns" link set "out$end" up &&
			bridge -n "$netns" link set dev "out$end" learning off &&
			bridge -n "$netns" fdb add "02:00:00:00:00:0$((end + 1))" \
				dev "out$end" master static &&
			ip link set "in$end" up || return
	done
}

up_with_module()
{
	up && insmod "$module"
}

# The wires go with the namespace.
down()
{
	ip netns del "$netns"
	sysctl -qw net.ipv6.conf.default.disable_ipv6=0
}

# module_is_gone: nothing of it is in use
module_is_gone()
{
	busywait 10000 rmmod rocesteer_reduce
}

# fuzz SEED: send a batch, and keep the numbers that the program prints
fuzz()
{
	timeout -k 10 $((600 * TIME_SCALE)) build/guest/selftests/reduce-packets "$batch" "$1" \
		"$switch" "${ends[@]/#/in}"
}

# Each round has the module anew: the process does not know which PSNs groups have had before.
fuzz_all()
{
	local i

	for ((i = 0; i < rounds; i++)); do
		((i == 0)) || { module_is_gone && insmod "$module"; } || return
		fuzz $((seed + i)) | tee -a "$said" || return
		$switch reduce stat --json >>"$stats" || return
	done
}

# total NAME: of all rounds
total()
{
	grep -o "\\b$1=[0-9]*" "$said" | awk -F= '{ sum += $2 } END { print sum + 0 }'
}

# some NAME...: each of these numbers is positive
some()
{
	local name

	for name; do
		(($(total "$name"))) || { echo "none: $name"; return 1; }
	done
}

# All reasons to drop a packet have occurred, but for missing memory.
reasons()
{
	local name
	cat "$stats"

	for name in unknown misplaced address opcode length icrc gso poisoned; do
		jq -es "any(.$name > 0)" "$stats" >/dev/null || { echo "none: $name"; return 1; }
	done
	jq -es 'all(.groups == 0 and .bytes == 0)' "$stats" >/dev/null
}

# Some messages of each command were right.
answered()
{
	local line
	line=$(nsenter --net="/run/netns/$netns" build/guest/selftests/reduce-messages \
		"$messages" "$seed") && echo "$line" && [[ ! $line =~ =0( |$) ]]
}

# Groups that messages have loaded can be unloaded.
groups_end()
{
	local group
	for group in $($switch --json reduce show | jq '.groups[].group'); do
		$switch reduce unload "$group" || return
	done
	$switch --json reduce stat | jq -e '.groups == 0 and .bytes == 0' >/dev/null
}

kernel_quiet()
{
	dmesg | sed "1,/${0##*/} begins/d" | selftests/vm/reports
}

ktap_plan 8
said=$(mktemp) stats=$(mktemp)
defer rm "$said" "$stats"
echo "${0##*/} begins" >/dev/kmsg
defer down
check "a switch of ${#ends[@]} ports and the module are up" up_with_module
check "only right sums leave a switch that gets $((rounds * batch)) packets, many mutated" fuzz_all
check "results, nudges and other packets left the switch" \
	some results nudges strangers ended
check "each reason to refuse a packet occurred" reasons
check "$messages netlink messages are answered, some with success" answered
check "groups of netlink messages can be unloaded" groups_end
check "the module can be removed" module_is_gone
check "the kernel did not complain" kernel_quiet
ktap_finish
